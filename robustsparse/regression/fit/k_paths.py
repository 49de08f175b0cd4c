"""Choosing how many predictors to keep along a path of Algorithm 1: by a criterion, or by robust cross-validation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import RHTFit, solve
from robustsparse.base.jobs import outcomes
from robustsparse.base.progress import progress
from robustsparse.base.types import Array, Mask
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


def choice_of(values: Mapping[int, float]) -> Choice:
    """The k with the smallest criterion.

    Examples
    --------
    >>> choice_of({1: 3.0, 2: 1.5, 4: 2.0}).k
    2
    """
    table = pd.DataFrame(
        {"value": list(values.values()), "se": np.nan}, index=pd.Index(list(values), name="k")
    )
    return Choice(min(values, key=values.__getitem__), table)


# Makes models of several sizes for some rows, with random numbers of its own.
Maker = Callable[[Standardized, np.random.Generator], Mapping[int, RHTFit]]


def choose_by_cv(
    problem: Standardized,
    models: Maker,
    ks: Sequence[int],
    *,
    trim: float,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Choice:
    """The smallest k whose robust prediction error is within one standard error of the best.

    The rows are dealt into five folds; errors are losses of rows left out, of which the largest are trimmed where some
    of these rows are bad. The standard error is that of the difference from the best, row by row.
    """
    ks = sorted(ks)
    fold = rng.permutation(problem.n) % FOLDS
    # A generator that folds share would make the outcome depend on which of them comes first.
    folds = [
        partial(_held_out, problem, models, child, ks, fold == f)
        for f, child in enumerate(rng.spawn(FOLDS))
    ]
    errors = np.empty((problem.n, len(ks)))
    for f, part in enumerate(outcomes(folds, n_jobs, "folds", verbose)):
        errors[fold == f] = part
    count = int(np.ceil((1.0 - min(_ERRORS_TRIMMED * trim, _LARGEST_SHARE)) * problem.n))
    value = np.sort(errors, axis=0)[:count].mean(axis=0)
    best = int(np.argmin(value))
    # Rows that the best of them predicts well: of the others nobody knows whether they are good.
    excess = (errors - errors[:, [best]])[np.argsort(errors[:, best], kind="stable")[:count]]
    se = excess.std(axis=0) / np.sqrt(count)
    table = pd.DataFrame({"value": value, "se": se}, index=pd.Index(ks, name="k"))
    return Choice(ks[int(np.argmax(value <= value[best] + se))], table)


def _held_out(
    problem: Standardized,
    models: Maker,
    rng: np.random.Generator,
    ks: Sequence[int],
    out: Mask,
) -> Array:
    """Weighted losses (rows left out, ks) of fits to the other rows."""
    weights = np.ones(problem.n) if problem.weights is None else problem.weights
    fits = models(problem.rows(~out), rng)
    # A few columns of all rows cost less than a copy of all columns of these rows.
    return np.column_stack(
        [
            weights[out] * problem.loss.value(problem.y[out], problem.predictor(fits[k].coef)[out])
            for k in ks
        ]
    )
