"""Levels, quantiles and p-values of coefficients in units of their standard errors."""

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from robustsparse.base.checks import check_number
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array

_USUAL = 0.95
# Nobody wants an interval that misses the truth more often than not: below this, `alpha` was meant.
_LOWEST = 0.5


def check_level(level: float, alpha: float | None = None) -> float:
    """Confidence level, which may be given as `alpha`, one less the level.

    Examples
    --------
    >>> check_level(0.9)
    0.9
    >>> check_level(0.95, alpha=0.25)
    0.75
    """
    if alpha is not None:
        return _from_alpha(level, alpha)
    level = check_number("level", level, 0.0, 1.0, open_low=True)
    if level < _LOWEST:
        raise ParameterError(
            f"level={level:g} is below {_LOWEST:g}: it is the share of intervals that hold the truth; "
            f"use level={1.0 - level:g}, or alpha={level:g}, which is the share of the others."
        )
    return level


def _from_alpha(level: float, alpha: float) -> float:
    alpha = check_number("alpha", alpha, 0.0, 1.0)
    if level != _USUAL:
        raise ParameterError(f"level={level!r} and alpha={alpha:g} say the same; give one of them.")
    if alpha > 1.0 - _LOWEST:
        raise ParameterError(
            f"alpha={alpha:g} is above {1.0 - _LOWEST:g}: it is the share of intervals that miss the truth; "
            f"use alpha={1.0 - alpha:g}, or level={alpha:g}."
        )
    return 1.0 - alpha


def quantile(level: float, df: float | None) -> float:
    """Half the width of an interval in standard errors: of Student's t, or of the normal if `df` is None.

    Examples
    --------
    >>> round(quantile(0.95, None), 3), round(quantile(0.95, 10.0), 3)
    (1.96, 2.228)
    """
    upper = 0.5 + 0.5 * level
    return float(ndtri(upper) if df is None else stdtrit(df, upper))


def p_values(statistic: Array, df: float | None) -> Array:
    """Two-sided p-values (m,) of statistics (m,), by Student's t or, if `df` is None, the normal."""
    below = -np.abs(statistic)
    return np.asarray(2.0 * (ndtr(below) if df is None else stdtr(df, below)))
