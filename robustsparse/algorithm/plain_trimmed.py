"""Trimmed-mean gradients without screening: every column is evaluated.

Screening saves nothing on tiny designs, where all trimmed means take no longer than the Python around them. Elsewhere
it saves a part of each fit, but its kernels take seconds to compile at the first use of an installation: a few fits go
without it. The values are the same to the last bit.
"""

from collections.abc import Callable
from itertools import count

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bound import double_rows
from robustsparse.base.types import Array, Indices, Mask

# Entries of a design up to which screening saves nothing, and up to which a few fits can do without.
_TINY, _SMALL = 1 << 14, 1 << 20
# How often a small design is left unscreened in one process rather than to wait for the compiler: in about three fits.
_UNSCREENED = 10
_unscreened = count()


def is_screened(d: int, n: int) -> bool:
    """Whether to screen a design of d columns and n rows; one that is neither tiny nor large, once that is compiled."""
    entries = d * n
    if entries <= _TINY:
        return False
    if entries > _SMALL or kernels.is_compiled(kernels.trim_survivors):
        return True
    return next(_unscreened) >= _UNSCREENED


class SupportTrim:
    """What trimmed means on a few columns need, screened or not.

    Parameters
    ----------
    XT : array (d, n), C-contiguous
        The transposed design.
    trimmed : int
        Number of values dropped at each end.
    """

    settles = True

    def __init__(self, XT: Array, trimmed: int) -> None:
        self.XT, self.trimmed = XT, trimmed
        self._ones, self._cuts = np.ones((1, XT.shape[1])), np.zeros((1, 2))

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


class PlainTrim(SupportTrim):
    """Trimmed-mean gradient of one design, every column of which is evaluated when others than given ones matter."""

    def __init__(self, XT: Array, trimmed: int) -> None:
        super().__init__(XT, trimmed)
        self._every = np.asarray(XT, dtype=np.float64), np.zeros((len(XT), 2))
        self._gradient: Array | None = None

    def begin(self, score: Array) -> None:
        """Take `score` as the current scores."""
        self._score = np.ascontiguousarray(score, dtype=np.float64)
        self._gradient = None

    def at(self, columns: Indices, rows: Array | None = None) -> Array:
        """Gradient at the current scores on these columns."""
        rows = double_rows(self.XT, columns) if rows is None else rows
        return self.dense(rows, self._score)

    def survivors(self, active: Mask, k: int, bar: float) -> tuple[Indices, Array]:
        """All columns outside `active` that reach the bar, with their gradients."""
        if self._gradient is None:
            self._gradient = np.empty(len(self.XT))
            XT, cuts = self._every
            kernels.trim_rows(XT, self._score, self.trimmed, cuts, self._gradient)
        columns = np.flatnonzero(~active & ~(np.abs(self._gradient) < bar))
        return columns, self._gradient[columns]

    def screen(self) -> None:
        """Nothing is remembered for compiled iterations."""
