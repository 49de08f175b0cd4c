"""Starts of the automatic fit: runs of Algorithm 1 that differ, and the best of them."""

from dataclasses import replace

import numpy as np

from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.gradients import Mean
from robustsparse.algorithm.problem import Settings
from robustsparse.algorithm.solver import RHTFit, solve, solve_down
from robustsparse.base.least_squares import least_squares
from robustsparse.base.sampling import some_rows
from robustsparse.base.types import Array, Mask
from robustsparse.regression.family import Chosen
from robustsparse.regression.fit.criteria import robust_criterion
from robustsparse.regression.fit.pursuit import Asking, pursuing, together
from robustsparse.regression.fit.standardized import Standardized, by_least_squares
from robustsparse.robust.scales import tau_scale

# Concentration: this share of the rows is kept, this often.
_CONCENTRATED, _CONCENTRATIONS = 0.75, 4
# Responses within this many times the median deviation are in the middle.
_MIDDLE = 3.0
# Starts look at so many rows at most, or at so many a column.
_MOST_ROWS, _ROWS_A_COLUMN = 10_000, 50
# Starts are there to be compared.
_START_TOL, _START_ITER = 1e-4, 30
# Least squares soon finds what a first guess lacks, above all with more rows than columns; with so many times more
# columns than rows it need not.
_GUESS_ITER, _WIDE = 3, 5
_CONCENTRATION_TOL, _CONCENTRATION_ITER = 1e-3, 10


def best_start(
    problem: Standardized,
    estimator: Estimator,
    k: int,
    settings: Settings,
    far: Mask,
    threads: int,
) -> RHTFit:
    """The best of several starts by the robust criterion.

    Runs of Algorithm 1 with different trims, one on the rows that are not far out, and from each of them
    concentration on the rows that fit best. Where there is room for every column nothing needs to be thresholded. Of
    very many rows some are enough for a start.
    """
    some = some_rows(problem.n, max(_MOST_ROWS, _ROWS_A_COLUMN * problem.predictors))
    if some is not None:
        problem, far = problem.rows(some), far[some]
    if k >= problem.free and by_least_squares(problem):
        return _full_start(problem, far)
    loose = _loosened(problem, settings)
    # Under heavy tails the way down from a generous support is worth its time; trimmed starts are several anyway.
    run = solve_down if estimator.for_heavy_tails else solve
    starts: list[RHTFit] = []
    bound = None
    for start in estimator.starts():
        bound = problem.problem(start, threads, like=bound)
        starts.append(run(bound, k, keep=problem.keep, settings=loose, warn=False))
    # What it measured of the design takes as much memory as the design: let it go before the next.
    del bound
    if 0 < far.sum() <= problem.n // 2:
        with problem.only(~far) as near:
            alone = near.problem(estimator, threads)
            starts.append(solve(alone, k, keep=problem.keep, settings=loose, warn=False))
            del alone
    ends = together(problem, [_concentrating(problem, start.coef, k, loose) for start in starts])
    if _pursued(problem):
        starts = [_better(problem, *pair) for pair in zip(starts, ends, strict=True)]
    else:
        starts += ends
    return min(starts, key=lambda start: robust_criterion(problem, start))


def _loosened(problem: Standardized, settings: Settings) -> Settings:
    """Settings of starts, which are no more than a guess where least squares finds what they lack."""
    guess = _pursued(problem) and problem.predictors <= _WIDE * problem.n
    most = _GUESS_ITER if guess and problem.predictors < problem.n else _START_ITER
    tol = max(settings.tol, _START_TOL)
    return replace(settings, tol=tol, max_iter=min(settings.max_iter, most), rough=guess)


def _better(problem: Standardized, *starts: RHTFit) -> RHTFit:
    """The start whose residuals have the smaller scale, as it is: a robust refit of each would take longer."""

    def scale(start: RHTFit) -> float:
        resid = problem.loss.score(problem.y, problem.predictor(start.coef))
        return tau_scale(resid, prior_weights=problem.weights)

    return min(starts, key=scale)


def _full_start(problem: Standardized, far: Mask) -> RHTFit:
    """Least squares on every column, concentrated on the rows that fit best, from several sets of rows."""
    support = problem.not_in(np.zeros(0, dtype=np.int64), problem.free)
    columns = np.concatenate([support, problem.keep])
    rows = problem.chosen(columns)
    target = rows.target
    size = np.abs(target - np.median(target))
    middle = size <= _MIDDLE * max(float(np.median(size)), 1e-300)
    starts = [
        _concentrated(rows, first)
        for first in (size < np.inf, middle, middle & ~far)
        if first.sum() >= 2 * len(columns)
    ]
    fits = []
    for part in starts:
        coef = np.zeros(len(problem.XT))
        coef[columns] = part
        fits.append(RHTFit(coef, problem.ranked(support, coef), 0.0, True, "settled", 0.0, ()))
    return min(fits, key=lambda start: robust_criterion(problem, start))


def _concentrated(rows: Chosen, first: Mask) -> Array:
    """Weighted least squares on the rows that fit best, until these rows stay the same, from some rows."""
    root = np.ones(len(rows.y)) if rows.weights is None else np.sqrt(rows.weights)
    A, target = root[:, None] * rows.A, root * rows.target
    count, best = int(_CONCENTRATED * len(target)), first
    for _ in range(2 * _CONCENTRATIONS):
        coef = least_squares(A[best], target[best])
        size = np.abs(rows.target - rows.A @ coef)
        old, best = best, np.zeros(len(target), dtype=bool)
        best[np.argpartition(size, count - 1)[:count]] = True
        if np.array_equal(best, old):
            break
    return coef


def concentrate(problem: Standardized, coef: Array, k: int, settings: Settings) -> RHTFit:
    """Plain hard thresholding on the rows that fit best, until these rows stay the same."""
    return together(problem, [_concentrating(problem, coef, k, settings)])[0]


def _concentrating(problem: Standardized, coef: Array, k: int, settings: Settings) -> Asking:
    """The same as a run among others, see `together`."""
    count = int(_CONCENTRATED * problem.n)
    old = np.zeros(problem.n, dtype=bool)
    fit: RHTFit
    for _ in range(_CONCENTRATIONS):
        size = np.abs(problem.loss.score(problem.y, problem.predictor(coef)))
        best = np.zeros(problem.n, dtype=bool)
        best[np.argpartition(size, count - 1)[:count]] = True
        if np.array_equal(best, old):
            break
        old = best
        # To a plain mean a row of weight zero is a row left out, and no copy of the design is made.
        part = problem.weighted_by(best.astype(np.float64))
        if _pursued(problem):
            fit = yield from pursuing(part, coef, k)
        else:
            fit = _thresholded(part, coef, k, settings)
        coef = fit.coef
    return fit


def _pursued(problem: Standardized) -> bool:
    """Whether plain hard thresholding can go by least squares on single columns."""
    return by_least_squares(problem) and problem.terms is None


def _thresholded(part: Standardized, coef: Array, k: int, settings: Settings) -> RHTFit:
    """Plain hard thresholding from given coefficients."""
    loose = replace(settings, max_iter=_CONCENTRATION_ITER, tol=_CONCENTRATION_TOL)
    return solve(part.problem(Mean()), k, keep=part.keep, settings=loose, start=coef, warn=False)
