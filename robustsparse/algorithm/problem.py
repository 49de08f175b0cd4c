"""One problem and how to solve it: what the iterations of Algorithm 1 are given."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robustsparse.algorithm.bound import BoundGradient
from robustsparse.algorithm.groups import Groups
from robustsparse.algorithm.losses import Loss
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array

# Told of every look at all columns: the scores, the size that a gradient must reach to change what came of it, and how
# many columns were kept.
Watch = Callable[[Array, float, int], None]
# What `step=` takes.
StepLike = float | Literal["auto", "search"]


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
    barred : tuple of int
        Columns that are never selected, such as the response among the variables of a graph.
    groups : Groups or None
        Columns that are selected together, kept ones in none of them; None selects single columns.
    watch : callable or None
        Who wants to know of every look, where the gradient is bound to some of the columns only.
    """

    gradient: BoundGradient
    y: Array
    loss: Loss
    offset: Array | None = None
    weights: Array | None = None
    barred: tuple[int, ...] = ()
    groups: Groups | None = None
    watch: Watch | None = None

    def predictor(self, XT: Array, values: Array) -> Array:
        """Linear predictor (n,) of coefficients on the rows of a transposed design."""
        eta = values @ XT
        return eta if self.offset is None else eta + self.offset

    def weighted(self, values: Array) -> Array:
        """Row values of the loss times the rows' weights."""
        if np.shape(values) != self.y.shape:
            raise ParameterError(
                f"{self.loss!r} returned shape {np.shape(values)} for {len(self.y)} rows; a loss "
                "returns one number a row."
            )
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
        return self.gradient.average(losses)


@dataclass(frozen=True)
class Settings:
    """How to run Algorithm 1.

    Attributes
    ----------
    step : float, "search" or "auto"
        Length of the step (the paper's η); the one of several whose run ends at the lowest robust loss; or the robust
        normalized step, computed anew at each iteration.
    radius : float or None
        The thresholded coefficients are projected on the l2 ball of this radius (the paper's Π_B).
    max_iter : int
        Largest number of iterations.
    tol : float
        The iterates have settled when the support stays and the relative change is below this.
    fused : bool
        Run whole iterations in compiled code where there is such code, and measure the curvature on the support once
        for all steps there. Many small problems are faster that way, in threads above all; a single one would wait
        seconds for the compiler, and with predictors that are nearly collinear the curvature must be measured anew.
    rough : bool
        End when the support stays, after a few steps on it. Coefficients of nearly collinear predictors may take
        thousands of steps to come to rest, which a start that is refitted anyway need not wait for.
    """

    step: StepLike = "auto"
    radius: float | None = None
    max_iter: int = 100
    tol: float = 1e-10
    fused: bool = False
    rough: bool = False
