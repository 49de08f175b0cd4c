"""Compiled steps for those pairs of a loss and a gradient that have them.

`Descent` runs Algorithm 1 for any loss and any gradient estimator, one small call after another. Some pairs also have
the same arithmetic as a single compiled function, which saves the time between the calls. This module alone knows
which pairs: a loss knows no gradient, a gradient knows no loss, and the solver knows neither.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.plain_trimmed import PlainTrim
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.base.types import Array, Indices, Mask


class FusedIteration(NamedTuple):
    """Outcome of a whole iteration.

    Attributes
    ----------
    columns, values : arrays
        Active columns, ascending, and their coefficients.
    step : float
        Length of the step.
    moved : tuple of float and int
        Distance from the iterate before, and how many columns are active in either.
    stays : bool
        Whether the support is the one before.
    loss : float
        Robust loss at the new coefficients.
    """

    columns: Indices
    values: Array
    step: float
    moved: tuple[float, int]
    stays: bool
    loss: float


class FusedSquares:
    """Compiled steps for the squared loss with a trimmed gradient.

    Parameters
    ----------
    gradient : ScreenedTrim or PlainTrim
        The gradient, whose memory the iterations read and write.
    problem : Problem
        The problem that it is the gradient of.
    """

    def __init__(self, gradient: ScreenedTrim | PlainTrim, problem: Problem) -> None:
        n = len(problem.y)
        self.gradient = gradient
        self.y = problem.y if problem.offset is None else problem.y - problem.offset
        self.weights = np.ones(n) if problem.weights is None else problem.weights

    def polish(
        self, XT: Array, values: Array, share: float, steps: int, tol: float, once: bool
    ) -> Array:
        """What `Descent.polish` makes of coefficients of a small design; with `once` the curvature is measured once."""
        out = values.copy()
        kernels.polish_squares(
            XT, self.y, self.weights, self.gradient.trimmed, share, steps, tol, once, out
        )
        return out

    def iterate(
        self, columns: Indices, values: Array, k: int, kept: Mask, barred: Mask, share: float, tol: float
    ) -> FusedIteration | None:  # fmt: skip
        """What `Descent.iterate` makes of coefficients, more of them than are always kept; None if it must do it."""
        screen = self.gradient.screen()
        if screen is None:
            return None
        most = len(columns) + k
        new_columns, new_values = np.empty(most, dtype=np.int64), np.empty(most)
        count, step, distance, either, stays, loss = kernels.iterate_squares(
            self.y, self.weights, k, kept, barred, columns, values, share, tol, *screen, new_columns, new_values
        )  # fmt: skip
        new_columns, new_values = new_columns[:count].copy(), new_values[:count].copy()
        return FusedIteration(new_columns, new_values, step, (distance, either), stays, loss)


# By the types of loss and bound gradient themselves: a class of the user's that is derived from a loss may have other
# scores.
_FUSED: dict[tuple[type, type], Callable[..., FusedSquares]] = {
    (Squared, ScreenedTrim): FusedSquares,
    (Squared, PlainTrim): FusedSquares,
}


def fused_for(problem: Problem, settings: Settings) -> FusedSquares | None:
    """Compiled steps for a problem, or None if there are none: for its loss, its gradient, or with a radius."""
    make = _FUSED.get((type(problem.loss), type(problem.gradient)))
    if make is None or settings.radius is not None:
        return None
    return make(problem.gradient, problem)
