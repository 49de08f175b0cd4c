"""Losses: how far a linear predictor is from a response, row by row.

For every loss here the gradient of one observation is `score_i * x_i`. A loss returns one number a
row and never sees the design.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from scipy.special import expit

from robustsparse.base.checks import check_number
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array
from robustsparse.robust.scales import HUBER_EFFICIENCY, median_and_mad


@runtime_checkable
class Loss(Protocol):
    """What the solver asks of a loss; any object with these methods can be passed as `loss=`.

    Each method takes the response and the linear predictor, both (n,), and returns (n,).
    """

    def value(self, y: Array, eta: Array) -> Array:
        """Loss of each row."""

    def score(self, y: Array, eta: Array) -> Array:
        """Derivative of the loss in the linear predictor."""

    def curvature(self, y: Array, eta: Array) -> Array:
        """Curvature of a quadratic that lies above the loss and touches it at `eta`; sets the step."""


@dataclass(frozen=True)
class Squared:
    """Half the squared residual (the paper's Model 3.1).

    Examples
    --------
    >>> Squared().score(np.array([1.0, 2.0]), np.array([0.0, 5.0]))
    array([-1.,  3.])
    """

    label = "squared"
    # Scaling the response scales this loss, so the response may be standardized.
    scales_with_response = True

    def value(self, y: Array, eta: Array) -> Array:
        """Loss of each row."""
        return 0.5 * (eta - y) ** 2

    def score(self, y: Array, eta: Array) -> Array:
        """Residual with the sign of the gradient."""
        return eta - y

    def curvature(self, y: Array, eta: Array) -> Array:
        """One in every row."""
        return np.ones_like(eta)


@dataclass(frozen=True)
class Huber:
    """Huber's loss, quadratic up to `delta` and linear beyond.

    Parameters
    ----------
    delta : float or None
        Where the loss turns linear, in units of the response. None follows the residuals: 1.345
        times their median absolute deviation (as a standard deviation), computed anew at every
        iterate.

    Examples
    --------
    >>> Huber(delta=1.0).score(np.array([0.0, 0.0]), np.array([0.5, 7.0]))
    array([0.5, 1. ])
    """

    # It bounds what a response can do, whatever the gradient estimator.
    bounds_response = True

    delta: float | None = None

    def __post_init__(self) -> None:
        if self.delta is not None:
            check_number("delta", self.delta, 0.0, open_low=True)

    @property
    def label(self) -> str:
        """What a summary calls it."""
        return "Huber, adaptive" if self.delta is None else f"Huber, delta {self.delta:g}"

    @property
    def scales_with_response(self) -> bool:
        """Whether scaling the response only scales the loss: not when delta is fixed in its units."""
        return self.delta is None

    def _delta(self, resid: Array) -> float:
        if self.delta is not None:
            return self.delta
        spread = median_and_mad(resid)[1]
        # More than half of the residuals equal: fall back on their mean size, and on 1 if all are
        # zero.
        return HUBER_EFFICIENCY * (spread or float(np.mean(np.abs(resid))) or 1.0)

    def value(self, y: Array, eta: Array) -> Array:
        """Loss of each row."""
        size = np.abs(eta - y)
        inner = np.minimum(size, self._delta(eta - y))
        # Both pieces in one product, which does not square a gross residual.
        return inner * (size - 0.5 * inner)

    def score(self, y: Array, eta: Array) -> Array:
        """Residual, clipped at delta."""
        resid = eta - y
        delta = self._delta(resid)
        return np.clip(resid, -delta, delta)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Weight of iteratively reweighted least squares, min(1, delta / |residual|)."""
        resid = eta - y
        delta = self._delta(resid)
        return delta / np.maximum(np.abs(resid), delta)


@dataclass(frozen=True)
class Logistic:
    """Negative log-likelihood of a 0/1 response (the paper's Model 3.2).

    Examples
    --------
    >>> Logistic().score(np.array([0.0, 1.0]), np.array([0.0, 0.0]))
    array([ 0.5, -0.5])
    """

    label = "logistic"
    scales_with_response = False

    def value(self, y: Array, eta: Array) -> Array:
        """Loss of each row, without overflow for any predictor."""
        return np.logaddexp(0.0, eta) - y * eta

    def score(self, y: Array, eta: Array) -> Array:
        """Fitted probability minus response."""
        return np.asarray(expit(eta) - y)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Jaakkola and Jordan's tight quadratic bound, tanh(|eta|/2) / (2|eta|), at most 1/4."""
        half = np.maximum(0.5 * np.abs(eta), 1e-8)
        return 0.25 * np.tanh(half) / half

    def slope(self, y: Array, eta: Array) -> Array:
        """Derivative of the score, for steps that are longer than safe ones."""
        probability = expit(eta)
        return np.asarray(probability * (1.0 - probability))


LOSSES: dict[str, type[Squared] | type[Huber] | type[Logistic]] = {
    "squared": Squared,
    "huber": Huber,
    "logistic": Logistic,
}


# What `loss=` takes.
LossLike = Literal["squared", "huber", "logistic"] | Loss


def as_loss(loss: LossLike) -> Loss:
    """Loss from its name, or the object itself if it is a loss already."""
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ParameterError(
                f"loss={loss!r} is not known; use one of {', '.join(map(repr, LOSSES))} or an object "
                "with the methods value, score and curvature."
            )
        return LOSSES[loss]()
    # A class has the methods too, but not their first argument.
    if isinstance(loss, type) or not isinstance(loss, Loss):
        raise ParameterError(
            f"loss={loss!r} is neither a name nor an object with the methods value, score and curvature"
            f"{', but a class; call it to make one.' if isinstance(loss, type) else '.'}"
        )
    return loss
