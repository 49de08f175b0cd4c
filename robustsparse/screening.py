"""Gradient estimators bound to a design, which look only at predictors that could enter the support.

A threshold keeps k coordinates of thousands, so most of a robust gradient is computed to be thrown
away. A bound estimator remembers what it knew of each predictor when it last looked, bounds how far
that can have moved with the scores, and evaluates exactly only the predictors that the bound does
not exclude. The iterates are the same, to the last bit, as with every coordinate evaluated.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robustsparse import kernels
from robustsparse.threads import over_columns

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

# Reference scores kept at once; a column last seen before the oldest of them is looked at anew.
_SLOTS = 24
# Float32 passes are trusted while no product can overflow.
_LARGEST_DESIGN = 1e12
_LARGEST_SCORE = 1e20
# Rows whose norm exceeds this many medians are bounded apart, if together they carry most of the
# design.
_HEAVY = 3.0


class BoundGradient(Protocol):
    """A gradient estimator bound to one design; what the solver sees."""

    XT: Array
    # Whether the same scores always give the same gradient, so that iterates can come to rest.
    settles: bool

    def begin(self, score: Array) -> None:
        """Take `score` (n,) as the current scores."""

    def at(self, columns: Indices) -> Array:
        """Gradient at the current scores on these columns."""

    def survivors(self, active: NDArray[np.bool_], k: int, bar: float) -> tuple[Indices, Array]:
        """Columns outside `active` (d,) that may be among the k largest in absolute value, with their gradients.

        `bar` is a size that k columns, active ones included, are known to reach.
        """

    def dense(self, XT: Array, score: Array) -> Array:
        """Estimate for every row of a small transposed design with the same n, at any scores."""

    def on(self, XT: Array) -> Callable[[Array], Array]:
        """The same for one small design, to be asked again and again with scores that change little."""


def _gather(
    search: Callable[[int, int, Indices, Array], int], XT: Array, threads: int
) -> tuple[Indices, Array]:
    """Columns and values that `search(first, last, found, values)` counts and writes, over all ranges."""
    d = len(XT)
    found, values = np.empty(d, dtype=np.int64), np.empty(d)
    if threads <= 1:
        count = search(0, d, found, values)
        return found[:count], values[:count]
    parts: list[tuple[int, int]] = []

    def columns(first: int, last: int) -> None:
        parts.append((first, search(first, last, found[first:], values[first:])))

    over_columns(columns, d, XT.size, threads)
    kept = np.concatenate([np.arange(first, first + count) for first, count in sorted(parts)])
    return found[kept], values[kept]


class _References:
    """Scores at which columns were last evaluated, in a fixed number of slots."""

    def __init__(self, n: int, d: int) -> None:
        self.scores = np.zeros((_SLOTS, n))
        self.units = np.ones(_SLOTS)
        self.slots = np.full(d, -1, dtype=np.int32)
        # How many columns refer to each slot, as of the last time that one was claimed.
        self.counts = np.zeros(_SLOTS, dtype=np.int64)

    def add(self, score: Array, unit: float) -> int:
        """Store the scores in the slot that fewest columns refer to, and return it."""
        slot: int = kernels.claim_slot(self.slots, self.counts)
        self.scores[slot] = score
        self.units[slot] = unit
        return slot


class ScreenedTrim:
    """Trimmed-mean gradient of one design with exact screening.

    Parameters
    ----------
    XT : array (d, n), C-contiguous
        The transposed design.
    trimmed : int
        Number of values dropped at each end.
    threads : int
        Threads for large designs.
    """

    settles = True

    def __init__(self, XT: Array, trimmed: int, threads: int = 1) -> None:
        d, n = XT.shape
        self.XT, self.trimmed, self._threads = XT, trimmed, threads
        self._XT32 = np.empty((d, n), dtype=np.float32)
        self._norms = np.zeros((d, 4))
        self._sizes = np.empty(d)
        self._state = np.zeros((d, kernels.STATE_WIDTH))
        self._references = _References(n, d)
        self._moved = np.zeros((_SLOTS, kernels.DRIFT_WIDTH))
        self._guess = np.zeros(4)
        self._guessed = False
        self._measure()

    def _over_columns(self, task: Callable[[int, int], None]) -> None:
        over_columns(task, self.XT.shape[0], self.XT.size, self._threads)

    def _measure(self) -> None:
        """Norms of columns and rows, and what follows from them."""
        d, n = self.XT.shape
        nonzeros = np.empty(d, dtype=np.int64)
        parts: list[Array] = []

        def columns(first: int, last: int) -> None:
            squares = np.zeros(n)
            kernels.trim_setup(
                self.XT, first, last, self._XT32, self._norms, self._sizes, nonzeros, squares
            )
            parts.append(squares)

        self._over_columns(columns)
        self._exact_only = not self._norms[:, 0].max(initial=0.0) < _LARGEST_DESIGN
        # All values that are not zero are trimmed: the mean is zero and moves with no score.
        self._norms[nonzeros <= self.trimmed, 0] = 0.0
        with np.errstate(over="ignore"):
            self._set_heavy_rows_apart(np.sum(parts, axis=0))

    def _set_heavy_rows_apart(self, squares: Array) -> None:
        """Find the rows of extreme leverage, given the squared norms of the rows."""
        norms = np.sqrt(squares)
        heavy = np.flatnonzero(norms > _HEAVY * np.median(norms))
        self._split = bool(squares[heavy].sum() >= 0.5 * squares.sum()) and len(heavy) > 0
        self._heavy = heavy if self._split else heavy[:0]
        self._light = np.ones(len(squares))
        self._light[self._heavy] = 0.0
        if self._split:
            self._over_columns(
                lambda first, last: kernels.leverage_setup(
                    self.XT, self._heavy, self._light, first, last, self._norms
                )
            )

    def _first_guess(self) -> None:
        """Typical cuts and gaps, relative to a column's size, from a few columns whose mean can move."""
        n = self.XT.shape[1]
        moving = np.flatnonzero(self._norms[:, 0])
        sample = moving[:: max(1, len(moving) // 9)]
        products = np.sort(self.XT[sample] * (self._score / self._unit), axis=1)
        products /= self._sizes[sample, None]
        low, high = products[:, self.trimmed], products[:, n - self.trimmed - 1]
        spread = (high > low) & np.isfinite(high - low)
        # Scores of zero tell nothing; the next ones may.
        self._guessed = bool(spread.any())
        if self._guessed:
            self._guess[:2] = np.median(low[spread]), np.median(high[spread])
            self._guess[2:] = 1.5 * (self._guess[1] - self._guess[0]) / n

    def begin(self, score: Array) -> None:
        """Take `score` as the current scores."""
        self._score = np.ascontiguousarray(score, dtype=np.float64)
        self._unit = kernels.typical_size(self._score)
        scaled = self._score / self._unit
        self._certify = not self._exact_only and bool(np.abs(scaled).max() < _LARGEST_SCORE)
        self._score32 = scaled.astype(np.float32) if self._certify else np.zeros(1, np.float32)
        known = self._references
        self._slot = known.add(self._score, self._unit)
        kernels.drifts(
            self._score, known.scores, known.counts, self._heavy, self._light, self._moved
        )
        self._moved[self._slot] = 0.0
        if not self._guessed:
            self._first_guess()

    def at(self, columns: Indices) -> Array:
        """Gradient at the current scores on these columns."""
        return self.dense(self.XT[columns], self._score)

    def survivors(self, active: NDArray[np.bool_], k: int, bar: float) -> tuple[Indices, Array]:
        """Columns outside `active` that may be among the k largest, with their gradients."""

        def search(first: int, last: int, found: Indices, values: Array) -> int:
            count: int = kernels.trim_survivors(
                self.XT, self._XT32, self._score, self._score32, self._unit, self.trimmed,
                first, last, active, k, bar, self._certify, self._norms, self._sizes,
                self._references.slots, self._slot, self._moved, self._split, self._state,
                self._guess.copy() if first else self._guess, found, values,
            )  # fmt: skip
            return count

        return _gather(search, self.XT, self._threads)

    def dense(self, XT: Array, score: Array) -> Array:
        """Trimmed means of a small design, all of them."""
        out = np.empty(len(XT))
        kernels.trim_rows(XT, np.ascontiguousarray(score, dtype=np.float64), self.trimmed, out)
        return out

    def on(self, XT: Array) -> Callable[[Array], Array]:
        """Trimmed means of one small design, each looked for near its last one."""
        cuts = np.zeros((len(XT), 2))

        def at(score: Array) -> Array:
            out = np.empty(len(XT))
            kernels.trim_rows_again(XT, score, self.trimmed, cuts, out)
            return out

        return at


class ScreenedBlocks:
    """Median-of-means gradient of one design; screened while the blocks stay the same.

    Parameters
    ----------
    XT : array (d, n), C-contiguous
        The transposed design.
    blocks : int
        Number of blocks.
    rng : numpy Generator
        Draws the blocks.
    redraw : bool
        Draw new blocks for each new vector of scores.
    threads : int
        Threads for large designs.
    """

    def __init__(
        self, XT: Array, blocks: int, rng: np.random.Generator, redraw: bool, threads: int = 1
    ) -> None:
        d, n = XT.shape
        self.XT, self.blocks, self._redraw, self._threads = XT, blocks, redraw, threads
        self.settles = not redraw
        self._rng = rng
        self._order = rng.permutation(n)
        self._references = _References(n, d)
        self._moved = np.zeros((_SLOTS, blocks), dtype=np.float32)
        self._roundings = np.zeros(_SLOTS)
        # Fresh blocks make what was known of a column worthless, so nothing is kept for them.
        kept = 0 if redraw else d
        self._XT32 = np.empty((kept, n), dtype=np.float32)
        self._norms = np.empty((kept, blocks), dtype=np.float32)
        self._means = np.zeros((kept, blocks), dtype=np.float32)
        self._exact_only = True
        if not redraw:
            self._measure()

    def _over_columns(self, task: Callable[[int, int], None]) -> None:
        over_columns(task, self.XT.shape[0], self.XT.size, self._threads)

    def _measure(self) -> None:
        self._over_columns(
            lambda first, last: kernels.block_setup(
                self.XT, self._order, self.blocks, first, last, self._XT32, self._norms
            )
        )
        self._exact_only = not float(self._norms.max(initial=0.0)) < _LARGEST_DESIGN

    def begin(self, score: Array) -> None:
        """Take `score` as the current scores, and draw blocks if they are to be redrawn."""
        if self._redraw:
            self._order = self._rng.permutation(len(score))
        self._score = np.ascontiguousarray(score[self._order], dtype=np.float64)
        self._certify = False
        self._slot = 0
        self._score32 = np.zeros(1, np.float32)
        if self._exact_only:
            return
        unit = kernels.typical_size(self._score)
        scaled = self._score / unit
        self._certify = bool(np.abs(scaled).max() < _LARGEST_SCORE)
        if not self._certify:
            return
        self._score32 = scaled.astype(np.float32)
        self._slot = self._references.add(self._score, unit)
        self._roundings[self._slot] = self._rounding(scaled)
        self._moved[self._slot] = self._roundings[self._slot]
        for slot in np.flatnonzero(self._references.counts):
            change = (self._score - self._references.scores[slot]) / self._references.units[slot]
            self._moved[slot] = self._block_norms(change) + self._roundings[slot]

    def _block_norms(self, values: Array) -> Array:
        starts = np.arange(len(values)) % self.blocks
        squares = np.bincount(starts, weights=values**2, minlength=self.blocks)
        return np.asarray(np.sqrt(squares) * (1.0 + 1e-6))

    def _rounding(self, scaled: Array) -> float:
        """What float32 can add to a block mean, over the norm of the block's column."""
        longest = len(scaled) // self.blocks + 5
        return float(1.01 * longest * 2.0**-24 * self._block_norms(scaled).max() + 1e-30)

    def at(self, columns: Indices) -> Array:
        """Gradient at the current scores on these columns."""
        out = np.empty(len(columns))
        kernels.block_median_rows(self.XT[columns], self._order, self._score, self.blocks, out)
        return out

    def survivors(self, active: NDArray[np.bool_], k: int, bar: float) -> tuple[Indices, Array]:
        """Columns outside `active` that may be among the k largest, with their gradients."""

        def search(first: int, last: int, found: Indices, values: Array) -> int:
            count: int = kernels.block_survivors(
                self.XT, self._XT32, self._order, self._score, self._score32, self.blocks,
                first, last, active, k, bar, self._certify, self._norms, self._means,
                self._references.slots, self._slot, self._moved, self._references.units,
                found, values,
            )  # fmt: skip
            return count

        return _gather(search, self.XT, self._threads)

    def dense(self, XT: Array, score: Array) -> Array:
        """Medians of means of a small design, with the current blocks."""
        out = np.empty(len(XT))
        ordered = np.ascontiguousarray(score[self._order], dtype=np.float64)
        kernels.block_median_rows(XT, self._order, ordered, self.blocks, out)
        return out

    def on(self, XT: Array) -> Callable[[Array], Array]:
        """Medians of means of one small design, with the current blocks."""
        return lambda score: self.dense(XT, score)


class FullGradient:
    """Any callable `(X, score) -> (d,)` bound to a design; every coordinate is evaluated.

    Parameters
    ----------
    XT : array (d, n), C-contiguous
        The transposed design.
    estimator : callable
        Takes the design (n, d) and the scores (n,), returns the gradient (d,).
    """

    settles = True

    def __init__(self, XT: Array, estimator: Callable[[Array, Array], Array]) -> None:
        self.XT, self._estimator = XT, estimator

    def begin(self, score: Array) -> None:
        """Evaluate the whole gradient."""
        self._gradient = np.asarray(self._estimator(self.XT.T, score), dtype=np.float64)

    def at(self, columns: Indices) -> Array:
        """Gradient on these columns."""
        return self._gradient[columns]

    def survivors(self, active: NDArray[np.bool_], k: int, bar: float) -> tuple[Indices, Array]:
        """All other columns that reach the bar."""
        columns = np.flatnonzero(~active & ~(np.abs(self._gradient) < bar))
        return columns, self._gradient[columns]

    def dense(self, XT: Array, score: Array) -> Array:
        """Estimate on a small design alone."""
        return np.asarray(self._estimator(XT.T, score), dtype=np.float64)

    def on(self, XT: Array) -> Callable[[Array], Array]:
        """Estimate on one small design alone."""
        return lambda score: self.dense(XT, score)
