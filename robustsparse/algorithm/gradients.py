"""Gradient estimators: robust averages of `x_ij * score_i` over the rows, for each coordinate j.

The plain mean, the trimmed mean against corrupted rows and the median of means against heavy tails; `estimator` says
what a fit asks of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log
from typing import Literal

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bound import BoundGradient, FullGradient
from robustsparse.algorithm.bound_blocks import ScreenedBlocks
from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.algorithm.estimator import Estimator, GradientEstimator, Plain
from robustsparse.base.checks import Seed, as_rng, check_count, check_number
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array
from robustsparse.robust.scales import LIGHT_TRIM

# Trimming this much at each end leaves a tenth of the rows; beyond, a trimmed mean is no better
# than a median.
LARGEST_TRIM = 0.45
# Under a cancelling attack twice the contamination must be trimmed; on clean data it costs next to
# nothing.
TRIM_PER_EPSILON = 2.0
# Multiples of the trim that the starts of a fit use; under attack no one of them is best.
_START_TRIMS = (0.5, 1.0, 1.75)
# Part of good rows that may lie beyond three scales of the residuals.
_GOOD_FLAGGED = 0.01
# Share of the blocks that bad rows must reach before a median of means is called broken.
_SPOILED_BLOCKS = 0.65
# Blocks that survive q bad rows: so many for each of them, and so many more.
_BLOCKS_PER_BAD_ROW, _MORE_BLOCKS = 4, 15
# Entries that are brought to double precision at a time.
_BLOCK = 1 << 16


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
        if X.dtype == np.float32:
            return _products(X.T, score) / len(score)
        XT, score = _pair(X, score)
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

    measures_design = True

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
        XT, score = _pair(X, score)
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
        """Bind to a transposed design, with screening."""
        trimmed = self.count(XT.shape[1])
        if not trimmed:
            return FullGradient(XT, Mean())
        if isinstance(like, ScreenedTrim):
            return like.dropping(trimmed)
        return ScreenedTrim(XT, trimmed, threads)

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
        if bad <= max(trimmed, _GOOD_FLAGGED * n, 1):
            return ""
        return (
            f"{bad} of {n} rows do not fit the model, and the gradient estimator trims {trimmed} at each end; fit "
            "again with a larger epsilon, or epsilon='auto'."
        )

    def words(self, n: int, d: int) -> str:
        """In words."""
        return f"{100 * self.alpha:.3g}% trimmed mean"


@dataclass(frozen=True)
class MedianOfMeans(Estimator):
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

    column_scale = "blocks"
    for_heavy_tails = True
    # There are enough blocks for a few bad rows anyway.
    least_epsilon = 0.0

    blocks: int | None = None
    redraw: bool = True
    rng: Seed = None

    def __post_init__(self) -> None:
        if self.blocks is not None:
            check_count("blocks", self.blocks, 1)
        as_rng(self.rng)

    def count(self, n: int, d: int) -> int:
        """Number of blocks for n rows and d columns."""
        wanted = self.blocks if self.blocks is not None else int(4.5 * ceil(log(max(d, 3))))
        return max(1, min(int(wanted), n // 2))

    def __call__(self, X: Array, score: Array) -> Array:
        """Median of block means of `x_ij * score_i` for each j."""
        XT, score = _pair(X, score)
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

    def settled(self) -> "MedianOfMeans":
        """Blocks that stay let iterates come to rest."""
        return replace(self, redraw=False)

    def with_rng(self, rng: np.random.Generator) -> "MedianOfMeans":
        """Blocks drawn from another generator, unless a seed was given."""
        return replace(self, rng=rng) if isinstance(self.rng, np.random.Generator) else self

    def enough_for(self, epsilon: float, n: int, d: int) -> "MedianOfMeans":
        """Blocks of which bad rows reach less than half, or the usual number if that is larger."""
        usual = MedianOfMeans(rng=self.rng)
        blocks = _blocks_for(ceil(epsilon * n))
        return replace(usual, blocks=max(usual.count(n, d), min(blocks, n // 2)))

    def spoiled_by(self, n: int, d: int) -> float:
        """Only a row as many times beyond the limit as its block has rows moves the mean of the block there."""
        return n / self.count(n, d)

    def overwhelmed(self, bad: int, n: int, d: int) -> str:
        """Whether bad rows may reach half of the blocks."""
        blocks = self.count(n, d)
        if bad <= _SPOILED_BLOCKS * blocks:
            return ""
        return (
            f"{bad} of {n} rows do not fit the model, and the gradient estimator has {blocks} blocks and breaks when "
            "half of them hold such a row; if they are not just heavy tails, use "
            f"MedianOfMeans(blocks={_blocks_for(bad)}) or estimator='trim'."
        )

    def words(self, n: int, d: int) -> str:
        """In words."""
        return f"median of {self.count(n, d)} block means"

    def spoilers(self) -> str:
        """Heavy tails are no harm; a row must spoil its block."""
        return "rows bad enough to spoil a block"


def _blocks_for(bad: int) -> int:
    return _BLOCKS_PER_BAD_ROW * bad + _MORE_BLOCKS


def _products(XT: Array, score: Array) -> Array:
    """Product of a design in single precision with scores in double, without a copy of the design."""
    width = max(1, _BLOCK // len(score))
    parts = [
        np.asarray(XT[first : first + width], dtype=np.float64) @ score
        for first in range(0, len(XT), width)
    ]
    return np.concatenate(parts)


def _pair(X: Array, score: Array) -> tuple[Array, Array]:
    """Transposed design and scores as floats, of shapes that fit: the kernels do not look."""
    X = np.asarray(X, dtype=np.float64)
    score = np.ascontiguousarray(score, dtype=np.float64)
    if X.ndim != 2 or score.shape != X.shape[:1]:
        raise DataError(
            f"the design has shape {X.shape} and the scores {score.shape}; they must be (n, d) and (n,)."
        )
    return X.T, score


# What `estimator=` takes.
EstimatorLike = Literal["trim", "mom", "mean"] | GradientEstimator

_NAMED: dict[str, Callable[[float, Seed, float], Estimator]] = {
    "trim": lambda epsilon, rng, most: Trimmed.surviving(epsilon, most),
    "mom": lambda epsilon, rng, most: MedianOfMeans(rng=rng),
    "mean": lambda epsilon, rng, most: Mean(),
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
