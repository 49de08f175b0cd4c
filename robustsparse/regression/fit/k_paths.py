"""Choosing how many predictors to keep: a path over k, a robust criterion and robust cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import log

import numpy as np
import pandas as pd

from robustsparse.algorithm.gradients import GradientEstimator, with_rng
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import RHTFit, solve
from robustsparse.base.jobs import outcomes
from robustsparse.base.progress import progress
from robustsparse.base.types import Array, Mask
from robustsparse.regression.fit.standardized import Prepared
from robustsparse.robust.bounded_logistic import bounded_logistic, clipped_deviance
from robustsparse.robust.mm import mm_regression
from robustsparse.robust.scales import m_scale, tau_scale

# A path is there to be compared along; the chosen fit is solved to its own tolerance.
_PATH_TOL, _BINARY_PATH_TOL, _PATH_ITER = 1e-5, 1e-3, 30
FOLDS = 5
# Share of the largest prediction errors left out, per trimmed share of the gradient.
_ERRORS_TRIMMED, _LARGEST_SHARE = 1.5, 0.4
# A scale this small is an exact fit; its logarithm would drown every penalty.
_EXACT = 1e-10


def path(
    data: Prepared,
    problem: Problem,
    ks: Sequence[int],
    settings: Settings,
    start: Array | None = None,
    verbose: bool = False,
) -> dict[int, RHTFit]:
    """Fits for several k, from the largest down, each starting from the one before, the first from `start`.

    `problem` is that of the data with an estimator bound to them.

    With a binary response each also starts from zero, and the smaller robust loss wins: a generous support separates
    the classes, and its coefficients, huge and arbitrary, may be worse than none.
    """
    loose = Settings(
        settings.step,
        settings.radius,
        min(settings.max_iter, _PATH_ITER),
        max(settings.tol, _BINARY_PATH_TOL if data.binary else _PATH_TOL),
    )
    fits: dict[int, RHTFit] = {}
    for k in progress(sorted(ks, reverse=True), len(ks), "path", verbose):
        starts = [start] if start is None or not data.binary else [start, None]
        runs = [
            solve(problem, k, keep=data.keep, settings=loose, start=first, warn=False)
            for first in starts
        ]
        fits[k] = min(runs, key=lambda fit: fit.loss)
        start = fits[k].coef
    return dict(sorted(fits.items()))


def penalty(n: int, d: int, size: int) -> float:
    """Price of `size` coefficients chosen among d: that of BIC and that of the choice."""
    return size * (log(n) + 2.0 * log(max(d, 2)))


def robust_criterion(data: Prepared, fit: RHTFit) -> float:
    """Robust information criterion of a fit, after a robust refit on its support.

    For a scaled response n log τ² with a τ-scale of the residuals (with weights the M-scale); for a binary one
    twice the clipped deviance; plus `penalty`.
    """
    active = np.flatnonzero(fit.coef)
    price = penalty(data.n, data.d, len(fit.support))
    A = data.columns(active)
    if data.binary:
        refit = bounded_logistic(A, data.y, offset=data.offset, prior_weights=data.weights)
        eta = A @ refit.coef if data.offset is None else A @ refit.coef + data.offset
        margin = np.where(data.y == 1, eta, -eta)
        return 2.0 * float(data.weighted(clipped_deviance(margin)).sum()) + price
    target = data.y if data.offset is None else data.y - data.offset
    resid = target
    if len(active):
        starts = fit.coef[active][None, :]
        resid = mm_regression(
            A, target, starts=starts, prior_weights=data.weights, subsamples=0
        ).resid
    scale = tau_scale(resid) if data.weights is None else m_scale(resid, prior_weights=data.weights)
    return 2.0 * data.n * log(max(scale, _EXACT)) + price


@dataclass(frozen=True)
class Choice:
    """A chosen k with the table that it was chosen by.

    Attributes
    ----------
    k : int
        The choice.
    table : DataFrame
        Index k, columns `value` and `se` (NaN for the criterion).
    """

    k: int
    table: pd.DataFrame


def choose_by_criterion(data: Prepared, fits: dict[int, RHTFit]) -> Choice:
    """The k with the smallest robust criterion."""
    values = [robust_criterion(data, fit) for fit in fits.values()]
    index = pd.Index(list(fits), name="k")
    table = pd.DataFrame({"value": values, "se": np.nan}, index=index)
    return Choice(list(fits)[int(np.argmin(values))], table)


def choose_by_cv(
    data: Prepared,
    estimator: GradientEstimator,
    ks: Sequence[int],
    settings: Settings,
    *,
    trim: float,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Choice:
    """The smallest k within one standard error of the best robust prediction error.

    The rows are dealt into five folds; errors are losses of rows left out, of which the largest are trimmed, since some
    of these rows are bad.
    """
    fold = rng.permutation(data.n) % FOLDS
    # A generator that folds share would make the outcome depend on which of them comes first.
    estimators = [with_rng(estimator, child) for child in rng.spawn(FOLDS)]
    folds = [partial(_held_out, data, estimators[f], ks, settings, fold == f) for f in range(FOLDS)]
    errors = np.empty((data.n, len(ks)))
    for f, part in enumerate(outcomes(folds, n_jobs, "folds", verbose)):
        errors[fold == f] = part
    count = int(np.ceil((1.0 - min(_ERRORS_TRIMMED * trim, _LARGEST_SHARE)) * data.n))
    kept = np.sort(errors, axis=0)[:count]
    value, se = kept.mean(axis=0), kept.std(axis=0) / np.sqrt(count)
    table = pd.DataFrame({"value": value, "se": se}, index=pd.Index(sorted(ks), name="k"))
    best = int(np.argmin(value))
    return Choice(sorted(ks)[int(np.argmax(value <= value[best] + se[best]))], table)


def _held_out(
    data: Prepared,
    estimator: GradientEstimator,
    ks: Sequence[int],
    settings: Settings,
    out: Mask,
) -> Array:
    """Weighted losses (rows left out, ks) of fits to the other rows."""
    weights = np.ones(data.n) if data.weights is None else data.weights
    part = data.rows(~out)
    fits = path(part, part.problem(estimator), ks, settings)
    # A few columns of all rows cost less than a copy of all columns of these rows.
    return np.column_stack(
        [
            weights[out] * data.loss.value(data.y[out], data.predictor(f.coef)[out])
            for f in fits.values()
        ]
    )
