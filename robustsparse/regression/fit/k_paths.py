"""Choosing how many predictors to keep: a path over k, a robust criterion and robust cross-validation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import log

import numpy as np
import pandas as pd

from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import RHTFit, solve
from robustsparse.base.jobs import outcomes
from robustsparse.base.progress import progress
from robustsparse.base.types import Array, Mask
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import active
from robustsparse.regression.fit.standardized import Standardized

# A path is there to be compared along; the chosen fit is solved to its own tolerance.
_PATH_ITER = 30
FOLDS = 5
# Share of the largest prediction errors left out, per trimmed share of the gradient.
_ERRORS_TRIMMED, _LARGEST_SHARE = 1.5, 0.4


def path(
    problem: Standardized,
    bound: Problem,
    ks: Sequence[int],
    settings: Settings,
    start: Array | None = None,
    verbose: bool = False,
) -> dict[int, RHTFit]:
    """Fits for several k, from the largest down, each starting from the one before, the first from `start`.

    `bound` is the problem with an estimator bound to it.

    Where a generous support is no good start each k also starts from zero, and the smaller robust loss wins: with two
    classes such a support separates them, and its coefficients, huge and arbitrary, may be worse than none.
    """
    generous = problem.family.generous
    loose = Settings(
        settings.step,
        settings.radius,
        min(settings.max_iter, _PATH_ITER),
        max(settings.tol, problem.family.path_tol),
    )
    fits: dict[int, RHTFit] = {}
    for k in progress(sorted(ks, reverse=True), len(ks), "path", verbose):
        starts = [start] if start is None or generous else [start, None]
        runs = [
            solve(bound, k, keep=problem.keep, settings=loose, start=first, warn=False)
            for first in starts
        ]
        fits[k] = min(runs, key=lambda fit: fit.loss)
        start = fits[k].coef
    return dict(sorted(fits.items()))


def penalty(n: int, d: int, size: int, columns: int | None = None) -> float:
    """Price of `size` terms chosen among d: that of BIC, for each of their columns, and that of the choice."""
    more = 0 if columns is None else columns - size
    return size * (log(n) + 2.0 * log(max(d, 2))) + more * log(n)


def _price(problem: Standardized, fit: RHTFit) -> float:
    terms = problem.count(fit.support)
    return penalty(problem.n, problem.candidates, terms, len(fit.support))


def robust_criterion(problem: Standardized, fit: RHTFit) -> float:
    """Robust information criterion of a fit, after a robust refit on its support: misfit plus `penalty`."""
    columns = np.flatnonzero(fit.coef)
    misfit = problem.family.misfit(problem.chosen(columns), fit.coef[columns])
    return misfit + _price(problem, fit)


def trusted_criterion(problem: Standardized, fit: RHTFit) -> float:
    """The same where bad rows have been rejected."""
    columns = active(problem, fit)
    misfit = problem.family.trusted_misfit(problem.chosen(columns), fit.coef[columns])
    return misfit + _price(problem, fit)


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


def choose_by(
    criterion: Callable[[Standardized, RHTFit], float],
    problem: Standardized,
    fits: dict[int, RHTFit],
) -> Choice:
    """The k with the smallest criterion."""
    values = [criterion(problem, fit) for fit in fits.values()]
    index = pd.Index(list(fits), name="k")
    table = pd.DataFrame({"value": values, "se": np.nan}, index=index)
    return Choice(list(fits)[int(np.argmin(values))], table)


def cross_validated(
    problem: Standardized, options: Options, ks: Sequence[int], seed: int
) -> Choice:
    """The choice by robust cross-validation, with the settings of a fit."""
    return choose_by_cv(
        problem, options.estimator, ks, options.settings, trim=options.epsilon,
        rng=np.random.default_rng(seed), n_jobs=options.threads, verbose=options.verbose,
    )  # fmt: skip


def choose_by_cv(
    problem: Standardized,
    estimator: Estimator,
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
    fold = rng.permutation(problem.n) % FOLDS
    # A generator that folds share would make the outcome depend on which of them comes first.
    estimators = [estimator.with_rng(child) for child in rng.spawn(FOLDS)]
    folds = [
        partial(_held_out, problem, estimators[f], ks, settings, fold == f) for f in range(FOLDS)
    ]
    errors = np.empty((problem.n, len(ks)))
    for f, part in enumerate(outcomes(folds, n_jobs, "folds", verbose)):
        errors[fold == f] = part
    count = int(np.ceil((1.0 - min(_ERRORS_TRIMMED * trim, _LARGEST_SHARE)) * problem.n))
    kept = np.sort(errors, axis=0)[:count]
    value, se = kept.mean(axis=0), kept.std(axis=0) / np.sqrt(count)
    table = pd.DataFrame({"value": value, "se": se}, index=pd.Index(sorted(ks), name="k"))
    best = int(np.argmin(value))
    return Choice(sorted(ks)[int(np.argmax(value <= value[best] + se[best]))], table)


def _held_out(
    problem: Standardized,
    estimator: Estimator,
    ks: Sequence[int],
    settings: Settings,
    out: Mask,
) -> Array:
    """Weighted losses (rows left out, ks) of fits to the other rows."""
    weights = np.ones(problem.n) if problem.weights is None else problem.weights
    part = problem.rows(~out)
    fits = path(part, part.problem(estimator), ks, settings)
    # A few columns of all rows cost less than a copy of all columns of these rows.
    return np.column_stack(
        [
            weights[out] * problem.loss.value(problem.y[out], problem.predictor(f.coef)[out])
            for f in fits.values()
        ]
    )
