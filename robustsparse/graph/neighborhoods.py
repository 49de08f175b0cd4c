"""Regressions of every node on its neighbors: partial correlations and precision matrix of a given graph."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv

from robustsparse import kernels
from robustsparse.base.matrices import canonical, upper
from robustsparse.base.types import Array, Places

# A node's variance given its neighbors is at least this share of its variance: covariances of ranks need not be
# positive definite, and a node may be a copy of another.
SMALLEST_SHARE = 1e-10
TINY = float(np.finfo(np.float64).tiny)


def precision_of_graph(covariance: Array, adjacency: Any) -> Array:
    r"""Estimate the precision matrix with the zeros of a graph.

    Node j is regressed on its neighbors: with coefficients :math:`\beta_{ij}` and variance :math:`\tau_j^2` of what
    they leave, :math:`\Omega_{jj} = 1/\tau_j^2` and
    :math:`\Omega_{ij} = -(\beta_{ij}/\tau_j^2 + \beta_{ji}/\tau_i^2)/2` at the edges. For a true covariance and its
    graph this is its inverse.

    Parameters
    ----------
    covariance : (d, d) array
        Covariance or correlation matrix.
    adjacency : sparse (d, d) matrix of bool
        Symmetric graph.

    Returns
    -------
    (d, d) array

    Examples
    --------
    >>> from scipy import sparse
    >>> omega = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    >>> precision_of_graph(np.linalg.inv(omega), sparse.csr_array(omega != 0)).round(10) + 0.0
    array([[ 2., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  2.]])
    """
    omega = np.zeros_like(covariance, dtype=np.float64)
    for j, near, beta, left in _regressions(covariance, adjacency):
        omega[near, j] = -beta / left
        omega[j, j] = 1.0 / left
    return 0.5 * (omega + omega.T)


def partial_correlations(precision: Array) -> Array:
    """Partial correlations of a precision matrix, within [-1, 1] and with ones on the diagonal.

    Examples
    --------
    >>> partial_correlations(np.array([[4.0, -1.0], [-1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    root = np.sqrt(np.diag(precision))
    partial: Array = np.clip(-precision / np.outer(root, root), -1.0, 1.0) + 0.0
    np.fill_diagonal(partial, 1.0)
    return partial


def graph_criterion(covariance: Array, adjacency: Any, nobs: int, gamma: float = 0.5) -> float:
    r"""Extended BIC of a graph, smaller is better.

    With the variance :math:`\tau_j^2` of each node that its neighbors leave,
    :math:`\frac n2 \sum_j \log \max(\tau_j^2 / S_{jj}, 1/n) + |E| (\log n + 4 \gamma \log d)`: the pseudolikelihood
    counts what an edge explains at both of its ends, hence the half. That neighbors leave less than a share 1/n of a
    variance counts no further: a robust covariance that is indefinite, or only just positive definite, would let many
    neighbors explain any node to the last digit.

    Parameters
    ----------
    covariance : (d, d) array
        Covariance or correlation matrix that the graph rests on.
    adjacency : sparse (d, d) matrix of bool
        Symmetric graph.
    nobs : int
        Number of rows that the covariance rests on.
    gamma : float
        0 is the BIC; larger values ask more of an edge when there are many nodes.

    Returns
    -------
    float
        Infinite if a node has more neighbors than half the number of rows, which explain anything.

    Examples
    --------
    >>> from scipy import sparse
    >>> S = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> round(graph_criterion(S, sparse.csr_array([[False, True], [True, False]]), nobs=100), 2)
    -38.64
    """
    rows, columns, _ = upper(adjacency)
    return pairs_criterion(covariance, rows, columns, nobs, gamma)


def pairs_criterion(
    covariance: Array, rows: Places, columns: Places, nobs: int, gamma: float = 0.5
) -> float:
    """`graph_criterion` of the graph whose edges are given by rows and columns above the diagonal."""
    d = len(covariance)
    nodes = np.concatenate([rows, columns])
    degrees = np.bincount(nodes, minlength=d)
    if degrees.max(initial=0) > nobs / 2:
        return float("inf")
    # The neighbors of each node, ascending, one node after the other.
    neighbors = np.sort(nodes * d + np.concatenate([columns, rows])) % d
    own = np.diag(covariance)
    varies = own > 0
    left = _residual_variances(covariance, degrees, neighbors)[varies] / own[varies]
    explained = float(np.log(np.maximum(left, 1.0 / nobs)).sum())
    price = math.log(nobs) + 4.0 * gamma * math.log(d)
    return 0.5 * nobs * explained + len(rows) * price


def _residual_variances(covariance: Array, degrees: Places, neighbors: Places) -> Array:
    """Variance of each node that its neighbors leave; as many as its degree are its own."""
    starts = np.concatenate([[0], np.cumsum(degrees)])
    out = np.empty(len(covariance))
    kernels.residual_variances(np.ascontiguousarray(covariance), starts, neighbors, out)
    for j in np.flatnonzero(np.isnan(out)).tolist():
        out[j] = _regression(covariance, j, neighbors[starts[j] : starts[j + 1]])[1]
    return out


def _regressions(covariance: Array, adjacency: Any) -> Iterator[tuple[int, Places, Array, float]]:
    """Each node with its neighbors, its coefficients on them and the variance that they leave."""
    graph = canonical(adjacency)
    for j in range(len(covariance)):
        near = graph.indices[graph.indptr[j] : graph.indptr[j + 1]]
        near = near[near != j]
        yield j, near, *_regression(covariance, j, near)


def _regression(covariance: Array, j: int, near: Places) -> tuple[Array, float]:
    """Coefficients of a node on some others, and the variance that they leave."""
    along = covariance[near, j]
    beta = _solve(covariance[np.ix_(near, near)], along) if len(near) else along
    own = float(covariance[j, j])
    # A constant node leaves nothing; its precision is huge, not infinite.
    return beta, max(own - float(beta @ along), SMALLEST_SHARE * own, TINY)


def _solve(matrix: Array, vector: Array) -> Array:
    """Solution of a symmetric system; of one that is not positive definite, on its positive part."""
    _, solution, failed = dposv(matrix, vector)
    if not failed:
        return np.asarray(solution, dtype=np.float64)
    values, vectors = eigh(matrix)
    usable = values > SMALLEST_SHARE * max(values[-1], 0.0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=usable)
    return np.asarray(vectors @ (inverse * (vectors.T @ vector)), dtype=np.float64)
