"""Gradient estimators: robust averages of `x_ij * score_i` over the rows, for each coordinate j.

The plain mean, the trimmed mean against corrupted rows, the median of means against heavy tails; others have files of
their own, `geometric_median`, `catoni` and `sparse_filter`. `estimator` says what a fit asks of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bad_share import GOOD_FLAGGED, LARGEST_TRIM, TRIM_PER_EPSILON
from robustsparse.algorithm.block_means import BlockMeans
from robustsparse.algorithm.bound import BoundGradient, FullGradient
from robustsparse.algorithm.bound_blocks import ScreenedBlocks
from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.algorithm.catoni import Catoni
from robustsparse.algorithm.estimator import Estimator, GradientEstimator, Plain
from robustsparse.algorithm.geometric_median import GeometricMedianOfMeans
from robustsparse.algorithm.plain_trimmed import PlainTrim, is_screened
from robustsparse.algorithm.products import BLOCK, pair
from robustsparse.algorithm.sparse_filter import SparseFilter
from robustsparse.base.checks import Seed, as_rng, check_number
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array
from robustsparse.robust.scales import LIGHT_TRIM

# Multiples of the trim that the starts of a fit use; under attack no one of them is best.
_START_TRIMS = (0.5, 1.0, 1.75)


@dataclass(frozen=True)
class Mean(Estimator):
    """Plain mean; hard thresholding with it is ordinary IHT, which no outlier should meet.

    Examples
    --------
    >>> Mean()(np.array([[1.0, 0.0], [3.0, 2.0]]), np.array([1.0, 1.0]))
    array([2., 1.])
    """

    def __call__(self, X: Array, score: Array) -> Array:
        """Mean of `x_ij * score_i` for each j."""
        if getattr(X, "dtype", None) == np.float32:
            return _products(X.T, score) / len(score)
        XT, score = pair(X, score)
        return np.asarray(XT @ score / len(score))

    def words(self, n: int, d: int) -> str:
        """In words."""
        return "mean"


@dataclass(frozen=True)
class Trimmed(Estimator):
    """Coordinate-wise trimmed mean, against corrupted rows (the paper's Definition 4.1, spades).

    Parameters
    ----------
    alpha : float
        Fraction dropped at each end: the ⌈alpha n⌉ largest and smallest values of each coordinate.
        At least the fraction of bad rows; twice that fraction withstands attacks that cancel the
        gradient.

    Examples
    --------
    One row of five is wild in the first column; it does not count:

    >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [4.0, 1.0], [1e9, 1.0]])
    >>> Trimmed(alpha=0.2)(X, np.ones(5))
    array([3., 1.])
    """

    alpha: float = TRIM_PER_EPSILON * 0.1

    def __post_init__(self) -> None:
        if not check_number("alpha", self.alpha, 0.0) < 0.5:
            raise ParameterError(
                f"alpha={self.alpha!r} is trimmed at each end and must lie in [0, 0.5); 0.1 to 0.3 is usual."
            )

    def count(self, n: int) -> int:
        """Number of values dropped at each end of n."""
        # 0.1 * 30 is 3.0000000000000004 in floats, and must not become 4.
        return min(ceil(self.alpha * n - 1e-9), (n - 1) // 2)

    def __call__(self, X: Array, score: Array) -> Array:
        """Trimmed mean of `x_ij * score_i` for each j."""
        XT, score = pair(X, score)
        out, cuts = np.empty(len(XT)), np.zeros((len(XT), 2))
        kernels.trim_rows(np.ascontiguousarray(XT), score, self.count(len(score)), cuts, out)
        return out

    @classmethod
    def surviving(cls, epsilon: float, most: float = LARGEST_TRIM) -> "Trimmed":
        """The trimmed mean for a share of bad rows, which trims at most so much at each end."""
        return cls(min(TRIM_PER_EPSILON * epsilon, most))

    @property
    def withstands(self) -> float:
        """Share of bad rows that so much trimming is for."""
        return self.alpha / TRIM_PER_EPSILON

    def bind(self, XT: Array, threads: int = 1, like: BoundGradient | None = None) -> BoundGradient:
        """Bind to a transposed design, with screening where that saves time."""
        trimmed = self.count(XT.shape[1])
        if not trimmed:
            return FullGradient(XT, Mean())
        if isinstance(like, ScreenedTrim):
            return like.dropping(trimmed)
        if isinstance(like, PlainTrim) or not is_screened(*XT.shape):
            return PlainTrim(XT, trimmed)
        return ScreenedTrim(XT, trimmed, threads)

    def shared(self, XT: Array, *, screened: bool) -> BoundGradient | None:
        """Bound to a design, with screening or without, however small it is."""
        trimmed = self.count(XT.shape[1])
        if not trimmed:
            return None
        return ScreenedTrim(XT, trimmed) if screened else PlainTrim(XT, trimmed)

    def lighter(self) -> "Trimmed":
        """A trim for the few bad rows that a rejection may have left."""
        return Trimmed(min(self.alpha, LIGHT_TRIM))

    def starts(self) -> "Sequence[Trimmed]":
        """Several trims, less and more than this one."""
        if self.alpha == 0:
            return (self,)
        return [Trimmed(min(multiple * self.alpha, LARGEST_TRIM)) for multiple in _START_TRIMS]

    def overwhelmed(self, bad: int, n: int, d: int) -> str:
        """Whether more rows are bad than are trimmed at each end; of good rows, too, a few are beyond three scales."""
        trimmed = self.count(n)
        if bad <= max(trimmed, GOOD_FLAGGED * n, 1):
            return ""
        return (
            f"{bad} of {n} rows do not fit the model, and the gradient estimator trims {trimmed} at each end; fit "
            "again with a larger epsilon, or epsilon='auto'."
        )

    def words(self, n: int, d: int) -> str:
        """In words."""
        return f"{100 * self.alpha:.3g}% trimmed mean"


@dataclass(frozen=True)
class MedianOfMeans(BlockMeans):
    """Coordinate-wise median of block means, against heavy tails (the paper's Definition 4.1, clubs).

    It breaks once about half of the blocks hold a gross outlier: for q bad rows use at least 4q +
    15 blocks, or `Trimmed`.

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
    >>> X = np.arange(12.0)[:, None]
    >>> X[3] = 1e12
    >>> float(MedianOfMeans(blocks=5, rng=1)(X, np.ones(12))[0]) < 12
    True
    """

    def __call__(self, X: Array, score: Array) -> Array:
        """Median of block means of `x_ij * score_i` for each j."""
        XT, score = pair(X, score)
        d, n = XT.shape
        order = as_rng(self.rng).permutation(n)
        out = np.empty(d)
        rows = np.ascontiguousarray(XT)
        kernels.block_median_rows(rows, order, score[order], self.count(n, d), out)
        return out

    def bind(self, XT: Array, threads: int = 1, like: BoundGradient | None = None) -> BoundGradient:
        """Bind to a transposed design, with screening if the blocks stay."""
        d, n = XT.shape
        return ScreenedBlocks(XT, self.count(n, d), as_rng(self.rng), self.redraw, threads)

    def words(self, n: int, d: int) -> str:
        """In words."""
        return f"median of {self.count(n, d)} block means"


def _products(XT: Array, score: Array) -> Array:
    """Product of a design in single precision with scores in double, without a copy of the design."""
    width = max(1, BLOCK // len(score))
    parts = [
        np.asarray(XT[first : first + width], dtype=np.float64) @ score
        for first in range(0, len(XT), width)
    ]
    return np.concatenate([np.empty(0), *parts])


# What `estimator=` takes.
EstimatorLike = Literal["trim", "mom", "mean", "geomom", "catoni", "filter"] | GradientEstimator

_NAMED: dict[str, Callable[[float, Seed, float], Estimator]] = {
    "trim": lambda epsilon, rng, most: Trimmed.surviving(epsilon, most),
    "mom": lambda epsilon, rng, most: MedianOfMeans(rng=rng),
    "mean": lambda epsilon, rng, most: Mean(),
    "geomom": lambda epsilon, rng, most: GeometricMedianOfMeans(rng=rng),
    "catoni": lambda epsilon, rng, most: Catoni(min(epsilon, most / TRIM_PER_EPSILON)),
    "filter": lambda epsilon, rng, most: SparseFilter(min(epsilon, most / TRIM_PER_EPSILON)),
}
ESTIMATORS = tuple(_NAMED)


def as_estimator(
    estimator: EstimatorLike,
    epsilon: float = 0.1,
    rng: Seed = None,
    most_trimmed: float = LARGEST_TRIM,
) -> Estimator:
    """Gradient estimator from its name and the contamination to survive, or the object itself."""
    check_number("epsilon", epsilon, 0.0, 0.5)
    if isinstance(estimator, str):
        if estimator not in _NAMED:
            raise ParameterError(
                f"estimator={estimator!r} is not known; use one of {', '.join(map(repr, _NAMED))}, or a callable "
                "that takes (X, score) and returns one number a column."
            )
        return _NAMED[estimator](epsilon, rng, most_trimmed)
    # A class can be called too, but returns no gradient.
    if isinstance(estimator, type) or not callable(estimator):
        raise ParameterError(
            f"estimator={estimator!r} is neither a name nor a callable that takes (X, score) and returns one "
            f"number a column{'; call the class to make one.' if isinstance(estimator, type) else '.'}"
        )
    return estimator if isinstance(estimator, Estimator) else Plain(estimator)
