"""Rows that lie closer together than the others: copies, near-copies and looser clusters.

A row that is repeated with small changes counts many times, and no robust method sees an outlier among its copies. Such
rows are found by how near they are to several others, beside how near rows usually are in the same data: where every
row has its copies, as in a replicated experiment, none stands out.
"""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from robustsparse.base.types import Array, Indices, Mask
from robustsparse.robust.scales import median_and_mad

# The neighbor whose nearness counts, as a share of the rows and at least: a cluster has more rows than that.
_SHARE, _LEAST = 0.025, 3
# A row is in a cluster if the logarithm of its nearness is this many robust standard deviations, and at least this
# much, below that of the median row.
_SDS, _BELOW = 4.0, 0.1
# Nearer than this is a copy.
_COPY = 1e-2
# Values are cut off there: rows that are far out in the same columns are alike, and one far value does not hide others.
_FAR = 4.0
# Rows of which all pairs are looked at, and columns: distances in many columns hardly differ from those in some.
_MOST_ROWS, MOST_COLUMNS = 5000, 2000
# Pairs that are worked on at a time.
_BLOCK = 1 << 22
# Clusters of more rows than this, together, are the data.
_MINORITY = 0.45


def row_clusters(ZT: Array) -> Indices:
    """Clusters of rows that lie closer together than most others do.

    The nearness of two rows is the square of their distance beside the sum of the squares of their distances from the
    center: 0 for copies, near 1 for unrelated rows of many columns.

    Parameters
    ----------
    ZT : (d, n) array
        Transposed robustly standardized predictors.

    Returns
    -------
    (n,) array of int
        Number of each row's cluster from 0 on, -1 for a row in none. No row is in one if there are more than 5,000 rows
        or if nearly half of them would be.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(40, 60))
    >>> Z[30:] = Z[30] + 0.2 * Z[30:]
    >>> clusters = row_clusters(Z.T)
    >>> np.flatnonzero(clusters == 0).tolist()
    [30, 31, 32, 33, 34, 35, 36, 37, 38, 39]
    """
    n = ZT.shape[1]
    none = np.full(n, -1, dtype=np.int64)
    neighbor = max(_LEAST, round(_SHARE * n))
    if not 2 * neighbor < n <= _MOST_ROWS:
        return none
    Z = _centered(ZT)
    nearness = np.log(_nearness(Z, neighbor))
    median, scale = median_and_mad(nearness)
    cutoff = median - max(_SDS * scale, _BELOW)
    members = np.flatnonzero(nearness < cutoff)
    if not 0 < len(members) <= _MINORITY * n:
        return none
    joined = csr_array(_pairs(Z[members], Z[members]) <= np.exp(cutoff))
    _, label = connected_components(joined, directed=False)
    large = np.bincount(label)[label] >= neighbor
    none[members[large]] = np.unique(label[large], return_inverse=True)[1]
    return none


def cluster_shares(clusters: Indices, among: Mask | None = None) -> Array:
    """Weights (n,) with which a cluster counts like one row.

    Parameters
    ----------
    clusters : (n,) array of int
        Clusters, as `row_clusters` finds them.
    among : (n,) bool array, optional
        Only clusters that lie for the most part among these rows; all of them by default.

    Examples
    --------
    >>> cluster_shares(np.array([-1, 0, 0, -1, 1, 1]))
    array([1. , 0.5, 0.5, 1. , 0.5, 0.5])
    >>> cluster_shares(np.array([-1, 0, 0, 1, 1]), np.array([True, True, True, False, False]))
    array([1. , 0.5, 0.5, 1. , 1. ])
    """
    shares = np.ones(len(clusters))
    inside = clusters >= 0
    label = clusters[inside]
    size = np.bincount(label)
    meant = size > 0 if among is None else 2 * np.bincount(label, among[inside]) > size
    shares[inside] = np.where(meant[label], 1.0 / size[label], 1.0)
    return shares


def _centered(ZT: Array) -> Array:
    """Rows (n, some columns), cut off and centered, in single precision."""
    step = max(1, -(-len(ZT) // MOST_COLUMNS))
    Z = np.clip(ZT[::step], -_FAR, _FAR).astype(np.float32).T
    return np.asarray(Z - Z.mean(axis=0))


def _pairs(A: Array, B: Array) -> Array:
    """Nearness of every row of one with every row of the other."""
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    np.maximum(squares, np.finfo(np.float32).tiny, out=squares)
    # In place, since a new array for each step would take as long as the steps.
    near = A @ B.T
    near *= 2.0
    near /= squares
    return np.asarray(np.subtract(1.0, near, out=near))


def _nearness(Z: Array, neighbor: int) -> Array:
    """How near (n,) each row's neighbor of that number is."""
    n = len(Z)
    out = np.empty(n)
    height = max(1, _BLOCK // n)
    for first in range(0, n, height):
        part = slice(first, first + height)
        # A row's nearest is itself.
        near = _pairs(Z[part], Z)
        near.partition(neighbor, axis=1)
        out[part] = near[:, neighbor]
    return np.maximum(out, _COPY)
