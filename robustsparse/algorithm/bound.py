"""Gradient estimators bound to a design, which look only at predictors that could enter the support.

The threshold keeps k coordinates of thousands, so most of a robust gradient is computed to be thrown
away, and a robust mean of n products is dear. Screening spares most of them, exactly:

1. When a predictor is looked at, an interval that holds its gradient is stored, together with the
   scores at that time, the *reference*.
2. With new scores, the gradient of predictor j can have moved by at most |x_j| times the distance
   between the scores and the reference. The distance is found once for all predictors of a
   reference, the norms |x_j| once for all: the bound costs one multiplication a predictor.
3. To be selected, a predictor must beat the k-th largest gradient. The active predictors give a
   *bar* that k gradients are known to reach. Where interval and move together stay below the bar,
   the predictor is excluded without being read.
4. The others, the *survivors*, are evaluated exactly, by the same arithmetic as without screening.

So the iterates are the same, to the last bit, as with every coordinate evaluated. As the solver
settles the scores hardly move, and nearly all predictors are excluded in step 3.

`bound_trimmed` and `bound_blocks` do this for trimmed means and for medians of block means;
`FullGradient` evaluates every coordinate of any other estimator.
"""

from collections.abc import Callable
from typing import Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Indices, Mask

# Reference scores kept at once: at most, one for so many columns, and at least. A column last seen before the oldest of
# them is looked at anew.
SLOTS, _COLUMNS_A_SLOT, _FEWEST = 24, 8, 3


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
    """Rows of a transposed design, in double precision; consecutive ones are not copied if they have it already."""
    if XT.dtype == np.float64 and len(columns) and (np.diff(columns) == 1).all():
        return XT[columns[0] : columns[-1] + 1]
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


class References(TypedDict):
    """The part of a memory that holds scores, see `kernels.TrimMemory`."""

    slots: NDArray[np.int32]
    counts: Indices
    references: Array
    units: Array


def no_references(n: int, d: int) -> References:
    """Room for the references of a design with n rows and d columns, none of which has been looked at."""
    # Few columns refer to few scores, and many scores would take more memory than the columns.
    slots = min(SLOTS, max(_FEWEST, d // _COLUMNS_A_SLOT))
    return {
        "slots": np.full(d, -1, dtype=np.int32),
        "counts": np.zeros(slots, dtype=np.int64),
        "references": np.empty((slots, n)),
        "units": np.ones(slots),
    }


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
