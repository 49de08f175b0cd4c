"""Geometric median of block means: all coordinates of a block are believed, or doubted, together."""

from dataclasses import dataclass

import numpy as np

from robustsparse.algorithm.block_means import BlockMeans
from robustsparse.algorithm.bound import BoundGradient, FullGradient
from robustsparse.algorithm.products import finite_pair
from robustsparse.base.checks import as_rng
from robustsparse.base.types import Array, Indices

# The iterations end at a move of this part of the typical distance of a block mean from the center, or after so many.
TOLERANCE, _MAX_ITER = 1e-12, 1000


@dataclass(frozen=True)
class GeometricMedianOfMeans(BlockMeans):
    """Geometric median of block means, against heavy tails (Minsker 2015, Bernoulli 21).

    The point with the least sum of distances to the means of random blocks, by Weiszfeld's iterations in the form of
    Vardi and Zhang, which may pass through a block mean. A block that a bad row has spoiled is far away in all
    coordinates at once and counts for less in each of them. Columns must be on one scale, as `standardize` puts them.
    With many columns all block means are about equally far from any center, and it comes close to the plain mean; it
    breaks when half of the blocks are spoiled. For a single column it is the median of means.

    Weights of the rows multiply their scores, as for a trimmed mean; a missing cell is refused.

    Parameters
    ----------
    blocks : int or None
        Number of blocks; None takes the paper's 4.5 ⌈log d⌉. At most half the number of rows is
        used.
    redraw : bool
        Draw new blocks at each iteration, so that the fit does not inherit the bias of one unlucky
        partition. The iterates then never come to rest entirely; the last ones are averaged.
    rng : int, Generator or None
        Draws the blocks; None is a fixed seed.

    Examples
    --------
    >>> X = np.column_stack([np.arange(12.0), np.ones(12)])
    >>> X[3] = 1e12
    >>> (GeometricMedianOfMeans(blocks=5, rng=1)(X, np.ones(12)) < 12).all()
    np.True_
    """

    def __call__(self, X: Array, score: Array) -> Array:
        """Geometric median of the means of `x_i * score_i` over the blocks."""
        order = as_rng(self.rng).permutation(len(score))
        return _estimate(X, score, order, self.count(*np.shape(X)))

    def bind(self, XT: Array, threads: int = 1, like: BoundGradient | None = None) -> BoundGradient:
        """Bind to a transposed design; all coordinates are needed at once, so that none can be left out."""
        d, n = XT.shape
        return BoundGeometricMedian(XT, self.count(n, d), as_rng(self.rng), self.redraw)

    def words(self, n: int, d: int) -> str:
        """In words."""
        return f"geomedian of {self.count(n, d)} block means"


class BoundGeometricMedian(FullGradient):
    """The estimator on one design, whose blocks stay between two draws.

    Parameters
    ----------
    XT : array (d, n)
        The transposed design.
    blocks : int
        Number of blocks.
    rng : numpy Generator
        Draws the blocks.
    redraw : bool
        Draw new blocks for each new vector of scores.
    """

    def __init__(self, XT: Array, blocks: int, rng: np.random.Generator, redraw: bool) -> None:
        self._blocks, self._rng, self._redraw = blocks, rng, redraw
        self.settles = not redraw
        self._order = rng.permutation(XT.shape[1])
        super().__init__(XT, lambda X, score: _estimate(X, score, self._order, blocks))

    def begin(self, score: Array) -> None:
        """Take `score` as the current scores, and draw blocks if they are to be redrawn."""
        if self._redraw:
            self._order = self._rng.permutation(len(score))
        super().begin(score)


def _estimate(X: Array, score: Array, order: Indices, blocks: int) -> Array:
    looked_at = finite_pair(X, score)
    if looked_at is None:
        return np.full(np.shape(X)[1], np.nan)
    XT, score = looked_at
    return geometric_median(block_means(XT, score, order, blocks))


def block_means(XT: Array, score: Array, order: Indices, blocks: int) -> Array:
    """Means (blocks, d) of `XT[j] * score`, where row `order[i]` is in block i mod blocks.

    Examples
    --------
    >>> block_means(np.array([[1.0, 2.0, 3.0, 4.0]]), np.ones(4), np.arange(4), 2)
    array([[2.],
           [3.]])
    """
    n = len(score)
    block = np.empty(n, dtype=np.int64)
    block[order] = np.arange(n) % blocks
    shares = np.zeros((blocks, n))
    shares[block, np.arange(n)] = score / np.bincount(block, minlength=blocks)[block]
    return np.asarray(shares @ XT.T)


def geometric_median(points: Array, tolerance: float = TOLERANCE) -> Array:
    """Point with the least sum of distances to the rows of `points` (m, d).

    Examples
    --------
    >>> geometric_median(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0]])).round(3)
    array([0.5, 0.5])
    """
    center = np.median(points, axis=0)
    if points.shape[1] < 2:
        return center
    # In units of the largest distance no square over- or underflows.
    unit = float(np.abs(points - center).max())
    if not 0.0 < unit < np.inf:
        return center
    apart, at = (points - center) / unit, np.zeros(points.shape[1])
    shortest = tolerance * float(np.median(np.linalg.norm(apart, axis=1)))
    for _ in range(_MAX_ITER):
        before, at = at, _weiszfeld(apart, at)
        if np.linalg.norm(at - before) <= shortest:
            break
    return np.asarray(center + unit * at)


def _weiszfeld(points: Array, at: Array) -> Array:
    """One step from a center to a better one; it stays where no better one is."""
    away = points - at
    distance = np.linalg.norm(away, axis=1)
    here = distance == 0.0
    pull = 1.0 / distance[~here]
    total = pull @ away[~here]
    size = float(np.linalg.norm(total))
    # Points under the center hold it with a force of one each.
    left = size - int(here.sum())
    return at if left <= 0.0 else at + (left / size) * total / pull.sum()
