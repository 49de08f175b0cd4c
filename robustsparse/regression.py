"""`rht` and `rht_fit`: Robust Hard Thresholding on data frames and on arrays."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from robustsparse.automatic import (
    REJECT,
    Fitted,
    beyond_scale,
    least_squares_choice,
    plain_fit,
    refit_of,
    robust_fit,
)
from robustsparse.checks import (
    as_matrix,
    as_rng,
    as_vector,
    check_choice,
    check_count,
    check_number,
)
from robustsparse.descent import Settings
from robustsparse.design import Dropped, build_design
from robustsparse.errors import ContaminationWarning, DataError, FormulaError, ParameterError
from robustsparse.gradients import (
    TRIM_PER_EPSILON,
    GradientEstimator,
    MedianOfMeans,
    Trimmed,
    as_estimator,
)
from robustsparse.losses import Huber, Logistic, Loss, Squared, as_loss
from robustsparse.preparation import Prepared, prepare
from robustsparse.response import Response, code_response
from robustsparse.results import INTERCEPT, RHTResult
from robustsparse.scaling import SCALES
from robustsparse.screening import available_threads
from robustsparse.solver import RHTFit, solve, solve_down
from robustsparse.storage import read_result
from robustsparse.tuning import Choice, choose_by_criterion, choose_by_cv, k_grid, path

Array = NDArray[np.float64]

FAMILIES = ("gaussian", "binomial")
# Without a ball the coefficients of separable classes grow forever; a change of ten in the log-odds
# for one scale of a predictor is certainty already.
_BINOMIAL_RADIUS = 10.0
_MAX_ITER = {True: 100, False: 300}
# On the boundary of that ball the steps are plain ones, and creep.
_TOL = {"gaussian": 1e-10, "binomial": 1e-5}
_FEWEST_ROWS = 5
# Part of good rows that may lie beyond three scales of the residuals.
_GOOD_FLAGGED = 0.01
# Largest part of the rarer class that is trimmed at each end: its rows are the extremes of a good
# predictor.
_RARE_TRIMMED = 1.0 / 3.0


@dataclass(frozen=True)
class _Options:
    """Arguments of a fit, checked."""

    family: str
    estimator: GradientEstimator
    loss: Loss
    k: Any
    select: str
    epsilon: float
    how: str
    settings: Settings
    refit: bool
    split: int
    rng: np.random.Generator
    n_jobs: int | None
    verbose: bool
    threads: int


def _options(
    family: str, estimator: Any, k: Any, select: str, loss: Any, epsilon: float, standardize: Any,
    step: Any, radius: float | None, max_iter: int | None, tol: float | None, refit: bool, split: Any,
    rng: Any, n_jobs: int | None, verbose: bool,
) -> _Options:  # fmt: skip
    check_choice("family", family, FAMILIES)
    check_choice("select", select, ("ric", "cv"))
    epsilon = check_number("epsilon", epsilon, 0.0, 0.49)
    generator = as_rng(rng)
    chosen = as_estimator(estimator, epsilon, generator)
    own = "squared" if family == "gaussian" else "logistic"
    the_loss = as_loss(own if loss is None else loss)
    _check_loss(loss, the_loss, family)
    if step != "auto":
        step = check_number("step", step, 0.0, open_low=True)
    if radius is not None:
        radius = check_number("radius", radius, 0.0, open_low=True)
    elif family == "binomial":
        radius = _BINOMIAL_RADIUS
    iterations = (
        _MAX_ITER[step == "auto"] if max_iter is None else check_count("max_iter", max_iter, 1)
    )
    tolerance = _TOL[family] if tol is None else check_number("tol", tol, 0.0, 1.0)
    settings = Settings(step, radius, iterations, tolerance)
    parts = 0 if split is False else check_count("split", split, 2)
    if (parts and not np.isscalar(k)) or (parts and k == "auto"):
        raise ParameterError("split needs a number for k: each part of the rows is used only once.")
    return _Options(
        family, chosen, the_loss, k, select, epsilon, _scale(standardize, chosen, family), settings,
        bool(refit), parts, generator, n_jobs, bool(verbose), _threads(n_jobs),
    )  # fmt: skip


def _check_loss(asked: Any, loss: Loss, family: str) -> None:
    """Refuse a loss of ours for the other kind of response; what a user's own is for, only the user knows."""
    own = isinstance(loss, Logistic) if family == "gaussian" else isinstance(loss, Squared | Huber)
    if own:
        fitting = "'squared' or 'huber'" if family == "gaussian" else "'logistic'"
        raise ParameterError(
            f"loss={asked!r} does not fit family={family!r}; use {fitting}, or the other family."
        )


def _threads(n_jobs: Any) -> int:
    if n_jobs is None or n_jobs == -1:
        return available_threads()
    return check_count("n_jobs", n_jobs, 1)


def _scale(standardize: Any, estimator: GradientEstimator, family: str) -> str:
    if standardize is True:
        if isinstance(estimator, MedianOfMeans):
            return "blocks"
        # A predictor that tells two classes apart has two modes, and its MAD may see only one of
        # them.
        return "mad" if family == "gaussian" else "winsor"
    if standardize is False:
        return "none"
    check_choice("standardize", standardize, (True, False, *SCALES))
    return str(standardize)


def _for_response(options: _Options, estimator: Any, y: Array) -> _Options:
    """Trim less than asked where that would remove most of a rare class."""
    if options.family == "gaussian" or estimator != "trim":
        return options
    rare = min(float(y.mean()), 1.0 - float(y.mean()))
    trimmed = Trimmed(min(TRIM_PER_EPSILON * options.epsilon, _RARE_TRIMMED * rare))
    return replace(options, estimator=trimmed)


def _grid(k: Any, data: Prepared) -> tuple[int, ...]:
    """Values of k to choose from."""
    if isinstance(k, str):
        check_choice("k", k, ("auto",))
        return k_grid(data.n, data.free) if data.free else (0,)
    several = isinstance(k, Iterable) and getattr(k, "ndim", 1) > 0
    values = list(k) if several else [k]
    if not values:
        raise ParameterError("k is empty; give a number, a list of numbers or 'auto'.")
    low = 0 if len(data.keep) else 1
    return tuple(sorted({check_count("k", value, low, max(data.free, low)) for value in values}))


def _chooser(
    options: _Options, ks: Sequence[int]
) -> Callable[[Prepared, dict[int, RHTFit]], Choice]:
    """How to choose k from a path on trusted rows."""
    if options.select == "ric":
        return choose_by_criterion if options.family == "binomial" else least_squares_choice
    seed = int(options.rng.integers(2**31))

    def choose(part: Prepared, fits: dict[int, RHTFit]) -> Choice:
        return _cross_validated(part, options, ks, seed)

    return choose


def _cross_validated(data: Prepared, options: _Options, ks: Sequence[int], seed: int) -> Choice:
    return choose_by_cv(
        data, options.estimator, ks, options.settings, trim=options.epsilon,
        rng=np.random.default_rng(seed), n_jobs=options.n_jobs, verbose=options.verbose,
    )  # fmt: skip


def _fit(data: Prepared, options: _Options) -> Fitted:
    """Fit in standardized units."""
    if data.scaling.constant.all():
        raise DataError("every predictor is constant, so there is nothing to select from.")
    ks = _grid(options.k, data)
    if options.refit and max(ks) + len(data.keep) > data.n // 2:
        raise ParameterError(
            f"k={max(ks)} is too many for a robust refit on {data.n} rows, needing two rows a coefficient; choose a "
            "smaller k or refit=False."
        )
    if options.split:
        return _split_fit(data, options, ks[0])
    if options.refit:
        choose = _chooser(options, ks)
        fitted = robust_fit(
            data, options.estimator, ks, options.settings, choose, rng=options.rng, threads=options.threads
        )  # fmt: skip
        return fitted if _chosen(options.k, ks) else replace(fitted, choice=None)
    return _thresholded(data, options, ks)


def _chosen(asked: Any, ks: Sequence[int]) -> bool:
    """Whether k is the fit's own choice, on small data among a single value."""
    return len(ks) > 1 or isinstance(asked, str)


def _thresholded(data: Prepared, options: _Options, ks: Sequence[int]) -> Fitted:
    """The paper's estimate as it is."""
    choice: Choice | None = None
    fits: dict[int, RHTFit] = {}
    k = ks[0]
    if _chosen(options.k, ks):
        fits = path(data, options.estimator, ks, options.settings, options.threads)
        if options.select == "cv":
            choice = _cross_validated(data, options, ks, int(options.rng.integers(2**31)))
        else:
            choice = choose_by_criterion(data, fits)
        k = choice.k
    problem = data.problem(options.estimator, options.threads)
    # With a step of the user's own the algorithm is run as printed, from zero.
    run = solve_down if options.settings.step == "auto" and not data.binary else solve
    solution = run(problem, k, keep=data.keep, settings=options.settings)
    return plain_fit(data, solution, choice, {**fits, k: solution})


def _split_fit(data: Prepared, options: _Options, k: int) -> Fitted:
    """One iteration on each of several parts of the rows, as in the paper's theory."""
    if data.n < _FEWEST_ROWS * options.split:
        raise ParameterError(
            f"split={options.split} leaves {data.n // options.split} of the {data.n} rows for an iteration, which "
            f"needs at least {_FEWEST_ROWS}; split into fewer parts."
        )
    part = options.rng.permutation(data.n) % options.split
    problems = [data.rows(part == t).problem(options.estimator) for t in range(options.split)]
    solution = solve(problems, k, keep=data.keep, settings=options.settings)
    if options.refit:
        return refit_of(data, solution, options.rng)
    return plain_fit(data, solution, None, {k: solution})


def rht(
    formula: str,
    data: Any,
    family: Literal["gaussian", "binomial"] = "gaussian",
    estimator: Any = "trim",
    *,
    k: Any = "auto",
    select: Literal["ric", "cv"] = "ric",
    loss: Any = None,
    epsilon: float = 0.1,
    standardize: Any = True,
    step: Any = "auto",
    radius: float | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    refit: bool = True,
    split: Any = False,
    intercept: bool | None = None,
    keep: Any = None,
    weights: Any = None,
    offset: Any = None,
    na_action: Literal["drop", "raise"] = "drop",
    context: Mapping[str, Any] | None = None,
    rng: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RHTResult:
    """Fit a sparse model to a data frame in which some rows cannot be trusted.

    Parameters
    ----------
    formula : str
        R-style formula, such as ``"y ~ ."`` or ``"log(y) ~ a * b + C(g) - 1"``. A formula is code:
        do not evaluate one from a source that you do not trust.
    data : pandas or polars DataFrame
        The data; never changed.
    family : {"gaussian", "binomial"}
        Kind of response. For "binomial" any two labels do; the second in sorted order is the event.
    estimator : {"trim", "mom", "mean"} or callable
        Robust average of the gradient: trimmed mean against bad rows, median of means against heavy
        tails, plain mean (no protection), an instance such as ``Trimmed(alpha=0.3)``, or any
        callable `(X, score) -> (d,)`.
    k : "auto", int or sequence of int
        Number of predictors to select; chosen by `select` for "auto" or a sequence.
    select : {"ric", "cv"}
        Choose k by a robust information criterion or by robust five-fold cross-validation with the
        one-standard-error rule.
    loss : {"squared", "huber", "logistic"} or Loss, optional
        The family's own by default.
    epsilon : float
        Fraction of bad rows to survive; twice that much is trimmed at each end, but at most a third
        of the rarer class.
    standardize : bool or {"mad", "blocks", "winsor", "sd"}
        Robust scale of the columns. True is "mad"; with the median of means "blocks"; for
        "binomial" "winsor".
    step : "auto" or float
        Length of the step; a number runs the algorithm as the paper prints it.
    radius : float, optional
        Bound on the l2 norm of the standardized coefficients; 10 for "binomial".
    max_iter, tol : int, float
        Largest number of iterations, and the relative change at which they stop (1e-10; for
        "binomial" 1e-5).
    refit : bool
        Reject bad rows and refit robustly on the selected columns. False gives the thresholded
        estimate as it is.
    split : False or int
        Use fresh rows at each of this many iterations, as the paper's theory does.
    intercept : bool, optional
        As the formula says by default (``- 1`` removes it); True or False overrules it.
    keep : str or list of str, optional
        Terms that are never thresholded and do not count in k.
    weights, offset : str or array, optional
        Columns or arrays: multipliers of the rows; known part of the linear predictor.
    na_action : {"drop", "raise"}
        Rows with missing or infinite values are counted and dropped, or refused.
    context : dict, optional
        Names that the formula may use beside the columns.
    rng : int, Generator or None
        Random numbers; None is a fixed seed, so that the same call gives the same answer.
    n_jobs : int, optional
        Number of threads; all cores by default. The result does not depend on it.
    verbose : bool
        Show the progress of cross-validation.

    Returns
    -------
    RHTResult

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=120, d=200, k=3, epsilon=0.1, rng=4)
    >>> fit = rs.rht("y ~ .", sim.data)
    >>> sorted(fit.support()) == sorted(f"x{j + 1}" for j in sim.beta.nonzero()[0])
    True
    """
    options = _options(
        family, estimator, k, select, loss, epsilon, standardize, step, radius, max_iter, tol,
        refit, split, rng, n_jobs, verbose,
    )  # fmt: skip
    design = build_design(
        formula, data, family=family, weights=weights, offset=offset, keep=keep,
        na_action=na_action, context=context,
    )  # fmt: skip
    _require_rows(len(design.rows))
    with_intercept = design.intercept if intercept is None else bool(intercept)
    if with_intercept and INTERCEPT in design.names:
        raise FormulaError(
            f"a column is called {INTERCEPT!r} like the intercept itself; rename it."
        )
    options = _for_response(options, estimator, design.response.values)
    prepared = prepare(
        design.X, design.response.values, options.loss, how=options.how,
        intercept=with_intercept, binary=family == "binomial",
        keep=np.flatnonzero(design.keep), weights=design.weights, offset=design.offset,
        names=design.names, threads=options.threads,
    )  # fmt: skip
    meta = replace(design, X=np.empty((0, 0)))
    # The standardized copy is all that the fit needs; the design itself can go.
    del design
    return _result(prepared, _fit(prepared, options), options, meta)


def rht_fit(
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    family: Literal["gaussian", "binomial"] = "gaussian",
    estimator: Any = "trim",
    k: Any = "auto",
    select: Literal["ric", "cv"] = "ric",
    loss: Any = None,
    epsilon: float = 0.1,
    intercept: bool = True,
    standardize: Any = True,
    step: Any = "auto",
    radius: float | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    refit: bool = True,
    split: Any = False,
    keep: Sequence[Any] | None = None,
    weights: Any = None,
    offset: Any = None,
    rng: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RHTResult:
    """Fit a sparse model to arrays; see `rht` for the arguments that are not listed here.

    Parameters
    ----------
    X : array, memory map or scipy sparse matrix (n, d)
        Design, without a column of ones; never changed. One dense standardized copy is made.
    y : array (n,)
        Response; for "binomial" any two labels.
    names : sequence of str, optional
        Names of the columns; `x1` to `xd` by default.
    intercept : bool
        Whether the model has an intercept.
    keep : sequence of int or str, optional
        Columns, by number or name, that are never thresholded.
    weights, offset : array (n,), optional
        Multipliers of the rows; known part of the linear predictor.
    family, estimator, k, select, loss, epsilon, standardize, step, radius, max_iter, tol, refit,
    split, rng, n_jobs, verbose
        As in `rht`.

    Returns
    -------
    RHTResult
        Rows are labelled 0 to n - 1.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=120, d=200, k=3, epsilon=0.1, rng=4)
    >>> fit = rs.rht_fit(sim.X, sim.y, k=3)
    >>> bool(abs(fit.coef(zeros=True).iloc[1:].to_numpy() - sim.beta).max() < 0.3)
    True
    """
    options = _options(
        family, estimator, k, select, loss, epsilon, standardize, step, radius, max_iter, tol,
        refit, split, rng, n_jobs, verbose,
    )  # fmt: skip
    matrix = as_matrix(X)
    n, d = matrix.shape
    _require_rows(n)
    labels = _names(names, d)
    response = _array_response(y, n, family)
    options = _for_response(options, estimator, response.values)
    prepared = prepare(
        matrix, response.values, options.loss, how=options.how, intercept=bool(intercept),
        binary=family == "binomial",
        keep=_keep(keep, labels), weights=_weights(weights, n),
        offset=None if offset is None else as_vector("offset", offset, n),
        names=labels, threads=options.threads,
    )  # fmt: skip
    return _result(
        prepared, _fit(prepared, options), options, _ArrayMeta(response, labels, n, offset)
    )


class _ArrayMeta:
    """What a design would say of a fit to arrays."""

    spec = None
    references: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, response: Response, names: tuple[str, ...], n: int, offset: Any) -> None:
        self.response, self.names, self.offset = response, names, offset
        self.rows = pd.RangeIndex(n)
        self.dropped = Dropped(0, 0, pd.Index([]), {})


def _require_rows(n: int) -> None:
    if n < _FEWEST_ROWS:
        raise DataError(f"there are {n} rows to fit; a robust fit needs at least {_FEWEST_ROWS}.")


def _names(names: Sequence[str] | None, d: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j + 1}" for j in range(d))
    labels = tuple(str(name) for name in names)
    if len(labels) != d:
        raise ParameterError(f"names has {len(labels)} entries; X has {d} columns.")
    seen: set[str] = set()
    for label in labels:
        if label in seen or label == INTERCEPT:
            raise ParameterError(
                f"names holds {label!r} twice, or it is the intercept's; names must differ."
            )
        seen.add(label)
    return labels


def _keep(keep: Sequence[Any] | None, names: tuple[str, ...]) -> NDArray[np.int64] | None:
    if keep is None:
        return None
    items = [keep] if isinstance(keep, str) or np.isscalar(keep) else list(keep)
    places = {name: j for j, name in enumerate(names)}
    for item in items:
        if isinstance(item, str) and item not in places:
            raise ParameterError(f"keep names {item!r}, which is no column of X.")
        if not isinstance(item, str):
            check_count("keep", item, 0, len(names) - 1)
    return np.unique([places[item] if isinstance(item, str) else int(item) for item in items])


def _weights(weights: Any, n: int) -> Array | None:
    if weights is None:
        return None
    values = as_vector("weights", weights, n)
    if values.min() < 0 or values.max() <= 0:
        raise DataError("weights must not be negative, and not all zero.")
    return values


def _array_response(y: Any, n: int, family: Literal["gaussian", "binomial"]) -> Response:
    """Response of a fit to arrays, coded like that of a formula."""
    if family == "gaussian":
        return Response("y", as_vector("y", y, n), None)
    # The order of categories says which is the event, and an array would lose it.
    values = y if isinstance(getattr(y, "dtype", None), pd.CategoricalDtype) else np.asarray(y)
    values = values.ravel() if values.ndim == 2 and 1 in values.shape else values
    if values.ndim != 1 or len(values) != n:
        raise DataError(
            f"y has shape {values.shape}; it needs one value for each of the {n} rows of X."
        )
    series = pd.Series(values).reset_index(drop=True)
    if series.isna().any():
        raise DataError(
            f"y has {int(series.isna().sum())} missing value(s); drop or impute these rows first."
        )
    return code_response(series, "y", "binomial")


def _result(data: Prepared, fitted: Fitted, options: _Options, meta: Any) -> RHTResult:
    """The fit on the data's own scale, labelled."""
    raw, constant = data.to_data(fitted.coef)
    names = [INTERCEPT, *meta.names] if data.intercept else list(meta.names)
    params = pd.Series(
        np.append(constant, raw) if data.intercept else raw, index=names, name="coef"
    )
    frame = _row_frame(data, fitted, meta)
    _warn_if_worse(frame, options.estimator, data)
    solution = fitted.solution
    forced = [meta.names[j] for j in data.keep if j < data.d]
    return RHTResult(
        params=params,
        k=len(solution.support),
        nobs=data.n,
        fittedvalues=frame["fitted"].rename("fitted"),
        resid=frame["resid"].rename("resid"),
        scale=1.0 if data.binary else fitted.scale * data.unit,
        row_weights=frame["weight"].rename("weight"),
        diagnostics=frame,
        converged=solution.converged,
        n_iter=solution.n_iter,
        history=pd.DataFrame(solution.history, columns=_HISTORY),
        path=_path_frame(fitted.path, meta.names),
        cv=None if fitted.choice is None else fitted.choice.table,
        formula=None if meta.spec is None else meta.spec.formula,
        family=options.family,
        estimator=options.estimator,
        loss=options.loss,
        cov=_covariance(data, fitted, meta.names),
        select="given" if fitted.choice is None else options.select,
        step=solution.step,
        refitted=options.refit,
        kept=tuple(forced),
        dropped=meta.dropped,
        classes=meta.response.classes,
        references=dict(meta.references),
        constant=tuple(np.array(meta.names, dtype=object)[data.scaling.constant]),
        spec=meta.spec,
        offset_given=meta.offset is not None,
        intercept=data.intercept,
    )


_HISTORY = ["iteration", "change", "step", "size", "entered", "left", "loss"]


def _row_frame(data: Prepared, fitted: Fitted, meta: Any) -> pd.DataFrame:
    """Fitted values, residuals, weights and flags by row label, in the data's units."""
    eta = data.predictor(fitted.coef)
    observed = meta.response.values
    if data.binary:
        prediction = expit(eta)
        spread = np.sqrt(np.maximum(prediction * (1.0 - prediction), 1e-12))
        standard = (observed - prediction) / spread
    else:
        prediction = eta * data.unit + data.location
        standard = fitted.resid / fitted.scale if fitted.scale > 0 else np.sign(fitted.resid)
    judged, scale = (standard, 1.0) if data.binary else (fitted.resid, fitted.scale)
    response = beyond_scale(data, judged, scale)
    far = fitted.leverage.flags
    flag = np.select([response & far, response, far], ["both", "response", "leverage"], "")
    return pd.DataFrame(
        {
            "link": eta if data.binary else prediction,
            "fitted": prediction,
            "resid": observed - prediction,
            "std_resid": standard,
            "weight": fitted.weights,
            "distance": fitted.leverage.distances,
            "distance_cutoff": fitted.leverage.cutoff,
            "flag": flag.astype(object),
        },
        index=meta.rows,
    )


def _path_frame(fits: dict[int, Array], names: Sequence[str]) -> pd.DataFrame:
    """Terms selected anywhere on the path, by k."""
    table = np.column_stack([coef[: len(names)] for coef in fits.values()])
    rows = np.flatnonzero((table != 0).any(axis=1))
    index = pd.Index(np.array([names[int(j)] for j in rows], dtype=object), name="term")
    return pd.DataFrame(table[rows], index=index, columns=pd.Index(list(fits), name="k"))


def _covariance(data: Prepared, fitted: Fitted, names: Sequence[str]) -> pd.DataFrame | None:
    """Covariance of the active coefficients on the data's own scale."""
    if fitted.cov is None:
        return None
    active = fitted.active
    slopes = active[active < data.d]
    transform = np.zeros((len(active), len(active)))
    place = np.arange(len(slopes))
    transform[place, place] = data.unit / data.scaling.scale[slopes]
    labels = [names[j] for j in slopes]
    if data.intercept:
        transform[-1, -1] = data.unit
        transform[-1, place] = -transform[place, place] * data.scaling.location[slopes]
        labels = [*labels, INTERCEPT]
    # In units that are far from one, squares can leave the range of numbers.
    with np.errstate(over="ignore", invalid="ignore"):
        cov = transform @ fitted.cov @ transform.T
    return pd.DataFrame(cov, index=labels, columns=labels)


def _warn_if_worse(frame: pd.DataFrame, estimator: GradientEstimator, data: Prepared) -> None:
    """Warn if more rows look bad than the gradient estimator was told to survive."""
    if isinstance(estimator, Trimmed):
        trimmed = estimator.count(data.n)
        # Huber's loss bounds what a response can do, whatever the gradient estimator.
        harmful = ["both"] if isinstance(data.loss, Huber) else ["response", "both"]
        bad = int(frame["flag"].isin(harmful).sum())
        # Of good rows, too, a few are beyond three scales.
        if bad <= max(trimmed, _GOOD_FLAGGED * data.n, 1):
            return
        text = f"trims {trimmed} at each end; fit again with a larger epsilon"
    elif isinstance(estimator, MedianOfMeans):
        blocks = estimator.count(data.n, data.d)
        bad = _spoiling(frame, blocks)
        if bad <= blocks / 2:
            return
        text = (
            f"has {blocks} blocks and breaks when half of them hold such a row; if they are not just heavy tails, use "
            f"MedianOfMeans(blocks={4 * bad + 15}) or estimator='trim'"
        )
    else:
        return
    warnings.warn(
        f"{bad} of {data.n} rows do not fit the model, and the gradient estimator {text}.",
        ContaminationWarning,
        stacklevel=4,
    )


def _spoiling(frame: pd.DataFrame, blocks: int) -> int:
    """Number of rows that spoil a block, moving its mean by three scales alone; heavy tails have few of them."""
    return int((frame["std_resid"].abs() > REJECT * len(frame) / blocks).sum())


def load(file: str | Path, context: Mapping[str, Any] | None = None) -> RHTResult:
    """Read a model that `RHTResult.save` wrote; nothing in the file can run.

    Parameters
    ----------
    file : str or Path
        The file.
    context : dict, optional
        Functions of the user's own that the formula calls; they are not stored.
    """
    return RHTResult(**read_result(file, context))
