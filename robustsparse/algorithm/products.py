"""The products `x_ij * score_i`, whose averages over the rows are a gradient."""

import numpy as np

from robustsparse import kernels
from robustsparse.base.errors import DataError
from robustsparse.base.types import Array

# Entries that are brought to double precision at a time.
BLOCK = 1 << 16
# Scores beyond this come from an iterate that diverges.
RUNAWAY = 1e100


def pair(X: Array, score: Array) -> tuple[Array, Array]:
    """Transposed design and scores as floats, of shapes that fit: the kernels do not look.

    Examples
    --------
    >>> XT, score = pair(np.ones((3, 2)), np.array([1, 2, 3]))
    >>> XT.shape, score.dtype
    ((2, 3), dtype('float64'))
    """
    X = np.asarray(X, dtype=np.float64)
    score = np.ascontiguousarray(score, dtype=np.float64)
    if X.ndim != 2 or score.shape != X.shape[:1]:
        raise DataError(
            f"the design has shape {X.shape} and the scores {score.shape}; they must be (n, d) and (n,)."
        )
    return X.T, score


def finite_pair(X: Array, score: Array) -> tuple[Array, Array] | None:
    """The same for averages that look at several columns together, where a single NaN would spoil all of them.

    None if the scores run away: no average is worth its time then, and the solver sees to them.
    """
    XT, score = pair(X, score)
    if not np.abs(score).max(initial=0.0) < RUNAWAY:
        return None
    if not np.isfinite(XT).all():
        column, row = np.argwhere(~np.isfinite(XT))[0]
        raise DataError(
            f"the design holds {XT[column, row]} in row {row}, column {column}; drop the row or impute the cell, as "
            "na_action= of a fit does."
        )
    return XT, score


def weighted_squares(block: Array, weights: Array) -> Array:
    """Weighted sums of squares (d,) of columns (d, n) in double precision; what has no weight may be of any size.

    Examples
    --------
    >>> weighted_squares(np.array([[1.0, 2.0, 1e200]]), np.array([1.0, 2.0, 0.0])).tolist()
    [9.0]
    """
    out = np.empty(len(block))
    kernels.weighted_squares(block, weights, out)
    return out
