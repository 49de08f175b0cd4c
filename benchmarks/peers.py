"""Fits by other libraries, each imported only when it is used."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import log, sqrt
from typing import Any

import numpy as np

from benchmarks.problems import Array, Case
from benchmarks.rpeers import r_version, regression
from benchmarks.timing import Timed

Fitter = Callable[[Array, Array, Case, int], Array | Timed]

# A fit that takes longer, in seconds, sees one data set of the paper's outliers: coordinate descent hardly ends on a
# large problem with leverage.
_LONG = 20.0
# Longest fits of a quick run and of a full one.
_MOST = {False: 70.0, True: 900.0}


@dataclass(frozen=True)
class Peer:
    """A method of another library.

    Attributes
    ----------
    name : str
        What the tables call it.
    module : str
        What must be installed.
    fit : callable
        Takes X, y, the case and the true k; returns the coefficients.
    pace : float
        Seconds that a million entries of X take, roughly; decides which problems it is spared.
    tall : bool
        Whether it needs more rows than columns.
    language : {"Python", "R"}
        Of the module.
    """

    name: str
    module: str
    fit: Fitter
    pace: float = 0.1
    tall: bool = False
    language: str = "Python"

    @property
    def installed(self) -> bool:
        """Whether the library is there."""
        if self.language == "R":
            return r_version(self.module) is not None
        return find_spec(self.module) is not None

    def long(self, case: Case) -> bool:
        """Whether a fit takes so long that one is enough."""
        return self._seconds(case) > _LONG

    def spared(self, case: Case, full: bool) -> str:
        """Why it is not given this case; empty if it is."""
        if not self.installed:
            return "not installed"
        if self._seconds(case) > _MOST[full] or (self.long(case) and case.attack != "paper"):
            return "left out, slow"
        return ""

    def suits(self, case: Case) -> bool:
        """Whether the method is made for so many columns."""
        return case.d < case.n or not self.tall

    def _seconds(self, case: Case) -> float:
        return self.pace * case.n * case.d / 1e6


def _coef(model: Any, X: Array, y: Array) -> Array:
    return np.asarray(model.fit(X, y).coef_, dtype=np.float64).ravel()


def _alpha(case: Case) -> float:
    """The lasso's universal penalty, for a known noise level."""
    return case.sigma * sqrt(2 * log(case.d) / case.n)


def _lasso_cv(X: Array, y: Array, case: Case, k: int) -> Array:
    return _coef(import_module("sklearn.linear_model").LassoCV(cv=5), X, y)


def _lasso(X: Array, y: Array, case: Case, k: int) -> Array:
    return _coef(import_module("sklearn.linear_model").Lasso(alpha=_alpha(case)), X, y)


def _skglm_lasso(X: Array, y: Array, case: Case, k: int) -> Array:
    return _coef(import_module("skglm").Lasso(alpha=_alpha(case)), X, y)


def _abess(X: Array, y: Array, case: Case, k: int) -> Array:
    return _coef(import_module("abess").LinearRegression(), X, y)


def _abess_known(X: Array, y: Array, case: Case, k: int) -> Array:
    return _coef(import_module("abess").LinearRegression(support_size=k), X, y)


def _skscope(X: Array, y: Array, case: Case, k: int) -> Array:
    return _coef(import_module("skscope.skmodel").RobustRegression(sparsity=k, gamma=10), X, y)


def _rlm(norm: str, X: Array, y: Array, case: Case, k: int) -> Array:
    api = import_module("statsmodels.api")
    model = api.RLM(y, api.add_constant(X), M=getattr(api.robust.norms, norm)())
    return np.asarray(model.fit().params, dtype=np.float64)[1:]


def _r(method: str, X: Array, y: Array, case: Case, k: int) -> Timed:
    return regression(method, X, y, k)


PEERS = (
    Peer("scikit-learn LassoCV", "sklearn", _lasso_cv, pace=3.0),
    Peer("scikit-learn Lasso, one alpha", "sklearn", _lasso),
    Peer("skglm Lasso, one alpha", "skglm", _skglm_lasso),
    Peer("abess", "abess", _abess),
    Peer("abess, k known", "abess", _abess_known),
    Peer("skscope RobustRegression, k known, γ = 10", "skscope", _skscope, pace=0.6),
    Peer("statsmodels RLM, Huber", "statsmodels", partial(_rlm, "HuberT"), tall=True),
    Peer("statsmodels RLM, Tukey", "statsmodels", partial(_rlm, "TukeyBiweight"), tall=True),
    Peer("R glmnet, cv.glmnet", "glmnet", partial(_r, "cv.glmnet"), pace=1.1, language="R"),
    Peer("R robustHD, sparseLTS", "robustHD", partial(_r, "sparseLTS"), pace=250.0, language="R"),
)
