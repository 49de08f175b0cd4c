"""Best subsets as models of every size: where bad rows are out, least squares is the better guide.

The best set of columns of every size is looked for by exchanges (`subsets`), as far as the rows can tell terms from
noise, until the criterion has clearly turned.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from robustsparse.algorithm.solver import RHTFit
from robustsparse.algorithm.sparsity import identifiable_k
from robustsparse.base.least_squares import least_squares
from robustsparse.base.types import Array, Indices
from robustsparse.regression.fit.column_sets import ColumnRows
from robustsparse.regression.fit.criteria import Price, costs, log_variance
from robustsparse.regression.fit.few_rows import in_few_rows
from robustsparse.regression.fit.finders import Found, Hints
from robustsparse.regression.fit.group_sets import GroupRows
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.subsets import Subset, set_rows, subset_path

# What is left of an exact fit counts as this part of everything.
_EXACT = 1e-20
# Sets of rows of which something stays known.
_REMEMBERED = 5
# Entries of columns that are brought to a triangular factor together.
_FACTORED = 1 << 20


@dataclass(frozen=True)
class FoundSubsets(Found):
    """Best sets of every size, of which some may have no coefficients yet.

    Attributes
    ----------
    subsets : dict from k to Subset
        The sets.
    beyond : tuple of int
        Sizes that are asked for and larger than any set.
    few : Standardized or None
        The same least squares in few rows; None if the rows themselves are few.
    """

    subsets: dict[int, Subset]
    beyond: tuple[int, ...]
    few: Standardized | None


class BestSubsets:
    """The best set of every size, with its least-squares coefficients.

    What is known of a design stays known as long as the finder, for others who come with the same object, unless it
    takes much memory beside it.
    """

    def __init__(self) -> None:
        self._known: list[tuple[Standardized, ColumnRows | GroupRows]] = []

    def _rows(self, part: Standardized) -> ColumnRows | GroupRows:
        for known, rows in self._known:
            if known is part:
                return rows
        rows = set_rows(part)
        if part.small or part.wide:
            self._known = [*self._known[-_REMEMBERED:], (part, rows)]
        return rows

    def find(
        self, part: Standardized, hints: Hints, price: Price, wanted: Sequence[int] = ()
    ) -> Found:
        """Models of 0, 1, 2, … terms until the criterion has clearly turned, then on to the largest wanted."""
        return self.completed(part, self.find_best(part, hints, price, wanted))

    def find_best(
        self, part: Standardized, hints: Hints, price: Price, wanted: Sequence[int] = ()
    ) -> Found:
        """The sets of these models, with coefficients for the best one."""
        rows = in_few_rows(part)
        total, priced = _unexplained(rows, part.keep), costs(part, price)

        @cache
        def criterion(size: int, rss: float, columns: int) -> float:
            freedom = max(part.n - columns - len(part.keep), 1)
            strength = (total - rss) * freedom / max(columns * rss, _EXACT * total, _EXACT)
            misfit = log_variance(part.n, rss, freedom)
            return misfit + priced(size, columns, strength)

        most = identifiable_k(part.n, part.free)
        path = subset_path(self._rows(rows), hints.sets, most, criterion)
        values = {size: criterion(size, one.rss, one.freedom) for size, one in path.items()}
        best = min(values, key=values.__getitem__)
        subsets = path.continued(max(wanted, default=0))
        return FoundSubsets(
            {best: solved_model(part, subsets[best], partial(_solved, rows))},
            values,
            tuple(one.columns for one in path.values()),
            subsets,
            tuple(size for size in wanted if size > max(subsets)),
            None if rows is part else rows,
        )

    def completed(self, part: Standardized, found: Found) -> Found:
        """The same with coefficients for all of them, given the same rows."""
        assert isinstance(found, FoundSubsets)
        rows = found.few or part
        solve = _Nested(rows, [one.columns for one in found.subsets.values()])
        models = {
            size: found.models.get(size) or solved_model(part, one, solve)
            for size, one in found.subsets.items()
        }
        largest = models[max(models)]
        more = {size: padded(part, largest, size) for size in found.beyond}
        return replace(found, models=models | more)


def solved_model(part: Standardized, subset: Subset, solve: Callable[[Indices], Array]) -> RHTFit:
    """Least squares on a set of columns and the kept ones."""
    columns = np.concatenate([subset.columns, part.keep])
    coef = np.zeros(len(part.XT))
    coef[columns] = solve(columns)
    support = part.ranked(subset.columns, coef)
    return RHTFit(coef, support, 0.0, True, "settled", 0.5 * subset.rss / part.n, ())


class _Nested:
    """Weighted least squares on sets of columns, most of which are in several of them.

    One triangular factor of all of these columns takes the place of the rows.
    """

    def __init__(self, rows: Standardized, sets: Sequence[Indices]) -> None:
        self._rows = rows
        self._columns = np.unique(np.concatenate([*sets, rows.keep]))
        self._reduced: tuple[Array, Array] | None = None
        if len(self._columns) < rows.n and len(self._columns) * rows.n <= _FACTORED:
            A, target = _weighted(rows, self._columns)
            reduced = np.asarray(np.linalg.qr(np.column_stack([A, target]), mode="r"))
            self._reduced = reduced[:, :-1], reduced[:, -1]

    def __call__(self, columns: Indices) -> Array:
        """Coefficients of some of the columns."""
        if self._reduced is None:
            return _solved(self._rows, columns)
        A, target = self._reduced
        return least_squares(A[:, np.searchsorted(self._columns, columns)], target)


def _weighted(problem: Standardized, columns: Indices) -> tuple[Array, Array]:
    """Some columns and the target, with the roots of the weights."""
    rows = problem.chosen(columns)
    root = np.ones(problem.n) if rows.weights is None else np.sqrt(rows.weights)
    return root[:, None] * rows.A, root * rows.target


def _solved(problem: Standardized, columns: Indices) -> Array:
    """Weighted least-squares coefficients of some columns."""
    return least_squares(*_weighted(problem, columns))


def _unexplained(problem: Standardized, columns: Indices) -> float:
    """The weighted sum of squares that some columns leave."""
    A, target = _weighted(problem, columns)
    return float(np.sum((target - A @ least_squares(A, target)) ** 2))


def padded(part: Standardized, model: RHTFit, size: int) -> RHTFit:
    """A model with terms that add nothing, where all others repeat those in it."""
    rest = part.not_in(model.support, size - part.count(model.support))
    return RHTFit(
        model.coef, np.concatenate([model.support, rest]), 0.0, True, "settled", model.loss, ()
    )
