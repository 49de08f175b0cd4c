"""Robust scales, the bisquare function that they share with the refit, and the constants of robust statistics.

Scales of residuals are about zero: the fit that left the residuals has taken care of the location.
"""

import numpy as np

from robustsparse import kernels
from robustsparse.base.types import Array

# The median absolute deviation of a normal sample times this estimates its standard deviation.
MAD_TO_SD = 1.4826022185056018
# The same to four digits, as most programs print it. More digits would change the data that a seed
# draws, and the last digits of fits, so what was written with four keeps them.
ROUNDED_MAD_TO_SD = 1.4826
# 95% efficiency at the normal distribution: the constant of the bisquare function (robustbase's
# digits), and that of Huber's.
BISQUARE_EFFICIENCY = 4.685061
HUBER_EFFICIENCY = 1.345
# The bisquare constant to three digits, kept where a fit was written with them, for the same reason.
ROUNDED_BISQUARE_EFFICIENCY = 4.685
# Share trimmed at each end once bad rows are out: enough for a few that were missed, while trimming
# more costs predictors and protects from nothing.
LIGHT_TRIM = 0.02
# The bisquare loss 1 - (1 - (r/c)^2)^3 averages to one half at the normal distribution: the scale
# survives any contamination below one half. The digits are robustbase's, so that values compare.
BREAKDOWN = 0.5
BREAKDOWN_TUNING = 1.54764
# Second constant of the tau scale: 94% efficiency at the normal distribution, while one gross
# outlier in ten inflates the variance by no more than half. The mean is that of the loss at the
# normal.
TAU_TUNING = 4.0
TAU_MEAN = 0.1560052129180097
# The Newton iterations converge quadratically; this many are needed only from absurd starts.
MAX_ITER = 100
# What is not asked of a kernel.
_NO_ROOM = np.empty(0)
# Sums of averages that should be equal differ by this much.
_ROUNDING = 1e-12


def median(values: Array) -> float:
    """Median of the numbers (n,), several times faster than numpy's where there are few.

    Examples
    --------
    >>> median(np.array([3.0, 1.0, 2.0, 10.0]))
    2.5
    """
    rows = np.array(values, dtype=np.float64, ndmin=2)
    return float(_row_medians(rows)[0])


def _row_medians(rows: Array) -> Array:
    """Median of each row of an array that nobody else holds."""
    if not rows.shape[1] or not np.isfinite(rows).all():
        return np.asarray(np.median(rows, axis=1))
    out = np.empty(len(rows))
    kernels.row_deviations(rows, True, out, _NO_ROOM)
    return out


def mad(r: Array) -> float:
    """Median absolute residual, scaled to estimate a normal standard deviation.

    Parameters
    ----------
    r : (n,) array
        Residuals.

    Returns
    -------
    float
        The scale; 0 if more than half of the residuals are 0.

    Examples
    --------
    >>> round(mad(np.array([-1.0, 0.5, 1.0, 2.0, 1e9])), 4)
    1.4826
    """
    return MAD_TO_SD * median(np.abs(r))


def median_and_mad(values: Array) -> tuple[float, float]:
    """Median, and the scaled median absolute deviation from it.

    Examples
    --------
    >>> center, scale = median_and_mad(np.array([9.0, 10.0, 11.0, 12.0, 1e9]))
    >>> center, round(scale, 4)
    (11.0, 1.4826)
    """
    center = median(values)
    return center, mad(values - center)


def mads(values: Array, axis: int) -> Array:
    """Scaled median absolute values along an axis: `mad` of each row or column.

    Examples
    --------
    >>> mads(np.array([[1.0, 5.0], [-1.0, 4.0], [80.0, -4.0]]), axis=0).round(4)
    array([1.4826, 5.9304])
    """
    size = np.abs(values if axis == 1 else values.T)
    return MAD_TO_SD * _row_medians(np.ascontiguousarray(size, dtype=np.float64))


def column_medians(X: Array) -> Array:
    """Median of each column (n, d).

    Examples
    --------
    >>> column_medians(np.array([[1.0, 0.0], [2.0, 0.0], [900.0, 5.0]]))
    array([2., 0.])
    """
    out = np.empty(X.shape[1])
    kernels.row_deviations(np.ascontiguousarray(X.T), True, out, _NO_ROOM)
    return out


def column_mads(X: Array) -> Array:
    """Scaled median absolute deviation of each column (n, d) from its median.

    Examples
    --------
    >>> column_mads(np.array([[1.0, 0.0], [2.0, 0.0], [900.0, 5.0]])).round(4)
    array([1.4826, 0.    ])
    """
    return mads(X - np.median(X, axis=0), axis=0)


def m_scale(r: Array, *, n_coef: int = 0, prior_weights: Array | None = None) -> float:
    """Bisquare M-scale of residuals: the scale that an S-estimate minimizes, with 50% breakdown.

    The solution s of `sum(rho(r / s)) = (n - n_coef) / 2`.

    Parameters
    ----------
    r : (n,) array
        Residuals.
    n_coef : int
        Number of coefficients that were fitted; corrects the scale of residuals for their optimism.
    prior_weights : (n,) array, optional
        Nonnegative weights of the rows; only their ratios matter.

    Returns
    -------
    float
        The scale; 0 if half of the residuals or more are 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> r = rng.normal(scale=2.0, size=1000)
    >>> r[:300] = 1e6
    >>> 2.0 < m_scale(r) < 4.0
    True
    """
    average = row_average(len(r), n_coef, prior_weights)
    zero = average[r == 0].sum() >= average.sum() - BREAKDOWN - _ROUNDING
    start = 0.0 if zero else _positive_size(r)
    if start == 0.0:
        return 0.0
    # In units of a typical residual nothing over- or underflows.
    squares = np.minimum(np.abs(r) / start, 1e100)[None, :] ** 2
    inverse = inverse_variance(squares, average, np.ones(1), tol=1e-12)
    return start / float(np.sqrt(inverse[0]))


def tau_scale(r: Array, *, prior_weights: Array | None = None) -> float:
    """Tau scale: the breakdown of the M-scale with nearly the efficiency of the standard deviation.

    Parameters
    ----------
    r : (n,) array
        Residuals.
    prior_weights : (n,) array, optional
        Nonnegative weights of the residuals; only their ratios matter.

    Returns
    -------
    float
        The scale; 0 where the M-scale is 0.

    Notes
    -----
    `tau^2 = s^2 * mean(rho(r / s)) / E rho` (Yohai and Zamar, 1988), s the M-scale and rho a wider
    bisquare function. A gross outlier counts like about 6.4 squared standard deviations, whatever
    its size.

    Examples
    --------
    >>> r = np.random.default_rng(0).normal(scale=2.0, size=1000)
    >>> 1.9 < tau_scale(r) < 2.1
    True
    """
    s = m_scale(r, prior_weights=prior_weights)
    if s == 0.0:
        return 0.0
    rest = bisquare_rest((np.minimum(np.abs(r) / s, TAU_TUNING)) ** 2, TAU_TUNING)
    return s * float(np.sqrt(np.average(1.0 - rest**3, weights=prior_weights) / TAU_MEAN))


def row_average(n: int, n_coef: int = 0, prior_weights: Array | None = None) -> Array:
    """Weights (n,) that average rho over the rows, per degree of freedom."""
    if prior_weights is None:
        return np.full(n, 1.0 / (n - n_coef))
    size = int(np.count_nonzero(prior_weights))
    return prior_weights * (size / (size - n_coef) / float(prior_weights.sum()))


def bisquare_rest(squares: Array, tuning: float) -> Array:
    """`max(1 - (r/c)^2, 0)`: its square is the bisquare weight, its cube is 1 - rho."""
    return 1.0 - np.minimum(squares * (1.0 / tuning**2), 1.0)


def inverse_variance(
    squares: Array, average: Array, start: Array, *, tol: float, max_iter: int = MAX_ITER
) -> Array:
    """Solve `average . rho(r sqrt(v)) = 1/2` for v = 1/s^2, for each row of squared residuals.

    Parameters
    ----------
    squares : (q, n) array
        Squared residuals of q fits.
    average : (n,) array
        Weights of the rows, from `row_average`.
    start : (q,) array
        Positive start values.
    tol : float
        Relative change at which to stop.
    max_iter : int
        Number of Newton steps at most.

    Returns
    -------
    (q,) array
        The solutions.
    """
    inverses = start.copy()
    kernels.inverse_scales(squares, average, BREAKDOWN_TUNING, BREAKDOWN, tol, max_iter, inverses)
    return inverses


def _positive_size(r: Array) -> float:
    """Scaled median absolute residual, or that of the residuals that are not zero."""
    size = mad(r)
    return size if size > 0 else mad(r[r != 0])
