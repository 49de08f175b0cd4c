"""Elastic net paths of any loss: coefficients that are shrunken, many of them to zero.

A quadratic that lies above the loss is minimized again and again over a working set of columns; those outside that
would enter join it. Kept columns are not penalized: what they explain is projected out. Nets of the same columns on
different rows go down their paths together, because the columns are read from memory once for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.losses import Loss
from robustsparse.base.types import Array, Indices, Mask

# Equations of the minimum hold to this part of the penalty.
TOLERANCE, MAX_SWEEPS = 1e-3, 2000
# Steps for a loss that is not quadratic, and the part of what is minimized that a step must gain for another.
_STEPS, _PROGRESS = 100, 1e-4
# Curvatures of flat losses are taken for this.
_FLAT = 1e-5
# At the next penalty, columns whose gradient reaches this part of it are expected to enter.
_NEAR = 0.9
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
        Share of the l1 norm in the penalty, from above 0 to 1, the lasso; ridges have 0 and descents of their own.
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
        return Descent([self]).largest_penalty()


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
    descent = Descent([net])
    path = np.empty((len(penalties), len(net.XT)))
    for place, penalty in enumerate(penalties):
        path[place] = descent.to(float(penalty))[0]
    return path


class Descent:
    """Nets with the same columns and the same mixing, on their way down a path together.

    Parameters
    ----------
    nets : sequence of Net
        Such nets, as `Net.without` makes them.
    """

    def __init__(self, nets: Sequence[Net]) -> None:
        self._net = nets[0]
        self._states = [_State(net) for net in nets]
        for state in self._states:
            state.settle(np.inf)
        self._steep = self._gradients(self._states)

    def largest_penalty(self) -> float:
        """The smallest penalty that leaves the kept columns alone in every model, at the start of the descent."""
        return float(self._steep.max(initial=0.0)) / self._net.mixing

    def losses(self) -> Array:
        """Weighted mean loss of each net where it is."""
        return np.array([state.loss() for state in self._states])

    def to(self, penalty: float) -> Array:
        """Coefficients (nets, p) at a penalty below those before."""
        threshold = penalty * self._net.mixing
        for state, steep in zip(self._states, self._steep, strict=True):
            state.start(np.flatnonzero(steep >= _NEAR * threshold))
        moving = np.arange(len(self._states))
        while len(moving):
            states = [self._states[place] for place in moving]
            for state in states:
                state.settle(penalty)
            self._steep[moving] = self._gradients(states)
            beyond = self._steep[moving] > (1.0 + _SLACK) * threshold
            joined = [s.join(np.flatnonzero(b)) for s, b in zip(states, beyond, strict=True)]
            moving = moving[joined]
        return np.array([state.coef for state in self._states])

    def _gradients(self, states: Sequence["_State"]) -> Array:
        """Sizes (nets, p) of the derivatives of the weighted mean losses; zero where there is no penalty."""
        scores = np.array([state.scores() for state in states])
        return np.abs(scores @ self._net.XT.T) * self._net.free


class _State:
    """Coefficients of one net on their way down a path, and the inner products that are known."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.rows = np.flatnonzero(net.weights > 0)
        weights = net.weights[self.rows]
        self.share = weights / weights.sum()
        self.y = net.y[self.rows]
        self.coef = np.zeros(len(net.XT))
        self.eta = net.offset[self.rows]
        self.kept = net.XT[net.keep][:, self.rows]
        self.working = np.zeros(0, dtype=np.int64)
        self._works = np.zeros(len(net.XT), dtype=bool)
        self.columns = np.zeros((0, len(self.rows)))
        # Those of the last curvature: of a quadratic loss they stay.
        self._products: _Products | None = None

    def loss(self) -> float:
        """Weighted mean loss."""
        return float(self.share @ self.net.loss.value(self.y, self.eta))

    def scores(self) -> Array:
        """Weighted scores of all rows (n,)."""
        scores = np.zeros(len(self.net.y))
        scores[self.rows] = self.share * self._score()
        return scores

    def _score(self) -> Array:
        return self.net.loss.score(self.y, self.eta)

    def start(self, near: Indices) -> None:
        """Begin another penalty with the columns in the model and those near it."""
        if self._products is None:
            used = self.coef[self.working] != 0
            self._works[self.working[~used]] = False
            self.working, self.columns = self.working[used], self.columns[used]
        self.join(near)

    def join(self, wanted: Indices) -> bool:
        """Take columns into the working set; returns whether one of them was not there."""
        joining = wanted[~self._works[wanted]]
        if not len(joining):
            return False
        self._works[joining] = True
        self.working = np.concatenate([self.working, joining])
        self.columns = np.concatenate([self.columns, self.net.XT[joining][:, self.rows]])
        self._products = None
        return True

    def settle(self, penalty: float) -> None:
        """Minimize over the working set; at an infinite penalty the kept coefficients alone move."""
        loss, y = self.net.loss, self.y
        # Newton's quadratic need not lie above the loss: where it leads uphill, one that does has its turn.
        newton = getattr(loss, "slope", None)
        value = self._objective(penalty)
        for _ in range(_STEPS):
            coef, eta = self.coef.copy(), self.eta
            if newton is not None:
                self._step(penalty, np.maximum(newton(y, eta), _FLAT))
            after = self._objective(penalty)
            if newton is None or not after <= value:
                self.coef, self.eta = coef, eta
                curvature = loss.curvature(y, eta)
                self._step(penalty, curvature)
                # Curvatures of 1 are those of the squared loss, which is its own majorizer.
                if (curvature == 1.0).all():
                    return
                after = self._objective(penalty)
            self._products = None
            before, value = value, after
            if before - value <= _PROGRESS * abs(before):
                return

    def _objective(self, penalty: float) -> float:
        """What is minimized."""
        beta = self.coef[self.working]
        mixing = self.net.mixing
        norms = mixing * np.abs(beta).sum() + 0.5 * (1.0 - mixing) * beta @ beta
        return self.loss() + float(penalty * norms if norms else 0.0)

    def _step(self, penalty: float, curvature: Array) -> None:
        """Minimize the quadratic of some curvature that touches the loss here."""
        if self._products is None:
            self._products = _Products(self.kept, self.columns, self.share * curvature)
        products = self._products
        score = -self.share * self._score()
        on_kept = products.inside @ (self.kept @ score)
        moved = np.zeros(len(self.working))
        if np.isfinite(penalty) and len(moved):
            beta = self.coef[self.working]
            start = beta.copy()
            products.minimize(
                penalty * self.net.mixing, penalty * (1.0 - self.net.mixing), beta, score
            )
            moved = beta - start
            self.coef[self.working] = beta
        kept_move = on_kept - products.explained @ moved
        self.coef[self.net.keep] += kept_move
        self.eta = self.eta + moved @ self.columns + kept_move @ self.kept


class _Products:
    """A quadratic loss of the working columns, with what the kept ones explain projected out.

    Parameters
    ----------
    kept, columns : array (kept, n), (working, n)
        The columns, one a row.
    weights : array (n,)
        Curvatures of the rows.
    """

    def __init__(self, kept: Array, columns: Array, weights: Array) -> None:
        weighted = kept * weights
        self.inside = inverse(weighted @ kept.T)
        across = weighted @ columns.T
        self.explained = self.inside @ across
        self._kept, self._columns, self._root = kept, columns, np.sqrt(weights)
        # Inner products are as many as the columns squared: rows are fewer where there are many columns.
        self._by_rows = len(columns) > columns.shape[1]
        if self._by_rows:
            self._left = (columns - self.explained.T @ kept) * self._root
        else:
            scaled = columns * self._root
            self._among = scaled @ scaled.T - across.T @ self.explained

    def minimize(self, threshold: float, ridge: float, beta: Array, score: Array) -> None:
        """Go to the minimum from coefficients `beta`, in their place; `score` is minus the derivative by the rows."""
        tolerance = TOLERANCE * threshold
        if self._by_rows:
            resid = score / self._root
            weighted = self._kept * self._root
            resid = resid - (self.inside @ (weighted @ resid)) @ weighted
            kernels.elastic_from_rows(
                self._left, resid, threshold, ridge, beta, tolerance, MAX_SWEEPS
            )
            return
        grad = self._columns @ score - self.explained.T @ (self._kept @ score) - ridge * beta
        among = self._among + ridge * np.eye(len(beta))
        kernels.lasso_from_gram(among, threshold, beta, grad, tolerance, MAX_SWEEPS)


def inverse(A: Array) -> Array:
    """Inverse of a symmetric matrix, or what is nearest to it; that of the intercept alone is a number."""
    if len(A) == 1 and A[0, 0] > 0:
        return 1.0 / A
    return np.asarray(np.linalg.pinv(A, hermitian=True), dtype=np.float64)
