"""Trimmed-mean gradients of those predictors only that could enter the support.

What `bound` says of screening, for trimmed means. If a predictor is not excluded by how far the scores have moved, a
few passes in single precision first find a narrow interval for its trimmed mean, which mostly excludes it after all;
exact values are left for a handful. The passes look for the two cuts, between which values are kept, near where they
were last: *guesses* are what is typical of predictors that were never looked at.

Few rows with extreme predictors or scores would make every bound useless, since they dominate all norms. They are
bounded apart: a trimmed mean can move by no more than the distance between its cuts for each of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustsparse import kernels
from robustsparse.algorithm.bound import double_rows, gather, no_references
from robustsparse.algorithm.plain_trimmed import SupportTrim
from robustsparse.base.threads import is_large, over_columns
from robustsparse.base.types import Array, Indices, Mask, Places

# Rows whose norm exceeds this many medians are bounded apart, if together they carry most of the
# design.
_HEAVY = 3.0
# About so many values tell the size of a column, and one in 16 of a short one.
_SIZED = 64
# Columns that the first guess is taken from.
_SAMPLED = 9
# Products are sparser near the cuts than on average: the gap between two of them, in units of the average one.
_TAIL_GAP = 1.5


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


def _measure(XT: Array, threads: int) -> _Measured:
    d, n = XT.shape
    # A design that is of single precision serves as its own copy.
    XT32 = XT if XT.dtype == np.float32 else np.empty((d, n), dtype=np.float32)
    norms, sizes = np.empty((kernels.NORMS_WIDTH, d)), np.empty(d)
    nonzeros = np.empty(d, dtype=np.int64)
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


class ScreenedTrim(SupportTrim):
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

    def __init__(
        self, XT: Array, trimmed: int, threads: int = 1, measured: "_Measured | None" = None
    ) -> None:
        super().__init__(XT, trimmed)
        d, n = XT.shape
        self._threads = threads
        self._measured = measured or _measure(XT, threads)
        self._design = self._bounded(self._measured)
        known = no_references(n, d)
        self._memory = kernels.TrimMemory(
            **known,
            moved=np.zeros((len(known["counts"]), kernels.DRIFT_WIDTH)),
            state=np.zeros((kernels.STATE_WIDTH, d)),
            guess=np.zeros(kernels.GUESS_WIDTH),
            score32=np.empty(n, dtype=np.float32),
        )
        self._guessed, self._double = False, XT.dtype == np.float64

    def _bounded(self, measured: _Measured) -> kernels.TrimDesign:
        """What was measured, as the kernels take it for this number of trimmed values."""
        norms = measured.norms.copy()
        overflows = not norms[kernels.NORM].max(initial=0.0) < kernels.LARGEST_DESIGN
        # All values that are not zero are trimmed: the mean is zero and moves with no score.
        norms[kernels.NORM, measured.nonzeros <= self.trimmed] = 0.0
        return kernels.TrimDesign(
            XT=self.XT,
            XT32=measured.XT32,
            trimmed=self.trimmed,
            norms=norms,
            sizes=measured.sizes,
            light=measured.light,
            exact_only=overflows,
        )

    def dropping(self, trimmed: int) -> "ScreenedTrim":
        """Trimmed means of the same design, for other scores, that drop a number of values at each end."""
        other = ScreenedTrim(self.XT, trimmed, self._threads, self._measured)
        if trimmed == self.trimmed:
            other._memory.guess[:] = self._memory.guess
            other._guessed = self._guessed
        return other

    def _first_guess(self) -> None:
        """Typical cuts and gaps, relative to a column's size, from a few columns whose mean can move."""
        n, guess = self.XT.shape[1], self._memory.guess
        moving = np.flatnonzero(self._design.norms[kernels.NORM])
        sample = moving[:: max(1, len(moving) // _SAMPLED)]
        products = np.sort(self.XT[sample] * (self._scores.score / self._scores.unit), axis=1)
        products /= self._design.sizes[sample, None]
        low, high = products[:, self.trimmed], products[:, n - self.trimmed - 1]
        spread = (high > low) & np.isfinite(high - low)
        # Scores of zero tell nothing; the next ones may.
        self._guessed = bool(spread.any())
        if self._guessed:
            cuts = np.median(low[spread]), np.median(high[spread])
            misses = np.abs(np.array([low, high])[:, spread] - np.array(cuts)[:, None])
            guess[kernels.CUTS : kernels.GAPS] = cuts
            guess[kernels.GAPS : kernels.MISS] = _TAIL_GAP * (cuts[1] - cuts[0]) / n
            guess[kernels.MISS] = misses.mean()

    def begin(self, score: Array) -> None:
        """Take `score` as the current scores."""
        score = np.ascontiguousarray(score, dtype=np.float64)
        unit, slot, fits, wild = kernels.take_scores(score, self._design.light, self._memory)
        certify = fits and not self._design.exact_only
        self._scores = kernels.TrimScores(score, unit, slot, certify, wild)
        if not self._guessed:
            self._first_guess()

    def at(self, columns: Indices, rows: Array | None = None) -> Array:
        """Gradient at the current scores on these columns."""
        rows = double_rows(self.XT, columns) if rows is None else rows
        return self.dense(rows, self._scores.score)

    def survivors(self, active: Mask, k: int, bar: float) -> tuple[Indices, Array]:
        """Columns outside `active` that may be among the k largest, with their gradients."""

        def search(first: int, last: int, found: Indices, values: Array) -> int:
            # Every range of columns but the first learns from a copy, or it would matter which thread comes first.
            guess = self._memory.guess.copy() if first else self._memory.guess
            return kernels.trim_survivors(
                self._design, self._memory._replace(guess=guess), self._scores,
                first, last, active, k, bar, found, values,
            )  # fmt: skip

        return gather(search, self.XT, self._threads)

    def screen(self) -> tuple[kernels.TrimDesign, kernels.TrimMemory] | None:
        """The design and what is remembered of its columns, for compiled iterations that read and write it themselves.

        None where such code must not be used: before the first look, which needs a guess, and for large designs. These
        may be searched by several threads, and one that goes through all columns would learn other guesses.
        """
        if not (self._guessed and self._double) or is_large(self.XT.size):
            return None
        return self._design, self._memory
