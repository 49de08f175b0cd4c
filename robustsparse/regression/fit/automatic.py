"""The automatic fit: robust starts, rejection of bad rows, choice of k on the rest, robust refit on all.

Algorithm 1 with a trimmed gradient keeps bad rows from doing harm, at a price: what it trims it loses. Once it has
shown which rows are bad they can be left out, the number of predictors is chosen on the rest, and a robust regression
on the few chosen columns gets back to the accuracy that the good rows allow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import expit

from robustsparse.algorithm.gradients import GradientEstimator, Mean, MedianOfMeans, Trimmed
from robustsparse.algorithm.problem import Settings
from robustsparse.algorithm.solver import RHTFit, solve, solve_down
from robustsparse.algorithm.sparsity import largest_k
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.k_paths import Choice, path, penalty, robust_criterion
from robustsparse.regression.fit.standardized import Prepared
from robustsparse.robust.bounded_logistic import bounded_logistic
from robustsparse.robust.distances import (
    ROWS_A_COLUMN,
    distance_cutoff,
    joint_scores,
    orthogonal_distances,
    robust_distances,
    score_cutoff,
)
from robustsparse.robust.mm import Refit, mm_regression
from robustsparse.robust.scales import m_scale

# A residual beyond this many scales rejects its row; for a binary response, whose Pearson residuals have long tails
# by nature, a label to which the model gives less than one chance in a hundred.
REJECT = 3.0
REJECT_BINARY = 9.95
# Residuals below this part of the response are rounding errors.
_ROUNDING = 1e-10
# Bisquare constant of the weights of a fit that was not refitted.
_WEIGHT_TUNING = 4.685
# Trim of the reruns on the rows that were kept: a few bad rows may be left.
_LIGHT_TRIM = 0.02
_ROUNDS = 2
# Concentration: this share of the rows is kept, this often.
_CONCENTRATED, _CONCENTRATIONS = 0.75, 6
# Multiples of the contamination that the starts trim; under attack no one of them is best.
_START_TRIMS = (0.5, 1.0, 1.75)
_SUBSAMPLES = 20
# Rows trusted less than this have no say in which predictors are chosen.
_TRUSTED = 0.25
# Multiple of the cutoff from which a row is far out without doubt.
_CERTAINLY_FAR = 1.25

Chooser = Callable[[Prepared, dict[int, RHTFit]], Choice]


@dataclass(frozen=True)
class Leverage:
    """How far out the rows are in the predictors.

    Attributes
    ----------
    flags : bool array (n,)
        Rows that are far out, by their distance or because many of their values are.
    distances : array (n,)
        Robust distance, or with many predictors the distance to a robust principal subspace.
    cutoff : float
        Distance beyond which a row is flagged.
    """

    flags: Mask
    distances: Array
    cutoff: float


@dataclass(frozen=True)
class Fitted:
    """A fit in the units of the standardized problem.

    Attributes
    ----------
    coef : array (p,)
        Coefficients of all rows of the transposed design.
    solution : RHTFit
        The last run of Algorithm 1.
    scale : float
        Robust scale of the residuals.
    resid, weights : array (n,)
        Residuals of all rows, and their weights from 0 to 1.
    cov : array (a, a) or None
        Covariance of the coefficients on the active columns, in ascending order; None without a refit.
    active : array of int
        These columns: the support and the kept ones.
    choice : Choice or None
        How k was chosen.
    path : dict from k to coefficients (p,)
        The path that it was chosen on.
    leverage : Leverage
        How far out the rows are in the predictors.
    """

    coef: Array
    solution: RHTFit
    scale: float
    resid: Array
    weights: Array
    cov: Array | None
    active: Indices
    choice: Choice | None
    path: dict[int, Array]
    leverage: Leverage


def leverage(data: Prepared) -> Leverage:
    """How far out the rows are in all predictors, selected or not."""
    Z = data.XT[: data.d].T
    scores = joint_scores(Z)
    few = data.d * ROWS_A_COLUMN <= data.n
    distances = robust_distances(Z) if few else orthogonal_distances(Z)
    cutoff = distance_cutoff(distances)
    return Leverage((scores > score_cutoff(scores)) | (distances > cutoff), distances, cutoff)


def _active(data: Prepared, solution: RHTFit) -> Indices:
    return np.sort(np.concatenate([solution.support, data.keep]))


def refit_rows(
    data: Prepared, solution: RHTFit, rng: np.random.Generator, subsamples: int
) -> Refit:
    """Robust regression of all rows on the active columns, started from a run of Algorithm 1."""
    active = _active(data, solution)
    A = data.columns(active)
    if data.binary:
        return bounded_logistic(A, data.y, offset=data.offset, prior_weights=data.weights)
    target = data.y if data.offset is None else data.y - data.offset
    if not len(active):
        scale = m_scale(target, prior_weights=data.weights)
        return Refit(np.zeros(0), scale, np.ones(data.n), np.zeros((0, 0)), target, True, 0)
    starts = solution.coef[active][None, :]
    return mm_regression(
        A, target, starts=starts, prior_weights=data.weights, subsamples=subsamples, rng=rng
    )


def residual_unit(data: Prepared, scale: float) -> float:
    """What residuals are measured in: their scale, but at an exact fit the size of rounding errors."""
    return max(scale, _ROUNDING * float(np.median(np.abs(data.y))), 1e-300)


def beyond_scale(data: Prepared, resid: Array, scale: float) -> Mask:
    """Rows whose response the model cannot explain."""
    limit = (REJECT_BINARY if data.binary else REJECT) * residual_unit(data, scale)
    out: Mask = np.abs(resid) > limit
    return out


def rejected(data: Prepared, refit: Refit) -> Mask:
    """Rows whose residual is far beyond its scale, but never more than half of them."""
    size = np.abs(refit.resid)
    out = beyond_scale(data, refit.resid, refit.scale)
    return out if out.mean() <= 0.5 else size > np.median(size)


def light(estimator: GradientEstimator) -> GradientEstimator:
    """The estimator for rows that passed the rejection."""
    if isinstance(estimator, Trimmed):
        return Trimmed(min(estimator.alpha, _LIGHT_TRIM))
    return estimator


def _starting_estimators(estimator: GradientEstimator) -> list[GradientEstimator]:
    if isinstance(estimator, Trimmed) and estimator.alpha > 0:
        return [Trimmed(min(m * estimator.alpha, 0.45)) for m in _START_TRIMS]
    return [estimator]


def _concentrate(data: Prepared, coef: Array, k: int, settings: Settings) -> RHTFit:
    """Plain hard thresholding on the rows that fit best, until these rows stay the same."""
    count = int(_CONCENTRATED * data.n)
    loose = replace(settings, max_iter=10, tol=1e-3)
    old = np.zeros(data.n, dtype=bool)
    fit: RHTFit
    for _ in range(_CONCENTRATIONS):
        size = np.abs(data.loss.score(data.y, data.predictor(coef)))
        best = np.zeros(data.n, dtype=bool)
        best[np.argpartition(size, count - 1)[:count]] = True
        if np.array_equal(best, old):
            break
        old = best
        # To a plain mean a row of weight zero is a row left out, and no copy of the design is made.
        part = replace(data, weights=best * (1.0 if data.weights is None else data.weights))
        fit = solve(part.problem(Mean()), k, keep=data.keep, settings=loose, start=coef, warn=False)
        coef = fit.coef
    return fit


def trust_in_rows(data: Prepared, far: Leverage, estimator: GradientEstimator) -> Array:
    """Weights of the rows by how far out they are in the predictors (Mallows), one for those that are not.

    A far row whose residual happens to be small would decide the fit alone. Of a binary response the residuals cannot
    tell a wrong label from an unlikely one, so that rows well beyond the cutoff have no say at all. Under heavy tails
    far rows are to be expected, and the most informative.
    """
    ones = np.ones(data.n)
    if isinstance(estimator, MedianOfMeans) or far.flags.mean() > 0.5:
        return ones
    nearness = np.minimum(1.0, far.cutoff / np.maximum(far.distances, 1e-300)) ** 2
    if data.binary:
        nearness[far.distances > _CERTAINLY_FAR * far.cutoff] = 0.0
    return np.where(far.flags, nearness, ones)


def best_start(
    data: Prepared,
    estimator: GradientEstimator,
    k: int,
    settings: Settings,
    far: Mask,
    threads: int,
) -> RHTFit:
    """The best of several starts by the robust criterion.

    Runs of Algorithm 1 with different trims, one on the rows that are not far out, and from each of them
    concentration on the rows that fit best.
    """
    loose = replace(settings, tol=max(settings.tol, 1e-4), max_iter=min(settings.max_iter, 30))
    # Under heavy tails the way down from a generous support is worth its time; trimmed starts are several anyway.
    run = solve_down if isinstance(estimator, MedianOfMeans) else solve
    starts: list[RHTFit] = []
    problem = None
    for start in _starting_estimators(estimator):
        problem = data.problem(start, threads, like=problem)
        starts.append(run(problem, k, keep=data.keep, settings=loose, warn=False))
    del problem
    if 0 < far.sum() <= data.n // 2:
        with data.only(~far) as near:
            alone = near.problem(estimator, threads)
            starts.append(solve(alone, k, keep=data.keep, settings=loose, warn=False))
            del alone
    if not data.binary:
        starts += [_concentrate(data, start.coef, k, loose) for start in starts]
    return min(starts, key=lambda start: robust_criterion(data, start))


def robust_fit(
    data: Prepared,
    estimator: GradientEstimator,
    ks: Sequence[int],
    settings: Settings,
    choose: Chooser,
    *,
    rng: np.random.Generator,
    threads: int = 1,
    verbose: bool = False,
) -> Fitted:
    """Fit with rejection of bad rows and a robust refit; k is chosen among `ks`.

    Parameters
    ----------
    data : Prepared
        The standardized problem.
    estimator : GradientEstimator
        Gradient of the starts; the reruns on the kept rows use a lighter one of its kind.
    ks : sequence of int
        Numbers of predictors to choose from.
    settings : Settings
        How to run Algorithm 1.
    choose : callable
        Chooses k from the kept rows and the fits of a path.
    rng : Generator
        Random subsets of the robust regression.
    threads : int
        Threads for large designs.
    verbose : bool
        Show the progress of the paths.
    """
    far = leverage(data)
    # With every column in the model there is nothing to select, and the robust regression sees to far rows itself.
    selects = min(ks) < data.free
    trust = trust_in_rows(data, far, estimator) if selects else np.ones(data.n)
    judged = replace(data, weights=trust if data.weights is None else trust * data.weights)
    good = np.ones(data.n, dtype=bool)
    rerun, first = estimator if selects else light(estimator), None
    # A single wrong label does little harm to a bounded loss, and a generous start separates the classes.
    if not data.binary:
        most = min(max(largest_k(data.n, data.free), max(ks)), data.free)
        start = best_start(data, estimator, most, settings, far.flags, threads)
        first = start.coef
        good = ~rejected(data, refit_rows(judged, start, rng, _SUBSAMPLES))
        rerun = light(estimator)
    for _ in range(_ROUNDS):
        with data.only(good & (trust >= _TRUSTED)) as part:
            problem = part.problem(rerun, threads)
            fits = path(part, problem, ks, settings, first, verbose)
            choice = choose(part, fits)
            solution = solve(
                problem, choice.k, keep=data.keep, settings=settings,
                start=fits[choice.k].coef, warn=False,
            )  # fmt: skip
            # What it has measured must not stand beside the next one's.
            del problem
        refit = refit_rows(judged, solution, rng, _SUBSAMPLES)
        fitting = ~rejected(data, refit)
        if np.array_equal(fitting, good):
            break
        good = fitting
    active = _active(data, solution)
    coef = np.zeros(len(data.XT))
    coef[active] = refit.coef
    return Fitted(
        coef, solution, refit.scale, refit.resid, refit.weights * trust, refit.cov, active,
        choice, {k: fit.coef for k, fit in fits.items()} | {choice.k: solution.coef}, far,
    )  # fmt: skip


def refit_of(data: Prepared, solution: RHTFit, rng: np.random.Generator) -> Fitted:
    """A run of Algorithm 1 with a robust refit on its support, all rows judged once."""
    refit = refit_rows(data, solution, rng, _SUBSAMPLES)
    active = _active(data, solution)
    coef = np.zeros(len(data.XT))
    coef[active] = refit.coef
    return Fitted(
        coef, solution, refit.scale, refit.resid, refit.weights, refit.cov, active,
        None, {len(solution.support): solution.coef}, leverage(data),
    )  # fmt: skip


def plain_fit(
    data: Prepared,
    solution: RHTFit,
    choice: Choice | None,
    fits: dict[int, RHTFit],
) -> Fitted:
    """A run of Algorithm 1 as it is, with the residuals and weights that it implies."""
    resid = _residuals(data, solution.coef)
    scale = 1.0 if data.binary else m_scale(resid)
    relative = np.clip(resid / (_WEIGHT_TUNING * scale), -1.0, 1.0) if scale > 0 else np.sign(resid)
    weights = (1.0 - relative**2) ** 2
    return Fitted(
        solution.coef, solution, scale, resid, weights, None, _active(data, solution),
        choice, {k: fit.coef for k, fit in fits.items()}, leverage(data),
    )  # fmt: skip


def standard_residuals(data: Prepared, fitted: Fitted) -> Array:
    """Residuals in units of their scale; Pearson's for a binary response."""
    if data.binary:
        return _residuals(data, fitted.coef)
    return np.asarray(fitted.resid / residual_unit(data, fitted.scale))


def response_flags(data: Prepared, fitted: Fitted) -> Mask:
    """Rows whose response the fit cannot explain."""
    if data.binary:
        return beyond_scale(data, _residuals(data, fitted.coef), 1.0)
    return beyond_scale(data, fitted.resid, fitted.scale)


def _residuals(data: Prepared, coef: Array) -> Array:
    """Residuals; Pearson's for a binary response."""
    eta = data.predictor(coef)
    if not data.binary:
        return np.asarray(data.y - eta)
    # Whatever the loss, the predictor is read as log-odds.
    probability = expit(eta)
    spread = np.sqrt(np.maximum(probability * (1.0 - probability), 1e-12))
    return np.asarray((data.y - probability) / spread)


def least_squares_choice(data: Prepared, fits: dict[int, RHTFit]) -> Choice:
    """The k with the smallest criterion where the rows are trusted: least squares on each support."""
    root = np.ones(data.n) if data.weights is None else np.sqrt(data.weights)
    target = root * (data.y if data.offset is None else data.y - data.offset)
    values = []
    for fit in fits.values():
        A = root[:, None] * data.columns(_active(data, fit))
        resid = target - A @ np.linalg.lstsq(A, target, rcond=None)[0]
        variance = max(float(resid @ resid) / data.n, 1e-20)
        values.append(data.n * np.log(variance) + penalty(data.n, data.d, len(fit.support)))
    table = pd.DataFrame({"value": values, "se": np.nan}, index=pd.Index(list(fits), name="k"))
    return Choice(list(fits)[int(np.argmin(values))], table)
