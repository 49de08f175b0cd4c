"""Gradient estimators bound to a design, which look only at predictors that could enter the support.

A threshold keeps k coordinates of thousands, so most of a robust gradient is computed to be thrown
away. A bound estimator remembers what it knew of each predictor when it last looked, bounds how far
that can have moved with the scores, and evaluates exactly only the predictors that the bound does
not exclude. The iterates are the same, to the last bit, as with every coordinate evaluated.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Indices, Mask

# Reference scores kept at once; a column last seen before the oldest of them is looked at anew.
SLOTS = 24
# Float32 passes are trusted while no product can overflow.
LARGEST_DESIGN = 1e12
LARGEST_SCORE = 1e20


class BoundGradient(Protocol):
    """A gradient estimator bound to one design; what the solver sees."""

    XT: Array
    # Whether the same scores always give the same gradient, so that iterates can come to rest.
    settles: bool

    def begin(self, score: Array) -> None:
        """Take `score` (n,) as the current scores."""

    def at(self, columns: Indices, rows: Array | None = None) -> Array:
        """Gradient at the current scores on these columns; `rows` are theirs of the design, if they are at hand."""

    def survivors(self, active: Mask, k: int, bar: float) -> tuple[Indices, Array]:
        """Columns outside `active` (d,) that may be among the k largest in absolute value, with their gradients.

        `bar` is a size that k columns, active ones included, are known to reach.
        """

    def dense(self, XT: Array, score: Array) -> Array:
        """Estimate for every row of a small transposed design with the same n, at any scores."""

    def on(self, XT: Array) -> Callable[[Array], Array]:
        """The same for one small design, to be asked again and again with scores that change little."""

    def average(self, values: Array) -> float:
        """Estimate of the mean of values (n,)."""


def double_rows(XT: Array, columns: Indices) -> Array:
    """Rows of a transposed design, in double precision."""
    return np.asarray(XT[columns], dtype=np.float64)


def gather(
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


class References:
    """Scores at which columns were last evaluated, in a fixed number of slots."""

    def __init__(self, n: int, d: int) -> None:
        # Not read before they are written.
        self.scores = np.empty((SLOTS, n))
        self.units = np.ones(SLOTS)
        self.slots = np.full(d, -1, dtype=np.int32)
        # How many columns refer to each slot, as of the last time that one was claimed.
        self.counts = np.zeros(SLOTS, dtype=np.int64)


class Interpreted:
    """What a bound gradient can do by its `dense` estimates, if it has no compiled code for it."""

    dense: Callable[[Array, Array], Array]

    def on(self, XT: Array) -> Callable[[Array], Array]:
        """Estimate on one small design."""
        return lambda score: self.dense(XT, score)

    def average(self, values: Array) -> float:
        """The same estimate of a mean."""
        return float(self.dense(np.ones((1, len(values))), values)[0])


class FullGradient(Interpreted):
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

    def at(self, columns: Indices, rows: Array | None = None) -> Array:
        """Gradient on these columns."""
        return self._gradient[columns]

    def survivors(self, active: Mask, k: int, bar: float) -> tuple[Indices, Array]:
        """All other columns that reach the bar."""
        columns = np.flatnonzero(~active & ~(np.abs(self._gradient) < bar))
        return columns, self._gradient[columns]

    def dense(self, XT: Array, score: Array) -> Array:
        """Estimate on a small design alone."""
        return np.asarray(self._estimator(XT.T, score), dtype=np.float64)
