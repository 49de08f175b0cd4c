"""`Fitted`: a fit in the units of the standardized problem."""

from dataclasses import dataclass

import numpy as np

from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.k_paths import Choice
from robustsparse.regression.fit.rows import Leverage
from robustsparse.regression.fit.standardized import Standardized


@dataclass(frozen=True)
class Fitted:
    """A fit in the units of the standardized problem.

    Attributes
    ----------
    coef : array (p,)
        Coefficients of all rows of the transposed design.
    solution : RHTFit
        The last run of Algorithm 1.
    scale : float
        Robust scale of the residuals.
    resid, weights : array (n,)
        Residuals of all rows, and their weights from 0 to 1.
    cov : array (a, a) or None
        Covariance of the coefficients on the active columns, in ascending order; None without a refit.
    active : array of int
        These columns: the support and the kept ones.
    choice : Choice or None
        How k was chosen.
    path : dict from k to coefficients (p,)
        The path that it was chosen on.
    leverage : Leverage
        How far out the rows are in the predictors.
    df : float or None
        Degrees of freedom of the tests of coefficients; None is the normal distribution.
    """

    coef: Array
    solution: RHTFit
    scale: float
    resid: Array
    weights: Array
    cov: Array | None
    active: Indices
    choice: Choice | None
    path: dict[int, Array]
    leverage: Leverage
    df: float | None = None


def standard_residuals(problem: Standardized, fitted: Fitted) -> Array:
    """Residuals in units of their scale; Pearson's if there is none."""
    resid, unit = _judged(problem, fitted)
    return np.asarray(resid / unit)


def response_flags(problem: Standardized, fitted: Fitted) -> Mask:
    """Rows whose response the fit cannot explain."""
    resid, unit = _judged(problem, fitted)
    out: Mask = np.abs(resid) > problem.family.reject * unit
    return out


def _judged(problem: Standardized, fitted: Fitted) -> tuple[Array, float]:
    eta = problem.predictor(fitted.coef)
    return problem.family.judged(problem.y, eta, fitted.resid, fitted.scale)
