"""Rows of a rare level that were rejected for want of its column.

To a model without the column of a rare level its rows are outliers, all by about as much; rejected, they leave a column
of zeros that can never be chosen. Bad rows do not meet in one level and share a shift.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.looks import LevelLook, Log
from robustsparse.regression.fit.rows import factor_columns
from robustsparse.regression.fit.standardized import Standardized

# A level is rare if it has at most this share of the rows, and is looked at from this many rows on.
_RARE, _FEWEST = 0.15, 3
# It is mended if this share of its rows was rejected and this share agrees on a shift, within so many scales.
_REJECTED, _AGREE, _WITHIN = 0.5, 0.6, 3.0
# Rows that tell at a glance that a column has more than two values.
_GLANCE = 24


@dataclass(frozen=True)
class RareLevels:
    """Columns of two values of which one is rare.

    Attributes
    ----------
    columns : array of int
        The columns.
    members : bool array (columns, n)
        Which rows have the rare value.
    log : Log or None
        Takes the looks, where only some columns are held.
    """

    columns: Indices
    members: Mask
    log: Log | None = None

    @classmethod
    def of(cls, problem: Standardized) -> "RareLevels":
        """Those of a standardized design."""
        XT, n = problem.XT[: problem.d], problem.n
        found, members = rare_values(XT)
        for column, rare in _references(problem):
            if _FEWEST <= rare.sum() <= _RARE * n:
                found.append(column)
                members.append(rare)
        return cls(
            np.array(found, dtype=np.int64),
            np.array(members, dtype=bool).reshape(-1, n),
            None if problem.whole is None else problem.whole.log,
        )

    def mended(self, good: Mask, resid: Array) -> tuple[Mask, Indices]:
        """The good rows with those of levels that share a shift, and the columns of these levels.

        `resid` are the residuals in units of their scale.
        """
        if self.log is not None:
            self.log.add(LevelLook(good.copy(), resid.copy()))
        kept, columns = good.copy(), []
        lost = (self.members & ~good).sum(axis=1) >= _REJECTED * self.members.sum(axis=1)
        for j, rows in zip(self.columns[lost], self.members[lost], strict=True):
            agree = np.abs(resid - np.median(resid[rows])) <= _WITHIN
            if agree[rows].mean() >= _AGREE:
                kept |= rows & agree
                columns.append(j)
        return kept, np.array(columns, dtype=np.int64)


def rare_values(XT: Array) -> tuple[list[int], list[Mask]]:
    """Columns of a transposed design with two values of which one is rare, and the rows (n,) that have it."""
    n = XT.shape[1]
    glance = np.sort(XT[:, :: max(1, n // _GLANCE)], axis=1)
    few = np.flatnonzero((np.diff(glance, axis=1) > 0).sum(axis=1) <= 1)
    found: list[int] = []
    members: list[Mask] = []
    for j in few:
        low, high = XT[j].min(), XT[j].max()
        upper = XT[j] == high
        if low == high or not (upper | (XT[j] == low)).all():
            continue
        rare = upper if 2 * upper.sum() <= n else ~upper
        if _FEWEST <= rare.sum() <= _RARE * n:
            found.append(int(j))
            members.append(rare)
    return found, members


def _references(problem: Standardized) -> Iterator[tuple[int, Mask]]:
    """Of each factor that enters as a whole one of its columns, and the rows of the level that has none."""
    columns = factor_columns(problem)
    if problem.groups is None or not len(columns):
        return
    for group in np.unique(problem.groups[columns]):
        own = columns[problem.groups[columns] == group]
        part = problem.XT[own]
        yield int(own[0]), (part == part.min(axis=1, keepdims=True)).all(axis=0)
