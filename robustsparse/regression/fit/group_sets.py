"""Sets of groups of columns on trusted rows: how they grow, shrink and exchange, by inner products alone.

What a group can explain does not depend on how it is coded, on the reference level of a factor for one. So every group
is given an orthonormal basis of what its columns span, and columns that repeat others of their group are gone; what
it then explains beside others is for `algorithm.group_exchanges` to say.

A large group explains more than a small one even of noise. Sets of the same number of groups are therefore compared by
n log rss + df log n, with the degrees of freedom df that they take.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import exp, log

import numpy as np
from scipy.linalg.lapack import dpotrf

from robustsparse.algorithm.exchanges import DEPENDENT, LOWER, once
from robustsparse.algorithm.group_exchanges import GroupLook, look_at_groups
from robustsparse.algorithm.groups import Groups
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.column_sets import ColumnRows
from robustsparse.regression.fit.standardized import Standardized

# A residual sum of squares below this part of the whole is rounding.
_EXACT = 1e-14
# Entries of the design that are worked on at a time.
_BLOCK = 1 << 18


class GroupRows:
    """Weighted rows of a problem with what the kept columns explain projected out, and a basis for every group.

    Parameters
    ----------
    problem : Standardized
        Trusted rows.
    groups : Groups
        The groups of its columns.

    Attributes
    ----------
    known : dict from bytes to GroupSets
        Sets of groups that were searched.
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
        self._bases = self._orthonormal()
        self.ranks = np.array([basis.shape[1] for basis in self._bases], dtype=np.int64)
        self.known: dict[bytes, GroupSets] = {}
        self.free: Mask = (self.ranks > 0) & (self.ranks <= self.room)

    def _orthonormal(self) -> list[Array]:
        """For every group coefficients (columns, rank) that make an orthonormal basis of its columns."""
        bases = [np.empty((0, 0))] * len(self._members)
        widths = np.array([len(columns) for columns in self._members], dtype=np.int64)
        for width in np.unique(widths[widths > 0]):
            for alike in self._blocks(np.flatnonzero(widths == width)):
                columns = np.concatenate([self._members[g] for g in alike])
                unit = (1.0 / np.sqrt(self.rows.squares[columns])).reshape(-1, width, 1)
                if width == 1:
                    found = list(unit)
                else:
                    block = self.rows.columns(columns).reshape(len(alike), width, -1) * unit
                    found = _bases(block @ block.transpose(0, 2, 1), unit)
                for g, basis in zip(alike, found, strict=True):
                    bases[g] = basis
        return bases

    def _blocks(self, terms: Indices) -> Iterator[Indices]:
        """Some groups, a few at a time, so that no second copy of the design is needed."""
        widths = np.array([len(self._members[g]) for g in terms], dtype=np.int64)
        widest = max(int(widths.max(initial=1)), 1)
        most = max(1, _BLOCK // (widest * len(self.rows.root)))
        for first in range(0, len(terms), most):
            yield terms[first : first + most]

    def basis(self, terms: Indices) -> Array:
        """Orthonormal bases (rank, n) of some groups, one below the other."""
        if not len(terms):
            return np.empty((0, len(self.rows.root)))
        out = np.empty((int(self.ranks[terms].sum()), len(self.rows.root)))
        done = 0
        for part in self._blocks(terms):
            columns = self.rows.columns(np.concatenate([self._members[g] for g in part]))
            first = 0
            for g in part:
                basis = self._bases[g]
                own = columns[first : first + len(basis)]
                np.matmul(basis.T, own, out=out[done : done + basis.shape[1]])
                first, done = first + len(basis), done + basis.shape[1]
        return out

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
        """Sets of some groups, with what was found of them before."""
        key = terms.tobytes()
        if key not in self.known:
            self.known[key] = GroupSets(self, terms)
        return self.known[key]

    def missing(self, near: Sequence[Indices], terms: Indices, most: int) -> Indices:
        """Groups outside of some that one of the sets of these would take up."""
        outside = np.setdiff1d(np.flatnonzero(self.free), terms)
        known = self.sets(terms)
        sets = [(np.searchsorted(terms, chosen), self.basis(chosen)) for chosen in near]
        better: list[Array] = [np.zeros(0)]
        for part in self._blocks(outside):
            beside = self.basis(part)
            gains = [known.improvements(chosen, own, part, beside) for chosen, own in sets]
            better.append(np.max(gains, axis=0, initial=0.0))
        wanted = np.concatenate(better)
        order = np.argsort(-wanted, kind="stable")[:most]
        return outside[order[wanted[order] > LOWER * max(self.total, 1e-300)]]


def _bases(grams: Array, unit: Array) -> list[Array]:
    """Coefficients of orthonormal bases, from inner products (groups, width, width) of columns in some unit."""
    values, vectors = np.linalg.eigh(grams)
    own = values > DEPENDENT * np.maximum(values[:, -1:], 1.0)
    return [
        one * some[:, kept] / np.sqrt(size[kept])
        for one, some, size, kept in zip(unit, vectors, values, own, strict=True)
    ]


class GroupSets:
    """Inner products of the bases of some groups, and sets of these groups, by their places among them."""

    def __init__(self, rows: GroupRows, terms: Indices) -> None:
        self.rows, self.places = rows, terms
        block = rows.basis(terms)
        self.gram, self.cross = block @ block.T, block @ rows.rows.target
        self.ranks = rows.ranks[terms]
        self._ends = _ends(self.ranks)
        self._spans = [np.arange(a, b) for a, b in pairwise(self._ends)]
        self._look = once(self._looked)
        self.grown, self.shrunk = once(self._grown), once(self._shrunk)
        self.exchanged = once(self._exchanged)

    def by_size(self) -> "GroupsBySize":
        """Sets of every size, none of them known yet."""
        return GroupsBySize(self)

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

    def _looked(self, chosen: Indices) -> GroupLook:
        """What every group would add to a set, and in the place of its members."""
        shared = self.gram[self._vectors(chosen)].T
        return self._beside(chosen, shared, self.cross, self._ends, self.ranks)

    def _beside(
        self, chosen: Indices, shared: Array, cross: Array, ends: Indices, ranks: Indices
    ) -> GroupLook:
        """The same for groups of which the inner products with the set and with the target are given."""
        at = self._vectors(chosen)
        inside, own = self.gram[np.ix_(at, at)], self.cross[at]
        members, prices = _ends(self.ranks[chosen]), np.exp(self.rows.price * ranks)

        def more(explained: float) -> Array:
            """What lowers the worth of the set: a group of a higher rank must explain more."""
            own_prices = np.exp(self.rows.price * self.ranks[chosen])
            return np.asarray(self._left(explained) * (1.0 - own_prices[:, None] / prices))

        return look_at_groups(inside, own, np.ascontiguousarray(shared), cross, ends, members, more)

    def _left(self, explained: float) -> float:
        """What is left of the squares once so much of them is explained."""
        left = self.rows.total - explained
        return left if left > _EXACT * self.rows.total else 0.0

    def rss(self, chosen: Indices) -> float:
        """Residual sum of squares of a set."""
        return self._left(self._look(chosen).explained) if len(chosen) else self.rows.total

    def _added(
        self, gains: Array, rss: float | Array, freedom: Indices | int, ranks: Indices
    ) -> Array:
        """Worth with each of some groups added; infinite where that is no use, or more than the rows can carry."""
        total = freedom + ranks
        useful = (gains > 0.0) & (total <= self.rows.room)
        worth = np.maximum(rss - gains, 0.0) * np.exp(self.rows.price * total)
        return np.where(useful, worth, np.inf)

    def _additions(self, chosen: Indices) -> Array:
        """Worth of a set with each group added."""
        gains, freedom = self._look(chosen).added, self.freedom(chosen)
        worth = self._added(gains, self.rss(chosen), freedom, self.ranks)
        worth[chosen] = np.inf
        return worth

    def _replaced(self, chosen: Indices, look: GroupLook, ranks: Indices) -> Array:
        """Worth (members, groups) of a set with each of some groups in the place of each member."""
        rss = self.rss(chosen) + look.cost[:, None]
        freedom = self.freedom(chosen) - self.ranks[chosen][:, None]
        return self._added(look.exchanged, rss, freedom, ranks)

    def _grown(self, chosen: Indices) -> Indices | None:
        """The set with the group that explains most of what it leaves, for its degrees of freedom."""
        worth = self._additions(chosen)
        best = int(np.argmin(worth))
        return np.append(chosen, best) if np.isfinite(worth[best]) else None

    def independent(self, chosen: Indices) -> Indices:
        """The set without groups that those before them explain, or that the rows cannot carry beside these."""
        at = self._vectors(chosen)
        if len(at) <= self.rows.room and self._apart(at):
            return chosen
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

    def _apart(self, at: Indices) -> bool:
        """Whether none of some vectors is explained by those before it."""
        factor, failed = dpotrf(self.gram[np.ix_(at, at)], lower=1, clean=0)
        return not failed and bool((np.diag(factor) ** 2 > DEPENDENT).all())

    def _shrunk(self, chosen: Indices) -> Indices:
        """The set without the group that explains least, for its degrees of freedom."""
        costs = self._look(chosen).cost
        freedom = self.freedom(chosen) - self.ranks[chosen]
        worth = (self.rss(chosen) + costs) * np.exp(self.rows.price * freedom)
        return np.delete(chosen, int(np.argmin(worth)))

    def improvements(self, chosen: Indices, own: Array, others: Indices, bases: Array) -> Array:
        """By how much groups from outside would do better than those within; with the bases of the set and of theirs.

        In the place of a member of a set they compete with the set itself, added with the best one that is larger by a
        group.
        """
        shared, cross = bases @ own.T, bases @ self.rows.rows.target
        ranks = self.rows.ranks[others]
        look = self._beside(chosen, shared, cross, _ends(ranks), ranks)
        rss, freedom = self.rss(chosen), self.freedom(chosen)
        worth = self.worth(chosen, rss)
        exchanged = worth - self._replaced(chosen, look, ranks).min(axis=0, initial=worth)
        most = self.rows.total * exp(self.rows.price * self.rows.room)
        larger = float(self._additions(chosen).min(initial=most))
        added = larger - np.minimum(self._added(look.added, rss, freedom, ranks), larger)
        return np.asarray(np.maximum(exchanged, added))

    def _exchanged(self, chosen: Indices) -> tuple[Indices, float]:
        """The set after the best exchanges of one group for another, until none helps; its residual sum of squares."""
        chosen = np.sort(chosen)
        rss = self.rss(chosen)
        own = self.worth(chosen, rss)
        for _ in range(2 * len(chosen) + 20):
            look = self._look(chosen)
            if not look.exchanged.any():
                break
            worth = self._replaced(chosen, look, self.ranks)
            worth[:, chosen] = np.inf
            leaves, enters = np.unravel_index(int(np.argmin(worth)), worth.shape)
            if not worth[leaves, enters] < own * (1.0 - LOWER):
                break
            other = chosen.copy()
            other[leaves] = enters
            other.sort()
            lower = self.rss(other)
            lowered = self.worth(other, lower)
            if not lowered < own:
                break
            chosen, rss, own = other, lower, lowered
        return chosen, rss


class GroupsBySize:
    """The best set of groups of every size that was found, each after exchanges; at first only the empty one."""

    def __init__(self, sets: GroupSets) -> None:
        self._sets = sets
        self._found = {0: (np.zeros(0, dtype=np.int64), sets.rows.total)}

    def __getitem__(self, size: int) -> tuple[Indices, float]:
        return self._found[size]

    def __contains__(self, size: int) -> bool:
        return size in self._found

    def unexplained(self, size: int) -> tuple[float, int]:
        """Residual sum of squares of the set of a size, and its degrees of freedom."""
        chosen, rss = self._found[size]
        return rss, self._sets.freedom(chosen)

    def offer(self, starts: Sequence[Indices]) -> None:
        """Take what some starts come to, where that is better."""
        for start in starts:
            self._took(self._sets.independent(start))

    def grow(self, first: int, last: int) -> bool:
        """Have sets from one size to another grow by a group; whether any is better for it."""
        better = False
        for size in range(first, last):
            grown = self._sets.grown(self._found[size][0])
            better |= grown is not None and self._took(grown)
            if size + 1 not in self._found:
                break
        return better

    def shrink(self, first: int) -> bool:
        """Have sets of a size, and those below, shrink by a group; whether any is better for it."""
        better = False
        for size in range(first, 1, -1):
            better |= self._took(self._sets.shrunk(self._found[size][0]))
        return better

    def forget(self, beyond: int) -> None:
        """Forget larger sets."""
        for size in [size for size in self._found if size > beyond]:
            del self._found[size]

    def _took(self, chosen: Indices) -> bool:
        """Whether a set comes to a better one than that of its size, in whose place it then is."""
        size = len(chosen)
        if size in self._found and np.array_equal(np.sort(chosen), self._found[size][0]):
            return False
        better, rss = self._sets.exchanged(chosen)
        if size in self._found:
            worth = self._sets.worth(*self._found[size])
            if self._sets.worth(better, rss) >= worth * (1.0 - LOWER):
                return False
        self._found[size] = better, rss
        return True


def _ends(ranks: Indices) -> Indices:
    """Where the vectors of groups of some ranks begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(ranks)]).astype(np.int64)
