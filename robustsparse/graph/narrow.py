"""Rows that lie far out where others hardly vary, and so undo the dependence of the variables.

Such rows need not be large, nor lie together: in a direction in which the others hardly vary a few rows of usual size
make up most of the variance, and distances by the covariance of all rows hide them. What gives them away is that along
the direction of such a row most others lie near the center.
"""

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from robustsparse.base.types import Array, Mask
from robustsparse.robust.scales import median_and_mad

# The share of rows, the nearest, whose mean square along a direction tells how narrow it is.
_NEAREST = 0.75
# A direction is narrow if it is by this many robust standard deviations, and by this share, narrower than that of the
# median row; if more than this share of the rows have such directions, they are no bad rows.
_NARROWER, _SHARE_NARROWER, _MINORITY = 4.0, 0.15, 0.22
# All rows are compared with at most this many.
_COMPARED = 512


def rows_across(scores: Array, S: Array) -> Mask:
    """Rows (n,) in whose direction most others hardly vary.

    Parameters
    ----------
    scores : array (d, n)
        Normal scores of the variables.
    S : array (d, d)
        Their correlations.

    Examples
    --------
    Variables are alike in pairs, but in ten of three hundred rows those of a pair are opposed:

    >>> rng = np.random.default_rng(0)
    >>> scores = np.repeat(rng.normal(size=(10, 300)), 2, axis=0) + 0.3 * rng.normal(size=(20, 300))
    >>> scores[1::2, :10] = -scores[::2, :10]
    >>> np.flatnonzero(rows_across(scores, np.corrcoef(scores))).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    width = _widths(scores, S)
    median, spread = median_and_mad(width)
    across = width < median - max(_NARROWER * spread, _SHARE_NARROWER * median)
    return np.asarray(across & (np.count_nonzero(across) <= _MINORITY * len(across)))


def _widths(scores: Array, S: Array) -> Array:
    """How much most rows vary (n,) along the direction of each, once variables are uncorrelated and alike."""
    d, n = scores.shape
    # Few rows hardly vary in some directions by chance.
    shrunken = (n * S + d * np.eye(d)) / (n + d)
    rows = solve_triangular(cholesky(shrunken, lower=True), scores, lower=True)
    some = rows
    if n > _COMPARED:
        some = rows[:, np.random.default_rng(0).choice(n, _COMPARED, replace=False)]
    squares = np.square(rows.T @ some)
    most = int(_NEAREST * squares.shape[1])
    near = np.partition(squares, most, axis=1)[:, :most]
    length = np.einsum("ij,ij->j", rows, rows)
    return np.asarray(np.sqrt(near.mean(axis=1) / np.where(length > 0, length, 1.0)))
