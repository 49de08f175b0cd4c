"""Columns in which one value is most common: dummies of rare levels, counts of rare things.

In units of such a column's scale every other value is far out, though nothing is wrong with its row. Only a value that
is far from the other uncommon ones says something against a row.
"""

import numpy as np

from robustsparse.base.types import Array
from robustsparse.robust.scales import median_and_mad

# Rows that tell at a glance that no value of a column is common, by how many of them are equal.
_GLANCE, _EQUAL = 32, 4
# An uncommon value is ordinary up to this many robust standard deviations of their logarithms, and this many times
# their median.
_SDS, _TIMES = 4.0, 3.0
# Logarithms of deviations that are next to nothing say nothing of the others.
_LEAST = 1e-3
# The limit stays a number.
_LARGEST_LOG = 100.0
# Entries that are worked on at a time.
_BLOCK = 1 << 18


def beyond_ordinary(ZT: Array) -> Array:
    """A design in which columns with one most common value hold only what is beyond their ordinary values.

    Parameters
    ----------
    ZT : (d, n) array
        Transposed predictors.

    Returns
    -------
    (d, n) array
        The same array if there is no such column; else a copy in which these are 0 but for values far from the other
        uncommon ones, which are measured in units of the median deviation of these.

    Examples
    --------
    >>> rare = np.array([0.0, 0, 0, 0, 1, 0, 0, 1, 0, 1])
    >>> wrong = np.array([0.0, 0, 0, 0, 1, 0, 0, 1, 0, 999])
    >>> beyond_ordinary(np.array([rare, wrong])).max(axis=1)
    array([  0., 996.])
    """
    n = ZT.shape[1]
    glance = np.sort(ZT[:, :: max(1, n // _GLANCE)], axis=1)
    likely = np.flatnonzero((np.diff(glance, axis=1) == 0).sum(axis=1) >= _EQUAL)
    out = ZT
    width = max(1, _BLOCK // n)
    for first in range(0, len(likely), width):
        columns = likely[first : first + width]
        deviation = _deviation(np.asarray(ZT[columns], dtype=np.float64))
        common = 2 * (deviation == 0).sum(axis=1) >= n
        if common.any():
            out = ZT.copy() if out is ZT else out
            out[columns[common]] = _excess(deviation[common])
    return out


def _deviation(block: Array) -> Array:
    """How far the values of each row of a block are from the one in the middle, which is one of them."""
    half = block.shape[1] // 2
    return np.asarray(block - np.partition(block, half, axis=1)[:, half, None])


def _excess(deviation: Array) -> Array:
    """By how much values are farther from the common one than is ordinary, for each row of a block."""
    size = np.abs(deviation)
    out = np.zeros_like(size)
    least = np.where(size > 0, size, np.inf).min(axis=1)
    # Of two values none is far from the other uncommon ones: most rows are done.
    for j in np.flatnonzero(size.max(axis=1) > _TIMES * least):
        uncommon = size[j][size[j] > 0]
        unit = float(np.median(uncommon))
        _, spread = median_and_mad(np.log(np.maximum(uncommon / unit, _LEAST)))
        limit = max(_TIMES, float(np.exp(min(_SDS * spread, _LARGEST_LOG))))
        out[j] = np.sign(deviation[j]) * np.maximum(size[j] / unit - limit, 0.0)
    return out
