"""Fits by other libraries, each imported only when it is used."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import log, sqrt
from typing import Any

import numpy as np

from benchmarks.problems import Array, Case

Fitter = Callable[[Array, Array, Case, int], Array]


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
    slow : bool
        Whether the large problem takes it a minute or more.
    """

    name: str
    module: str
    fit: Fitter
    slow: bool = False

    @property
    def installed(self) -> bool:
        """Whether the library can be imported."""
        return find_spec(self.module) is not None


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


PEERS = (
    Peer("scikit-learn LassoCV", "sklearn", _lasso_cv, slow=True),
    Peer("scikit-learn Lasso, one alpha", "sklearn", _lasso),
    Peer("skglm Lasso, one alpha", "skglm", _skglm_lasso),
    Peer("abess", "abess", _abess),
    Peer("abess, k known", "abess", _abess_known),
    Peer("skscope RobustRegression, k known, γ = 10", "skscope", _skscope, slow=True),
)
