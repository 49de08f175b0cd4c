"""Best subsets on rows that are trusted: one model for each number of predictors.

Where bad rows are out, least squares tells how good a set of columns is, and the best set of each size can be looked
for directly. A set grows by the column that explains most, shrinks by the one that explains least, and columns are
exchanged one for one while that lowers the residual sum of squares (as splicing does, but with the exact change for
every pair). Sets are carried from below and from above until none of them gets better.

All that is needed of the design are inner products within a working set of columns. Once the sets rest, the columns
outside are tried too, and those that would be exchanged or added join the working set.

Where columns form groups, all this is done with whole groups: `column_sets` and `group_sets` are the two kinds of sets.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from robustsparse.algorithm.sets_by_size import SetsBySize
from robustsparse.base.types import Indices
from robustsparse.regression.fit.column_sets import ColumnRows, ColumnSets
from robustsparse.regression.fit.group_sets import GroupRows, GroupsBySize, GroupSets
from robustsparse.regression.fit.standardized import Standardized

# Columns of the first working set beside the seeds, by what each explains alone; how many join at a time and how often.
_WORKING, _JOIN, _ROUNDS = 300, 40, 12
# A path goes on this far beyond its best k: so many values, or this part of k.
_PATIENCE, _PATIENCE_SHARE = 12, 0.5
_SWEEPS = 4

# Takes a number of terms, their residual sum of squares and their degrees of freedom.
Criterion = Callable[[int, float, int], float]


@dataclass(frozen=True)
class Subset:
    """The best set of columns of its size.

    Attributes
    ----------
    columns : array of int
        The columns, ascending.
    rss : float
        Weighted residual sum of squares, kept columns in the model.
    freedom : int
        Degrees of freedom: of columns that form groups, how many are left where some repeat others.
    """

    columns: Indices
    rss: float
    freedom: int


def set_rows(problem: Standardized) -> ColumnRows | GroupRows:
    """Trusted rows as sets of their columns, or of groups of these, are looked for."""
    return ColumnRows(problem) if problem.terms is None else GroupRows(problem, problem.terms)


def subset_path(
    rows: ColumnRows | GroupRows,
    seeds: Sequence[Indices],
    most: int,
    criterion: Criterion,
) -> "SubsetPath":
    """Best sets of 0, 1, 2, … terms, columns or groups of them, until the criterion has clearly turned.

    Parameters
    ----------
    rows : ColumnRows or GroupRows
        Trusted rows, see `set_rows`.
    seeds : sequence of arrays of int
        Sets that somebody else found, to start from as well.
    most : int
        Largest size.
    criterion : callable
        Takes a size, a residual sum of squares and degrees of freedom; the path ends some way beyond its minimum.
    """
    # It is asked for all sizes again after every step.
    criterion = cache(criterion)
    many = int(rows.free.sum())
    most = min(most, many)
    known = [rows.terms(seed) for seed in seeds]
    terms = np.unique(np.concatenate([rows.promising(_WORKING), *known])).astype(np.int64)
    starts = known
    for _ in range(_ROUNDS):
        places = [np.searchsorted(terms, start) for start in starts]
        path = _all_sizes(rows.sets(terms), places, most, criterion)
        joining = terms[:0]
        if len(terms) < many:
            joining = rows.missing(_near_best(rows, path, criterion), terms, _JOIN)
        if not len(joining):
            break
        terms = np.union1d(terms, joining)
        starts = [*known, *(rows.terms(subset.columns) for subset in path.values())]
    return path


def _near_best(
    rows: ColumnRows | GroupRows, sets: dict[int, Subset], criterion: Criterion
) -> list[Indices]:
    """Terms of the best set and of the one next to it."""
    best = min(sets, key=lambda size: criterion(size, sets[size].rss, sets[size].freedom))
    return [rows.terms(sets[size].columns) for size in (best, best + 1) if size in sets]


class SubsetPath(dict[int, Subset]):
    """The best set of each size, which can be asked for larger ones."""

    def __init__(
        self,
        sets: dict[int, Subset],
        work: ColumnSets | GroupSets,
        found: SetsBySize | GroupsBySize,
    ) -> None:
        super().__init__(sets)
        self._work, self._found = work, found

    def continued(self, size: int) -> dict[int, Subset]:
        """The same sets and larger ones up to a size, each grown from the one before."""
        largest = max(self)
        if size > largest:
            self._found.grow(largest, size)
        more = [one for one in range(largest + 1, size + 1) if one in self._found]
        return {**self, **{one: _subset(self._work, *self._found[one]) for one in more}}


def _subset(work: ColumnSets | GroupSets, chosen: Indices, rss: float) -> Subset:
    return Subset(work.columns(chosen), rss, work.freedom(chosen))


def _all_sizes(
    work: ColumnSets | GroupSets, starts: Iterable[Indices], most: int, criterion: Criterion
) -> SubsetPath:
    """Sets of all sizes up to some way beyond the best, from below, from the starts and from above."""
    found = work.by_size()
    found.offer([start for start in starts if len(start)])

    def value(size: int) -> float:
        return criterion(size, *found.unexplained(size))

    for _ in range(_SWEEPS):
        changed, end, goal = False, 0, 0
        best, least = 0, value(0)
        # Sets grow as far as they must before the criterion can have turned.
        while end == goal < min(_turning(best), most):
            goal = min(_turning(best), most)
            changed |= found.grow(end, goal)
            while end < goal and end + 1 in found:
                end += 1
                if value(end) < least:
                    best, least = end, value(end)
        found.forget(end)
        changed |= found.shrink(end)
        if not changed:
            break
    sets = {size: _subset(work, *found[size]) for size in range(end + 1)}
    return SubsetPath(sets, work, found)


def _turning(best: int) -> int:
    """The size at which the criterion has clearly turned, if its minimum is at another one."""
    return best + max(_PATIENCE, int(_PATIENCE_SHARE * best))
