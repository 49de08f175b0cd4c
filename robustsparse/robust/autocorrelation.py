"""Covariance of sums over rows that follow each other in time."""

from dataclasses import dataclass
from math import floor

import numpy as np

from robustsparse.base.types import Array

# Autoregressions are held to this much of what would last forever (Andrews and Monahan, 1992).
_LARGEST_ROOT = 0.97
# Lags looked at to choose the bandwidth, for a hundred rows, and how they grow (Newey and West, 1994).
_PILOT_LAGS, _PILOT_POWER = 3.0, 2.0 / 9.0
# Of Bartlett's kernel: what its best bandwidth is a multiple of, and the integral of its square.
_BARTLETT, _BARTLETT_SQUARES = 1.1447, 2.0 / 3.0


@dataclass(frozen=True, eq=False)
class LongRun:
    """Covariance of a sum over rows in the order of time.

    Attributes
    ----------
    covariance : array (q, q)
        The covariance.
    bandwidth : float
        Number of rows over which those of an autoregression's errors are taken to hang together.
    freedom : float
        Degrees of freedom of the covariance: independent rows that would tell as much of it.
    """

    covariance: Array
    bandwidth: float
    freedom: float


def newey_west(series: Array) -> LongRun:
    """Newey and West's estimate with prewhitening, and a bandwidth that the series chooses.

    A first autoregression takes most of the dependence away; what its errors have left is weighed down with the lag.

    Parameters
    ----------
    series : array (n, q)
        What is summed, of mean zero, in the order of time.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> error = rng.normal(size=4000)
    >>> series = np.array([error[t] + 0.5 * error[t - 1] for t in range(1, 4000)])[:, None]
    >>> found = newey_west(series)
    >>> bool(abs(found.covariance[0, 0] / len(series) / 1.5**2 - 1) < 0.25)
    True
    """
    n = len(series)
    root = _autoregression(series)
    errors = series[1:] - root * series[:-1]
    bandwidth = _bandwidth(errors)
    middle = _kernel_sum(errors, bandwidth) * n / len(errors)
    whole = 1.0 / (1.0 - root)
    freedom = n / (_BARTLETT_SQUARES * (bandwidth + 1.0) + _doubt(root))
    return LongRun(np.outer(whole, whole) * middle, bandwidth, freedom)


def _doubt(root: Array) -> float:
    """What estimated autoregressions add to the relative variance of a variance, times n / 2, on average.

    The variance is in proportion to 1 / (1 - root)^2, and the root has itself a variance of (1 - root^2) / n.
    """
    return float((2.0 * (1.0 + root) / (1.0 - root)).mean()) if len(root) else 0.0


def _autoregression(series: Array) -> Array:
    """Coefficients (q,) of first autoregressions, one for each column, which are never explosive.

    Those of a series whose mean was fitted are too small by (1 + 4 root) / n or so (Kendall, 1954).
    """
    before, after = series[:-1], series[1:]
    size = (before**2).sum(axis=0)
    root = (before * after).sum(axis=0) / np.where(size > 0, size, 1.0)
    whole = root + (1.0 + 4.0 * root) / len(series)
    return np.asarray(np.clip(whole, -_LARGEST_ROOT, _LARGEST_ROOT))


def _bandwidth(errors: Array) -> float:
    """Newey and West's (1994) choice, each coefficient with the same say."""
    n = len(errors)
    lags = min(floor(_PILOT_LAGS * (n / 100.0) ** _PILOT_POWER), n - 1)
    variance = (errors**2).sum(axis=0)
    unit = np.where(variance > 0, variance, 1.0)
    products = [(errors[j:] * errors[: n - j]).sum(axis=0) / unit for j in range(lags + 1)]
    level = products[0] + 2.0 * np.sum(products[1:], axis=0)
    slope = 2.0 * np.sum([j * products[j] for j in range(1, lags + 1)], axis=0)
    share = float((slope**2).sum()) / max(float((level**2).sum()), 1e-12)
    return float(min(_BARTLETT * (share * n) ** (1.0 / 3.0), n - 1.0))


def _kernel_sum(errors: Array, bandwidth: float) -> Array:
    """Sum (q, q) of products of rows, weighed down with their distance."""
    total = errors.T @ errors
    for lag in range(1, floor(bandwidth) + 1):
        part = errors[lag:].T @ errors[:-lag]
        total += (1.0 - lag / (bandwidth + 1.0)) * (part + part.T)
    return np.asarray(total)
