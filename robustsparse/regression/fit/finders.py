"""How a model of every size is found on trusted rows: `Finder`, and the one that runs Algorithm 1 along a path.

The other one, for least squares, looks for best subsets (`best_subsets`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.solver import RHTFit
from robustsparse.algorithm.sparsity import k_grid
from robustsparse.base.types import Array, Indices
from robustsparse.regression.fit.criteria import Price, criteria
from robustsparse.regression.fit.k_paths import path
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.standardized import Standardized


@dataclass(frozen=True)
class Hints:
    """Where a search may start: coefficients, and sets of columns that somebody found."""

    coef: Array | None = None
    sets: tuple[Indices, ...] = ()


@dataclass(frozen=True)
class Found:
    """A model of each size on some rows.

    Attributes
    ----------
    models : dict from k to RHTFit
        The models; those that were asked for among them.
    values : dict from k to float
        The criterion of those that do not depend on what is asked for.
    sets : tuple of arrays of int
        Columns of these.
    """

    models: Mapping[int, RHTFit]
    values: dict[int, float]
    sets: tuple[Indices, ...]

    @property
    def k(self) -> int:
        """Size with the smallest criterion."""
        return min(self.values, key=self.values.__getitem__)

    @property
    def best(self) -> RHTFit:
        """The model of this size."""
        return self.models[self.k]


class Finder(Protocol):
    """Finds a model of every size."""

    def find(
        self, part: Standardized, hints: Hints, price: Price, wanted: Sequence[int] = ()
    ) -> Found:
        """Models on trusted rows, with coefficients at the price; those of the sizes `wanted` too."""

    def find_best(
        self, part: Standardized, hints: Hints, price: Price, wanted: Sequence[int] = ()
    ) -> Found:
        """The same, but models other than the best one may still lack their coefficients, and not be there."""

    def completed(self, part: Standardized, found: Found) -> Found:
        """All models, given the same rows as when they were found."""


class Whole:
    """A finder whose models have coefficients as soon as they are found."""

    find: Callable[..., Found]

    def find_best(
        self, part: Standardized, hints: Hints, price: Price, wanted: Sequence[int] = ()
    ) -> Found:
        """All models."""
        return self.find(part, hints, price, wanted)

    def completed(self, part: Standardized, found: Found) -> Found:
        """The same models."""
        return found


def automatic_grid(problem: Standardized) -> tuple[int, ...]:
    """From no predictor at all, if something is left in the model then, to as many as the rows can carry."""
    none = (0,) if len(problem.keep) else ()
    grid = k_grid(problem.n, problem.free) if problem.free else ()
    most = problem.largest_k
    some = tuple(k for k in grid if k <= most and problem.affordable(k))
    return none + some or (1,)


@dataclass(frozen=True)
class Thresholding(Whole):
    """Runs of Algorithm 1 along a path over k.

    Attributes
    ----------
    options : Options
        Settings of the runs.
    estimator : Estimator
        Gradient estimator for rows that are trusted.
    grid : tuple of int
        Sizes to choose from.
    """

    options: Options
    estimator: Estimator
    grid: tuple[int, ...]

    def find(
        self, part: Standardized, hints: Hints, price: Price, wanted: Sequence[int] = ()
    ) -> Found:
        """Models along the grid, and from the next larger one of it those of other sizes."""
        bound = part.problem(self.estimator, self.options.threads)
        run = partial(path, part, bound, settings=self.options.settings)
        models = run(self.grid, start=hints.coef, verbose=self.options.verbose)
        values = criteria(part, models, price, trusted=True)
        for k in sorted(set(wanted) - set(models)):
            above = min((size for size in self.grid if size > k), default=max(self.grid))
            models |= run([k], start=models[above].coef)
        sets = tuple(models[size].support for size in values)
        return Found(dict(sorted(models.items())), values, sets)
