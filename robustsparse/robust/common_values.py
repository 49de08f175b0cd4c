"""Columns in which one value is most common: dummies of rare levels, counts of rare things.

In units of such a column's scale every other value is far out, though nothing is wrong with its row. Only a value that
is far from the other uncommon ones says something against a row.
"""

import numpy as np

from robustsparse.base.types import Array, Indices
from robustsparse.robust.scales import median_and_mad

# Rows that tell at a glance that no value of a column is common, by how many of them are equal.
_GLANCE, _EQUAL = 32, 4
# An uncommon value is ordinary up to this many robust standard deviations of their logarithms, and this many times
# their median.
_SDS, _TIMES = 4.0, 3.0
# Logarithms of deviations that are next to nothing say nothing of the others.
_LEAST = 1e-3


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
    columns = _with_common_value(ZT)
    if not len(columns):
        return ZT
    out = ZT.copy()
    for j in columns:
        out[j] = _excess(np.asarray(ZT[j], dtype=np.float64))
    return out


def _with_common_value(ZT: Array) -> Indices:
    """Columns with one value in at least half of the rows."""
    n = ZT.shape[1]
    glance = np.sort(ZT[:, :: max(1, n // _GLANCE)], axis=1)
    likely = np.flatnonzero((np.diff(glance, axis=1) == 0).sum(axis=1) >= _EQUAL)
    return np.array([j for j in likely if 2 * (ZT[j] == _middle(ZT[j])).sum() >= n], dtype=np.int64)


def _middle(values: Array) -> Array:
    """The value in the middle, one of the values themselves."""
    half = len(values) // 2
    return np.asarray(np.partition(values, half)[half])


def _excess(values: Array) -> Array:
    """By how much values are farther from the common one than is ordinary."""
    deviation = values - _middle(values)
    size = np.abs(deviation)
    if not size.any():
        return deviation
    unit = float(np.median(size[size > 0]))
    logs = np.log(np.maximum(size[size > 0] / unit, _LEAST))
    _, spread = median_and_mad(logs)
    limit = max(_TIMES, float(np.exp(_SDS * spread)))
    return np.asarray(np.sign(deviation) * np.maximum(size / unit - limit, 0.0))
