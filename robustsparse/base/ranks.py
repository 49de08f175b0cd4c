"""Ranks of the values of a column."""

import numpy as np
from scipy.special import ndtri

from robustsparse.base.types import Array

# Values ranked at a time: few enough for the temporary arrays to stay in the cache.
_ENTRIES_AT_ONCE = 2**14


def column_ranks(X: Array) -> Array:
    """Ranks from 1 within each column (n, d); ties share the mean of theirs.

    pandas' ranks take longer, and scipy.stats takes long to import.

    Examples
    --------
    >>> column_ranks(np.array([[30.0], [10.0], [30.0], [20.0]])).ravel().tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    n = len(X)
    return _by_rank(X.T, np.arange(1.0, n + 0.5, 0.5)).T


def normal_quantiles(XT: Array) -> Array:
    """Ranks within each row (d, n) as quantiles of the normal distribution; rows of one value become zero.

    Examples
    --------
    >>> normal_quantiles(np.array([[1.0, 50.0, 2.0], [7.0, 7.0, 7.0]])).round(3).tolist()
    [[-0.674, 0.674, 0.0], [0.0, 0.0, 0.0]]
    """
    n = XT.shape[1]
    return _by_rank(XT, ndtri(np.arange(1.0, n + 0.5, 0.5) / (n + 1.0)))


def _by_rank(XT: Array, table: Array) -> Array:
    """For each value of a row (d, n) the entry of `table` for its rank: 1, 1.5, 2 and so on up to n."""
    d, n = XT.shape
    out = np.empty((d, n))
    step = max(1, _ENTRIES_AT_ONCE // max(n, 1))
    for first in range(0, d, step):
        _look_up(XT[first : first + step], table, out[first : first + step])
    return out


def _look_up(XT: Array, table: Array, out: Array) -> None:
    d, n = XT.shape
    XT = np.ascontiguousarray(XT)
    # Places in the whole array are faster to look up than those along an axis.
    order = np.argsort(XT, axis=1) + n * np.arange(d)[:, None]
    ordered = XT.ravel()[order]
    # True where a value equals the one before it. The last column stays False: it ends a run of equal values.
    repeats = np.zeros((d, n + 1), dtype=bool)
    np.equal(ordered[:, 1:], ordered[:, :-1], out=repeats[:, 1:-1])
    before, after = repeats[:, :-1], repeats[:, 1:]
    found = np.broadcast_to(table[::2], (d, n))
    if before.any():
        first, last = np.flatnonzero(after & ~before), np.flatnonzero(before & ~after)
        found = found.copy()
        found[before | after] = np.repeat(table[first % n + last % n], last - first + 1)
    out.ravel()[order] = found
