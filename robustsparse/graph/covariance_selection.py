"""The normal distribution with the zeros of a graph (Dempster's covariance selection)."""

from typing import Any

import numpy as np

from robustsparse.base.matrices import canonical
from robustsparse.base.types import Array, Places

# Correlations of ranks need not be positive definite; their smallest eigenvalue is raised to this.
_SMALLEST = 1e-3
# Largest change of a correlation at which the sweeps end, and how many there may be.
_SETTLED, _SWEEPS = 1e-10, 500


def covariance_selection(correlation: Array, adjacency: Any) -> Array:
    """The inverse of the covariance that has these correlations at the edges of a graph, and zeros elsewhere in it.

    It maximizes the likelihood among normal distributions with the graph (Dempster 1972, Biometrics 28, 157-175), node
    by node: each is regressed on its neighbors in the covariance of the distribution as it is so far, until nothing
    changes (Hastie, Tibshirani and Friedman 2009, Algorithm 17.1).

    Parameters
    ----------
    correlation : array (d, d)
        Correlations, symmetric; an indefinite matrix is shrunken until it is not.
    adjacency : sparse (d, d) matrix of bool
        Symmetric graph.

    Returns
    -------
    array (d, d)
        Symmetric and positive definite.

    Examples
    --------
    >>> from scipy import sparse
    >>> omega = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    >>> covariance_selection(np.linalg.inv(omega), sparse.csr_array(omega != 0)).round(8) + 0.0
    array([[ 2., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  2.]])
    """
    S = _definite(np.asarray(correlation, dtype=np.float64))
    graph = canonical(adjacency)
    neighbors = [np.setdiff1d(graph[[j]].indices, j) for j in range(len(S))]
    W = S.copy()
    for _ in range(_SWEEPS):
        change = max((_regress(W, S, j, near) for j, near in enumerate(neighbors)), default=0.0)
        if change < _SETTLED:
            break
    return _inverse(W, S, neighbors)


def _definite(S: Array) -> Array:
    """The matrix, mixed with its diagonal as far as its smallest eigenvalue asks for."""
    diagonal = np.diag(np.diag(S))
    root = np.sqrt(np.diag(S))
    lowest = float(np.linalg.eigvalsh(S / np.outer(root, root))[0])
    if lowest >= _SMALLEST:
        return S
    share = (_SMALLEST - lowest) / (1.0 - lowest)
    return (1.0 - share) * S + share * diagonal


def _coefficients(W: Array, S: Array, j: int, near: Places) -> Array:
    return np.asarray(np.linalg.solve(W[np.ix_(near, near)], S[near, j]))


def _regress(W: Array, S: Array, j: int, near: Places) -> float:
    """Set the covariances of a node to what its neighbors explain; returns the largest change."""
    others = np.arange(len(W)) != j
    new = W[np.ix_(others, near)] @ _coefficients(W, S, j, near) if len(near) else 0.0
    change = float(np.abs(W[others, j] - new).max(initial=0.0))
    W[others, j] = W[j, others] = new
    return change


def _inverse(W: Array, S: Array, neighbors: list[Places]) -> Array:
    omega = np.zeros_like(W)
    for j, near in enumerate(neighbors):
        beta = _coefficients(W, S, j, near) if len(near) else np.zeros(0)
        omega[j, j] = 1.0 / (S[j, j] - float(W[near, j] @ beta))
        omega[near, j] = -beta * omega[j, j]
    return 0.5 * (omega + omega.T)
