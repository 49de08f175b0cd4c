"""Correlation matrices: plain, of ranks, of transformed and of trimmed data."""

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri

from robustsparse.base.checks import check_choice, check_number
from robustsparse.base.ranks import column_ranks
from robustsparse.base.types import Array
from robustsparse.design.variables import variables
from robustsparse.robust.scales import column_mads

# Eigenvalues are raised to this fraction of the mean variance: a solver that needs a positive definite matrix gets
# one, and entries change by no more than what made the matrix indefinite.
SMALLEST_EIGENVALUE = 1e-4
# Standardized values beyond this are cut off there, so that their squares are finite.
LARGEST = 1e100
TINY = float(np.finfo(np.float64).tiny)
# Pairs of rows that are compared at once for Kendall's tau.
_PAIRS = 4096


def pearson(X: Array) -> Array:
    """Correlation matrix; a constant column is uncorrelated with all others.

    Examples
    --------
    >>> pearson(np.array([[1.0, 2.0, 5.0], [2.0, 4.0, 5.0], [3.0, 6.0, 5.0]])).round(2)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    # Values near the largest numbers would overflow when squared.
    largest = np.abs(X).max(axis=0, initial=0.0)
    Z = X / np.where(largest > 0, largest, 1.0)
    constant = np.ptp(Z, axis=0) == 0
    Z = Z - Z.mean(axis=0)
    Z[:, constant] = 0.0
    norm = np.sqrt((Z**2).sum(axis=0))
    Z /= np.where(norm > 0, norm, 1.0)
    return _with_diagonal(Z.T @ Z, 1.0)


def spearman_correlation(X: Array) -> Array:
    """Correlation matrix of a Gaussian copula from Spearman's rho: ``2 sin(pi rho / 6)``.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(50, 1))
    >>> spearman_correlation(np.hstack([x, np.exp(x), -x])).round(2)
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    return _with_diagonal(2.0 * np.sin(np.pi / 6.0 * pearson(column_ranks(X))), 1.0)


def kendall_correlation(X: Array) -> Array:
    """Correlation matrix of a Gaussian copula from Kendall's tau (tau-b if there are ties): ``sin(pi tau / 2)``.

    Examples
    --------
    >>> kendall_correlation(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 9.0], [4.0, 8.0]])).round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    n, d = X.shape
    ranks = column_ranks(X).astype(np.float32)
    first, second = np.triu_indices(n, k=1)
    agreement = np.zeros((d, d))
    for start in range(0, len(first), _PAIRS):
        part = slice(start, start + _PAIRS)
        order = np.sign(ranks[first[part]] - ranks[second[part]])
        agreement += order.T @ order
    untied = np.sqrt(np.diag(agreement))
    untied[untied == 0] = 1.0
    return _with_diagonal(np.sin(0.5 * np.pi * agreement / np.outer(untied, untied)), 1.0)


def mad_scales(X: Array) -> Array:
    """Median absolute deviation of each column, scaled to a normal standard deviation; where it is 0, the latter.

    Examples
    --------
    >>> mad_scales(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [900.0, 5.0]])).round(4)
    array([1.4826, 2.    ])
    """
    scales = column_mads(X)
    without = np.flatnonzero(scales == 0)
    # Squares of values near the largest numbers would overflow.
    unit = np.abs(X[:, without]).max(axis=0, initial=TINY)
    scales[without] = unit * (X[:, without] / unit).std(axis=0)
    return np.where(scales > 0, scales, 1.0)


def covariance_of(correlation: Array, scales: Array) -> Array:
    """Covariance matrix of correlations and scales; of scales beyond 1e100 or below 1e-100, in units of the largest.

    Examples
    --------
    >>> covariance_of(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([2.0, 4.0]))
    array([[ 4.,  4.],
           [ 4., 16.]])
    """
    largest = scales.max()
    s = scales if 1 / LARGEST <= largest <= LARGEST else scales / largest
    return with_variance(correlation * np.outer(s, s))


def trimmed_covariance(X: Array, epsilon: float) -> Array:
    """Covariance matrix from trimmed inner products: without the ``epsilon n`` largest products, for each pair.

    The estimate of Chen, Caramanis and Mannor (2013) that robust CLIME rests on; columns must be centered.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [-1.0, 1.0], [2.0, 1.0], [0.0, -1.0], [90.0, 90.0]])
    >>> trimmed_covariance(X, 0.2)
    array([[1.5, 0.5],
           [0.5, 1. ]])
    """
    n, d = X.shape
    kept = n - int(np.ceil(epsilon * n))
    covariance = np.empty((d, d))
    for j in range(d):
        products = X[:, j:] * X[:, [j]]
        small = np.argpartition(np.abs(products), kept - 1, axis=0)[:kept]
        covariance[j, j:] = np.take_along_axis(products, small, axis=0).mean(axis=0)
        covariance[j:, j] = covariance[j, j:]
    return with_variance(covariance)


def with_variance(S: Array) -> Array:
    """The matrix, with the variance 1 and no correlation for variables that do not vary.

    Examples
    --------
    >>> with_variance(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[4., 0.],
           [0., 1.]])
    """
    variance = np.diag(S)
    constant = variance <= 1e-14 * variance.max()
    S = np.where(constant[:, None] | constant[None, :], 0.0, S)
    return _with_diagonal(S, np.where(constant, 1.0, variance))


def positive_definite(S: Array) -> tuple[Array, bool]:
    """The matrix, and whether it had to be repaired to be positive definite.

    Eigenvalues below a small positive number are raised to it, and the result is scaled back to the old variances.

    Examples
    --------
    >>> repaired, changed = positive_definite(np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]))
    >>> changed, repaired.round(2).tolist()
    (True, [[1.0, 0.5, -0.5], [0.5, 1.0, 0.5], [-0.5, 0.5, 1.0]])
    """
    values, vectors = np.linalg.eigh(S)
    floor = SMALLEST_EIGENVALUE * np.diag(S).mean()
    # A singular sample covariance is as good as any; only a negative eigenvalue tells of an indefinite one.
    if values[0] >= -1e-10 * values[-1]:
        return S, False
    raised = (vectors * np.maximum(values, floor)) @ vectors.T
    factor = np.sqrt(np.diag(S) / np.diag(raised))
    return _with_diagonal(raised * np.outer(factor, factor), np.diag(S)), True


def nonparanormal(
    data: Any, *, method: Literal["shrinkage", "truncation"] = "shrinkage"
) -> pd.DataFrame:
    """Make every variable normal by its ranks, so that methods for normal data fit a Gaussian copula.

    Liu, Lafferty and Wasserman (2009), Journal of Machine Learning Research 10, 2295-2328. Checked against
    ``huge.npn`` of the R package huge 1.3.5, whose two transformations these are.

    Parameters
    ----------
    data : DataFrame or array (n, d)
        Variables; rows with missing values are left out.
    method : {"shrinkage", "truncation"}
        Normal quantiles of ``rank / (n + 1)``; or of ``rank / n`` cut off near 0 and 1 at the paper's
        ``1 / (4 n^(1/4) sqrt(pi log n))``.

    Returns
    -------
    DataFrame
        Variables with the standard deviation 1.

    Examples
    --------
    >>> x = np.exp(np.random.default_rng(0).normal(size=(100, 2)))
    >>> made = nonparanormal(x)
    >>> made.std().round(6).tolist(), bool(made.skew().abs().max() < 0.01)
    ([1.0, 1.0], True)
    """
    check_choice("method", method, ("shrinkage", "truncation"))
    got = variables(data)
    n = len(got.X)
    ranks = column_ranks(got.X)
    if method == "shrinkage":
        Z = ndtri(ranks / (n + 1))
    else:
        cut = 1.0 / (4.0 * n**0.25 * np.sqrt(np.pi * np.log(n)))
        Z = ndtri(np.clip(ranks / n, cut, 1.0 - cut))
    spread = Z.std(axis=0, ddof=1)
    Z = Z / np.where(spread > 0, spread, 1.0)
    return pd.DataFrame(Z, index=got.rows, columns=list(got.nodes))


def robust_standardized(X: Array) -> Array:
    """Columns with median 0 and median absolute deviation 1 (in normal standard deviations)."""
    Z = (X - np.median(X, axis=0)) / mad_scales(X)
    return np.asarray(np.clip(Z, -LARGEST, LARGEST))


def check_epsilon(epsilon: float) -> float:
    """Fraction of bad rows, below one half."""
    return check_number("epsilon", epsilon, 0.0, 0.49)


def _with_diagonal(S: Array, diagonal: ArrayLike) -> Array:
    """The symmetric part of a matrix, with an exact diagonal."""
    S = 0.5 * (S + S.T)
    np.fill_diagonal(S, diagonal)
    return S
