"""Where a run of Algorithm 1 stops that trimming lets run away.

With two classes the rows that a trimmed gradient drops are those with the wrong label, which are the ones that hold
the coefficients: the further these grow, the fewer rows are left to say no, up to the radius. The direction is right,
the size is not. So of all that lies between zero and an iterate of the run, which is what projections on smaller balls
would give, the point with the lowest robust deviance of all rows is the estimate.
"""

from dataclasses import replace

import numpy as np

from robustsparse.algorithm.problem import Problem
from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.types import Array, Places
from robustsparse.regression.fit.standardized import Standardized

# Parts of each iterate that are looked at, and how close to the best of them the estimate is looked for.
_PARTS = np.linspace(0.1, 1.0, 10)
_CLOSE = np.linspace(-0.1, 0.1, 21)
# A run is taken back only if that lowers the deviance by more than this, the 95% point of chi-squared with one degree
# of freedom: a gradient that drops nothing ends where a likelihood does, and is left there.
_NOTABLE = 3.84


class LowestDeviance:
    """The lowest robust deviance between zero and the iterates of a run; called with each of them."""

    def __init__(self, problem: Standardized) -> None:
        self.problem = problem
        self.least = np.inf
        self.part = 1.0
        self.columns, self.values = np.zeros(0, dtype=np.intp), np.zeros(0)

    def __call__(self, coef: Array) -> None:
        """Look at an iterate."""
        if np.isfinite(coef).all():
            self._look(np.flatnonzero(coef), coef[np.flatnonzero(coef)], _PARTS)

    def end(self, bound: Problem, fit: RHTFit) -> RHTFit:
        """The fit, taken back to the lowest deviance if it has run past it."""
        self(fit.coef)
        near = self.part + _CLOSE
        self._look(self.columns, self.values, near[(near > 0) & (near <= 1)])
        used = np.flatnonzero(fit.coef)
        last = self._deviance(self.problem.columns(used) @ fit.coef[used])
        if not last - self.least > _NOTABLE:
            return fit
        coef = np.zeros_like(fit.coef)
        coef[self.columns] = self.part * self.values
        support = self.problem.ranked(np.setdiff1d(self.columns, self.problem.keep), coef)
        return replace(
            fit, coef=coef, support=support, converged=True, reason="taken back",
            loss=bound.robust_loss(self.problem.predictor(coef)),
            ran_to=float(np.linalg.norm(fit.coef[fit.support])),
        )  # fmt: skip

    def _look(self, columns: Places, values: Array, parts: Array) -> None:
        """Compare parts of coefficients with the best so far."""
        slopes = self.problem.columns(columns) @ values
        deviances = [self._deviance(part * slopes) for part in parts]
        best = int(np.argmin(deviances))
        if deviances[best] < self.least:
            self.least, self.part = deviances[best], float(parts[best])
            self.columns, self.values = columns, values

    def _deviance(self, slopes: Array) -> float:
        problem = self.problem
        eta = slopes if problem.offset is None else slopes + problem.offset
        rows = problem.family.robust_deviance(problem.y, eta)
        return float((rows if problem.weights is None else rows * problem.weights).sum())


def runs_away(problem: Standardized) -> bool:
    """Whether trimming can let the coefficients grow: a question of the family, with a loss of its own."""
    return problem.family.trimming_inflates and isinstance(problem.loss, problem.family.losses)
