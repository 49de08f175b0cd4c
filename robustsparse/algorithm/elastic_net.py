"""Elastic net paths of any loss: coefficients that are shrunken, many of them to zero.

A quadratic that lies above the loss is minimized again and again, from inner products within a working set of columns;
those outside that would enter join it. Kept columns are not penalized: what they explain is projected out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.losses import Loss
from robustsparse.base.types import Array, Indices, Mask

# Equations of the minimum hold to this part of the largest penalty.
_TOLERANCE, _MAX_SWEEPS = 1e-5, 2000
# Steps for a loss that is not quadratic, and the part of what is minimized that a step must gain for another.
_STEPS, _PROGRESS = 100, 1e-5
# Curvatures of flat losses are taken for this.
_FLAT = 1e-5
# Columns of the first working set, and how many join at a time.
_WORKING, _JOIN = 300, 100
# A gradient may exceed the penalty by this part of it before its column joins.
_SLACK = 1e-3


@dataclass(frozen=True, eq=False)
class Net:
    """Rows, loss and penalty of an elastic net.

    Attributes
    ----------
    XT : array (p, n)
        Columns, one a row, on one scale.
    y : array (n,)
        Response.
    loss : Loss
        Loss, with the curvature of a quadratic above it.
    weights : array (n,)
        Multipliers of the rows; rows of weight 0 are left out.
    offset : array (n,)
        Known part of the predictor.
    keep : array of int
        Rows of XT that are not penalized.
    free : bool array (p,)
        Those that are; the others are not in the model.
    mixing : float
        Share of the l1 norm in the penalty, from above 0 to 1, the lasso.
    """

    XT: Array
    y: Array
    loss: Loss
    weights: Array
    offset: Array
    keep: Indices
    free: Mask
    mixing: float

    def without(self, rows: Mask) -> "Net":
        """The same with some rows left out."""
        return replace(self, weights=np.where(rows, 0.0, self.weights))

    def largest_penalty(self) -> float:
        """The smallest penalty that leaves the kept columns alone in the model.

        Examples
        --------
        >>> from robustsparse.algorithm.losses import Squared
        >>> XT = np.array([[1.0, -1.0, 1.0, -1.0]])
        >>> y, free = np.array([3.0, 1.0, 3.0, 1.0]), np.array([True])
        >>> net = Net(XT, y, Squared(), np.ones(4), np.zeros(4), np.arange(0), free, 0.5)
        >>> net.largest_penalty()
        2.0
        """
        state = _State(self)
        state.minimize(np.inf)
        return float(np.abs(state.gradient()[self.free]).max(initial=0.0)) / self.mixing


def net_path(net: Net, penalties: Sequence[float] | Array) -> Array:
    """Coefficients (penalties, p) along descending penalties, each from those before.

    What is minimized is the weighted mean of the loss plus ``penalty * (mixing |b|_1 + (1 - mixing) |b|_2^2 / 2)``, b
    without the kept coefficients.

    Examples
    --------
    >>> from robustsparse.algorithm.losses import Squared
    >>> XT = np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, 1.0, 1.0]])
    >>> y, free = np.array([3.0, 1.0, 3.0, 1.0]), np.array([True, False])
    >>> net = Net(XT, y, Squared(), np.ones(4), np.zeros(4), np.array([1]), free, 1.0)
    >>> net_path(net, [1.0, 0.4])
    array([[0. , 2. ],
           [0.6, 2. ]])
    """
    state = _State(net)
    path = np.empty((len(penalties), len(net.XT)))
    for place, penalty in enumerate(penalties):
        state.minimize(float(penalty))
        path[place] = state.coef
    return path


class _State:
    """Coefficients on their way down a path, and the inner products that are known."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.share = net.weights / net.weights.sum()
        self.coef = np.zeros(len(net.XT))
        self.eta = net.offset.copy()
        self.kept = net.XT[net.keep]
        self.working = np.zeros(0, dtype=np.int64)
        self.columns = net.XT[self.working]
        # Of a quadratic loss the inner products stay.
        self._products: tuple[Array, Array, Array] | None = None

    def gradient(self) -> Array:
        """Minus the derivative of the weighted mean loss by every coefficient."""
        return np.asarray(-(self.net.XT @ (self.share * self._score())))

    def _score(self) -> Array:
        return self.net.loss.score(self.net.y, self.eta)

    def minimize(self, penalty: float) -> None:
        """Go to the minimum at a penalty; an infinite one moves the kept coefficients alone."""
        if np.isinf(penalty):
            self._settle(penalty)
            return
        if not len(self.working):
            self._settle(np.inf)
            self._join(np.abs(self.gradient()), _WORKING)
        while True:
            self._settle(penalty)
            if len(self.working) == self.net.free.sum():
                return
            steep = np.abs(self.gradient())
            steep[steep <= (1.0 + _SLACK) * penalty * self.net.mixing] = 0.0
            if not self._join(steep, _JOIN):
                return

    def _join(self, wanted: Array, most: int) -> bool:
        """Take the most wanted columns into the working set; returns whether there was one."""
        wanted = np.where(self.net.free, wanted, 0.0)
        wanted[self.working] = 0.0
        some = np.argsort(-wanted, kind="stable")[:most]
        joining = some[wanted[some] > 0.0]
        self.working = np.concatenate([self.working, joining])
        self.columns = self.net.XT[self.working]
        self._products = None
        return bool(len(joining))

    def _settle(self, penalty: float) -> None:
        """Minimize over the working set."""
        loss, y = self.net.loss, self.net.y
        # Newton's quadratic need not lie above the loss: where it leads uphill, one that does has its turn.
        newton = getattr(loss, "slope", None)
        value = self._objective(penalty)
        for _ in range(_STEPS):
            coef, eta = self.coef.copy(), self.eta
            if newton is not None:
                self._step(penalty, np.maximum(newton(y, eta), _FLAT))
            if newton is None or not self._objective(penalty) <= value:
                if newton is not None:
                    self.coef, self.eta, self._products = coef, eta, None
                curvature = loss.curvature(y, eta)
                self._step(penalty, curvature)
                # Curvatures of 1 are those of the squared loss, which is its own majorizer.
                if (curvature == 1.0).all():
                    return
            self._products = None
            before, value = value, self._objective(penalty)
            if before - value <= _PROGRESS * abs(before):
                return

    def _objective(self, penalty: float) -> float:
        """What is minimized."""
        beta = self.coef[self.working]
        mixing = self.net.mixing
        norms = mixing * np.abs(beta).sum() + 0.5 * (1.0 - mixing) * beta @ beta
        loss = float(self.share @ self.net.loss.value(self.net.y, self.eta))
        return loss + float(penalty * norms if norms else 0.0)

    def _step(self, penalty: float, curvature: Array) -> None:
        """Minimize the quadratic of some curvature that touches the loss here."""
        score = self.share * self._score()
        on_kept = -(self.kept @ score)
        inside, explained, among = self._inner(self.share * curvature)
        moved = np.zeros(len(self.working))
        if np.isfinite(penalty) and len(moved):
            ridge = penalty * (1.0 - self.net.mixing)
            beta = self.coef[self.working]
            start = beta.copy()
            grad = -(self.columns @ score) - explained.T @ on_kept - ridge * beta
            among = among + ridge * np.eye(len(among))
            threshold = penalty * self.net.mixing
            kernels.lasso_from_gram(
                among, threshold, beta, grad, _TOLERANCE * threshold, _MAX_SWEEPS
            )
            moved = beta - start
            self.coef[self.working] = beta
        kept_move = inside @ on_kept - explained @ moved
        self.coef[self.net.keep] += kept_move
        self.eta = self.eta + self.columns.T @ moved + self.kept.T @ kept_move

    def _inner(self, weights: Array) -> tuple[Array, Array, Array]:
        """Inverse products of the kept columns, the others' coefficients on them, and products of what these leave."""
        if self._products is None:
            weighted = self.kept * weights
            inside: Array = np.asarray(
                np.linalg.pinv(weighted @ self.kept.T, hermitian=True), dtype=np.float64
            )
            across = weighted @ self.columns.T
            explained = inside @ across
            among = (self.columns * weights) @ self.columns.T - across.T @ explained
            self._products = inside, explained, among
        return self._products
