"""The pieces of one iteration of Algorithm 1: step length, threshold, and steps on the support alone."""

from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bound import double_rows
from robustsparse.algorithm.fused import FusedIteration, fused_for
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.base.types import Array, Indices, Mask, Places

# Share of the exact minimizing step that is taken: the robust curvature is an estimate.
_STEP_SHARE = 0.9
# Divisor in place of a step of zero, which is what a design whose products overflow leads to.
_TINY = float(np.finfo(np.float64).tiny)
# Steps on a support that stayed end at this part of the tolerance, or what they leave would look like a change of the
# next iterate.
_TIGHT_SHARE = 0.1
# Steps on the support where a rough run is enough.
_ROUGH_STEPS = 4


class Iteration(NamedTuple):
    """One row of the history."""

    iteration: int
    change: float
    step: float
    size: int
    entered: int
    left: int
    loss: float


@dataclass
class Iterate:
    """Coefficients on the active columns: the kept ones and the support.

    Attributes
    ----------
    columns : array of int
        The active columns, ascending.
    values : array
        Their coefficients.
    step : float
        Length of the step that led here.
    eta : array (n,) or None
        The linear predictor, once it is known.
    moved : tuple of float and int, or None
        Distance from the iterate before, and how many columns are active in either, if that is known.
    """

    columns: Indices
    values: Array
    step: float = 0.0
    eta: Array | None = None
    moved: tuple[float, int] | None = None

    def dense(self, d: int) -> Array:
        """Coefficients of all d columns."""
        coef = np.zeros(d)
        coef[self.columns] = self.values
        return coef


def largest(columns: Indices, values: Array, k: int) -> Places:
    """Positions of the k largest values in absolute value, zeros left out; ties go to the lowest column."""
    if k > 0 and len(values) > 4 * k + 64:
        size = np.abs(values)
        near = np.flatnonzero(size >= np.partition(size, len(size) - k)[len(size) - k])
        return near[_insert(columns[near], values[near], k)]
    return _insert(columns, values, k)


def _insert(columns: Indices, values: Array, k: int) -> Places:
    places = np.empty(k, dtype=np.intp)
    return places[: kernels.largest_places(columns, values, k, places)]


@dataclass
class Descent:
    """The state of one run.

    Attributes
    ----------
    problem : Problem
        The data.
    k : int
        Number of coefficients that survive the threshold.
    keep : array of int
        Columns that are never thresholded and do not count in k.
    settings : Settings
        Step, radius, iterations and tolerance.
    history : list of Iteration
        One record an iteration.
    share : float
        Part of the minimizing step that is taken; smaller after the iterates have grown.
    """

    problem: Problem
    k: int
    keep: Indices
    settings: Settings
    history: list[Iteration] = field(default_factory=list)
    share: float = _STEP_SHARE

    def __post_init__(self) -> None:
        self.d = self.problem.gradient.XT.shape[0]
        self.kept = np.zeros(self.d, dtype=bool)
        self.kept[self.keep] = True
        self.barred = np.zeros(self.d, dtype=bool)
        self.barred[list(self.problem.barred)] = True
        self.change(self.problem)

    def change(self, problem: Problem) -> None:
        """Go on with other rows of the same columns."""
        self.problem = problem
        self._fused = fused_for(problem, self.settings)
        self._gathered: tuple[Indices | None, Array] = (None, np.empty((0, 0)))

    def start(self, coef: Array) -> Iterate:
        """The k largest of given coefficients, and the kept ones."""
        free = np.flatnonzero((coef != 0) & ~self.kept)
        columns = np.sort(np.concatenate([self.keep, free[largest(free, coef[free], self.k)]]))
        return Iterate(columns, coef[columns].astype(np.float64))

    def support(self, coef: Array) -> Indices:
        """Columns that survived the threshold, largest coefficient first."""
        free = np.flatnonzero((coef != 0) & ~self.kept)
        return free[np.argsort(-np.abs(coef[free]), kind="stable")]

    def closed(self, at: Iterate) -> Mask:
        """Columns that cannot enter the support: those that are in it, and barred ones."""
        closed = self.barred.copy()
        closed[at.columns] = True
        return closed

    def rows(self, columns: Indices) -> Array:
        """Rows of the transposed design, in double precision; those asked for last are kept."""
        if columns is not self._gathered[0]:
            self._gathered = columns, double_rows(self.problem.gradient.XT, columns)
        return self._gathered[1]

    def predictor(self, at: Iterate) -> Array:
        """Linear predictor (n,) at an iterate."""
        if at.eta is None:
            at.eta = self.problem.predictor(self.rows(at.columns), at.values)
        return at.eta

    def quotient(self, XT: Array, v: Array, curvature: Array) -> float:
        """Length of the step along v that minimizes a robust quadratic model: vᵀv / vᵀHv."""
        vv = float(v @ v)
        if vv == 0.0:
            return 1.0
        along = v @ XT
        dense = self.problem.gradient.dense
        vHv = float(v @ dense(XT, curvature * along))
        if not vHv > kernels.FLAT * vv:
            vHv = self.problem.gradient.average(curvature * along**2)
        return vv / vHv if kernels.FLAT * vv < vHv < np.inf else 1.0

    def project(self, at: Iterate) -> Iterate:
        """Pull the thresholded coefficients back into the ball."""
        radius = self.settings.radius
        if radius is None:
            return at
        free = ~self.kept[at.columns]
        norm = float(np.linalg.norm(at.values[free]))
        if norm <= radius:
            return at
        values = np.where(free, at.values * (radius / norm), at.values)
        return Iterate(at.columns, values, at.step)

    def threshold(self, at: Iterate, active_gradient: Array, step: float) -> Iterate:
        """Step and keep the k largest coefficients (line 8 of Algorithm 1), then project."""
        moved = at.values - step * active_gradient
        fixed = self.kept[at.columns]
        free, z = at.columns[~fixed], moved[~fixed]
        bar = float(np.abs(z).min()) / max(step, _TINY) if len(free) >= self.k > 0 else 0.0
        if self.k > 0:
            found, gradient = self.problem.gradient.survivors(
                self.closed(at), self.k, bar * kernels.BAR_ROUNDING
            )
            if not len(found) and len(free) <= self.k and z.all():
                self._looked(z, step)
                return self.project(Iterate(at.columns, moved, step))
            free, z = np.concatenate([free, found]), np.concatenate([z, -step * gradient])
        best = largest(free, z, self.k) if self.k > 0 else np.arange(0)
        self._looked(z[best], step)
        columns = np.concatenate([at.columns[fixed], free[best]])
        values = np.concatenate([moved[fixed], z[best]])
        order = np.argsort(columns)
        return self.project(Iterate(columns[order], values[order], step))

    def _looked(self, kept: Array, step: float) -> None:
        """Tell whoever watches what gradient a column would have needed to be kept."""
        if self.problem.watch is not None and self.k > 0:
            least = float(np.abs(kept).min()) if len(kept) >= self.k else 0.0
            self.problem.watch(self._score, least / max(step, _TINY), self.k)

    def advance(self, at: Iterate) -> Iterate:
        """One full iteration: gradient, step, threshold."""
        gradient = self.problem.gradient
        eta = self.predictor(at)
        self._score = self.problem.score(eta)
        gradient.begin(self._score)
        if self.settings.step != "auto":
            return self.threshold(
                at, gradient.at(at.columns, self.rows(at.columns)), float(self.settings.step)
            )
        at, slope = self._sloped(at)
        curvature = self.problem.curvature(eta)
        step = self.share * self.quotient(self.rows(at.columns), slope, curvature)
        new = self.threshold(at, slope, step)
        for _ in range(kernels.SHRINKAGES):
            if np.array_equal(new.columns, at.columns):
                break
            columns, move = _difference(new, at)
            longest = kernels.MOVE_SHARE * self.quotient(self.rows(columns), move, curvature)
            if step <= longest:
                break
            step = min(longest, step / kernels.SHORTER)
            new = self.threshold(at, slope, step)
        return new

    def _sloped(self, at: Iterate) -> tuple[Iterate, Array]:
        """An iterate with a support to measure, and the gradient there at the current scores."""
        if len(at.columns) == len(self.keep) and self.k > 0:
            at = self.enter(at)
        return at, self.problem.gradient.at(at.columns, self.rows(at.columns))

    def normalized_step(self, at: Iterate) -> float:
        """Length of the step from an iterate that minimizes a robust quadratic model along its gradient."""
        eta = self.predictor(at)
        self._score = self.problem.score(eta)
        self.problem.gradient.begin(self._score)
        at, slope = self._sloped(at)
        return self.quotient(self.rows(at.columns), slope, self.problem.curvature(eta))

    def iterate(self, at: Iterate) -> tuple[Iterate, bool, float]:
        """A full iteration, then steps on the support alone; the robust loss there, and whether the support stayed."""
        done = self._iterated(at)
        if done is not None:
            return (
                Iterate(done.columns, done.values, done.step, moved=done.moved),
                done.stays,
                done.loss,
            )
        new = self.advance(at)
        stays = np.array_equal(new.columns, at.columns)
        new = self.settle(new) if stays and not self.settings.rough else self.loosely(new)
        return new, stays, self.problem.robust_loss(self.predictor(new))

    def _iterated(self, at: Iterate) -> FusedIteration | None:
        """The same in one compiled call, if that is wanted and there is such code; it needs a support to start from."""
        if self._fused is None or not self.settings.fused or len(at.columns) <= len(self.keep):
            return None
        # Who watches wants to see every look.
        if self.problem.watch is not None:
            return None
        return self._fused.iterate(
            at.columns, at.values, self.k, self.kept, self.barred, self.share, self._tight_tol
        )

    def settle(self, at: Iterate) -> Iterate:
        """Steps on the support alone, to the end."""
        return self.polish(at, kernels.TIGHT_STEPS, self._tight_tol)

    def loosely(self, at: Iterate) -> Iterate:
        """A few steps on the support alone."""
        steps = _ROUGH_STEPS if self.settings.rough else kernels.LOOSE_STEPS
        return self.polish(at, steps, kernels.LOOSE_TOL)

    @property
    def _tight_tol(self) -> float:
        return _TIGHT_SHARE * self.settings.tol

    def enter(self, at: Iterate) -> Iterate:
        """Add the k predictors of largest gradient, at zero, so that a first step has a support to measure."""
        found, gradient = self.problem.gradient.survivors(self.closed(at), self.k, 0.0)
        places = largest(found, gradient, self.k)
        self._looked(gradient[places], 1.0)
        best = found[places]
        columns = np.concatenate([at.columns, best])
        order = np.argsort(columns)
        values = np.concatenate([at.values, np.zeros(len(best))])
        return Iterate(columns[order], values[order])

    def polish(self, at: Iterate, steps: int, tol: float) -> Iterate:
        """Robust steps on the active columns alone, accelerated by the secants of the last few (Anderson)."""
        if not len(at.columns):
            return at
        XT = self.rows(at.columns)
        if self._fused is None:
            values = self._polished(XT, at, steps, tol)
        else:
            once = self.settings.fused or self.settings.rough
            values = self._fused.polish(XT, at.values, self.share, steps, tol, once)
        return Iterate(at.columns, values, at.step)

    def _polished(self, XT: Array, at: Iterate, steps: int, tol: float) -> Array:
        """The same for any loss and estimator; `kernels.polish_squares` is its compiled twin."""
        gradient = self.problem.gradient.on(XT)
        values = at.values
        past, length = Secants(len(values)), 0.0
        best: tuple[float, Array] = (np.inf, values)
        for _ in range(steps):
            eta = self.problem.predictor(XT, values)
            slope = gradient(self.problem.score(eta))
            size = float(np.linalg.norm(slope))
            if not size < kernels.MISLED * best[0]:
                # The secants misled; back to the best point and to plain steps.
                if not past.count:
                    break
                past, values = Secants(len(values)), best[1]
                best = (np.inf, values)
                continue
            if size < best[0]:
                best = (size, values)
            if size == 0.0:
                break
            if not (past.count and self.settings.fused):
                length = self.share * self.quotient(XT, slope, self.problem.curvature(eta))
            move = past.move(values, slope, length)
            if self.settings.radius is None:
                past.add(values, slope)
            new = self.project(Iterate(at.columns, values + move)).values
            if np.linalg.norm(new - values) <= tol * np.linalg.norm(new):
                values = new
                break
            values = new
        return values if np.isfinite(values).all() else best[1]

    def record(self, new: Iterate, old: Iterate, loss: float) -> float:
        """Add a row to the history; return the relative change."""
        distance, either = new.moved or _moved(new, old)
        size = sqrt(new.values @ new.values)
        change = distance / size if size > 0 else float(distance != 0)
        # What either support has and the old one lacks has entered; what the new one lacks has left.
        entered, left = either - len(old.columns), either - len(new.columns)
        free = len(new.columns) - len(self.keep)
        row = Iteration(len(self.history) + 1, change, new.step, free, entered, left, loss)
        self.history.append(row)
        return change


def _difference(new: Iterate, old: Iterate) -> tuple[Indices, Array]:
    """Columns on which either iterate is not zero, and the move between them."""
    if np.array_equal(new.columns, old.columns):
        return new.columns, new.values - old.values
    columns = np.union1d(new.columns, old.columns)
    move = np.zeros(len(columns))
    move[np.searchsorted(columns, new.columns)] += new.values
    move[np.searchsorted(columns, old.columns)] -= old.values
    return columns, move


def _moved(new: Iterate, old: Iterate) -> tuple[float, int]:
    """Distance between two iterates, and on how many columns either is not zero."""
    columns, move = _difference(new, old)
    return sqrt(move @ move), len(columns)


class Secants:
    """The last few points of a descent on a columns and the slopes there, side by side."""

    def __init__(self, a: int) -> None:
        self.past = np.empty((kernels.SECANTS, 2 * a))
        self.count = 0

    def add(self, point: Array, slope: Array) -> None:
        """Remember a point; the oldest one is forgotten."""
        if self.count == kernels.SECANTS:
            self.past = np.roll(self.past, -1, 0)
            self.count -= 1
        self.past[self.count] = np.concatenate([point, slope])
        self.count += 1

    def move(self, point: Array, slope: Array, length: float) -> Array:
        """Move from a point that the secants to those before suggest; without any, plain descent."""
        out = np.empty(len(point))
        kernels.secant_move(self.past, self.count, np.concatenate([point, slope]), length, out)
        return out
