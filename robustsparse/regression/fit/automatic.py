"""The automatic fit: robust starts, rejection of bad rows, choice of k on the rest, robust refit on all.

Algorithm 1 with a trimmed gradient keeps bad rows from doing harm, at a price: what it trims it loses. Once it has
shown which rows are bad they can be left out, the number of predictors is chosen on the rest, and a robust regression
on the few chosen columns gets back to the accuracy that the good rows allow.
"""

from collections.abc import Callable, Sequence

import numpy as np

from robustsparse.algorithm.solver import RHTFit, solve
from robustsparse.base.types import Array
from robustsparse.regression.fit.fitted import Fitted
from robustsparse.regression.fit.k_paths import Choice, path
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import (
    TRUSTED,
    Leverage,
    active,
    leverage,
    refit,
    rejected,
    trust_in_rows,
)
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.starts import best_start
from robustsparse.robust.mm import Refit

# How often rows are rejected and k is chosen anew.
_ROUNDS = 2

Chooser = Callable[[Standardized, dict[int, RHTFit]], Choice]


def automatic_fit(
    problem: Standardized, options: Options, ks: Sequence[int], choose: Chooser
) -> Fitted:
    """Fit with rejection of bad rows and a robust refit.

    Parameters
    ----------
    problem : Standardized
        The standardized problem.
    options : Options
        Their gradient estimator is that of the starts; the reruns on the kept rows use a lighter one of its kind.
    ks : sequence of int
        Numbers of predictors to choose from.
    choose : callable
        Chooses k from the kept rows and the fits of a path.
    """
    estimator, settings, threads = options.estimator, options.settings, options.threads
    far = leverage(problem)
    # With every column in the model there is nothing to select, and the robust regression sees to far rows itself.
    selects = min(ks) < problem.free
    trust = trust_in_rows(problem, far, estimator) if selects else np.ones(problem.n)
    judged = problem.weighted_by(trust)
    good = np.ones(problem.n, dtype=bool)
    rerun, first = estimator if selects else estimator.lighter(), None
    # Where a generous start could explain every row, none is rejected before k is chosen.
    if problem.family.generous:
        most = min(max(problem.largest_k, max(ks)), problem.free)
        start = best_start(problem, estimator, most, settings, far.flags, threads)
        first = start.coef
        good = ~rejected(problem, refit(judged, start, options.rng))
        rerun = estimator.lighter()
    for _ in range(_ROUNDS):
        with problem.only(good & (trust >= TRUSTED)) as part:
            bound = part.problem(rerun, threads)
            fits = path(part, bound, ks, settings, first, options.verbose)
            choice = choose(part, fits)
            solution = solve(
                bound, choice.k, keep=problem.keep, settings=settings,
                start=fits[choice.k].coef, warn=False,
            )  # fmt: skip
            # What it measured of the design takes as much memory as the design: let it go before the next.
            del bound
        final = refit(judged, solution, options.rng)
        fitting = ~rejected(problem, final)
        if np.array_equal(fitting, good):
            break
        good = fitting
    coefs = {k: fit.coef for k, fit in fits.items()} | {choice.k: solution.coef}
    return refitted(problem, solution, final, trust, choice, coefs, far)


def refit_all_rows(problem: Standardized, solution: RHTFit, rng: np.random.Generator) -> Fitted:
    """A run of Algorithm 1 with a robust refit on its support, all rows judged once."""
    own = {problem.count(solution.support): solution.coef}
    final = refit(problem, solution, rng)
    return refitted(problem, solution, final, np.ones(problem.n), None, own, leverage(problem))


def refitted(
    problem: Standardized,
    solution: RHTFit,
    final: Refit,
    trust: Array,
    choice: Choice | None,
    path: dict[int, Array],
    far: Leverage,
) -> Fitted:
    """A model with its robust regression on all rows."""
    columns = active(problem, solution)
    coef = np.zeros(len(problem.XT))
    coef[columns] = final.coef
    return Fitted(
        coef=coef,
        solution=solution,
        scale=final.scale,
        resid=final.resid,
        weights=final.weights * trust,
        cov=final.cov,
        active=columns,
        choice=choice,
        path=path,
        leverage=far,
    )
