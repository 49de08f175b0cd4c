"""Robust Hard Thresholding, the paper's Algorithm 1, on arrays.

One iteration: take the robust gradient at the current coefficients, step against it, keep the k largest coefficients.
With a number as `step` that is all. With `step="auto"` the length of the step is computed from a robust curvature, and
between two looks at all predictors a few robust steps are taken on the chosen ones alone, which cost next to nothing.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustsparse.errors import ConvergenceWarning
from robustsparse.losses import Loss
from robustsparse.screening import Array, BoundGradient, Indices

# Share of the exact minimizing step that is taken: the robust curvature is an estimate.
_STEP_SHARE = 0.9
# A move that changes the support may use at most this share of the quotient along the move.
_MOVE_SHARE = 0.99
_LARGEST_SHRINKAGE = 15
# Robust steps on the support between two scans: loose while it still changes, tight once it stays.
_LOOSE_STEPS, _LOOSE_TOL = 10, 1e-3
_TIGHT_STEPS = 80
# Differences that the acceleration of these steps remembers.
_MEMORY = 5
# A support met this often is a cycle, and the best of its members is the answer.
_VISITS = 3
# A robust loss this many times the first one is divergence.
_GROWTH = 10.0
_LARGEST_BACKOFFS = 40


@dataclass(frozen=True)
class Problem:
    """Data of one fit: a bound gradient, the response and the loss.

    Attributes
    ----------
    gradient : BoundGradient
        Gradient estimator bound to the design.
    y : array (n,)
        Response.
    loss : Loss
        Loss.
    offset, weights : array (n,) or None
        Known part of the linear predictor; multipliers of the rows' losses.
    """

    gradient: BoundGradient
    y: Array
    loss: Loss
    offset: Array | None = None
    weights: Array | None = None

    def predictor(self, XT: Array, values: Array) -> Array:
        """Linear predictor (n,) of coefficients on the rows of a transposed design."""
        eta = values @ XT
        return eta if self.offset is None else eta + self.offset

    def weighted(self, values: Array) -> Array:
        """Row values times the rows' weights."""
        return values if self.weights is None else values * self.weights

    def score(self, eta: Array) -> Array:
        """Weighted scores (n,)."""
        return self.weighted(self.loss.score(self.y, eta))

    def curvature(self, eta: Array) -> Array:
        """Weighted curvatures (n,)."""
        return self.weighted(self.loss.curvature(self.y, eta))

    def robust_loss(self, eta: Array) -> float:
        """Robust mean of the rows' losses, by the gradient's own estimator."""
        losses = self.weighted(self.loss.value(self.y, eta))
        return float(self.gradient.dense(np.ones((1, len(losses))), losses)[0])


class Iteration(NamedTuple):
    """One row of the history."""

    iteration: int
    change: float
    step: float
    size: int
    entered: int
    left: int
    loss: float


@dataclass(frozen=True)
class RHTFit:
    """Outcome of Algorithm 1.

    Attributes
    ----------
    coef : array (d,)
        Coefficients, zero outside the support and the kept columns.
    support : array of int
        Columns that survived the threshold, largest coefficient first; kept columns are not listed.
    step : float
        Length of the last step.
    converged : bool
        Whether the iterates settled.
    reason : str
        Why the iterations ended.
    history : tuple of Iteration
        One record an iteration.
    """

    coef: Array
    support: Indices
    step: float
    converged: bool
    reason: str
    history: tuple[Iteration, ...]

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history)

    @property
    def loss(self) -> float:
        """Robust loss at the last iterate."""
        return self.history[-1].loss if self.history else float("nan")


@dataclass(frozen=True)
class Settings:
    """How to run Algorithm 1.

    Attributes
    ----------
    step : float or "auto"
        Length of the step (the paper's η), or the robust normalized step.
    radius : float or None
        The thresholded coefficients are projected on the l2 ball of this radius (the paper's Π_B).
    max_iter : int
        Largest number of iterations.
    tol : float
        The iterates have settled when the support stays and the relative change is below this.
    """

    step: float | str = "auto"
    radius: float | None = None
    max_iter: int = 100
    tol: float = 1e-10


@dataclass
class _Iterate:
    """Coefficients on the active columns: the kept ones and the support."""

    columns: Indices
    values: Array
    step: float = 0.0

    def dense(self, d: int) -> Array:
        coef = np.zeros(d)
        coef[self.columns] = self.values
        return coef


def largest(columns: Indices, values: Array, k: int) -> NDArray[np.intp]:
    """Positions of the k largest values in absolute value, zeros left out; ties go to the lowest column."""
    size = np.abs(values)
    if len(size) > 4 * k + 64:
        near = np.flatnonzero(size >= np.partition(size, len(size) - k)[len(size) - k])
    else:
        near = np.arange(len(size))
    order = near[np.lexsort((columns[near], -size[near]))][:k]
    return np.sort(order[size[order] > 0])


@dataclass
class _Descent:
    """The state of one run."""

    problem: Problem
    k: int
    keep: Indices
    settings: Settings
    history: list[Iteration] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.d = self.problem.gradient.XT.shape[0]
        self.kept = np.zeros(self.d, dtype=bool)
        self.kept[self.keep] = True

    # -- pieces of an iteration

    def rows(self, columns: Indices) -> Array:
        return self.problem.gradient.XT[columns]

    def predictor(self, at: _Iterate) -> Array:
        return self.problem.predictor(self.rows(at.columns), at.values)

    def quotient(self, XT: Array, v: Array, curvature: Array) -> float:
        """Length of the step along v that minimizes a robust quadratic model: vᵀv / vᵀHv."""
        vv = float(v @ v)
        if vv == 0.0:
            return 1.0
        along = v @ XT
        dense = self.problem.gradient.dense
        vHv = float(v @ dense(XT, curvature * along))
        if not vHv > 1e-12 * vv:
            vHv = float(dense(np.ones((1, len(along))), curvature * along**2)[0])
        return vv / vHv if vHv > 1e-12 * vv else 1.0

    def project(self, at: _Iterate) -> _Iterate:
        """Pull the thresholded coefficients back into the ball."""
        radius = self.settings.radius
        free = ~self.kept[at.columns]
        norm = float(np.linalg.norm(at.values[free]))
        if radius is None or norm <= radius:
            return at
        values = np.where(free, at.values * (radius / norm), at.values)
        return _Iterate(at.columns, values, at.step)

    def threshold(self, at: _Iterate, active_gradient: Array, step: float) -> _Iterate:
        """Step and keep the k largest coefficients (line 8 of Algorithm 1), then project."""
        moved = at.values - step * active_gradient
        fixed = self.kept[at.columns]
        free, z = at.columns[~fixed], moved[~fixed]
        bar = float(np.abs(z).min()) / step if len(free) >= self.k > 0 else 0.0
        active = np.zeros(self.d, dtype=bool)
        active[at.columns] = True
        if self.k > 0:
            # The bar is lowered by what its own rounding could have raised it.
            found, gradient = self.problem.gradient.survivors(active, self.k, bar * (1 - 1e-12))
            free, z = np.concatenate([free, found]), np.concatenate([z, -step * gradient])
        best = largest(free, z, self.k) if self.k > 0 else np.arange(0)
        columns = np.concatenate([at.columns[fixed], free[best]])
        values = np.concatenate([moved[fixed], z[best]])
        order = np.argsort(columns)
        return self.project(_Iterate(columns[order], values[order], step))

    def advance(self, at: _Iterate) -> _Iterate:
        """One full iteration: gradient, step, threshold."""
        gradient = self.problem.gradient
        eta = self.predictor(at)
        gradient.begin(self.problem.score(eta))
        if self.settings.step != "auto":
            return self.threshold(at, gradient.at(at.columns), float(self.settings.step))
        if len(at.columns) == len(self.keep) and self.k > 0:
            at = self.enter(at)
        slope = gradient.at(at.columns)
        curvature = self.problem.curvature(eta)
        step = _STEP_SHARE * self.quotient(self.rows(at.columns), slope, curvature)
        new = self.threshold(at, slope, step)
        for _ in range(_LARGEST_SHRINKAGE):
            if np.array_equal(new.columns, at.columns):
                break
            columns, move = _difference(new, at)
            longest = _MOVE_SHARE * self.quotient(self.rows(columns), move, curvature)
            if step <= longest:
                break
            step = min(longest, step / 1.3)
            new = self.threshold(at, slope, step)
        return new

    def enter(self, at: _Iterate) -> _Iterate:
        """Add the k predictors of largest gradient, at zero, so that a first step has a support to measure."""
        active = np.zeros(self.d, dtype=bool)
        active[at.columns] = True
        found, gradient = self.problem.gradient.survivors(active, self.k, 0.0)
        best = found[largest(found, gradient, self.k)]
        columns = np.concatenate([at.columns, best])
        order = np.argsort(columns)
        values = np.concatenate([at.values, np.zeros(len(best))])
        return _Iterate(columns[order], values[order])

    def polish(self, at: _Iterate, steps: int, tol: float) -> _Iterate:
        """Robust steps on the active columns alone, accelerated by the secants of the last few (Anderson)."""
        if not len(at.columns):
            return at
        XT = self.rows(at.columns)
        values = at.values
        past: list[tuple[Array, Array]] = []
        best: tuple[float, Array] = (np.inf, values)
        for _ in range(steps):
            eta = self.problem.predictor(XT, values)
            slope = self.problem.gradient.dense(XT, self.problem.score(eta))
            size = float(np.linalg.norm(slope))
            if not size < 2.0 * best[0]:
                # The secants misled; back to the best point and to plain steps.
                if not past:
                    break
                past, values = [], best[1]
                best = (np.inf, values)
                continue
            if size < best[0]:
                best = (size, values)
            if size == 0.0:
                break
            length = _STEP_SHARE * self.quotient(XT, slope, self.problem.curvature(eta))
            move = _accelerated(past, values, slope, length)
            if self.settings.radius is None:
                past = [*past[-_MEMORY:], (values, slope)]
            new = self.project(_Iterate(at.columns, values + move)).values
            if np.linalg.norm(new - values) <= tol * np.linalg.norm(new):
                values = new
                break
            values = new
        return _Iterate(at.columns, values if np.isfinite(values).all() else best[1], at.step)

    def record(self, new: _Iterate, old: _Iterate, loss: float) -> float:
        """Add a row to the history; return the relative change."""
        _, move = _difference(new, old)
        norm = float(np.linalg.norm(new.values))
        change = float(np.linalg.norm(move)) / norm if norm > 0 else float(len(move) > 0)
        entered = len(np.setdiff1d(new.columns, old.columns, assume_unique=True))
        left = len(np.setdiff1d(old.columns, new.columns, assume_unique=True))
        size = len(new.columns) - len(self.keep)
        row = Iteration(len(self.history) + 1, change, new.step, size, entered, left, loss)
        self.history.append(row)
        return change

    def finish(self, at: _Iterate, converged: bool, reason: str) -> RHTFit:
        coef = at.dense(self.d)
        free = np.flatnonzero((coef != 0) & ~self.kept)
        support = free[np.argsort(-np.abs(coef[free]), kind="stable")]
        return RHTFit(coef, support, at.step, converged, reason, tuple(self.history))


def _difference(new: _Iterate, old: _Iterate) -> tuple[Indices, Array]:
    """Columns on which either iterate is not zero, and the move between them."""
    columns = np.union1d(new.columns, old.columns)
    move = np.zeros(len(columns))
    move[np.searchsorted(columns, new.columns)] += new.values
    move[np.searchsorted(columns, old.columns)] -= old.values
    return columns, move


def _accelerated(past: list[tuple[Array, Array]], values: Array, slope: Array, length: float) -> Array:
    """Move that the secants of past steps suggest; without a past, plain descent."""
    if not past:
        return -length * slope
    steps = np.column_stack([values - x for x, _ in past])
    turns = np.column_stack([slope - g for _, g in past])
    mix = np.linalg.lstsq(turns, slope, rcond=1e-10)[0]
    return np.asarray(-steps @ mix - length * (slope - turns @ mix))


def _start(problem: Problem, k: int, keep: Indices, start: Array | None) -> _Iterate:
    if start is None:
        return _Iterate(keep, np.zeros(len(keep)))
    kept = np.zeros(len(start), dtype=bool)
    kept[keep] = True
    free = np.flatnonzero((start != 0) & ~kept)
    columns = np.sort(np.concatenate([keep, free[largest(free, start[free], k)]]))
    return _Iterate(columns, start[columns].astype(np.float64))


def _run_fixed(run: _Descent, at: _Iterate, callback: Callable[[Array], None] | None) -> RHTFit:
    """Algorithm 1 as printed, with a step of fixed length, which is halved if the iterates grow."""
    step = float(run.settings.step)
    first = run.problem.robust_loss(run.predictor(at))
    best, best_loss = at, first
    backoffs = 0
    for _ in range(run.settings.max_iter):
        new = run.advance(at)
        loss = run.problem.robust_loss(run.predictor(new))
        if not (np.isfinite(new.values).all() and loss <= _GROWTH * max(first, best_loss)):
            backoffs += 1
            if backoffs > _LARGEST_BACKOFFS:
                return run.finish(best, False, "diverged")
            step /= 2.0
            run.settings = Settings(step, run.settings.radius, run.settings.max_iter, run.settings.tol)
            at = best
            continue
        change = run.record(new, at, loss)
        if callback is not None:
            callback(new.dense(run.d))
        at = new
        if loss <= best_loss:
            best, best_loss = new, loss
        if change <= run.settings.tol:
            reason = "step reduced" if backoffs else "settled"
            return run.finish(at, True, reason)
    return run.finish(at, False, "iterations")


def _run_auto(run: _Descent, at: _Iterate, callback: Callable[[Array], None] | None) -> RHTFit:
    """Robust normalized steps with polishing between scans."""
    visits: dict[bytes, tuple[int, float, _Iterate]] = {}
    for _ in range(run.settings.max_iter):
        new = run.advance(at)
        stays = np.array_equal(new.columns, at.columns)
        steps, tol = (_TIGHT_STEPS, 0.1 * run.settings.tol) if stays else (_LOOSE_STEPS, _LOOSE_TOL)
        new = run.polish(new, steps, tol)
        loss = run.problem.robust_loss(run.predictor(new))
        change = run.record(new, at, loss)
        at = new
        if callback is not None:
            callback(new.dense(run.d))
        if stays and change <= run.settings.tol:
            return run.finish(at, True, "settled")
        if not stays:
            key = new.columns.tobytes()
            count = visits[key][0] + 1 if key in visits else 1
            visits[key] = (count, loss, new)
            if count >= _VISITS:
                best = min(visits.values(), key=lambda visit: visit[1])[2]
                return run.finish(run.polish(best, _TIGHT_STEPS, 0.1 * run.settings.tol), True, "cycle")
    return run.finish(at, False, "iterations")


def _run_split(
    run: _Descent, at: _Iterate, problems: Sequence[Problem], callback: Callable[[Array], None] | None
) -> RHTFit:
    """One iteration on each part of the rows, as in the paper's theory."""
    for problem in problems:
        run.problem = problem
        new = run.advance(at)
        run.record(new, at, problem.robust_loss(run.predictor(new)))
        at = new
        if callback is not None:
            callback(new.dense(run.d))
    return run.finish(at, bool(np.isfinite(at.values).all()), "split")


_REMEDIES = {
    "iterations": "Raise max_iter, or try a larger epsilon; on separable binary data give a radius.",
    "diverged": 'The step was too long however often it was halved; use step="auto".',
    "step reduced": 'The step was too long for these data and was halved; use step="auto" or a smaller number.',
}


def solve(
    problems: Problem | Sequence[Problem],
    k: int,
    *,
    keep: Indices | None = None,
    settings: Settings | None = None,
    start: Array | None = None,
    callback: Callable[[Array], None] | None = None,
    warn: bool = True,
) -> RHTFit:
    """Run Robust Hard Thresholding (the paper's Algorithm 1).

    Parameters
    ----------
    problems : Problem or sequence of Problem
        The data; a sequence is sample splitting, one iteration on each member.
    k : int
        Number of coefficients that survive the threshold (the paper's k').
    keep : array of int, optional
        Columns that are never thresholded and do not count in k.
    settings : Settings, optional
        Step, radius, iterations and tolerance.
    start : array (d,), optional
        Coefficients to start from instead of zero.
    callback : callable, optional
        Called with the coefficients (d,) after every iteration.
    warn : bool
        Whether to issue a `ConvergenceWarning` when the iterates did not settle.

    Returns
    -------
    RHTFit

    Examples
    --------
    >>> from robustsparse.gradients import Trimmed
    >>> from robustsparse.losses import Squared
    >>> rng = np.random.default_rng(1)
    >>> XT = rng.normal(size=(50, 80))
    >>> y = 3.0 * XT[7] - 2.0 * XT[30]
    >>> y[:6] = 100.0
    >>> fit = solve(Problem(Trimmed(0.2).bind(XT), y, Squared()), k=2)
    >>> fit.support
    array([ 7, 30])
    >>> fit.coef[fit.support].round(6)
    array([ 3., -2.])
    """
    settings = settings or Settings()
    keep = np.zeros(0, dtype=np.int64) if keep is None else np.sort(np.asarray(keep, dtype=np.int64))
    parts = [problems] if isinstance(problems, Problem) else list(problems)
    run = _Descent(parts[0], k, keep, settings)
    at = _start(parts[0], k, keep, start)
    with np.errstate(over="ignore", invalid="ignore"):
        if len(parts) > 1:
            fit = _run_split(run, at, parts, callback)
        elif settings.step == "auto":
            fit = _run_auto(run, at, callback)
        else:
            fit = _run_fixed(run, at, callback)
    if warn and fit.reason in _REMEDIES:
        warnings.warn(_message(fit), ConvergenceWarning, stacklevel=3)
    return fit


def _message(fit: RHTFit) -> str:
    last = f"last relative change {fit.history[-1].change:.1e}" if fit.history else "no step was possible"
    state = "settled only with a shorter step" if fit.converged else "did not settle"
    return (
        f"Robust Hard Thresholding {state} ({fit.n_iter} iterations, {last}, step {fit.step:.3g}). "
        f"{_REMEDIES[fit.reason]}"
    )
