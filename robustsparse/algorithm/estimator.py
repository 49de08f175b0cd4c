"""`Estimator`: what a fit asks of a gradient estimator beside the gradient itself.

Any callable `(X, score) -> (d,)` is a gradient estimator. What else a fit wants to know of one this base class answers
with defaults: how to skip coordinates that cannot survive the threshold (`bind`), how it starts, how many bad rows it
survives, what a summary calls it. `gradients` has those of the package; a class of the user's that derives from
`Estimator` is their equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from robustsparse.algorithm.bound import BoundGradient, FullGradient
from robustsparse.algorithm.products import RUNAWAY
from robustsparse.base.errors import ParameterError
from robustsparse.base.text import describe
from robustsparse.base.types import Array


@runtime_checkable
class GradientEstimator(Protocol):
    """Robust mean of `X * score[:, None]` over the rows; any callable of this form can be passed as `estimator=`."""

    def __call__(self, X: Array, score: Array) -> Array:
        """Take the design (n, d) and the scores (n,), return the gradient (d,)."""


class Estimator:
    """What a fit asks of a gradient estimator beside the gradient; a class of the user's can derive from it.

    A frozen dataclass of plain values that derives from it can also be stored with a model.

    Attributes
    ----------
    column_scale : str or None
        Scale of the columns that suits it, a name that `standardize` knows; None leaves it to the family.
    for_heavy_tails : bool
        Whether far rows are to be expected, and the most informative, rather than suspicious.
    least_epsilon : float
        Smallest share of bad rows that a fit assumes which estimates it: flags miss some of them.
    """

    column_scale: ClassVar[str | None] = None
    for_heavy_tails: ClassVar[bool] = False
    least_epsilon: ClassVar[float] = 0.05

    def __call__(self, X: Array, score: Array) -> Array:
        """Take the design (n, d) and the scores (n,), return the gradient (d,)."""
        raise ParameterError(f"{type(self).__name__} has no method __call__(X, score).")

    @property
    def withstands(self) -> float | None:
        """Share of bad rows that it is made for, if there is a theory that says so."""
        return None

    def bind(self, XT: Array, threads: int = 1, like: BoundGradient | None = None) -> BoundGradient:
        """Bind to the design whose transpose is `XT` (d, n); by default every coordinate is evaluated.

        `like` is another one bound to the same design, which may have measured what this one needs.
        """
        return FullGradient(XT, checked(self))

    def shared(self, XT: Array, *, screened: bool) -> BoundGradient | None:
        """Bound to the design of many fits, which get it as `like`; None if nothing that it knows serves them all.

        With `screened` it looks only at predictors that could enter, if it knows how: that may have to be compiled.
        """
        return None

    def lighter(self) -> "Estimator":
        """The estimator for rows that passed a rejection."""
        return self

    def starts(self) -> "Sequence[Estimator]":
        """Estimators that a fit starts with, to take the best end."""
        return (self,)

    def settled(self) -> "Estimator":
        """The estimator whose iterates come to rest, for many small fits."""
        return self

    def with_rng(self, rng: np.random.Generator) -> "Estimator":
        """The estimator with random numbers of its own, if it draws any from a generator."""
        return self

    def enough_for(self, epsilon: float, n: int, d: int) -> "Estimator":
        """The estimator made to survive a share of bad rows that was estimated."""
        return self

    def spoiled_by(self, n: int, d: int) -> float:
        """How many times the usual limit a residual must reach to do harm."""
        return 1.0

    def overwhelmed(self, bad: int, n: int, d: int) -> str:
        """What to tell the user if so many bad rows are more than it survives, and nothing otherwise."""
        return ""

    def words(self, n: int, d: int) -> str:
        """What it does to n rows of d columns, in a few words for a summary."""
        return describe(self)

    def spoilers(self) -> str:
        """What a summary calls the rows that it has to survive."""
        return "bad rows"


@dataclass(frozen=True, eq=False)
class Plain(Estimator):
    """A function of the user's own as an estimator.

    Parameters
    ----------
    function : callable
        Takes (X, score), returns one number a column; it may have a method `bind(XT, threads)`.
    """

    function: GradientEstimator

    def __call__(self, X: Array, score: Array) -> Array:
        """Whatever the function returns."""
        return self.function(X, score)

    def bind(self, XT: Array, threads: int = 1, like: BoundGradient | None = None) -> BoundGradient:
        """Bind by the function's own `bind`, if it has one."""
        if hasattr(self.function, "bind"):
            bound: BoundGradient = self.function.bind(XT, threads)
            return bound
        return FullGradient(XT, checked(self.function))

    def words(self, n: int, d: int) -> str:
        """The name of the function."""
        return describe(self.function)


def as_given(estimator: Estimator) -> GradientEstimator:
    """The object that the user gave."""
    return estimator.function if isinstance(estimator, Plain) else estimator


def checked(estimator: GradientEstimator) -> GradientEstimator:
    """The same function, whose gradients are looked at before they are used."""

    def call(X: Array, score: Array) -> Array:
        gradient = np.asarray(estimator(X, score), dtype=np.float64)
        if gradient.shape != (X.shape[1],):
            raise ParameterError(
                f"{estimator!r} returned shape {gradient.shape} for a design of {X.shape[1]} columns; a gradient "
                "estimator returns one number a column."
            )
        # Scores that run away may overflow; the solver sees to them.
        if np.isnan(gradient).any() and np.abs(score).max() < RUNAWAY:
            column = int(np.flatnonzero(np.isnan(gradient))[0])
            raise ParameterError(f"{estimator!r} returned NaN for column {column} of the design.")
        return gradient

    return call
