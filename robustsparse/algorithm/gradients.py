"""Gradient estimators: robust averages of `x_ij * score_i` over the rows, for each coordinate j.

Every estimator is a callable `(X, score) -> (d,)`, and so can be any object of the user's. The ones
here also bind to a design (`bind`), which lets the solver skip coordinates that cannot survive its
threshold.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log
from typing import Any, Protocol, runtime_checkable

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.bound import BoundGradient, FullGradient
from robustsparse.algorithm.bound_blocks import ScreenedBlocks
from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.base.checks import as_rng, check_count, check_number
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.text import describe
from robustsparse.base.types import Array

# Trimming this much at each end leaves a tenth of the rows; beyond, a trimmed mean is no better
# than a median.
LARGEST_TRIM = 0.45
# Under a cancelling attack twice the contamination must be trimmed; on clean data it costs next to
# nothing.
TRIM_PER_EPSILON = 2.0
# Entries that are brought to double precision at a time.
_BLOCK = 1 << 16
# Scores beyond this come from an iterate that diverges.
_RUNAWAY = 1e100


@runtime_checkable
class GradientEstimator(Protocol):
    """Robust mean of `X * score[:, None]` over the rows; any callable of this form can be passed as `estimator=`."""

    def __call__(self, X: Array, score: Array) -> Array:
        """Take the design (n, d) and the scores (n,), return the gradient (d,)."""


@runtime_checkable
class Bindable(Protocol):
    """A gradient estimator that can bind itself to a transposed design, to work lazily."""

    def bind(self, XT: Array, threads: int) -> BoundGradient:
        """Bind to the design whose transpose is `XT` (d, n)."""


@dataclass(frozen=True)
class Mean:
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


@dataclass(frozen=True)
class Trimmed:
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
        XT, score = _pair(X, score)
        out, cuts = np.empty(len(XT)), np.zeros((len(XT), 2))
        kernels.trim_rows(np.ascontiguousarray(XT), score, self.count(len(score)), cuts, out)
        return out

    def bind(self, XT: Array, threads: int = 1) -> BoundGradient:
        """Bind to a transposed design, with screening."""
        trimmed = self.count(XT.shape[1])
        return ScreenedTrim(XT, trimmed, threads) if trimmed else FullGradient(XT, Mean())


@dataclass(frozen=True)
class MedianOfMeans:
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

    blocks: int | None = None
    redraw: bool = True
    rng: "int | np.random.Generator | None" = None

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

    def bind(self, XT: Array, threads: int = 1) -> BoundGradient:
        """Bind to a transposed design, with screening if the blocks stay."""
        d, n = XT.shape
        return ScreenedBlocks(XT, self.count(n, d), as_rng(self.rng), self.redraw, threads)


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


def as_estimator(
    estimator: "str | GradientEstimator",
    epsilon: float = 0.1,
    rng: "int | np.random.Generator | None" = None,
) -> GradientEstimator:
    """Gradient estimator from its name and the contamination to survive, or the object itself."""
    check_number("epsilon", epsilon, 0.0, 0.5)
    named: dict[str, Callable[[], GradientEstimator]] = {
        "trim": lambda: Trimmed(min(TRIM_PER_EPSILON * epsilon, LARGEST_TRIM)),
        "mom": lambda: MedianOfMeans(rng=rng),
        "mean": Mean,
    }
    if isinstance(estimator, str):
        if estimator not in named:
            raise ParameterError(
                f"estimator={estimator!r} is not known; use one of {', '.join(map(repr, named))}, or a callable "
                "that takes (X, score) and returns one number a column."
            )
        return named[estimator]()
    # A class can be called too, but returns no gradient.
    if isinstance(estimator, type) or not callable(estimator):
        raise ParameterError(
            f"estimator={estimator!r} is neither a name nor a callable that takes (X, score) and returns one "
            f"number a column{'; call the class to make one.' if isinstance(estimator, type) else '.'}"
        )
    return estimator


def bind(
    estimator: GradientEstimator, XT: Array, threads: int = 1, like: BoundGradient | None = None
) -> BoundGradient:
    """Estimator bound to the design whose transpose is `XT`; a plain callable evaluates every coordinate.

    `like` is another estimator bound to the same design, which may have measured what this one needs.
    """
    if isinstance(like, ScreenedTrim) and isinstance(estimator, Trimmed):
        trimmed = estimator.count(XT.shape[1])
        if trimmed:
            return like.dropping(trimmed)
    if isinstance(estimator, Bindable):
        return estimator.bind(XT, threads)
    return FullGradient(XT, _checked(estimator))


def _checked(estimator: GradientEstimator) -> GradientEstimator:
    def call(X: Array, score: Array) -> Array:
        gradient = np.asarray(estimator(X, score), dtype=np.float64)
        if gradient.shape != (X.shape[1],):
            raise ParameterError(
                f"{estimator!r} returned shape {gradient.shape} for a design of {X.shape[1]} columns; a gradient "
                "estimator returns one number a column."
            )
        # Scores that run away may overflow; the solver sees to them.
        if np.isnan(gradient).any() and np.abs(score).max() < _RUNAWAY:
            column = int(np.flatnonzero(np.isnan(gradient))[0])
            raise ParameterError(f"{estimator!r} returned NaN for column {column} of the design.")
        return gradient

    return call


def with_rng(estimator: GradientEstimator, rng: np.random.Generator) -> GradientEstimator:
    """The estimator with random numbers of its own, if it draws any from a generator."""
    if isinstance(estimator, MedianOfMeans) and isinstance(estimator.rng, np.random.Generator):
        return replace(estimator, rng=rng)
    return estimator


def estimator_words(estimator: Any, n: int, d: int) -> str:
    """What a gradient estimator does to n rows of d columns, in words."""
    name = type(estimator).__name__
    if name == "Trimmed":
        return f"{100 * estimator.alpha:.3g}% trimmed mean"
    if name == "MedianOfMeans":
        return f"median of {estimator.count(n, d)} block means"
    return "mean" if name == "Mean" else describe(estimator)
