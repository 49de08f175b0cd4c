"""Criteria for the number of predictors: a misfit plus a price of the coefficients."""

from collections.abc import Callable, Mapping
from math import lgamma, log

import numpy as np

from robustsparse.algorithm.solver import RHTFit
from robustsparse.regression.fit.rows import active
from robustsparse.regression.fit.standardized import Standardized, by_labels

# A variance this small is an exact fit; its logarithm would drown every price.
_EXACT = 1e-20
# What the robust criterion takes off a term's own price for the terms that are in the model already, and the least that
# is left of it.
_FAMILIAR, _LEAST = 2.0, 1.0
# A term's own price where responses are labels.
_LABEL_TERM = 3.25

# Price of a number of coefficients, given the rows, the columns to choose from and what a term explains on average.
Price = Callable[[int, int, int, float], float]


def ebic_price(n: int, d: int, size: int, strength: float = 0.0) -> float:
    """Price of `size` coefficients chosen among d: that of BIC and that of the choice (extended BIC, γ = 1).

    Examples
    --------
    >>> round(ebic_price(300, 1000, 2), 2)
    39.04
    """
    return size * (log(n) + 2.0 * log(max(d, 2)))


def gic_price(n: int, d: int, size: int, strength: float = 0.0) -> float:
    """Price of `size` coefficients by the generalized information criterion, the lowest of the three.

    Examples
    --------
    >>> round(gic_price(300, 1000, 2), 2)
    24.05
    """
    return size * log(max(d, 3)) * log(max(log(n), 1.0))


def ric_price(n: int, d: int, size: int, strength: float) -> float:
    """Price of `size` coefficients by the criterion of the package.

    The choice costs what it does in the extended BIC, and so does the first term altogether. The log n of every other
    one is the price of a term as strong as BIC expects it; where those that were found are weaker, so may the next one
    be, and the logarithm of what they explain on average is the better price (the empirical Bayes criterion of George
    and Foster, 2000). Beside strong terms a doubtful one is noise; beside weak ones it may well be one of them.

    Parameters
    ----------
    n, d, size : int
        Rows, columns to choose from, and coefficients.
    strength : float
        By how much each of them lowers the misfit on average, in units of the variance.

    Examples
    --------
    >>> [round(ric_price(300, 1000, 5, strength), 1) for strength in (20, 200, 2000)]
    [78.8, 88.0, 97.2]
    >>> round(ebic_price(300, 1000, 5), 1)
    97.6
    """
    if not size:
        return 0.0
    own = min(max(log(max(strength, 1.0)) - _FAMILIAR, _LEAST), log(n))
    return 2.0 * size * log(max(d, 2)) + log(n) + (size - 1) * own


def label_price(d: int, size: int) -> float:
    """Price of `size` terms chosen among d where the responses are labels: that of the choice, and of each term.

    Labels tell little of each term. The choice costs what it is worth, twice the logarithm of the number of sets of
    that size, which of many terms is far less than twice the logarithm of d for each.

    Examples
    --------
    >>> [round(label_price(200, size), 1) for size in (1, 5, 13)]
    [13.8, 59.6, 134.1]
    """
    # Nearly all columns are not cheaper than half of them.
    chosen = min(size, d // 2)
    sets = lgamma(d + 1.0) - lgamma(chosen + 1.0) - lgamma(d - chosen + 1.0)
    return 2.0 * sets + _LABEL_TERM * size


def payable_terms(problem: Standardized) -> float:
    """How many terms labels could pay for if all were explained: their deviance over the price of a term."""
    share = float(problem.y.mean())
    entropy = -share * log(share) - (1.0 - share) * log(1.0 - share) if 0.0 < share < 1.0 else 0.0
    return 2.0 * problem.n * entropy / ebic_price(problem.n, problem.candidates, 1)


# Prices by the name of the criterion.
PRICES: dict[str, Price] = {"ric": ric_price, "ebic": ebic_price, "gic": gic_price}


def costs(problem: Standardized, price: Price) -> Callable[[int, int, float], float]:
    """Price, as `cost` tells it, of so many terms with so many columns and a strength, of one problem."""
    n, candidates = problem.n, problem.candidates
    own = price is ric_price
    labels = own and by_labels(problem)
    corrected = own and problem.family.has_scale

    def of(size: int, columns: int, strength: float) -> float:
        if labels:
            return label_price(candidates, size) + (columns - size) * _LABEL_TERM
        whole = price(n, candidates, size, strength) + (columns - size) * log(n)
        return whole * n / max(n - columns - 1, 1) if corrected else whole

    return of


def cost(problem: Standardized, price: Price, size: int, columns: int, strength: float) -> float:
    """Price of `size` terms with so many columns; those beyond one a term cost what BIC asks for them.

    Where a variance is estimated from few rows, the criterion of the package asks for more, as the corrected AIC does:
    the fewer rows are left, the better noise fits.
    """
    return costs(problem, price)(size, columns, strength)


def columns_of(problem: Standardized, fit: RHTFit, size: int) -> int:
    """Number of columns of a fit that was to have so many terms."""
    return size + len(fit.support) - problem.count(fit.support)


def log_variance(n: float, square: float, freedom: float) -> float:
    """N log σ² with an unbiased variance: a sum of squares over its degrees of freedom."""
    return n * float(np.log(max(square / max(freedom, 1), _EXACT)))


def robust_criterion(problem: Standardized, fit: RHTFit) -> float:
    """Robust misfit of a fit after a robust refit on its support, plus the price of the extended BIC."""
    columns = np.flatnonzero(fit.coef)
    misfit = problem.family.misfit(problem.chosen(columns), fit.coef[columns])
    size = problem.count(fit.support)
    return misfit + cost(problem, ebic_price, size, len(fit.support), 0.0)


def criteria(
    problem: Standardized, fits: Mapping[int, RHTFit], price: Price, *, trusted: bool
) -> dict[int, float]:
    """Misfit plus price of fits by their size; on trusted rows bad ones have been rejected."""
    misfits = {k: _misfit(problem, fit, trusted) for k, fit in fits.items()}
    # What terms explain is measured from the smallest model.
    least = min(misfits)
    columns = {k: columns_of(problem, fit, k) for k, fit in fits.items()}
    values = {}
    for k, misfit in misfits.items():
        more = max(columns[k] - columns[least], 1)
        gain = _gain(problem, misfits[least] - misfit) / more
        values[k] = misfit + cost(problem, price, k, columns[k], gain)
    return values


def _gain(problem: Standardized, fall: float) -> float:
    """What terms explain, in units of the variance, from the fall of the misfit: with a scale that is a logarithm."""
    return (
        problem.n * float(np.expm1(min(fall / problem.n, 50.0)))
        if problem.family.has_scale
        else fall
    )


def _misfit(problem: Standardized, fit: RHTFit, trusted: bool) -> float:
    columns = active(problem, fit) if trusted else np.flatnonzero(fit.coef)
    rows, start = problem.chosen(columns), fit.coef[columns]
    family = problem.family
    return family.trusted_misfit(rows, start) if trusted else family.misfit(rows, start)
