"""S-estimate of a regression: the coefficients whose residuals have the smallest M-scale.

Candidates come from given starts and from random subsets of rows (fast-S, Salibian-Barrera and
Yohai, 2006).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustsparse import kernels
from robustsparse.base.row_slices import row_slices
from robustsparse.base.types import Array, Places
from robustsparse.robust.scales import BREAKDOWN, BREAKDOWN_TUNING, inverse_variance, mads

# Candidates that are iterated to the end, and the steps that pick them.
FINALISTS = 2
SCREENING_STEPS = 2
# Candidates are compared on at most this many rows: enough to rank them.
SCREENING_ROWS = 500
# Random subsets are drawn from at most this many rows.
DRAWN_ROWS = 10_000
MAX_ITER = 200
# Newton's steps begin when a step moves the fit by less than this part of the scale.
NEAR = 0.1
# The scale is flat at its minimum: this error of the fit, in scales, costs its square in the scale.
SETTLED = 1e-4
# Scales below this, for a response of typical size 1, are rounding errors.
FLOOR = 1e-13
# Below this (smallest eigenvalue, columns of unit length) a subset does not determine the
# coefficients.
SINGULAR = 1e-10
# A row is independent of others if they leave more than this part of it.
INDEPENDENT = 1e-6


@dataclass(frozen=True, eq=False)
class Problem:
    """A regression of full column rank.

    Attributes
    ----------
    A : (n, p) array
        Design.
    y : (n,) array
        Response, of typical size 1.
    prior : (n,) array
        Weights of the rows, positive, with mean 1.
    average : (n,) array
        Weights that average rho over the rows; they sum to n / (n - p).
    """

    A: Array
    y: Array
    prior: Array
    average: Array

    @cached_property
    def weighted(self) -> Array:
        """A (n, p) with its rows times `prior`."""
        return np.asarray(self.A * self.prior[:, None])

    def slices(self) -> list[slice]:
        """Parts of the rows, few enough at a time."""
        return row_slices(*self.A.shape)

    def part(self, rows: slice) -> "Problem":
        """Some of the rows with the weights that they have among all."""
        if rows.stop - rows.start == len(self.y):
            return self
        return Problem(self.A[rows], self.y[rows], self.prior[rows], self.average[rows])


def make_problem(A: Array, y: Array, prior: Array) -> Problem:
    """Prepare a regression with n > p rows; `prior` is any positive weights."""
    n, p = A.shape
    prior = prior / prior.mean()
    return Problem(A, y, prior, prior / (n - p))


def gram(task: Problem, weights: Array) -> Array:
    """Weighted normal matrix (p, p) for weights (n,)."""
    total = np.zeros((task.A.shape[1], task.A.shape[1]))
    for rows in task.slices():
        part = task.part(rows)
        total += (part.weighted.T * weights[rows]) @ part.A
    return total


def unit_diagonal(matrices: Array) -> tuple[Array, Array]:
    """Matrices (q, p, p) scaled to a diagonal of ones (or minus ones), and the scales (q, p)."""
    size = np.sqrt(np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)))
    unit = np.where(size > 0, size, 1.0)
    return matrices / (unit[:, :, None] * unit[:, None, :]), unit


def solve_scaled(scaled: Array, unit: Array, right: Array) -> Array:
    """Solve q symmetric systems, scaled by `unit_diagonal`, for (q, p), singular ones included."""
    diagonal = np.arange(unit.shape[1])
    scaled[:, diagonal, diagonal] += kernels.RIDGE
    return np.linalg.solve(scaled, (right / unit)[:, :, None])[:, :, 0] / unit


@dataclass(frozen=True, eq=False)
class Fits:
    """Where q fits stand.

    Attributes
    ----------
    coefs : (q, p) array
        Coefficients.
    inverse : (q,) array
        Inverse squared scales.
    moved : (q,) array
        Root mean square change of the fitted values by the last step, in scales.
    n_iter : int
        Number of steps.
    """

    coefs: Array
    inverse: Array
    moved: Array
    n_iter: int = 0


def start_fits(task: Problem, coefs: Array) -> Fits:
    """Fits with their scales set by the median absolute residuals."""
    resid = task.y - coefs @ task.A.T
    scale = np.maximum(mads(resid, axis=1), FLOOR)
    return Fits(coefs, 1.0 / scale**2, np.full(len(coefs), np.inf))


def descend(
    task: Problem, fits: Fits, tuning: float, *, free_scale: bool, tol: float, max_iter: int
) -> Fits:
    """Move fits downhill on the mean bisquare loss, until each moves by less than `tol` scales.

    Reweighted least squares never goes uphill but creeps near the minimum, so Newton's steps take
    over there; one that went uphill is taken back. With `free_scale` the scale follows the
    residuals (S-estimate), otherwise it stays (M-estimate).
    """
    coefs, inverse, moved = fits.coefs.copy(), fits.inverse.copy(), fits.moved.copy()
    n_iter = kernels.descend_bisquare(
        np.ascontiguousarray(task.A.T), task.y, task.prior, task.average, tuning,
        BREAKDOWN if free_scale else 0.0, NEAR, tol, max_iter, coefs, inverse, moved,
    )  # fmt: skip
    return Fits(coefs, inverse, moved, n_iter)


def s_estimate(
    task: Problem, starts: Array, subsamples: int, rng: np.random.Generator
) -> tuple[Array, float, int]:
    """S-estimate from the starts (q, p) and from random subsets of rows.

    Returns
    -------
    coef : (p,) array
        Coefficients with the smallest scale that was found.
    scale : float
        Their M-scale; 0 if it is at the rounding error.
    n_iter : int
        Number of iterations of the finalists.
    """
    candidates = starts
    if subsamples:
        drawn = subset_fits(task, draw_subsets(task.A, subsamples, rng))
        candidates = np.concatenate([starts, drawn])
    if len(candidates) > FINALISTS:
        candidates = _finalists(_thinned(task, rng), candidates)
    fits = _s_steps(task, candidates, SETTLED, MAX_ITER)
    inverse = _settled_inverse(task, fits, 1e-12)
    best = int(np.argmax(inverse))
    scale = 0.0 if inverse[best] >= kernels.LARGEST_INVERSE else float(inverse[best]) ** -0.5
    return fits.coefs[best], scale, fits.n_iter


def _s_steps(task: Problem, coefs: Array, tol: float, max_iter: int) -> Fits:
    fits = start_fits(task, coefs)
    return descend(task, fits, BREAKDOWN_TUNING, free_scale=True, tol=tol, max_iter=max_iter)


def _settled_inverse(task: Problem, fits: Fits, tol: float) -> Array:
    squares = (task.y - fits.coefs @ task.A.T) ** 2
    inverse = inverse_variance(squares, task.average, fits.inverse, tol=tol)
    return np.minimum(inverse, kernels.LARGEST_INVERSE)


def _finalists(task: Problem, candidates: Array) -> Array:
    """Candidates with the smallest scales after a few steps."""
    fits = _s_steps(task, candidates, 0.0, SCREENING_STEPS)
    order = np.argsort(-_settled_inverse(task, fits, 1e-2), kind="stable")
    return fits.coefs[order[:FINALISTS]]


def _thinned(task: Problem, rng: np.random.Generator) -> Problem:
    """Problem on a random part of the rows if there are very many."""
    n, p = task.A.shape
    size = max(SCREENING_ROWS, 5 * p)
    if n <= size:
        return task
    rows = rng.choice(n, size, replace=False)
    return make_problem(task.A[rows], task.y[rows], task.prior[rows])


def subset_fits(task: Problem, subsets: Places) -> Array:
    """Coefficients (q, p) that fit each subset of rows."""
    rows, response = task.A[subsets], task.y[subsets]
    transposed = rows.transpose(0, 2, 1)
    scaled, unit = unit_diagonal(transposed @ rows)
    return solve_scaled(scaled, unit, (transposed @ response[:, :, None])[:, :, 0])


def draw_subsets(A: Array, count: int, rng: np.random.Generator) -> Places:
    """Rows (count, p) of random subsets, each of which determines the coefficients."""
    if len(A) > DRAWN_ROWS:
        # Keys for all of very many rows would take as much memory as the design.
        pool = rng.choice(len(A), DRAWN_ROWS, replace=False)
        return np.asarray(pool[draw_subsets(A[pool], count, rng)])
    keys, p = rng.random((count, len(A))), A.shape[1]
    # The first of all rows by their keys, without sorting the others.
    first = np.argpartition(keys, p - 1, axis=1)[:, :p]
    subsets = np.take_along_axis(first, np.argsort(np.take_along_axis(keys, first, 1), axis=1), 1)
    rows = A[subsets]
    scaled, _ = unit_diagonal(rows.transpose(0, 2, 1) @ rows)
    singular = np.linalg.eigvalsh(scaled)[:, 0] < SINGULAR
    # Rows of rare categories are seldom drawn, and without them there is nothing to start from.
    for i in np.flatnonzero(singular):
        subsets[i] = _first_independent(A, np.argsort(keys[i]))
    return subsets


def _first_independent(A: Array, order: Places) -> Places:
    """First rows, in the given order, that are linearly independent."""
    rows = A[order]
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), FLOOR)
    return np.asarray(order[_independent(rows, INDEPENDENT)])


def _independent(rows: Array, clear: float) -> list[int]:
    """First rows, of unit length, that are linearly independent, as many as there are columns.

    `rows` are changed. A row is independent of those chosen before if more than `clear` of it is left; if too few are,
    less is enough.
    """
    chosen: list[int] = []
    after = 0
    while len(chosen) < rows.shape[1]:
        left = np.sqrt(np.einsum("ij,ij->i", rows[after:], rows[after:]))
        clearly = left > clear
        if not clearly.any():
            after, clear = 0, 0.1 * clear if clear > 1e-30 else -1.0
            continue
        at = int(clearly.argmax())
        chosen.append(after + at)
        direction = rows[after + at] / max(float(left[at]), FLOOR)
        rows -= np.outer(rows @ direction, direction)
        after += at + 1
    return chosen
