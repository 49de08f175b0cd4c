"""S-estimate of a regression: the coefficients whose residuals have the smallest M-scale.

Candidates come from given starts and from random subsets of rows (fast-S, Salibian-Barrera and
Yohai, 2006). All candidates move together, as stacked arrays, because one fit is too small to keep
numpy busy.
"""

from dataclasses import dataclass, replace

import numpy as np

from robustsparse.base.types import Array, Mask, Places
from robustsparse.robust.scales import (
    BREAKDOWN,
    BREAKDOWN_TUNING,
    bisquare_rest,
    inverse_variance,
    mads,
    newton_inverse,
)

# Candidates that are iterated to the end, and the steps that pick them.
FINALISTS = 5
SCREENING_STEPS = 2
# Candidates are compared on at most this many rows: enough to rank them.
SCREENING_ROWS = 1500
MAX_ITER = 200
# Newton's steps begin when a step moves the fit by less than this part of the scale, and where the
# Hessian (its smallest eigenvalue, for columns of unit length) is positive: never at a saddle.
NEAR = 0.1
CONVEX = 1e-6
# The scale is flat at its minimum: this error of the fit, in scales, costs its square in the scale.
SETTLED = 1e-4
# Scales below this, for a response of typical size 1, are rounding errors.
FLOOR = 1e-13
LARGEST_INVERSE = 1.0 / FLOOR**2
# A loss that rose by less than this did not rise.
ROUNDING = 1e-9
# Relative ridge of the normal equations. The steps that it damps are corrections to the current
# coefficients, so it slows directions without information and biases nothing.
RIDGE = 1e-12
# Stacked normal matrices are one matrix product while the products of columns fit into this many
# numbers.
PRODUCT_LIMIT = 2_000_000
# Below this (smallest eigenvalue, columns of unit length) a subset does not determine the
# coefficients.
SINGULAR = 1e-10


@dataclass(frozen=True, eq=False)
class Problem:
    """A regression of full column rank, ready for stacked steps.

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
    weighted : (n, p) array
        A with its rows times `prior`.
    products : (n, p * p) array or None
        Products of the columns of A times `prior`, if they are few enough.
    """

    A: Array
    y: Array
    prior: Array
    average: Array
    weighted: Array
    products: Array | None


def make_problem(A: Array, y: Array, prior: Array) -> Problem:
    """Prepare a regression with n > p rows; `prior` is any positive weights."""
    n, p = A.shape
    prior = prior / prior.mean()
    weighted = A * prior[:, None]
    small = n * p * p <= PRODUCT_LIMIT
    products = (weighted[:, :, None] * A[:, None, :]).reshape(n, p * p) if small else None
    return Problem(A, y, prior, prior / (n - p), weighted, products)


def gram(task: Problem, weights: Array) -> Array:
    """Weighted normal matrices (q, p, p) for weights (q, n)."""
    p = task.A.shape[1]
    if task.products is not None:
        return (weights @ task.products).reshape(-1, p, p)
    return np.stack([(task.weighted.T * w) @ task.A for w in weights])


def unit_diagonal(matrices: Array) -> tuple[Array, Array]:
    """Matrices (q, p, p) scaled to a diagonal of ones (or minus ones), and the scales (q, p)."""
    size = np.sqrt(np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)))
    unit = np.where(size > 0, size, 1.0)
    return matrices / (unit[:, :, None] * unit[:, None, :]), unit


def solve_scaled(scaled: Array, unit: Array, right: Array) -> Array:
    """Solve q symmetric systems, scaled by `unit_diagonal`, for (q, p), singular ones included."""
    diagonal = np.arange(unit.shape[1])
    scaled[:, diagonal, diagonal] += RIDGE
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


@dataclass(frozen=True, eq=False)
class _Rows:
    """What the rows say about q fits, all (q, n) but the mean loss (q,)."""

    resid: Array
    squares: Array
    rest: Array
    weights: Array
    loss: Array


def _look(task: Problem, fits: Fits, tuning: float) -> _Rows:
    resid = task.y - fits.coefs @ task.A.T
    squares = resid * resid
    rest = bisquare_rest(squares * fits.inverse[:, None], tuning)
    weights = rest * rest
    n, p = task.A.shape
    loss = n / (n - p) - (rest * weights) @ task.average
    return _Rows(resid, squares, rest, weights, loss)


def descend(
    task: Problem, fits: Fits, tuning: float, *, free_scale: bool, tol: float, max_iter: int
) -> Fits:
    """Move fits downhill on the mean bisquare loss, until each moves by less than `tol` scales.

    Reweighted least squares never goes uphill but creeps near the minimum, so Newton's steps take
    over there; one that went uphill is taken back. With `free_scale` the scale follows the
    residuals (S-estimate), otherwise it stays (M-estimate).
    """
    before, newton = fits, np.zeros(len(fits.coefs), dtype=bool)
    near, bar = np.full(len(fits.coefs), NEAR), np.full(len(fits.coefs), np.inf)
    while True:
        rows = _look(task, fits, tuning)
        uphill = newton & (rows.loss > bar + ROUNDING)
        if uphill.any():
            fits, near = _take_back(fits, before, uphill), np.where(uphill, 0.1 * near, near)
            rows = _look(task, fits, tuning)
        settled = (fits.moved < tol) | (fits.inverse >= LARGEST_INVERSE)
        if fits.n_iter == max_iter or settled.all():
            return fits
        before = fits
        fits, newton = _step(task, fits, rows, fits.moved < near)
        bar = rows.loss
        if free_scale:
            fits = replace(fits, inverse=_next_inverse(task, rows, fits.inverse))
            # The new scale is the solution at the old coefficients, where the mean loss is one
            # half.
            bar = np.full(len(near), BREAKDOWN)


def _take_back(fits: Fits, before: Fits, uphill: Mask) -> Fits:
    coefs = np.where(uphill[:, None], before.coefs, fits.coefs)
    return replace(fits, coefs=coefs, moved=np.where(uphill, np.inf, fits.moved))


def _step(task: Problem, fits: Fits, rows: _Rows, near: Mask) -> tuple[Fits, Mask]:
    """One step of each fit, and which of them are Newton's."""
    scaled, unit, newton = _curvature(task, rows, near)
    gradient = (rows.weights * rows.resid) @ task.weighted
    step = solve_scaled(scaled, unit, gradient)
    # step' gram step = step' gradient is the weighted sum of squared changes.
    change = np.abs((step * gradient).sum(axis=1)) / len(task.y)
    moved = np.sqrt(change * fits.inverse)
    return Fits(fits.coefs + step, fits.inverse, moved, fits.n_iter + 1), newton


def _curvature(task: Problem, rows: _Rows, near: Mask) -> tuple[Array, Array, Mask]:
    """Hessians of the fits that are near a minimum, normal matrices of the others, scaled."""
    if not near.any():
        return *unit_diagonal(gram(task, rows.weights)), near
    slope = rows.rest * (5.0 * rows.rest - 4.0)
    scaled, unit = unit_diagonal(gram(task, np.where(near[:, None], slope, rows.weights)))
    # Slopes of residuals beyond all numbers make no Hessian.
    finite = np.isfinite(scaled).all(axis=(1, 2))
    scaled[~finite] = np.eye(scaled.shape[1])
    newton = near & finite & (np.linalg.eigvalsh(scaled)[:, 0] > CONVEX)
    if not newton.all():
        scaled[~newton], unit[~newton] = unit_diagonal(gram(task, rows.weights[~newton]))
    return scaled, unit, newton


def _next_inverse(task: Problem, rows: _Rows, inverse: Array) -> Array:
    slope = (3.0 / BREAKDOWN_TUNING**2) * ((rows.weights * rows.squares) @ task.average)
    return np.minimum(newton_inverse(inverse, rows.loss, slope), LARGEST_INVERSE)


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
    scale = 0.0 if inverse[best] >= LARGEST_INVERSE else float(inverse[best]) ** -0.5
    return fits.coefs[best], scale, fits.n_iter


def _s_steps(task: Problem, coefs: Array, tol: float, max_iter: int) -> Fits:
    fits = start_fits(task, coefs)
    return descend(task, fits, BREAKDOWN_TUNING, free_scale=True, tol=tol, max_iter=max_iter)


def _settled_inverse(task: Problem, fits: Fits, tol: float) -> Array:
    squares = (task.y - fits.coefs @ task.A.T) ** 2
    inverse = inverse_variance(squares, task.average, fits.inverse, tol=tol)
    return np.minimum(inverse, LARGEST_INVERSE)


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
    order = np.argsort(rng.random((count, len(A))), axis=1)
    subsets = order[:, : A.shape[1]]
    rows = A[subsets]
    scaled, _ = unit_diagonal(rows.transpose(0, 2, 1) @ rows)
    singular = np.linalg.eigvalsh(scaled)[:, 0] < SINGULAR
    # Rows of rare categories are seldom drawn, and without them there is nothing to start from.
    for i in np.flatnonzero(singular):
        subsets[i] = _first_independent(A, order[i])
    return subsets


def _first_independent(A: Array, order: Places) -> Places:
    """First rows, in the given order, that are linearly independent."""
    rest = A[order] / np.maximum(np.linalg.norm(A[order], axis=1, keepdims=True), FLOOR)
    chosen = []
    for _ in range(A.shape[1]):
        length = np.linalg.norm(rest, axis=1)
        first = int(np.argmax(length > min(1e-6, 0.5 * length.max())))
        direction = rest[first] / max(length[first], FLOOR)
        rest = rest - np.outer(rest @ direction, direction)
        chosen.append(order[first])
    return np.array(chosen)
