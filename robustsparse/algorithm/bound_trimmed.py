"""Trimmed-mean gradients of those predictors only that could enter the support."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustsparse import kernels
from robustsparse.algorithm.bound import (
    LARGEST_DESIGN,
    LARGEST_SCORE,
    SLOTS,
    References,
    double_rows,
    gather,
)
from robustsparse.base.threads import is_large, over_columns
from robustsparse.base.types import Array, Indices, Mask, Places

# Rows whose norm exceeds this many medians are bounded apart, if together they carry most of the
# design.
_HEAVY = 3.0
# About so many values tell the size of a column, and one in 16 of a short one.
_SIZED = 64


@dataclass(frozen=True)
class _Measured:
    """What bounds of trimmed means need to know of a design, however much is trimmed.

    Attributes
    ----------
    XT32 : array (d, n)
        The design in single precision.
    norms : array (4, d)
        Norm of each column, the same over rows without extreme leverage, and bounds of its largest absolute value over
        these and over all.
    sizes : array (d,)
        Typical absolute value of each column.
    nonzeros : int array (d,)
        Number of its values that are not zero.
    light : array (n,)
        0 on rows of extreme leverage, 1 on the others.
    """

    XT32: NDArray[Any]
    norms: Array
    sizes: Array
    nonzeros: Indices
    light: Array


class TrimScreen(NamedTuple):
    """What compiled iterations need of a `ScreenedTrim`; the arrays are its own, and are written to.

    Attributes
    ----------
    XT, XT32 : array (d, n)
        The design, in double and in single precision.
    trimmed : int
        Number of values dropped at each end.
    norms, sizes, light
        As in `_Measured`.
    slots, counts, scores, units
        As in `References`.
    moved : array (slots, DRIFT_WIDTH)
        How far the scores moved since each reference.
    state : array (STATE_WIDTH, d)
        What is known of each column.
    guess : array (5,)
        Typical cuts and gaps of a column never looked at.
    score32 : array (n,)
        Room for the scores in single precision.
    largest_score : float
        Scores from there on are not trusted to single precision.
    exact_only : bool
        Whether the design itself is not.
    """

    XT: Array
    XT32: NDArray[Any]
    trimmed: int
    norms: Array
    sizes: Array
    light: Array
    slots: NDArray[np.int32]
    counts: Indices
    scores: Array
    units: Array
    moved: Array
    state: Array
    guess: Array
    score32: NDArray[np.float32]
    largest_score: float
    exact_only: bool


def _measure(XT: Array, threads: int) -> _Measured:
    d, n = XT.shape
    # A design that is of single precision serves as its own copy.
    XT32 = XT if XT.dtype == np.float32 else np.empty((d, n), dtype=np.float32)
    norms, sizes, nonzeros = np.empty((4, d)), np.empty(d), np.empty(d, dtype=np.int64)
    parts: list[Array] = []
    step = max(1, n // _SIZED, min(n // 16, 16))

    def columns(first: int, last: int) -> None:
        squares = np.zeros(n)
        kernels.trim_setup(XT, first, last, step, XT32, norms, sizes, nonzeros, squares)
        parts.append(squares)

    over_columns(columns, d, XT.size, threads)
    with np.errstate(over="ignore"):
        heavy = _heavy_rows(np.sum(parts, axis=0))
    light = np.ones(n)
    light[heavy] = 0.0
    if len(heavy):
        over_columns(
            lambda first, last: kernels.leverage_setup(XT, light, first, last, norms),
            d, XT.size, threads,
        )  # fmt: skip
    return _Measured(XT32, norms, sizes, nonzeros, light)


def _heavy_rows(squares: Array) -> Places:
    """Rows of extreme leverage, if they carry most of the design, from the squared norms of the rows."""
    norms = np.sqrt(squares)
    heavy = np.flatnonzero(norms > _HEAVY * np.median(norms))
    return heavy if squares[heavy].sum() >= 0.5 * squares.sum() else heavy[:0]


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
    measured : optional
        What another of the same design has measured.
    """

    settles = True

    def __init__(
        self, XT: Array, trimmed: int, threads: int = 1, measured: "_Measured | None" = None
    ) -> None:
        d, n = XT.shape
        self.XT, self.trimmed, self._threads = XT, trimmed, threads
        self._measured = measured or _measure(XT, threads)
        self._XT32, self._sizes = self._measured.XT32, self._measured.sizes
        self._norms = self._measured.norms.copy()
        self._exact_only = not self._norms[0].max(initial=0.0) < LARGEST_DESIGN
        # All values that are not zero are trimmed: the mean is zero and moves with no score.
        self._norms[0, self._measured.nonzeros <= trimmed] = 0.0
        self._state = np.zeros((kernels.STATE_WIDTH, d))
        self._references = References(n, d)
        self._moved = np.zeros((SLOTS, kernels.DRIFT_WIDTH))
        self._score32 = np.empty(n, dtype=np.float32)
        self._ones, self._cuts = np.ones((1, n)), np.zeros((1, 2))
        self._guess = np.zeros(5)
        self._guessed = False

    def dropping(self, trimmed: int) -> "ScreenedTrim":
        """Trimmed means of the same design, for other scores, that drop a number of values at each end."""
        other = ScreenedTrim(self.XT, trimmed, self._threads, self._measured)
        if trimmed == self.trimmed:
            other._guess, other._guessed = self._guess.copy(), self._guessed
        return other

    def _first_guess(self) -> None:
        """Typical cuts and gaps, relative to a column's size, from a few columns whose mean can move."""
        n = self.XT.shape[1]
        moving = np.flatnonzero(self._norms[0])
        sample = moving[:: max(1, len(moving) // 9)]
        products = np.sort(self.XT[sample] * (self._score / self._unit), axis=1)
        products /= self._sizes[sample, None]
        low, high = products[:, self.trimmed], products[:, n - self.trimmed - 1]
        spread = (high > low) & np.isfinite(high - low)
        # Scores of zero tell nothing; the next ones may.
        self._guessed = bool(spread.any())
        if self._guessed:
            self._guess[:2] = np.median(low[spread]), np.median(high[spread])
            self._guess[2:4] = 1.5 * (self._guess[1] - self._guess[0]) / n
            self._guess[4] = np.abs(np.array([low, high])[:, spread] - self._guess[:2, None]).mean()

    def begin(self, score: Array) -> None:
        """Take `score` as the current scores."""
        self._score = np.ascontiguousarray(score, dtype=np.float64)
        known = self._references
        self._unit, self._slot, fits, self._wild = kernels.take_scores(
            self._score, LARGEST_SCORE, known.slots, known.counts, known.scores, known.units,
            self._measured.light, self._moved, self._score32,
        )  # fmt: skip
        self._certify = fits and not self._exact_only
        if not self._guessed:
            self._first_guess()

    def at(self, columns: Indices, rows: Array | None = None) -> Array:
        """Gradient at the current scores on these columns."""
        return self.dense(double_rows(self.XT, columns) if rows is None else rows, self._score)

    def survivors(self, active: Mask, k: int, bar: float) -> tuple[Indices, Array]:
        """Columns outside `active` that may be among the k largest, with their gradients."""

        def search(first: int, last: int, found: Indices, values: Array) -> int:
            count: int = kernels.trim_survivors(
                self.XT, self._XT32, self._score, self._score32, self._unit, self.trimmed,
                first, last, active, k, bar, self._certify, self._norms, self._sizes,
                self._references.slots, self._slot, self._moved, self._wild,
                self._state, self._guess.copy() if first else self._guess, found, values,
            )  # fmt: skip
            return count

        return gather(search, self.XT, self._threads)

    def dense(self, XT: Array, score: Array) -> Array:
        """Trimmed means of a small design, all of them."""
        out = np.empty(len(XT))
        scores = np.ascontiguousarray(score, dtype=np.float64)
        kernels.trim_rows(XT, scores, self.trimmed, np.zeros((len(XT), 2)), out)
        return out

    def on(self, XT: Array) -> Callable[[Array], Array]:
        """Trimmed means of one small design, each looked for near its last one."""
        cuts = np.zeros((len(XT), 2))

        def at(score: Array) -> Array:
            out = np.empty(len(XT))
            kernels.trim_rows(XT, score, self.trimmed, cuts, out)
            return out

        return at

    def average(self, values: Array) -> float:
        """Trimmed mean."""
        out = np.empty(1)
        losses = np.ascontiguousarray(values, dtype=np.float64)
        kernels.trim_rows(self._ones, losses, self.trimmed, self._cuts, out)
        return float(out[0])

    def screen(self) -> TrimScreen | None:
        """All that is known of the columns, for compiled code that reads and writes it through whole iterations.

        None where such code must not be used: before the first look, which needs a guess, and for large designs. These
        may be searched by several threads, and would give other iterates with one.
        """
        if not self._guessed or self.XT.dtype != np.float64 or is_large(self.XT.size):
            return None
        known = self._references
        return TrimScreen(
            self.XT, self._XT32, self.trimmed, self._norms, self._sizes, self._measured.light,
            known.slots, known.counts, known.scores, known.units,
            self._moved, self._state, self._guess, self._score32, LARGEST_SCORE, self._exact_only,
        )  # fmt: skip
