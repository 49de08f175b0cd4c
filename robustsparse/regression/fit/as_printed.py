"""The paper's estimates as they are: thresholded coefficients without a refit, and sample splitting."""

from collections.abc import Sequence

import numpy as np

from robustsparse.algorithm.problem import Problem
from robustsparse.algorithm.solver import RHTFit, solve, solve_down
from robustsparse.base.checks import FEWEST_ROWS
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array
from robustsparse.regression.fit.criteria import PRICES, criteria
from robustsparse.regression.fit.k_paths import Choice, choice_of, choose_by_cv, path
from robustsparse.regression.fit.lowest_deviance import LowestDeviance, runs_away
from robustsparse.regression.fit.models import Fitted, Model
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import active, leverage
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.robust.scales import ROUNDED_BISQUARE_EFFICIENCY


def thresholded_fit(
    problem: Standardized, options: Options, ks: Sequence[int], chosen: bool
) -> Fitted:
    """Algorithm 1 for the one k, or the best of several."""
    choice: Choice | None = None
    fits: dict[int, RHTFit] = {}
    k = ks[0]
    bound = problem.problem(options.estimator, options.threads)
    if chosen:
        fits = _path(problem, bound, ks, options, verbose=options.verbose)
        choice = _choice(problem, fits, options)
        k = choice.k
    solution = _run(problem, bound, k, options)
    # What it measured of the design takes as much memory as the design: let it go before the rows are judged.
    del bound
    coefs = {k: fit.coef for k, fit in {**fits, k: solution}.items()}
    return as_thresholded(problem, solution, choice, coefs)


def _run(problem: Standardized, bound: Problem, k: int, options: Options) -> RHTFit:
    """Algorithm 1 for one k; with a step of the user's own it is run as printed, from zero and to its end."""
    settings, keep = options.settings, problem.keep
    if settings.step == "auto" and problem.family.generous:
        return solve_down(bound, k, keep=keep, settings=settings, warn=False)
    if not _taken_back(problem, options):
        return solve(bound, k, keep=keep, settings=settings, warn=False)
    lowest = LowestDeviance(problem)
    fit = solve(bound, k, keep=keep, settings=settings, callback=lowest, warn=False)
    return lowest.end(bound, fit)


def _path(
    problem: Standardized,
    bound: Problem,
    ks: Sequence[int],
    options: Options,
    verbose: bool = False,
) -> dict[int, RHTFit]:
    """Algorithm 1 for several k, all in the size that the one fit would have."""
    fits = path(problem, bound, ks, options.settings, verbose=verbose)
    if not _taken_back(problem, options):
        return fits
    return {k: LowestDeviance(problem).end(bound, fit) for k, fit in fits.items()}


def _taken_back(problem: Standardized, options: Options) -> bool:
    return options.settings.step == "auto" and runs_away(problem)


def _choice(problem: Standardized, fits: dict[int, RHTFit], options: Options) -> Choice:
    if options.select != "cv":
        return choice_of(criteria(problem, fits, PRICES[options.select], trusted=False))

    def models(rows: Standardized, rng: np.random.Generator) -> dict[int, RHTFit]:
        bound = rows.problem(options.estimator.with_rng(rng))
        return _path(rows, bound, tuple(fits), options)

    return choose_by_cv(
        problem, models, tuple(fits), trim=options.epsilon, rng=options.rng.spawn(1)[0],
        n_jobs=options.threads, verbose=options.verbose,
    )  # fmt: skip


def split_run(problem: Standardized, options: Options, k: int) -> RHTFit:
    """One iteration on each of several parts of the rows, as in the paper's theory."""
    if problem.n < FEWEST_ROWS * options.split:
        raise ParameterError(
            f"split={options.split} leaves {problem.n // options.split} of the {problem.n} rows for an iteration, "
            f"which needs at least {FEWEST_ROWS}; split into fewer parts."
        )
    part = options.rng.permutation(problem.n) % options.split
    parts = [problem.rows(part == t).problem(options.estimator) for t in range(options.split)]
    return solve(parts, k, keep=problem.keep, settings=options.settings, warn=False)


def as_thresholded(
    problem: Standardized, solution: RHTFit, choice: Choice | None, path: dict[int, Array]
) -> Fitted:
    """A run of Algorithm 1 as it is, with the residuals and weights that it implies."""
    eta = problem.predictor(solution.coef)
    resid = problem.family.residuals(problem.y, eta)
    scale = problem.family.scale_of(resid)
    columns, size = active(problem, solution), problem.count(solution.support)
    coef = solution.coef[columns]
    model = Model(columns, coef, eta, scale, resid, _bisquare(resid, scale), None, size)
    return Fitted(model, solution, choice, path, leverage(problem), {size: model})


def _bisquare(resid: Array, scale: float) -> Array:
    """Weights of residuals; at an exact fit only those of zero count."""
    reach = ROUNDED_BISQUARE_EFFICIENCY * scale
    relative = np.clip(resid / reach, -1.0, 1.0) if scale > 0 else np.sign(resid)
    return np.asarray((1.0 - relative**2) ** 2)
