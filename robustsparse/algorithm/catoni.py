"""Catoni's mean, coordinate by coordinate: far values count, but ever less the farther they are."""

from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np
from scipy.special import ndtri

from robustsparse.algorithm.bad_share import ForBadShare
from robustsparse.algorithm.products import finite_pair
from robustsparse.base.checks import check_number
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array

# Values that are looked at together: more would not stay in the caches.
_TOGETHER = 1 << 18
# A root is found when it moves by this part of the reach; Newton's steps double the digits.
TOLERANCE, _MAX_ITER = 1e-12, 200
# Ranks between which the scale is read: further out bad rows may sit, further in there is little to read.
_INNER, _OUTER = 0.5, 0.9


@dataclass(frozen=True)
class Catoni(ForBadShare):
    """Catoni's M-estimate of the mean of each coordinate, against heavy tails and bad rows (Catoni 2012).

    The root θ of Σ ψ((x_ij score_i - θ) / T) with the bounded ψ(u) = 2 atan(tanh(u / 2)) (Holland and Ikeda 2017), one
    of those that lie between Catoni's two bounds. The reach is T = s / √(ε + 2 log(1/δ) / n), with s a robust scale of
    the coordinate: without bad rows Catoni's own, for a failure with probability δ, and with ε of them no further than
    where what they can do, ε T, weighs as much as what cutting tails off does, s² / T.

    Weights of the rows multiply their scores, as for a trimmed mean; a missing cell is refused.

    Parameters
    ----------
    epsilon : float
        Share of bad rows to survive; 0 expects heavy tails alone.
    delta : float
        Probability of a failure for each coordinate, below 1.

    Examples
    --------
    One row of five is wild in the first column; it hardly counts:

    >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [4.0, 1.0], [1e9, 1.0]])
    >>> Catoni(epsilon=0.2)(X, np.ones(5)).round(2)
    array([3.07, 1.  ])
    """

    delta: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if not check_number("delta", self.delta, 0.0, open_low=True) < 1.0:
            raise ParameterError(f"delta={self.delta!r} is a probability and must lie in (0, 1).")

    def __call__(self, X: Array, score: Array) -> Array:
        """Catoni's mean of `x_ij * score_i` for each j."""
        looked_at = finite_pair(X, score)
        if looked_at is None:
            return np.full(np.shape(X)[1], np.nan)
        XT, score = looked_at
        width = max(1, _TOGETHER // len(score))
        parts = [
            self.means(XT[first : first + width] * score) for first in range(0, len(XT), width)
        ]
        return np.concatenate([np.empty(0), *parts])

    def means(self, values: Array) -> Array:
        """Means (m,) of the rows of `values` (m, n)."""
        n = values.shape[1]
        # The largest value of a row as the unit: no sum overflows.
        unit = np.abs(values).max(axis=1)
        unit[unit == 0.0] = 1.0
        values = values / unit[:, None]
        center = np.median(values, axis=1)
        reach = self._scales(values - center[:, None]) / sqrt(self._tightness(n))
        roots = center.copy()
        wide = np.flatnonzero(reach > 0.0)
        roots[wide] = _roots(values[wide], center[wide], reach[wide])
        return np.asarray(roots * unit)

    def _tightness(self, n: int) -> float:
        return self.epsilon + 2.0 * log(1.0 / self.delta) / n

    def _scales(self, deviations: Array) -> Array:
        """Scale of each row of deviations from the median, by the size that all but the share of bad rows reach."""
        level = min(max(1.0 - self.share, _INNER), _OUTER)
        place = max(ceil(level * deviations.shape[1]) - 1, 0)
        size = np.partition(np.abs(deviations), place, axis=1)[:, place]
        return np.asarray(size / ndtri(0.5 + level / 2.0))

    def words(self, n: int, d: int) -> str:
        """In words."""
        return f"Catoni mean, {100 * self.epsilon:.3g}% bad"


def influence(u: Array) -> Array:
    """The function ψ that a far value has for influence: the identity near zero, never beyond π/2.

    Examples
    --------
    >>> influence(np.array([0.0, 0.1, -3.0, 1e9])).round(3)
    array([ 0.   ,  0.1  , -1.471,  1.571])
    """
    return np.asarray(2.0 * np.arctan(np.tanh(u / 2.0)))


def _roots(values: Array, start: Array, reach: Array) -> Array:
    """Roots of the mean influence for each row, by Newton's steps; where one leaves what is known, by halving that."""
    roots, low, high = start.copy(), values.min(axis=1), values.max(axis=1)
    open_ = np.arange(len(roots))
    for _ in range(_MAX_ITER):
        at, tight = roots[open_], reach[open_]
        u = (values[open_] - at[:, None]) / tight[:, None]
        slope = influence(u).mean(axis=1)
        low[open_] = np.where(slope >= 0.0, at, low[open_])
        high[open_] = np.where(slope <= 0.0, at, high[open_])
        # The derivative of ψ is 1 / cosh.
        bend = (1.0 / np.cosh(np.minimum(np.abs(u), 300.0))).mean(axis=1)
        step = at + tight * slope / np.maximum(bend, 1e-300)
        inside = (step >= low[open_]) & (step <= high[open_])
        new = np.where(inside, step, (low[open_] + high[open_]) / 2.0)
        roots[open_] = new
        open_ = open_[np.abs(new - at) > TOLERANCE * tight]
        if not len(open_):
            break
    return roots
