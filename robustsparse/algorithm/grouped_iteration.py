"""Iterations of Algorithm 1 whose threshold keeps or drops whole groups of columns."""

import numpy as np

from robustsparse.algorithm.fused import FusedIteration
from robustsparse.algorithm.groups import Groups
from robustsparse.algorithm.iteration import Descent, Iterate
from robustsparse.base.types import Array, Indices

# Entries of the design that a gradient is computed from at a time.
_BLOCK = 1 << 20


class GroupedDescent(Descent):
    """The state of a run that keeps the k groups of largest size, see `Groups.strengths`.

    What a single column could reach tells little of its group, so that every coordinate is evaluated.
    """

    _slopes: Array | None = None

    @property
    def groups(self) -> Groups:
        """The groups of the problem."""
        groups = self.problem.groups
        assert groups is not None
        return groups

    def advance(self, at: Iterate) -> Iterate:
        """One full iteration: gradient, step, threshold."""
        self._slopes = None
        return super().advance(at)

    def _gradient(self) -> Array:
        """Gradient (d,) at the current scores, zero for columns in no group."""
        if self._slopes is None:
            gradient, free = self.problem.gradient, self.groups.free
            self._slopes = np.zeros(self.d)
            step = max(1, _BLOCK // len(self.problem.y))
            for first in range(0, len(free), step):
                columns = free[first : first + step]
                self._slopes[columns] = gradient.at(columns)
        return self._slopes

    def threshold(self, at: Iterate, active_gradient: Array, step: float) -> Iterate:
        """Step and keep the k largest groups (line 8 of Algorithm 1), then project."""
        moved = -step * self._gradient()
        moved[at.columns] = at.values - step * active_gradient
        columns = self._with_kept(self.groups.largest(moved, self.k))
        return self.project(Iterate(columns, moved[columns], step))

    def enter(self, at: Iterate) -> Iterate:
        """Add the k groups of largest gradient, at zero, so that a first step has a support to measure."""
        columns = self._with_kept(self.groups.largest(self._gradient(), self.k))
        return Iterate(columns, at.dense(self.d)[columns])

    def start(self, coef: Array) -> Iterate:
        """The k largest groups of given coefficients."""
        columns = self._with_kept(self.groups.largest(coef, self.k))
        return Iterate(columns, coef[columns].astype(np.float64))

    def support(self, coef: Array) -> Indices:
        """Columns of the groups that are not zero, the largest group first."""
        chosen = np.flatnonzero(self.groups.strengths(coef))
        return self.groups.ranked(self.groups.columns(chosen), coef)

    def _with_kept(self, chosen: Indices) -> Indices:
        return np.sort(np.concatenate([self.groups.columns(chosen), self.keep]))

    def _iterated(self, at: Iterate) -> FusedIteration | None:
        """None: compiled iterations keep single columns."""
        return None
