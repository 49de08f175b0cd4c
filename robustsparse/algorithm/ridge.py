"""Ridges of any loss: every column in the model, all coefficients shrunken.

A ridge does not know one direction of the columns from another, so that many columns of few rows are turned into as
many directions as there are rows, and back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from robustsparse.algorithm.elastic_net import Net
from robustsparse.base.types import Array, Indices, Mask

# Directions whose variance is below this part of the largest are rounding.
_RANK = 1e-10
# Newton's steps for a loss that is not quadratic, and the part of what is minimized that a step must gain for another.
_STEPS, _PROGRESS = 30, 1e-6
# Curvatures of flat losses are taken for this.
_FLAT = 1e-5


@dataclass(frozen=True, eq=False)
class Turned:
    """A net whose penalized columns are directions of those of another net.

    Attributes
    ----------
    net : Net
        The net; its kept columns come last.
    """

    net: Net
    _columns: Indices
    _keep: Indices
    _back: Array
    _width: int

    def back(self, coefs: Array) -> Array:
        """Coefficients (q, p) of the columns from those of the directions."""
        whole = np.zeros((len(coefs), self._width))
        directions = len(self.net.XT) - len(self._keep)
        whole[:, self._columns] = coefs[:, :directions] @ self._back
        whole[:, self._keep] = coefs[:, directions:]
        return whole


def turned(net: Net) -> Turned:
    """The net as a ridge of as few columns as there can be.

    Examples
    --------
    >>> from robustsparse.algorithm.losses import Squared
    >>> XT = np.array([[1.0, -1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0]])
    >>> y, keep, free = np.array([3.0, 1.0]), np.array([3]), np.array([True, True, True, False])
    >>> few = turned(Net(XT, y, Squared(), np.ones(2), np.zeros(2), keep, free, 0.5))
    >>> few.net.XT.shape
    (3, 2)
    >>> coefs = np.array([[0.5, -1.0, 2.0]])
    >>> np.allclose(few.back(coefs) @ XT, coefs @ few.net.XT)
    True
    """
    columns = np.flatnonzero(net.free)
    F = net.XT[columns]
    if len(F) <= F.shape[1]:
        directions, back = F, np.eye(len(F))
    else:
        values, vectors = np.linalg.eigh(F.T @ F)
        real = values > _RANK * values[-1]
        root = np.sqrt(values[real])
        directions = (vectors[:, real] * root).T
        back = (vectors[:, real] / root).T @ F.T
    kept = np.arange(len(directions), len(directions) + len(net.keep))
    free = np.ones(len(directions) + len(net.keep), dtype=bool)
    free[kept] = False
    ridge = replace(
        net, XT=np.vstack([directions, net.XT[net.keep]]), keep=kept, free=free, mixing=0.0
    )
    return Turned(ridge, columns, net.keep, back, len(net.XT))


class RidgeDescent:
    """Ridges of any loss with the same columns on different rows, on their way down a path together.

    Parameters
    ----------
    nets : sequence of Net
        Such nets with a mixing of 0, as `Net.without` makes them.
    """

    def __init__(self, nets: Sequence[Net]) -> None:
        self._states = [_State(net) for net in nets]

    def largest_penalty(self) -> float:
        """The largest variance of a direction."""
        first = self._states[0]
        scaled = first.columns[first.free] * np.sqrt(first.share)
        return float(np.linalg.norm(scaled, ord=2)) ** 2 if len(scaled) else 0.0

    def losses(self) -> Array:
        """Weighted mean loss of each net where it is."""
        return np.array([state.loss() for state in self._states])

    def to(self, penalty: float) -> Array:
        """Coefficients (nets, p) at a penalty below those before."""
        return np.array([state.settle(penalty) for state in self._states])


class _State:
    """Coefficients of one ridge on their way down a path."""

    def __init__(self, net: Net) -> None:
        rows: Mask = net.weights > 0
        self._loss = net.loss
        self.free = net.free
        self.columns = net.XT[:, rows]
        self.share = net.weights[rows] / net.weights[rows].sum()
        self._y, self._offset = net.y[rows], net.offset[rows]
        self._coef = np.zeros(len(net.XT))
        self._newton = getattr(net.loss, "slope", None)

    def _eta(self, coef: Array) -> Array:
        return np.asarray(coef @ self.columns + self._offset)

    def loss(self) -> float:
        """Weighted mean loss."""
        return float(self.share @ self._loss.value(self._y, self._eta(self._coef)))

    def _objective(self, coef: Array, penalty: float) -> float:
        shrunken = coef[self.free]
        value = self.share @ self._loss.value(self._y, self._eta(coef))
        return float(value + 0.5 * penalty * shrunken @ shrunken)

    def settle(self, penalty: float) -> Array:
        """Go to the minimum; Newton's step, and where that leads uphill one of a quadratic that lies above the loss."""
        value = self._objective(self._coef, penalty)
        for _ in range(_STEPS):
            coef, after = self._step(penalty, value)
            if not after < value:
                break
            gained, value, self._coef = value - after, after, coef
            if gained <= _PROGRESS * abs(value):
                break
        return self._coef.copy()

    def _step(self, penalty: float, value: float) -> tuple[Array, float]:
        eta = self._eta(self._coef)
        if self._newton is not None:
            slope = np.maximum(self._newton(self._y, eta), _FLAT)
            coef = self._moved(penalty, eta, slope)
            after = self._objective(coef, penalty)
            if after <= value:
                return coef, after
        coef = self._moved(penalty, eta, self._loss.curvature(self._y, eta))
        return coef, self._objective(coef, penalty)

    def _moved(self, penalty: float, eta: Array, curvature: Array) -> Array:
        """Coefficients at the minimum of the quadratic of some curvature that touches the loss here."""
        ridge = penalty * self.free
        scaled = self.columns * np.sqrt(self.share * curvature)
        hessian = scaled @ scaled.T
        diagonal = np.arange(len(ridge))
        hessian[diagonal, diagonal] += ridge
        score = self.columns @ (self.share * self._loss.score(self._y, eta)) + ridge * self._coef
        return self._coef - _solved(hessian, score)


def _solved(A: Array, b: Array) -> Array:
    """Solution of symmetric equations; kept columns may repeat each other."""
    try:
        return np.asarray(cho_solve(cho_factor(A), b))
    except LinAlgError:
        return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0])
