"""Rows that do not follow the dependence of the others, judged on what its neighbors leave of each variable.

A bad row need not be large: rows around any one point, at the size of the good ones, tie all variables alike. What the
nearest variables do not explain tells such rows apart, and rows whose variables have nothing to do with each other.
"""

from math import sqrt

import numpy as np
from scipy import sparse

from robustsparse import kernels
from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Mask
from robustsparse.robust.scales import mads, median_and_mad
from robustsparse.robust.subspaces import principal_scores

# Neighbors that may explain a variable, and the largest size, in scales, that counts for what they leave of a value.
_NEIGHBORS, _LARGEST_Z = 4, 3.0
# Directions that are looked at; those count in which rows vary by so much more than noise in as many variables would.
_DIRECTIONS, _BEYOND_NOISE = 5, 1.1
# A row is apart if it lies this many robust standard deviations from the median along such a direction.
_APART = 4.0
# Rows that are apart are a minority: beyond half the way to them lie at most so many of all rows (a fifth, and a few by
# chance), and so many for each. Otherwise they are one of several populations, or the extremes of a factor that all
# rows share.
_MINORITY, _FOR_EACH = 0.22, 2.0
# Values that are worked on at a time, so that they stay in the cache; and how long one takes, in units of reading it.
_BLOCK, _SELECTING = 1 << 15, 10


def coefficients_on_nearest(S: Array, k: int = _NEIGHBORS) -> sparse.csr_array:
    """Regression of every variable on its best k others, from correlations; row j has the coefficients of variable j.

    Examples
    --------
    >>> S = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> coefficients_on_nearest(S, 1).toarray().round(2).tolist()
    [[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    d = len(S)
    most = max(1, min(k, d - 1))
    places, values = np.empty((d, most), dtype=np.int64), np.empty((d, most))
    kernels.threshold_nodes(S, 0, d, np.array([most]), places, values)
    starts = most * np.arange(d + 1)
    return sparse.csr_array((values.ravel(), places.ravel(), starts), (d, d))


def expected_scores(values: Array, S: Array) -> Array:
    """What the nearest variables let expect of each (d, n).

    Parameters
    ----------
    values : array (d, n)
        Normal scores of the variables.
    S : array (d, d)
        Their correlations.
    """
    return np.asarray(coefficients_on_nearest(S) @ values)


def unexplained(values: Array, expected: Array, threads: int = 1) -> Array:
    """What the nearest variables leave of each (d, n), in units of its scale and cut off at three.

    Parameters
    ----------
    values : array (d, n)
        Normal scores of the variables.
    expected : array (d, n)
        As `expected_scores` gives it.
    threads : int
        Threads for large tables.
    """
    d, n = values.shape
    out = np.empty((d, n))
    step = max(1, _BLOCK // max(n, 1))

    def columns(first: int, last: int) -> None:
        for start in range(first, last, step):
            part = slice(start, min(start + step, last))
            left = np.subtract(values[part], expected[part], out=out[part])
            left -= np.median(left, axis=1, keepdims=True)
            scale = mads(left, axis=1)
            left /= np.where(scale > 0, scale, 1.0)[:, None]
            np.clip(left, -_LARGEST_Z, _LARGEST_Z, out=left)

    over_columns(columns, d, _SELECTING * values.size, threads)
    return out


def rows_apart(left: Array) -> Mask:
    """Rows (n,) that lie together far out in a direction in which the others do not.

    Parameters
    ----------
    left : array (d, n)
        What neighbors leave of each variable, as `unexplained` gives it.

    Examples
    --------
    Ten of a hundred rows lie around one point that is no farther from the center than others:

    >>> rng = np.random.default_rng(0)
    >>> left = rng.normal(size=(40, 100))
    >>> left[:, :10] = left[:, :1] + 0.1 * left[:, :10]
    >>> np.flatnonzero(rows_apart(left)).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    d, n = left.shape
    apart = np.zeros(n, dtype=bool)
    squares, scores = principal_scores(left.T, min(_DIRECTIONS, d, n))
    along = scores * np.sqrt(d / np.where(squares > 0, squares, 1.0))[:, None]
    # The largest variance that as many independent variables have along any direction.
    noise = (1.0 + sqrt(d / n)) ** 2
    for one in along[:, (along**2).mean(axis=0) > _BEYOND_NOISE * noise].T:
        median, scale = median_and_mad(one)
        distance = np.abs(one - median) / (scale if scale > 0 else 1.0)
        far = distance > _APART
        if far.any() and is_minority(distance, far):
            apart |= far
    return apart


def is_minority(distance: Array, far: Mask) -> bool:
    """Whether far rows are a group of their own and a small one, not the end of what all rows share.

    Examples
    --------
    >>> near = np.abs(np.random.default_rng(0).normal(size=95))
    >>> distance = np.append(near, np.full(5, 9.0))
    >>> is_minority(distance, distance > 4), is_minority(near, near > 2)
    (True, False)
    """
    beyond = np.count_nonzero(distance > 0.5 * np.median(distance[far]))
    return bool(beyond <= min(_MINORITY * len(distance), _FOR_EACH * np.count_nonzero(far)))


def weights_by_size(left: Array) -> Array:
    """Weights (n,) that bring rows of which neighbors leave more than usual to the size of the others."""
    size = (left**2).mean(axis=0)
    median, spread = median_and_mad(size)
    usual = median + spread
    return np.asarray(np.divide(usual, size, out=np.ones(len(size)), where=size > usual))
