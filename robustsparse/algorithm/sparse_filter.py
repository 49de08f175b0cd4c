"""Sparse filtering: rows that shift a few coordinates together are found where no coordinate shows them.

A trimmed mean looks at each coordinate by itself. Bad rows that lie 1.5 standard deviations to one side in every
coordinate pass it, and shift all of the gradient; along a direction of twenty coordinates the same rows lie nearly
seven standard deviations out. Filters (Diakonikolas, Karmalkar, Kane, Price and Stewart 2019; Liu, Shen, Li and
Caramanis 2020) look for the sparse direction in which the rows' gradients vary most and drop rows that are far out
there, until no sparse direction is wider than good rows allow. The papers know the covariance of good rows, or assume
it sparse; here nothing is known of it, so that a direction is judged by its shape: how far the tails reach in units of
the middle half of the rows, in comparison with single coordinates. Then a trimmed mean of the rows that are left sees
to those that are far out in single coordinates.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, e, log, sqrt
from typing import NamedTuple

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bad_share import ForBadShare
from robustsparse.algorithm.bound import BoundGradient, FullGradient
from robustsparse.algorithm.products import finite_pair
from robustsparse.base.checks import check_count
from robustsparse.base.types import Array, Mask
from robustsparse.robust.scales import MAD_TO_SD, column_medians

# Products beyond this many robust scales are brought in before directions are looked for, so that no single coordinate
# makes a direction of its own: those are left to the trimmed mean.
_CLIP = 6.0
# A mean absolute deviation times this is a normal standard deviation: the scale where the median deviation is 0.
_MEAN_TO_SD = 1.2533141373155003
# On clean rows the widest direction is rarely this many times as wide as expected, whatever their law and correlation.
_SLACK = 1.25
# Rows are dropped beyond so many standard deviations of a direction.
_FAR = 3.0
# Directions that are tried in turn, and power iterations for each, which end at a move of this size.
_ROUNDS, _POWER_STEPS, _POWER_TOL = 20, 30, 1e-6
# A set of rows met so often is a cycle of judgments; they rest until the scores have moved by this part of their size.
_VISITS, _MOVED = 3, 0.1


@dataclass(frozen=True)
class SparseFilter(ForBadShare):
    """Trimmed mean of the rows that pass a sparse filter, against bad rows that shift several coordinates together.

    At most 2ε of the rows are dropped, and rows equal to the last of these; what is trimmed at each end is 2ε less
    their share, but at least ε.
    Every coordinate is looked at in every iteration, and a copy of the design is made.

    Weights of the rows multiply their scores, as for a trimmed mean; a missing cell is refused.

    Parameters
    ----------
    epsilon : float
        Share of bad rows to survive.
    sparsity : int
        Coordinates of a direction. More show a shift of many coordinates better, fewer one of a few coordinates.

    Examples
    --------
    Ten of a hundred rows are shifted by 2 in every column, too little for any column to tell:

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> X[:10] += 2.0
    >>> SparseFilter(0.1).kept(X, np.ones(100)).sum()
    np.int64(90)
    >>> SparseFilter(0.1)(X, np.ones(100)).mean().round(2)
    np.float64(-0.04)
    """

    sparsity: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("sparsity", self.sparsity, 1)

    def __call__(self, X: Array, score: Array) -> Array:
        """Trimmed mean of `x_ij * score_i` over the rows that pass, for each j."""
        looked_at = finite_pair(X, score)
        if looked_at is None:
            return np.full(np.shape(X)[1], np.nan)
        XT, score = looked_at
        return self.trimmed(XT, score, self._passing(XT * score, np.ones(len(score), dtype=bool)))

    def kept(self, X: Array, score: Array, before: Mask | None = None) -> Mask:
        """Rows (n,) that pass the filter, of those that passed one `before`."""
        before = np.ones(len(score), dtype=bool) if before is None else before
        looked_at = finite_pair(X, score)
        return before if looked_at is None else self._passing(looked_at[0] * looked_at[1], before)

    def trimmed(self, XT: Array, score: Array, kept: Mask) -> Array:
        """Trimmed mean of `XT[j] * score` over some rows; what is trimmed and what was dropped are counted together."""
        n, left = len(kept), int(kept.sum())
        share = max(self.share - (n - left) / n, min(self.epsilon, self.share))
        # 0.1 * 30 is 3.0000000000000004 in floats, and must not become 4.
        each = min(ceil(share * n - 1e-9), (left - 1) // 2)
        out, cuts = np.empty(len(XT)), np.zeros((len(XT), 2))
        rows = XT if left == n else XT[:, kept]
        kernels.trim_rows(np.ascontiguousarray(rows), score[kept], each, cuts, out)
        return out

    def bind(self, XT: Array, threads: int = 1, like: BoundGradient | None = None) -> BoundGradient:
        """Bind to a transposed design; rows are judged on all coordinates, so that none can be left out."""
        return BoundFilter(XT, self)

    def words(self, n: int, d: int) -> str:
        """In words."""
        return f"sparse filter, {100 * self.epsilon:.3g}% bad"

    def _passing(self, products: Array, kept: Mask) -> Mask:
        """Rows, of some, that are far out in no sparse direction of the products (d, n)."""
        if not len(products):
            return kept
        n = products.shape[1]
        Z = _standardized(products)
        room = ceil(self.share * n - 1e-9)
        for _ in range(_ROUNDS):
            far = self._far_rows(Z, kept, room - (n - int(kept.sum())))
            if not far.any():
                break
            kept = kept & ~far
        return kept

    def _far_rows(self, Z: Array, kept: Mask, room: int) -> Mask:
        """The farthest rows, so many at most, in the direction of the widest tails; none if these are like others'."""
        d, s = len(Z), min(self.sparsity, len(Z))
        tails = _widest(Z, kept, s)
        if room <= 0 or tails.width <= _SLACK * _by_chance(s, d, int(kept.sum())):
            return np.zeros(len(kept), dtype=bool)
        beyond: Mask = kept & (tails.size > _FAR)
        if beyond.sum() > room:
            beyond &= tails.size >= np.sort(tails.size[beyond])[-room]
        return beyond


class _Tails(NamedTuple):
    """Rows along one direction: their variance in comparison with a coordinate's, and how far out each row (n,) is."""

    width: float
    size: Array


def _widest(Z: Array, kept: Mask, s: int) -> _Tails:
    """The tails of those directions of s coordinates that were found, where they are widest."""
    A = Z if kept.all() else Z[:, kept]
    middle = A.mean(axis=1)
    A = A - middle[:, None]
    variances = (A * A).mean(axis=1)
    # A constant coordinate has no tails to compare with.
    usual = float(np.median(variances[variances > 0.0])) if variances.any() else 1.0
    found = [_tails(v, Z, kept, usual) for v in _directions(A, middle, variances, s)]
    return max(found, key=lambda tails: tails.width, default=_Tails(0.0, np.zeros(len(kept))))


def _tails(direction: Array, Z: Array, kept: Mask, usual: float) -> _Tails:
    columns = np.flatnonzero(direction)
    along = direction[columns] @ Z[columns]
    along -= np.median(along[kept])
    # The scale of a coordinate is one: that of a wide direction is no smaller, unless its rows sit on few points.
    scale = max(MAD_TO_SD * float(np.median(np.abs(along[kept]))), 1.0)
    along /= scale * sqrt(usual)
    return _Tails(float(np.var(along[kept])), np.abs(along))


def _standardized(products: Array) -> Array:
    """Products (d, n) about their medians, in robust scales, clipped; a constant coordinate is zero."""
    deviations = products - column_medians(products.T)[:, None]
    scale = MAD_TO_SD * column_medians(np.abs(deviations).T)
    flat = scale == 0.0
    scale[flat] = _MEAN_TO_SD * np.abs(deviations[flat]).mean(axis=1)
    scale[scale == 0.0] = 1.0
    return np.clip(deviations / scale[:, None], -_CLIP, _CLIP)


def _by_chance(s: int, d: int, n: int) -> float:
    """How many times wider than a coordinate the widest of all directions of s from d coordinates is by chance."""
    return (1.0 + sqrt(2.0 * s * log(e * d / s) / n)) ** 2


def _directions(A: Array, middle: Array, variances: Array, s: int) -> list[Array]:
    """Unit vectors (d,) of at most s entries along which the centered rows A (d, n) vary much.

    All of them together have an exact answer. With more coordinates the truncated power method (Yuan and Zhang 2013)
    is run from the coordinate that varies most and from the mean, which a joint shift has moved.
    """
    if s == len(A):
        return [np.linalg.eigh(A @ A.T)[1][:, -1]]
    return [_power(A, start, s) for start in (A @ A[np.argmax(variances)], middle) if start.any()]


def _power(A: Array, start: Array, s: int) -> Array:
    """Truncated power iterations for A Aᵀ."""
    direction = _truncated(start, s)
    for _ in range(_POWER_STEPS):
        columns = np.flatnonzero(direction)
        new = _truncated(A @ (direction[columns] @ A[columns]), s)
        moved = np.linalg.norm(new - direction)
        direction = new
        if moved <= _POWER_TOL:
            break
    return direction


def _truncated(vector: Array, s: int) -> Array:
    """Unit vector of the s largest entries; ties go to the first."""
    largest = np.argsort(-np.abs(vector), kind="stable")[:s]
    out = np.zeros(len(vector))
    out[largest] = vector[largest]
    size = float(np.linalg.norm(out))
    return out / size if size > 0.0 else out


class BoundFilter(FullGradient):
    """The estimator on one design.

    Rows are judged when all coordinates are looked at, and once more on the coordinates of a support before steps on
    it. In between they stay as they were judged, and so they do once judgments go in a circle: else a row on the edge
    would never let the steps come to rest.

    Parameters
    ----------
    XT : array (d, n)
        The transposed design.
    estimator : SparseFilter
        The estimator.
    """

    def __init__(self, XT: Array, estimator: SparseFilter) -> None:
        super().__init__(XT, estimator)
        self._filter, self._kept = estimator, np.ones(XT.shape[1], dtype=bool)
        self._visits: dict[bytes, int] = {}
        self._last = b""
        self._rests_at: Array | None = None

    def begin(self, score: Array) -> None:
        """Judge the rows on all coordinates, and evaluate the whole gradient."""
        if not self._resting(score):
            self._kept = self._filter.kept(self.XT.T, score)
            self._count(score)
        self._gradient = self.dense(self.XT, score)

    def _resting(self, score: Array) -> bool:
        """Whether judgments rest, near the scores at which they went in a circle."""
        if self._rests_at is None:
            return False
        near = np.linalg.norm(score - self._rests_at) <= _MOVED * np.linalg.norm(self._rests_at)
        if not near:
            self._rests_at, self._visits, self._last = None, {}, b""
        return bool(near)

    def _count(self, score: Array) -> None:
        """Count how often these rows were kept, other rows in between."""
        key = self._kept.tobytes()
        if key != self._last:
            self._visits[key] = self._visits.get(key, 0) + 1
        self._last = key
        if self._visits[key] >= _VISITS:
            self._rests_at = score.copy()

    def dense(self, XT: Array, score: Array) -> Array:
        """Estimate for a small design, over the rows that passed last."""
        return self._filter.trimmed(np.asarray(XT, dtype=np.float64), score, self._kept)

    def on(self, XT: Array) -> Callable[[Array], Array]:
        """The same for one small design, on whose coordinates the rows are judged with the first scores."""
        judged = self._rests_at is not None

        def estimate(score: Array) -> Array:
            nonlocal judged
            if not judged:
                self._kept, judged = self._filter.kept(XT.T, score, self._kept), True
            return self.dense(XT, score)

        return estimate
