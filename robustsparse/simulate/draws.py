"""Random draws that the simulations are made of: correlated rows, heavy tails, sparse vectors."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solveh_banded

from robustsparse.base.checks import check_count
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array

TAILS = ("gaussian", "lognormal", "t3", "cauchy")
LOG_VARIANCE = 4.0  # Z ~ logN(0, 4), the paper's heavy tail
SQRT_TOLERANCE = 1e-15  # relative accuracy of the matrix square root


def standardized(tail: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Independent entries with mean 0 and variance 1 (Cauchy: median 0 and scale 1).

    The moments are those of the distribution, never of the sample: dividing by a sample's
    standard deviation would tame the very tail that is wanted.
    """
    if tail == "gaussian":
        return rng.standard_normal(shape)
    if tail == "t3":
        return np.asarray(rng.standard_t(3, shape) / math.sqrt(3))
    if tail == "cauchy":
        return np.asarray(rng.standard_cauchy(shape))
    mean = math.exp(LOG_VARIANCE / 2)
    sd = math.sqrt(math.expm1(LOG_VARIANCE)) * mean
    return np.asarray((rng.lognormal(0.0, math.sqrt(LOG_VARIANCE), shape) - mean) / sd)


def correlated_rows(tail: str, n: int, d: int, rho: float, rng: np.random.Generator) -> Array:
    """Rows with covariance ``rho ** |i - j|``: ``sqrt(Sigma) x`` with standardized entries x.

    Log-normal rows use the symmetric square root, as in the paper. For Gaussian rows every
    square root gives the same law, so the cheap autoregression serves; t rows follow it too.
    """
    entries = standardized(tail, (n, d), rng)
    return toeplitz_sqrt_rows(entries, rho) if tail == "lognormal" else autoregression(entries, rho)


def autoregression(entries: Array, rho: float) -> Array:
    """``x_j = rho x_{j-1} + sqrt(1 - rho^2) e_j`` along each row."""
    # Imported where it is used: scipy.signal takes longer to import than all else here.
    from scipy.signal import lfilter

    shocks = entries.copy()
    shocks[:, 1:] *= math.sqrt(1.0 - rho**2)
    return np.asarray(lfilter([1.0], [1.0, -rho], shocks, axis=1))


def toeplitz_sqrt_rows(entries: Array, rho: float) -> Array:
    """Multiply every row by the symmetric square root of ``rho ** |i - j|``.

    The inverse A of that matrix is tridiagonal and ``A^(-1/2)`` is the mean over t in (0, pi/2)
    of ``(sin^2 t + A cos^2 t)^(-1)``. The midpoint rule converges geometrically (the eigenvalues
    of A lie symmetrically about 1 on the log scale), so a few tridiagonal solves give full
    accuracy without any d x d matrix.
    """
    if rho == 0.0 or entries.shape[1] == 1:
        return entries.copy()
    diagonal, beside = _toeplitz_inverse(entries.shape[1], rho)
    nodes = _quadrature_size(rho)
    result = np.zeros(entries.shape[::-1])
    for angle in (np.arange(nodes) + 0.5) * (math.pi / (2 * nodes)):
        sine, cosine = math.sin(angle) ** 2, math.cos(angle) ** 2
        bands = np.array([beside * cosine, diagonal * cosine + sine])
        result += solveh_banded(bands, entries.T, check_finite=False)
    return np.asarray(result.T / nodes)


def _toeplitz_inverse(d: int, rho: float) -> tuple[Array, Array]:
    """Diagonal and (padded) upper diagonal of the inverse of ``rho ** |i - j|``."""
    diagonal = np.full(d, 1.0 + rho**2)
    diagonal[[0, -1]] = 1.0
    beside = np.full(d, -rho)
    beside[0] = 0.0
    return diagonal / (1.0 - rho**2), beside / (1.0 - rho**2)


def _quadrature_size(rho: float) -> int:
    """Midpoint nodes that reach `SQRT_TOLERANCE`; the error is a power of the rate below."""
    root = math.sqrt((1 + abs(rho)) / (1 - abs(rho)))
    rate = ((root - 1) / (root + 1)) ** 2
    return max(2, math.ceil(math.log(SQRT_TOLERANCE / 2) / math.log(rate)))


def sparse_signs(d: int, k: int, rng: np.random.Generator) -> Array:
    """Draw a vector with k entries +1 or -1 at random places."""
    check_count("k", k, 0, d)
    beta = np.zeros(d)
    beta[rng.choice(d, k, replace=False)] = rng.choice([-1.0, 1.0], k)
    return beta


def outlier_count(n: int, epsilon: float) -> int:
    """Corrupted rows beside n authentic ones so that they are a fraction epsilon of all."""
    if not 0 <= epsilon < 1:
        raise ParameterError(f"epsilon={epsilon}: a fraction of corrupted rows lies in [0, 1)")
    return max(1, round(epsilon / (1 - epsilon) * n)) if epsilon > 0 else 0
