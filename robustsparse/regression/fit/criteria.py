"""Criteria for the number of predictors: a misfit plus a price of the coefficients."""

from collections.abc import Callable
from math import log

import numpy as np

from robustsparse.algorithm.solver import RHTFit
from robustsparse.regression.fit.rows import active
from robustsparse.regression.fit.standardized import Standardized

# A variance this small is an exact fit; its logarithm would drown every price.
_EXACT = 1e-20

# Price of a number of terms with so many columns, given the rows and the terms to choose from.
Price = Callable[[int, int, int, int], float]


def penalty(n: int, d: int, size: int, columns: int | None = None) -> float:
    """Price of `size` terms chosen among d: that of BIC and that of the choice (extended BIC, γ = 1).

    More columns than terms, where some of these are groups, cost what BIC asks for them.

    Examples
    --------
    >>> round(penalty(300, 1000, 2), 2)
    39.04
    """
    return size * (log(n) + 2.0 * log(max(d, 2))) + _more(n, size, columns)


def gic_penalty(n: int, d: int, size: int, columns: int | None = None) -> float:
    """Price of `size` terms by the generalized information criterion, lower than `penalty`.

    Examples
    --------
    >>> round(gic_penalty(300, 1000, 2), 2)
    24.05
    """
    return size * log(max(d, 3)) * log(max(log(n), 1.0)) + _more(n, size, columns)


def _more(n: int, size: int, columns: int | None) -> float:
    """Price of columns beyond one a term."""
    return 0.0 if columns is None else (columns - size) * log(n)


# Prices by the name of the criterion; those of the robust criterion are the same as of the extended BIC.
PRICES: dict[str, Price] = {"ebic": penalty, "ric": penalty, "gic": gic_penalty}


def log_variance(n: int, square: float, freedom: int) -> float:
    """N log σ² with an unbiased variance: a sum of squares over its degrees of freedom."""
    return n * float(np.log(max(square / max(freedom, 1), _EXACT)))


def cost_of(problem: Standardized, fit: RHTFit, price: Price) -> float:
    """Price of the terms of a fit."""
    return price(problem.n, problem.candidates, problem.count(fit.support), len(fit.support))


def robust_criterion(problem: Standardized, fit: RHTFit, price: Price = penalty) -> float:
    """Robust information criterion of a fit, after a robust refit on its support: misfit plus price."""
    columns = np.flatnonzero(fit.coef)
    misfit = problem.family.misfit(problem.chosen(columns), fit.coef[columns])
    return misfit + cost_of(problem, fit, price)


def trusted_criterion(problem: Standardized, fit: RHTFit, price: Price = penalty) -> float:
    """The same where bad rows have been rejected."""
    columns = active(problem, fit)
    misfit = problem.family.trusted_misfit(problem.chosen(columns), fit.coef[columns])
    return misfit + cost_of(problem, fit, price)
