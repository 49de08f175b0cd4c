"""Sparse precision matrices from a covariance matrix, along a path of penalties."""

import numpy as np
from numpy.typing import ArrayLike

from robustsparse import kernels
from robustsparse.base.errors import ConvergenceWarning, DataError, ParameterError, warn_user
from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Mask
from robustsparse.baselines.lasso_paths import MAX_SWEEPS, descending, downward, lambda_path

# Change of a covariance between rounds, as a fraction of the largest variance, at which the graphical lasso stops.
GLASSO_TOLERANCE = 1e-7
GLASSO_ROUNDS = 1000
# A path has about as many pivots as there are variables; this many only if it cycles.
PIVOTS_PER_VARIABLE = 200


def glasso_path(S: ArrayLike, lambdas: ArrayLike) -> Array:
    """Graphical lasso at each penalty: the minimum of ``tr(S W) - log det W + lambda sum_{i != j} |W_ij|``.

    Friedman, Hastie and Tibshirani (2008), Biostatistics 9, 432-441, without a penalty on the diagonal. Each penalty
    starts from the last solution, moved toward S until it is feasible for the dual problem, so that every iterate
    is positive definite (Mazumder and Hastie 2012, Electronic Journal of Statistics 6, 2125-2149, show that other
    warm starts may fail). Checked against the R package glasso 1.11.

    Parameters
    ----------
    S : array (d, d)
        Covariance matrix, positive semidefinite with a positive diagonal.
    lambdas : array
        Positive penalties, in any order.

    Returns
    -------
    array (n_lambdas, d, d)
        Precision matrices, from the largest penalty to the smallest.

    Examples
    --------
    >>> S = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> np.linalg.inv(glasso_path(S, [0.2])[0]).round(6)
    array([[1. , 0.3],
           [0.3, 1. ]])
    """
    S, penalties = np.ascontiguousarray(S, dtype=np.float64), descending(lambdas)
    if penalties[-1] <= 0:
        raise ParameterError("lambdas of the graphical lasso must be positive.")
    W, B, out = _glasso_start(S, penalties)
    tol, last, failed = GLASSO_TOLERANCE * S.diagonal().max(), penalties[0], 0
    for q, penalty in enumerate(penalties):
        W = W + (1.0 - penalty / last) * (S - W)
        last = penalty
        rounds = kernels.graphical_lasso(S, penalty, W, B, tol, GLASSO_ROUNDS, MAX_SWEEPS)
        failed += rounds < 0
        kernels.precision_from_columns(W, B, out[q])
    _warn(failed, len(penalties), "graphical lasso")
    return out


def _glasso_start(S: Array, penalties: Array) -> tuple[Array, Array, Array]:
    """Covariance, coefficients and room for the solutions: a start that is feasible at the first penalty."""
    diagonal = np.diag(np.diag(S))
    largest = np.abs(S - diagonal).max()
    share = min(penalties[0] / largest, 1.0) if largest > 0 else 1.0
    W = S + share * (diagonal - S)
    return W, np.zeros_like(S), np.zeros((len(penalties), *S.shape))


def _warn(failed: int, total: int, what: str) -> None:
    if failed:
        warn_user(
            f"{failed} of {total} steps of the {what} did not settle; use larger lambdas.",
            ConvergenceWarning,
        )


def clime_path(S: ArrayLike, lambdas: ArrayLike, *, threads: int = 1) -> Array:
    """CLIME at each penalty: column j minimizes ``|b|_1`` subject to ``|S b - e_j|_inf <= lambda``.

    Cai, Liu and Luo (2011), Journal of the American Statistical Association 106, 594-607, before symmetrization. A
    parametric simplex method (in the manner of Pang, Liu and Vanderbei 2014, Journal of Machine Learning Research
    15, 489-493) follows each column exactly along the whole path. Checked against linear programs solved one by one.

    Parameters
    ----------
    S : array (d, d)
        Covariance matrix; it need not be positive semidefinite.
    lambdas : array
        Penalties, in any order.
    threads : int
        Number of threads over the columns; the result does not depend on it.

    Returns
    -------
    array (n_lambdas or fewer, d, d)
        Matrices from the largest penalty to the smallest that all columns allow: with a singular S the constraints
        contradict each other below some penalty.

    Examples
    --------
    >>> clime_path([[1.0, 0.5], [0.5, 1.0]], [0.6, 0.2])[1].round(3)
    array([[ 0.933, -0.267],
           [-0.267,  0.933]])
    """
    S, penalties = np.ascontiguousarray(S, dtype=np.float64), descending(lambdas)
    # Pivots are compared with rounding errors in units of the largest variance.
    unit = float(np.diag(S).max())
    d = len(S)
    out, reached = np.zeros((len(penalties), d, d)), np.zeros(d, dtype=np.int64)

    def columns(first: int, last: int) -> None:
        kernels.clime_columns(
            S / unit, penalties, first, last, PIVOTS_PER_VARIABLE * d, out, reached
        )

    over_columns(columns, d, out.size, threads)
    if not reached.min():
        raise DataError(
            f"CLIME has no solution at lambda={penalties[0]:.4g} or below; use larger lambdas."
        )
    return np.asarray(out[: reached.min()] / unit)


def clime_lambdas(S: Array, n_lambdas: int, ratio: float) -> Array:
    """Penalties of CLIME from the smallest that leaves the graph empty downward.

    With one coefficient, ``b = (1 - lambda) / S_jj`` and all ``|S_ij| b <= lambda``.

    Examples
    --------
    >>> clime_lambdas(np.array([[1.0, 0.5], [0.5, 1.0]]), 2, 0.1).round(4)
    array([0.3333, 0.0333])
    """
    relative = S / np.diag(S)[None, :]
    worst = lambda_path(relative, 1)[0]
    # A hair above, lest rounding should make the empty graph infeasible.
    first = (1.0 + 1e-12) * worst / (1.0 + worst)
    return downward(first, n_lambdas, ratio)


def smaller_of_both(matrix: Array) -> Array:
    """Symmetric matrix from the entry of each pair that is smaller in absolute value.

    Examples
    --------
    >>> smaller_of_both(np.array([[1.0, 0.5], [-0.2, 1.0]]))
    array([[ 1. , -0.2],
           [-0.2,  1. ]])
    """
    return _symmetric(matrix, np.abs(matrix) <= np.abs(matrix.T))


def larger_of_both(matrix: Array) -> Array:
    """Symmetric matrix from the entry of each pair that is larger in absolute value.

    Examples
    --------
    >>> larger_of_both(np.array([[1.0, 0.5], [-0.2, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    return _symmetric(matrix, np.abs(matrix) >= np.abs(matrix.T))


def _symmetric(matrix: Array, upper: Mask) -> Array:
    """Symmetric matrix from the upper entry of each pair where `upper` says so, else the lower one."""
    chosen = np.triu(np.where(upper, matrix, matrix.T))
    return np.asarray(chosen + np.triu(chosen, k=1).T)
