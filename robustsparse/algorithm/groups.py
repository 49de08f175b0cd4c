"""Columns that the threshold keeps or drops together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustsparse.base.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Groups:
    """Which columns the threshold keeps or drops together.

    Attributes
    ----------
    of : array of int (d,)
        Group of each column, numbered from 0 without a gap; -1 for columns that it does not select from.
    room : int or None
        Largest number of columns that can be kept; a group that does not fit beside stronger ones is passed over.

    Examples
    --------
    >>> groups = Groups.numbered(np.array([4, 7, 4, -1, 9]))
    >>> groups.of
    array([ 0,  1,  0, -1,  2])
    >>> groups.columns(groups.largest(np.array([3.0, 1.0, 4.0, 9.0, 2.0]), 2))
    array([0, 2, 4])
    """

    of: Indices
    room: int | None = None

    @classmethod
    def numbered(cls, labels: Indices, room: int | None = None) -> "Groups":
        """From any numbers, of which negative ones are no group."""
        of = np.full(len(labels), -1, dtype=np.int64)
        inside = labels >= 0
        of[inside] = np.unique(labels[inside], return_inverse=True)[1]
        return cls(of, room)

    @cached_property
    def free(self) -> Indices:
        """Columns in a group."""
        return np.flatnonzero(self.of >= 0)

    @cached_property
    def sizes(self) -> Indices:
        """Number of columns of each group."""
        return np.bincount(self.of[self.free]).astype(np.int64)

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    @property
    def mean_size(self) -> float:
        """Columns of a group on average."""
        return float(self.sizes.mean()) if self.count else 1.0

    def narrowest(self, k: int) -> int:
        """Columns of the k smallest groups together."""
        return int(np.sort(self.sizes)[:k].sum())

    def strengths(self, values: Array) -> Array:
        """Size of each group's part of coefficients or of a gradient (d,): the root of its mean square.

        Noise gives every coordinate the same mean square, however many share a group; a norm that is not divided by the
        root of their number would take the largest groups for the best.
        """
        squares = values[self.free] ** 2
        return np.sqrt(np.bincount(self.of[self.free], squares, self.count) / self.sizes)

    def largest(self, values: Array, k: int) -> Indices:
        """The k strongest groups, the strongest first, without those that are zero; ties go to the lowest group."""
        size = self.strengths(values)
        # What is no number comes from iterates that run away, which the solver sees to.
        order = np.argsort(-np.nan_to_num(size, nan=np.inf, posinf=np.inf), kind="stable")
        order = self._fitting(order[size[order] != 0], k)
        return np.asarray(order[:k], dtype=np.int64)

    def _fitting(self, order: Indices, k: int) -> Indices:
        """Groups in their order without those that do not fit beside the ones before them."""
        if self.room is None or self.sizes[order[:k]].sum() <= self.room:
            return order
        fitting: list[int] = []
        left = self.room
        for group in order:
            if self.sizes[group] <= left and len(fitting) < k:
                fitting.append(group)
                left -= self.sizes[group]
        return np.array(fitting, dtype=np.int64)

    def columns(self, chosen: Indices) -> Indices:
        """All columns of some groups, ascending."""
        wanted = np.zeros(self.count + 1, dtype=bool)
        wanted[chosen] = True
        # The last place is that of columns in no group.
        return np.flatnonzero(wanted[self.of])

    def holding(self, columns: Indices) -> Indices:
        """Groups that some columns belong to, ascending."""
        of = np.unique(self.of[columns])
        return of[of >= 0]

    def ranked(self, columns: Indices, values: Array) -> Indices:
        """Columns by the strength of their groups in values (d,), and within a group as they stand."""
        size = self.strengths(values)[self.of[columns]]
        return columns[np.lexsort([columns, self.of[columns], -size])]
