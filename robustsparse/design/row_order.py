"""An order of rows that depends on nothing but what they hold, and weights that repeat rows.

Folds and random starts number the rows. In this order rows that were shuffled get the numbers that they had before, and
a row of weight two is the same row twice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from robustsparse.base.errors import DataWarning, warn_user
from robustsparse.base.types import Array, Indices
from robustsparse.design.fingerprint import column_numbers

# Rows are repeated up to this many times as many, or to so many of them: more would take too long.
_TIMES, _ALWAYS = 10, 1000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class RowOrder:
    """Which row stands where.

    Attributes
    ----------
    places : array of int
        Numbers of the rows, in their order; those of weight 0 are missing, others may be there several times.
    weights : array or None
        Weights of the rows in that order that are left to multiply by.
    """

    places: Indices
    weights: Array | None

    @classmethod
    def of(cls, X: Any, y: Array, weights: Array | None) -> "RowOrder":
        """The order of the rows of a design (n, d), dense or sparse, with its response (n,).

        Whole numbers as weights repeat rows; others multiply them.

        Examples
        --------
        >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([5.0, 6.0, 7.0])
        >>> once = X[RowOrder.of(X, y, None).places]
        >>> bool((X[[2, 0, 1]][RowOrder.of(X[[2, 0, 1]], y[[2, 0, 1]], None).places] == once).all())
        True
        >>> sorted(RowOrder.of(X, y, np.array([0.0, 2.0, 1.0])).places.tolist())
        [1, 1, 2]
        """
        times = repetitions(weights)
        multiply = weights if times is None else None
        order = np.argsort(_row_numbers(X, y, multiply), kind="stable")
        if times is not None:
            return cls(np.repeat(order, times[order]), None)
        return cls(order, None if multiply is None else multiply[order])


def repetitions(weights: Array | None) -> Indices | None:
    """How often each row (n,) is there, if its weights are whole numbers and not too large; None if they are not.

    Examples
    --------
    >>> repetitions(np.array([0.0, 1.0, 3.0]))
    array([0, 1, 3])
    >>> repetitions(np.array([0.5, 1.0])) is None
    True
    """
    if weights is None or not (weights == np.floor(weights)).all():
        return None
    rows, total = int(np.count_nonzero(weights)), float(weights.sum())
    if total > max(_TIMES * rows, _ALWAYS):
        warn_user(
            f"the weights of {rows} rows add up to {total:.0f}; so many repetitions would take long, so that weights "
            "multiply what a row adds to the loss instead. Divide them by a constant to say so yourself.",
            DataWarning,
        )
        return None
    return weights.astype(np.int64)


def _row_numbers(X: Any, y: Array, weights: Array | None) -> Any:
    """A number for each row, by all that it holds; equal rows have the same one."""
    beside = [np.asarray(values, dtype=np.float64) for values in (y, weights) if values is not None]
    # Rows of the transposed design are its columns. The factor tells a response from a predictor.
    return column_numbers(X.T) * _FACTOR + column_numbers(np.vstack(beside))
