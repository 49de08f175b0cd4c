"""Sets of groups of columns on trusted rows: how they grow, shrink and exchange, by inner products alone.

What a group can explain does not depend on how it is coded, on the reference level of a factor for one. So every group
is given an orthonormal basis of what its columns span, and columns that repeat others of their group are gone. A group
then explains slope' left⁻¹ slope of what a set leaves, where `slope` are the inner products of its basis with the
residuals and `left` is what the set leaves of the basis' own inner products.

A large group explains more than a small one even of noise. Sets of the same number of groups are therefore compared by
n log rss + df log n, with the degrees of freedom df that they take.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

import numpy as np

from robustsparse.algorithm.exchanges import DEPENDENT, LOWER
from robustsparse.algorithm.groups import Groups
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.column_sets import ColumnRows
from robustsparse.regression.fit.standardized import Standardized

# A residual sum of squares below this part of the whole is rounding.
_EXACT = 1e-14
# Groups outside of a working set that are tried at a time.
_TRIED = 200


class GroupRows:
    """Weighted rows of a problem with what the kept columns explain projected out, and a basis for every group.

    Parameters
    ----------
    problem : Standardized
        Trusted rows.
    groups : Groups
        The groups of its columns.
    """

    def __init__(self, problem: Standardized, groups: Groups) -> None:
        rows = ColumnRows(problem)
        self.rows, self.groups, self.total = rows, groups, rows.total
        # What a degree of freedom costs, as a factor of the residual sum of squares.
        self.price = log(problem.n) / problem.n
        self.room = max(problem.room, 1)
        free = np.flatnonzero(rows.free & (groups.of >= 0))
        order = free[np.argsort(groups.of[free], kind="stable")]
        ends = np.searchsorted(groups.of[order], np.arange(groups.count + 1))
        self._members = [order[a:b] for a, b in pairwise(ends)]
        self._bases = [self._basis(columns) for columns in self._members]
        self.ranks = np.array([basis.shape[1] for basis in self._bases], dtype=np.int64)
        self.free: Mask = (self.ranks > 0) & (self.ranks <= self.room)

    def _basis(self, columns: Indices) -> Array:
        """Coefficients (columns, rank) that make an orthonormal basis of some columns."""
        unit = 1.0 / np.sqrt(self.rows.squares[columns])
        if len(columns) <= 1:
            return unit[:, None]
        block = self.rows.columns(columns) * unit[:, None]
        values, vectors = np.linalg.eigh(block @ block.T)
        own = values > DEPENDENT * max(values[-1], 1.0)
        return np.asarray(unit[:, None] * vectors[:, own] / np.sqrt(values[own]))

    def basis(self, terms: Indices) -> Array:
        """Orthonormal bases (rank, n) of some groups, one below the other."""
        if not len(terms):
            return np.empty((0, len(self.rows.root)))
        blocks = [self._bases[g].T @ self.rows.columns(self._members[g]) for g in terms]
        return np.concatenate(blocks)

    def promising(self, count: int) -> Indices:
        """Groups that explain most as the only one, for the degrees of freedom they take; so many of these in all."""
        gains = np.array(
            [
                ((self.rows.cross[columns] @ basis) ** 2).sum()
                for columns, basis in zip(self._members, self._bases, strict=True)
            ]
        )
        worth = np.maximum(self.total - gains, 0.0) * np.exp(self.price * self.ranks)
        order = np.argsort(np.where(self.free, worth, np.inf), kind="stable")[: self.free.sum()]
        return order[: max(1, int((np.cumsum(self.ranks[order]) <= count).sum()))]

    def terms(self, columns: Indices) -> Indices:
        """Groups of some columns, those that can be chosen."""
        held = self.groups.holding(columns)
        return held[self.free[held]]

    def sets(self, terms: Indices) -> "GroupSets":
        """Sets of some groups."""
        return GroupSets(self, terms)

    def missing(self, near: Sequence[Indices], terms: Indices, most: int) -> Indices:
        """Groups outside of some that one of the sets of these would take up."""
        outside = np.setdiff1d(np.flatnonzero(self.free), terms)
        better = np.zeros(len(outside))
        known = self.sets(terms)
        for chosen in near:
            bars = known.bars(np.searchsorted(terms, chosen))
            # Not all at a time, so that no second copy of the design is needed.
            for first in range(0, len(outside), _TRIED):
                part = slice(first, first + _TRIED)
                beside = self.sets(np.union1d(chosen, outside[part]))
                own = np.searchsorted(beside.places, chosen)
                gains = beside.improvements(own, *bars)
                new = np.searchsorted(beside.places, outside[part])
                better[part] = np.maximum(better[part], gains[new])
        order = np.argsort(-better, kind="stable")[:most]
        return outside[order[better[order] > LOWER * max(self.total, 1e-300)]]


@dataclass(frozen=True)
class _Table:
    """What is known of all bases of some groups, given a set of them in the model.

    Attributes
    ----------
    coef : array (c,)
        Coefficients of the set.
    inverse : array (c, c)
        Inverse of its inner products.
    explained : array (w, c)
        Coefficients of the regression of every basis vector on the set.
    slope : array (w,)
        Inner product of every basis vector with the residuals.
    left : list of arrays (j, r, r)
        What the set leaves of the inner products within each group, for groups of each rank r.
    """

    coef: Array
    inverse: Array
    explained: Array
    slope: Array
    left: list[Array]

    def freed(self, member: slice) -> Array:
        """What the others leave of a member's inner products."""
        # The block is at least one in every direction, but for those that repeat others.
        block = self.inverse[member, member] + DEPENDENT * np.eye(member.stop - member.start)
        return 1.0 / block if len(block) == 1 else np.asarray(np.linalg.inv(block))

    def cost(self, member: slice, freed: Array) -> float:
        """By how much the residual sum of squares grows without a member."""
        return float(self.coef[member] @ freed @ self.coef[member])


class GroupSets:
    """Inner products of the bases of some groups, and sets of these groups, by their places among them."""

    def __init__(self, rows: GroupRows, terms: Indices) -> None:
        self.rows, self.places = rows, terms
        block = rows.basis(terms)
        self.gram, self.cross = block @ block.T, block @ rows.rows.target
        self.ranks = rows.ranks[terms]
        ends = np.concatenate([[0], np.cumsum(self.ranks)])
        # Groups of the same rank are looked at together.
        self._alike = [
            (alike, ends[alike][:, None] + np.arange(rank))
            for rank in np.unique(self.ranks)
            for alike in [np.flatnonzero(self.ranks == rank)]
        ]
        self._spans = [np.arange(a, b) for a, b in pairwise(ends)]

    def columns(self, chosen: Indices) -> Indices:
        """All columns of the groups of a set, ascending."""
        return self.rows.groups.columns(self.places[chosen])

    def freedom(self, chosen: Indices) -> int:
        """Degrees of freedom of a set."""
        return int(self.ranks[chosen].sum())

    def worth(self, chosen: Indices, rss: float) -> float:
        """What sets of one size are compared by, the less the better."""
        return rss * exp(self.rows.price * self.freedom(chosen))

    def _vectors(self, chosen: Indices) -> Indices:
        """Places of the basis vectors of a set."""
        spans = [self._spans[g] for g in chosen]
        return np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)

    def rss(self, chosen: Indices) -> float:
        """Residual sum of squares of a set."""
        at = self._vectors(chosen)
        if not len(at):
            return self.rows.total
        own = self.cross[at]
        coef = np.linalg.lstsq(self.gram[np.ix_(at, at)], own, rcond=None)[0]
        left = self.rows.total - float(own @ coef)
        return left if left > _EXACT * self.rows.total else 0.0

    def _table(self, chosen: Indices) -> _Table:
        at = self._vectors(chosen)
        shared = self.gram[:, at]
        inverse = np.asarray(np.linalg.pinv(shared[at], hermitian=True) if len(at) else shared[at])
        coef, explained = inverse @ self.cross[at], shared @ inverse
        left = [
            np.eye(own.shape[1]) - explained[own] @ shared[own].transpose(0, 2, 1)
            for _, own in self._alike
        ]
        return _Table(coef, inverse, explained, self.cross - shared @ coef, left)

    def _gains(self, slope: Array, left: Sequence[Array]) -> Array:
        """By how much the residual sum of squares falls with each group added."""
        gains = np.empty(len(self.places))
        for (alike, own), rest in zip(self._alike, left, strict=True):
            slopes = slope[own]
            some = np.trace(rest, axis1=1, axis2=2) > DEPENDENT
            # A direction that the set explains has nothing left, and nothing to add.
            rest = rest + DEPENDENT * np.eye(own.shape[1])
            if own.shape[1] == 1:
                gained = slopes[:, 0] ** 2 / np.maximum(rest[:, 0, 0], DEPENDENT)
            else:
                gained = (slopes * np.linalg.solve(rest, slopes[..., None])[..., 0]).sum(axis=1)
            gains[alike] = np.where(some, gained, 0.0)
        return gains

    def _added(self, gains: Array, rss: float, freedom: int, chosen: Indices) -> Array:
        """Worth of a set with each group added; infinite where that is no use, or more than the rows can carry."""
        useful = (gains > 0.0) & (freedom + self.ranks <= self.rows.room)
        useful[chosen] = False
        worth = np.maximum(rss - gains, 0.0) * np.exp(self.rows.price * (freedom + self.ranks))
        return np.where(useful, worth, np.inf)

    def _additions(self, chosen: Indices) -> Array:
        """Worth of a set with each group added."""
        table = self._table(chosen)
        gains = self._gains(table.slope, table.left)
        return self._added(gains, self.rss(chosen), self.freedom(chosen), chosen)

    def _members(self, chosen: Indices) -> list[slice]:
        """Places of each member among the basis vectors of a set."""
        ends = np.concatenate([[0], np.cumsum(self.ranks[chosen])])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def _exchanges(self, chosen: Indices, rss: float) -> Array:
        """Worth (members, groups) of a set with each group in the place of each member."""
        table, freedom = self._table(chosen), self.freedom(chosen)
        worth = np.empty((len(chosen), len(self.places)))
        for i, at in enumerate(self._members(chosen)):
            # What the set explains of every basis vector through this member is given back.
            share, freed = table.explained[:, at], table.freed(at)
            back = share @ freed
            left = [
                rest + back[own] @ share[own].transpose(0, 2, 1)
                for (_, own), rest in zip(self._alike, table.left, strict=True)
            ]
            gains = self._gains(table.slope + back @ table.coef[at], left)
            less = freedom - int(self.ranks[chosen[i]])
            worth[i] = self._added(gains, rss + table.cost(at, freed), less, chosen)
        return worth

    def grown(self, chosen: Indices) -> Indices | None:
        """The set with the group that explains most of what it leaves, for its degrees of freedom."""
        worth = self._additions(chosen)
        best = int(np.argmin(worth))
        return np.append(chosen, best) if np.isfinite(worth[best]) else None

    def independent(self, chosen: Indices) -> Indices:
        """The set without groups that those before them explain, or that the rows cannot carry beside these."""
        kept = np.zeros(0, dtype=np.int64)
        for place in chosen:
            own, at = self._spans[place], self._vectors(kept)
            if self.freedom(kept) + len(own) > self.rows.room:
                continue
            left = np.eye(len(own))
            if len(at):
                inverse = np.linalg.pinv(self.gram[np.ix_(at, at)], hermitian=True)
                shared = self.gram[np.ix_(own, at)]
                left = left - shared @ inverse @ shared.T
            if np.linalg.eigvalsh(left)[-1] > DEPENDENT:
                kept = np.append(kept, place)
        return kept

    def shrunk(self, chosen: Indices) -> Indices:
        """The set without the group that explains least, for its degrees of freedom."""
        table = self._table(chosen)
        costs = np.array([table.cost(at, table.freed(at)) for at in self._members(chosen)])
        freedom = self.freedom(chosen) - self.ranks[chosen]
        worth = (self.rss(chosen) + costs) * np.exp(self.rows.price * freedom)
        return np.delete(chosen, int(np.argmin(worth)))

    def bars(self, chosen: Indices) -> tuple[float, float]:
        """Worth of a set, and of the best one that is larger by a group."""
        most = self.rows.total * exp(self.rows.price * self.rows.room)
        larger = float(self._additions(chosen).min(initial=most))
        return self.worth(chosen, self.rss(chosen)), larger

    def improvements(self, chosen: Indices, own: float, larger: float) -> Array:
        """By how much each group lowers one of the `bars`, in the place of a member or added."""
        exchanged = own - self._exchanges(chosen, self.rss(chosen)).min(axis=0, initial=own)
        added = larger - np.minimum(self._additions(chosen), larger)
        return np.asarray(np.maximum(exchanged, added))

    def exchanged(self, chosen: Indices) -> tuple[Indices, float]:
        """The set after the best exchanges of one group for another, until none helps; its residual sum of squares."""
        chosen, rss = chosen.copy(), self.rss(chosen)
        for _ in range(2 * len(chosen) + 20):
            if not len(chosen):
                break
            worth = self._exchanges(chosen, rss)
            leaves, enters = np.unravel_index(int(np.argmin(worth)), worth.shape)
            other = chosen.copy()
            other[leaves] = enters
            if not worth[leaves, enters] < self.worth(chosen, rss) * (1.0 - LOWER):
                break
            lower = self.rss(other)
            if not self.worth(other, lower) < self.worth(chosen, rss):
                break
            chosen, rss = other, lower
        return np.sort(chosen), rss
