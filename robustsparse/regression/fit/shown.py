"""The steps that a result shows: Algorithm 1 once more, from the model that was chosen.

They are meant to stay at that model. So they are taken on its columns alone first, in a design of these only, and each
look at all others is proved afterwards: no other column reaches what it would have to. Where that cannot be proved
cheaply they are taken on all columns, which gives the same steps.
"""

from dataclasses import dataclass, replace

import numpy as np

from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.gradients import Trimmed
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.products import weighted_squares
from robustsparse.algorithm.solver import RHTFit, solve
from robustsparse.base.row_slices import is_tall
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.standardized import Standardized, by_labels, by_least_squares

# Iterations from a model that is found already.
_SHOWN_ITER = 3
# Part of the product of two norms that rounding can take from an inner product.
_ROUNDING = 1e-11
# So many times as many rows as columns are many.
_TALL = 100
# Entries of the design that are worked on at a time.
_BLOCK = 1 << 16


def shown_run(problem: Standardized, used: Mask, model: RHTFit, options: Options) -> RHTFit:
    """Algorithm 1 once more on the used rows, from the chosen model: its steps are the history."""
    found = by_least_squares(problem) or by_labels(problem)
    few = min(options.settings.max_iter, _SHOWN_ITER)
    settings = replace(options.settings, max_iter=few) if found else options.settings
    estimator = options.estimator.lighter()
    run = _on_its_columns(problem.seeing(used), model, estimator, settings)
    if run is None:
        with problem.only(used) as part:
            bound = _bound(part, estimator, options.threads)
            run = _run(bound, part.count(model.support), part.keep, settings, model.coef)
    rests = model.converged or run.converged
    return replace(
        run, coef=model.coef, support=model.support, converged=rests,
        reason="settled" if rests else run.reason,
    )  # fmt: skip


def _run(problem: Problem, k: int, keep: Indices, settings: Settings, start: Array) -> RHTFit:
    return solve(problem, k, keep=keep, settings=settings, start=start, warn=False)


def _bound(part: Standardized, estimator: Estimator, threads: int) -> Problem:
    """All columns, unscreened where these are few beside the rows: for a few steps that is not worth its memory."""
    if not (_few_columns(part) and type(estimator) is Trimmed and part.whole is None):
        return part.problem(estimator, threads)
    gradient = estimator.shared(part.XT, screened=False)
    if gradient is None:
        return part.problem(estimator, threads)
    return Problem(gradient, part.y, part.loss, part.offset, part.weights, groups=part.terms)


def _few_columns(part: Standardized) -> bool:
    return is_tall(part.n, len(part.XT)) and part.n >= _TALL * len(part.XT)


def _on_its_columns(
    part: Standardized, model: RHTFit, estimator: Estimator, settings: Settings
) -> RHTFit | None:
    """The run on the columns of a model and the kept ones; None unless it is proved to be that on all columns."""
    if not (type(estimator) is Trimmed and by_least_squares(part) and part.whole is None):
        return None
    if part.terms is not None or settings.step != "auto" or settings.fused:
        return None
    if _few_columns(part):
        # All of few columns are looked at sooner than anything is proved of them, and in less memory.
        return None
    columns = np.sort(np.concatenate([model.support, part.keep]))
    own = np.ascontiguousarray(part.columns(columns).T)
    gradient = estimator.shared(own, screened=False)
    if gradient is None:
        return None
    looks: list[_Look] = []
    alone = Problem(
        gradient, part.y, part.loss, part.offset, part.weights,
        watch=lambda score, bar, _: looks.append(_Look(score.copy(), bar)),
    )  # fmt: skip
    keep = np.searchsorted(columns, np.sort(part.keep))
    run = _run(alone, len(model.support), keep, settings, model.coef[columns])
    proved = _none_reaches(part, columns, estimator.count(part.n), looks)
    return run if proved else None


@dataclass(frozen=True)
class _Look:
    """Scores (n,), and the size of a gradient that would have changed what came of a look at them."""

    score: Array
    bar: float


def _none_reaches(part: Standardized, chosen: Indices, trimmed: int, looks: list[_Look]) -> bool:
    """Whether it is certain that no trimmed mean of another column reaches the bar of any look.

    A kept sum is the whole sum without as many products as are trimmed, of which the sum is no larger than the norm of
    the column times that of as many of the largest scores (Cauchy and Schwarz).
    """
    if not looks:
        return True
    if not all(np.isfinite(look.score).all() and look.bar > 0.0 for look in looks):
        return False
    scores = np.column_stack([part.on_all_rows(look.score) for look in looks])
    sizes = np.sort(np.abs(scores), axis=0)[::-1]
    trims = np.linalg.norm(sizes[: 2 * trimmed], axis=0) + _ROUNDING * np.linalg.norm(sizes, axis=0)
    bars = (part.n - 2 * trimmed) * np.array([look.bar for look in looks]) * (1.0 - _ROUNDING)
    counted = part.on_all_rows(np.ones(part.n))
    below = np.empty(len(part.XT), dtype=bool)
    width = max(1, _BLOCK // len(counted))
    for first in range(0, len(below), width):
        place = slice(first, first + width)
        block = np.asarray(part.XT[place], dtype=np.float64)
        lengths = np.sqrt(weighted_squares(block, counted))
        most = np.abs(block @ scores) + lengths[:, None] * trims
        below[place] = (most < bars).all(axis=1)
    below[chosen] = True
    return bool(below.all())
