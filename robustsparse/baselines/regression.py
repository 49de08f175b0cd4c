"""The lasso and the trimmed lasso, for linear and logistic models."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from robustsparse.algorithm.losses import Logistic, Squared
from robustsparse.base.checks import as_rng, check_choice, check_count
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array, Places
from robustsparse.baselines.correlations import check_epsilon
from robustsparse.baselines.lasso_paths import Penalties, downward
from robustsparse.baselines.lasso_result import LassoResult
from robustsparse.baselines.lasso_solver import LassoPath, Problem, fit_path, largest_penalty
from robustsparse.design.arrays import array_names, array_response, require_rows
from robustsparse.design.build import DesignSpec, build_design
from robustsparse.design.frames import INTERCEPT
from robustsparse.design.labelled import labelled, require_same_rows
from robustsparse.design.response import as_coding
from robustsparse.robust.scales import mad
from robustsparse.robust.standardize import Scaling, standardize

Family = Literal["gaussian", "binomial"]

FOLDS = 5


@dataclass(frozen=True)
class _Data:
    """A design and a response, with their names."""

    X: Any
    y: Array
    names: tuple[str, ...]
    rows: "pd.Index[Any]"
    intercept: bool
    classes: tuple[object, object] | None
    spec: DesignSpec | None
    by_name: bool = False


@dataclass(frozen=True)
class _Scaled:
    """A standardized problem, and how to undo the standardization."""

    problem: Problem
    scaling: Scaling
    unit: float
    location: float


def lasso(
    formula: Any,
    data: Any,
    family: Family = "gaussian",
    *,
    k: int | None = None,
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 30,
    lambda_ratio: float = 0.05,
    folds: int = FOLDS,
    rng: int | np.random.Generator | None = None,
) -> LassoResult:
    """Lasso: least squares or logistic regression with a penalty on the absolute coefficients.

    Tibshirani (1996), Journal of the Royal Statistical Society B 58, 267-288, by coordinate descent on standardized
    columns (Friedman, Hastie and Tibshirani 2010, Journal of Statistical Software 33). Checked against scikit-learn's
    ``lasso_path``, and the logistic model by the equations of its minimum. It has no protection against bad rows.

    Parameters
    ----------
    formula, data
        A formula and a data frame, as in `rht`, or a design (n, d) and a response (n,), as in `rht_fit`.
    family : {"gaussian", "binomial"}
        Kind of response.
    k : int, optional
        Take the last step of the path with at most k terms instead of choosing the penalty by cross-validation.
    lambdas : sequence of float, optional
        Penalties in units of the standardized response; by default `n_lambdas` of them from the smallest that
        leaves no term down to `lambda_ratio` times that.
    n_lambdas, lambda_ratio : int, float
        Length and reach of the default path.
    folds : int
        Parts of the rows for cross-validation; the penalty with the smallest mean loss is chosen.
    rng : int, Generator or None
        For the folds; None is a fixed seed.

    Returns
    -------
    LassoResult

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=120, d=60, k=3, epsilon=0.0, rng=4)
    >>> fit = rs.baselines.lasso("y ~ .", sim.data, k=3)
    >>> sorted(fit.support()) == sorted(sim.support())
    True
    """
    got = _read(formula, data, family)
    scaled = _standardized(got, family, 0.0)
    penalties = Penalties(lambdas, n_lambdas, lambda_ratio)
    return _fit(got, scaled, family, "lasso", k, penalties, folds, rng)


def trimmed_lasso(
    formula: Any,
    data: Any,
    family: Family = "gaussian",
    *,
    epsilon: float = 0.1,
    k: int | None = None,
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 30,
    lambda_ratio: float = 0.05,
    folds: int = FOLDS,
    rng: int | np.random.Generator | None = None,
) -> LassoResult:
    """Trimmed lasso: the lasso of the ``(1 - epsilon) n`` rows that it fits best.

    Yang, Lozano and Aravkin (2018), "A general family of trimmed estimators for robust high-dimensional data analysis",
    Electronic Journal of Statistics 12, 3519-3553, with which the paper compares logistic regression. The rows with the
    smallest losses and the lasso of these rows are found in turn until they agree, at each penalty from the solution at
    the last; columns are standardized robustly. Cross-validation leaves as large a part of the losses out. Checked: the
    objective falls at every step, and with ``epsilon=0`` it is the lasso of the same standardized columns.

    Parameters
    ----------
    formula, data, family, k, lambdas, n_lambdas, lambda_ratio, folds, rng
        As in `lasso`.
    epsilon : float
        Fraction of the rows to leave out.

    Returns
    -------
    LassoResult
        `row_weights` are 0 for the rows that are left out.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=120, d=60, k=3, epsilon=0.1, rng=4)
    >>> fit = rs.baselines.trimmed_lasso("y ~ .", sim.data, epsilon=0.1, k=3)
    >>> sorted(fit.support()) == sorted(sim.support())
    True
    """
    check_epsilon(epsilon)
    got = _read(formula, data, family)
    scaled = _standardized(got, family, epsilon, robust=True)
    penalties = Penalties(lambdas, n_lambdas, lambda_ratio)
    return _fit(got, scaled, family, "trimmed lasso", k, penalties, folds, rng)


def _read(formula: Any, data: Any, family: Family) -> _Data:
    check_choice("family", family, ("gaussian", "binomial"))
    if isinstance(formula, str):
        design = build_design(formula, data, family=family)
        response = design.response
        return _Data(
            design.X, response.values, design.names, design.rows, design.intercept,
            response.classes, design.spec,
        )  # fmt: skip
    X, names, index = labelled(formula)
    require_same_rows("y", data, index)
    response = array_response(data, np.ones(X.shape[0], dtype=bool), as_coding(family))
    rows = pd.RangeIndex(X.shape[0]) if index is None else index
    labels = array_names(names, X.shape[1])
    by_name = names is not None
    return _Data(X, response.values, labels, rows, True, response.classes, None, by_name)


def _standardized(got: _Data, family: str, epsilon: float, robust: bool = False) -> _Scaled:
    n = len(got.y)
    require_rows(n)
    binary = family == "binomial"
    how = ("winsor" if binary else "mad") if robust else "sd"
    XT, scaling = standardize(got.X, how, center=got.intercept, names=got.names)
    unit, location = (1.0, 0.0) if binary else _spread(got.y, got.intercept, robust)
    kept = int(np.floor((1.0 - epsilon) * n))
    loss = Logistic() if binary else Squared()
    problem = Problem(XT, (got.y - location) / unit, loss, got.intercept, kept)
    return _Scaled(problem, scaling, unit, location)


def _spread(y: Array, center: bool, robust: bool) -> tuple[float, float]:
    """Scale and location of a response."""
    location = float(np.median(y) if robust else y.mean()) if center else 0.0
    plain = float(np.sqrt(((y - location) ** 2).mean()))
    scale = mad(y - location) if robust else plain
    scale = scale or plain
    if scale == 0:
        raise DataError(f"the response is {y[0]} in all rows; there is nothing to explain.")
    return scale, location


def _fit(
    got: _Data, scaled: _Scaled, family: str, method: str, k: int | None,
    penalties: Penalties, folds: int, rng: int | np.random.Generator | None,
) -> LassoResult:  # fmt: skip
    problem = scaled.problem
    values = penalties.values(lambda *path: downward(largest_penalty(problem), *path))
    path = fit_path(problem, values)
    cv = None if k is not None or len(values) == 1 else cross_validate(problem, values, folds, rng)
    place = _choose(path, k, cv)
    slopes, constant = scaled.scaling.to_data(
        path.coefs[place], float(path.constants[place]), scaled.unit
    )
    params = np.append(constant + scaled.location, slopes) if got.intercept else slopes
    names = [INTERCEPT, *got.names] if got.intercept else list(got.names)
    return LassoResult(
        params=pd.Series(params, index=names, name="coef"),
        k=int(path.sizes()[place]),
        penalty=float(values[place]),
        path=_path_frame(path, got.names),
        cv=cv,
        row_weights=pd.Series(path.weights[place], index=got.rows, name="weight"),
        nobs=len(got.y),
        family=family,
        method=method,
        intercept=got.intercept,
        classes=got.classes,
        spec=got.spec,
        by_name=got.by_name,
    )


def _choose(path: LassoPath, k: int | None, cv: pd.DataFrame | None) -> int:
    """Place on the path: the last with at most k terms, or the smallest cross-validated loss."""
    if k is not None:
        allowed = np.flatnonzero(path.sizes() <= check_count("k", k, 0))
        if not len(allowed):
            raise ParameterError(f"k={k}: every penalty keeps more terms; give larger lambdas.")
        return int(allowed[-1])
    return 0 if cv is None else int(cv["value"].to_numpy().argmin())


def cross_validate(
    problem: Problem, lambdas: Array, folds: int, rng: int | np.random.Generator | None = None
) -> pd.DataFrame:
    """Mean loss of left-out rows at each penalty; of a trimmed problem, of the rows with the smallest losses.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> XT = rng.normal(size=(2, 40))
    >>> problem = Problem(XT, XT[0] + 0.1 * rng.normal(size=40), Squared(), True, 40)
    >>> table = cross_validate(problem, np.array([0.5, 0.01]), 4)
    >>> float(table["value"].idxmin())
    0.01
    """
    n = len(problem.y)
    check_count("folds", folds, 2, n)
    parts = np.array_split(as_rng(rng).permutation(n), folds)
    losses = np.array([_left_out(problem, lambdas, part) for part in parts])
    spread = losses.std(axis=0, ddof=1) / np.sqrt(folds)
    return pd.DataFrame(
        {"value": losses.mean(axis=0), "se": spread}, index=pd.Index(lambdas, name="lambda")
    )


def _left_out(problem: Problem, lambdas: Array, part: Places) -> Array:
    """Mean loss of the best part of some rows under the fits to the others, for each penalty."""
    others = np.setdiff1d(np.arange(len(problem.y)), part)
    path = fit_path(problem.rows(others), lambdas)
    eta = path.coefs @ problem.XT[:, part] + path.constants[:, None]
    losses = np.array([problem.loss.value(problem.y[part], row) for row in eta])
    kept = max(int(np.floor(problem.kept / len(problem.y) * len(part))), 1)
    return np.asarray(np.sort(losses, axis=1)[:, :kept].mean(axis=1))


def _path_frame(path: LassoPath, names: tuple[str, ...]) -> pd.DataFrame:
    """Terms selected anywhere on the path, by lambda."""
    ever = np.flatnonzero((path.coefs != 0).any(axis=0))
    index = pd.Index(np.array([names[j] for j in ever], dtype=object), name="term")
    columns = pd.Index(path.lambdas, name="lambda")
    return pd.DataFrame(path.coefs[:, ever].T, index=index, columns=columns)
