"""Which rows to trust: by how far out they are in the predictors, and by the residuals of a robust regression."""

from dataclasses import dataclass

import numpy as np

from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.gaussian import residual_unit
from robustsparse.robust.common_values import beyond_ordinary
from robustsparse.robust.distances import (
    ROWS_A_COLUMN,
    distance_cutoff,
    joint_scores,
    orthogonal_distances,
    robust_distances,
    score_cutoff,
)
from robustsparse.robust.mm import Refit
from robustsparse.robust.row_clusters import row_clusters
from robustsparse.robust.standardize import two_valued

# Rows trusted less than this have no say in which predictors are chosen.
TRUSTED = 0.25
# Random subsets of rows that a refit starts from, beside the coefficients that it is given.
SUBSAMPLES = 20
# Standard deviations by which the labels of a cluster are beside those to be expected.
_CONTRADICTS = 3.0
# Multiple of the cutoff from which a row is far out without doubt.
_CERTAINLY_FAR = 1.25


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


def leverage(problem: Standardized) -> Leverage:
    """How far out the rows are in all predictors, selected or not."""
    if problem.whole is not None:
        known: Leverage = problem.whole.far
        return known
    Z = beyond_ordinary(_measured(problem)).T
    scores = joint_scores(Z)
    few = Z.shape[1] * ROWS_A_COLUMN <= problem.n
    distances = robust_distances(Z) if few else orthogonal_distances(Z)
    cutoff = distance_cutoff(distances)
    return Leverage((scores > score_cutoff(scores)) | (distances > cutoff), distances, cutoff)


def clusters_of(problem: Standardized) -> Indices:
    """Clusters of rows, judged on all predictors."""
    whole = problem.whole
    return row_clusters(problem.XT[: problem.d]) if whole is None else whole.clusters


def _measured(problem: Standardized) -> Array:
    """Predictors (d, n) without those of a factor that enters as a whole, unless there are no others.

    A level is not far out, however rare it is; and which of them is the reference must not matter. In the place of
    columns that a spline spreads its variable over stands the variable.
    """
    XT = problem.XT[: problem.d]
    levels = factor_columns(problem)
    if problem.spread is not None and problem.variables is not None:
        out = np.union1d(levels, np.flatnonzero(problem.spread))
        return np.vstack([np.delete(XT, out, axis=0), problem.variables])
    return XT if len(levels) in (0, len(XT)) else np.delete(XT, levels, axis=0)


def factor_columns(problem: Standardized) -> Indices:
    """Columns of two values that are not alone in their group."""
    if problem.groups is None:
        return np.zeros(0, dtype=np.int64)
    sizes = np.bincount(problem.groups + 1)
    grouped = np.flatnonzero((sizes[problem.groups + 1] > 1) | (problem.groups < 0))
    part = problem.XT[grouped]
    return grouped[two_valued(part, part.min(axis=1), part.max(axis=1))]


def trust_in_rows(problem: Standardized, far: Leverage, estimator: Estimator) -> Array:
    """Weights of the rows by how far out they are in the predictors (Mallows), one for those that are not.

    A far row whose residual happens to be small would decide the fit alone. Of two classes the residuals cannot
    tell a wrong label from an unlikely one, so that rows well beyond the cutoff have no say at all. Under heavy tails
    far rows are to be expected, and the most informative.
    """
    ones = np.ones(problem.n)
    if estimator.for_heavy_tails or far.flags.mean() > 0.5:
        return ones
    nearness = np.minimum(1.0, far.cutoff / np.maximum(far.distances, 1e-300)) ** 2
    if problem.family.far_rows_out:
        nearness[far.distances > _CERTAINLY_FAR * far.cutoff] = 0.0
    return np.where(far.flags, nearness, ones)


def active(problem: Standardized, solution: RHTFit) -> Indices:
    """Columns in a model: the support and the kept ones, ascending."""
    return np.sort(np.concatenate([solution.support, problem.keep]))


def refit(problem: Standardized, solution: RHTFit, rng: np.random.Generator) -> Refit:
    """Robust regression of all rows on the active columns, started from a run of Algorithm 1."""
    columns = active(problem, solution)
    start = solution.coef[columns]
    return problem.family.refit(problem.chosen(columns), start, SUBSAMPLES, rng)


def judge(problem: Standardized, solution: RHTFit, rng: np.random.Generator) -> Refit:
    """The same to judge rows by: a covariance is not asked for."""
    columns = active(problem, solution)
    start = solution.coef[columns]
    return problem.family.judge(problem.chosen(columns), start, SUBSAMPLES, rng)


def rejected(problem: Standardized, refit: Refit) -> Mask:
    """Rows whose residual is far beyond its scale, but never more than half of them; none for its label."""
    if problem.family.labels:
        return np.zeros(problem.n, dtype=bool)
    size = np.abs(problem.judged(refit.resid))
    out: Mask = size > problem.family.reject * residual_unit(problem.y, refit.scale)
    return out if out.mean() <= 0.5 else size > np.median(size)


def contradicting(problem: Standardized, clusters: Indices, refit: Refit) -> Mask:
    """Rows that a model rejects; where responses are labels, those of clusters whose labels contradict it together."""
    if not problem.family.labels:
        return rejected(problem, refit)
    # The squares of Pearson residuals are the odds against the labels.
    odds = refit.resid**2
    unlikely, likely = odds / (1.0 + odds), 1.0 / (1.0 + odds)
    miss, variance = np.sign(refit.resid) * unlikely, unlikely * likely
    out = np.zeros(problem.n, dtype=bool)
    for cluster in range(int(clusters.max(initial=-1)) + 1):
        rows = clusters == cluster
        out[rows] = abs(miss[rows].sum()) > _CONTRADICTS * np.sqrt(variance[rows].sum())
    return out
