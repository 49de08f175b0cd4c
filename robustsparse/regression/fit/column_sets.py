"""Sets of single columns on trusted rows: how they grow, shrink and exchange, by inner products alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.looks import MissingLook, Projected, PromisingLook, Tried
from robustsparse.regression.fit.standardized import Standardized

# What is left of a column that the others explain up to this part of it is rounding.
DEPENDENT = 1e-7
# An exchange must lower the residual sum of squares by this part of it.
LOWER = 1e-9
# Entries of the design that are brought to double precision at a time.
_BLOCK = 1 << 16


class ColumnRows:
    """Weighted rows of a problem with what the kept columns explain projected out."""

    def __init__(self, problem: Standardized) -> None:
        self.XT = problem.XT
        root = np.ones(problem.n) if problem.weights is None else np.sqrt(problem.weights)
        self.root = root
        target = problem.y if problem.offset is None else problem.y - problem.offset
        # An orthonormal basis of the kept columns, without those that add nothing.
        kept, singular, _ = np.linalg.svd(
            root[:, None] * problem.columns(problem.keep), full_matrices=False
        )
        self.basis = kept[:, singular > DEPENDENT * singular.max(initial=0.0)]
        self.target = self._projected(root * target)
        self.total = float(self.target @ self.target)
        self.free = np.ones(len(self.XT), dtype=bool)
        self.free[problem.keep] = False
        self.free[: problem.d][problem.scaling.constant] = False
        self.cross, self.squares = self._moments()
        self.whole = problem.whole
        if self.whole is not None:
            spread = self.whole.spread
            self._seen = Projected(spread(self.root), spread(self.target), spread(self.basis))

    def _projected(self, values: Array) -> Array:
        return np.asarray(values - self.basis @ (self.basis.T @ values))

    def _blocks(self) -> Iterable[tuple[slice, Array]]:
        """Weighted columns (block, n), in double precision."""
        width = max(1, _BLOCK // len(self.root))
        for first in range(0, len(self.XT), width):
            part = slice(first, first + width)
            yield part, np.asarray(self.XT[part], dtype=np.float64) * self.root

    def _moments(self) -> tuple[Array, Array]:
        """Inner products of all columns with the target and with themselves."""
        cross, squares = np.empty(len(self.XT)), np.empty(len(self.XT))
        for part, block in self._blocks():
            cross[part] = block @ self.target
            raw = np.einsum("ij,ij->i", block, block)
            squares[part] = raw - ((block @ self.basis) ** 2).sum(axis=1)
            self.free[part] &= squares[part] > DEPENDENT * raw
        return cross, squares

    def columns(self, chosen: Indices) -> Array:
        """Some columns (chosen, n), the kept ones projected out."""
        block = np.asarray(self.XT[chosen], dtype=np.float64) * self.root
        return np.asarray(block - (block @ self.basis) @ self.basis.T)

    def against(self, chosen: Indices) -> Array:
        """Inner products (d, chosen) of all columns with some."""
        some = self.columns(chosen).T
        out = np.empty((len(self.XT), len(chosen)))
        for part, block in self._blocks():
            out[part] = block @ some
        return out

    def promising(self, count: int) -> Indices:
        """Columns that explain most as the only one."""
        alone = np.where(self.free, self.cross**2 / np.where(self.free, self.squares, 1.0), -1.0)
        order = np.argsort(-alone, kind="stable")[: min(count, int(self.free.sum()))]
        if self.whole is not None:
            bar = float(alone[order[-1]]) if len(order) == count else 0.0
            self.whole.log.add(PromisingLook(self._seen, bar))
        return order

    def terms(self, columns: Indices) -> Indices:
        """Those of some columns that can be chosen."""
        return columns[self.free[columns]]

    def sets(self, columns: Indices) -> "ColumnSets":
        """Sets of some columns."""
        return ColumnSets(self, columns)

    def missing(self, near: Sequence[Indices], columns: Indices, most: int) -> Indices:
        """Columns outside of some that one of the sets of these would take up."""
        union = np.unique(np.concatenate(near))
        products = self.against(union)
        outside: Mask = self.free.copy()
        outside[columns] = False
        wanted = np.zeros(len(outside))
        tried: list[Tried] = []
        for chosen in near:
            at = np.searchsorted(union, chosen)
            inside = products[np.ix_(chosen, at)]
            table = Tableau.of(
                products[:, at], self.cross, self.squares, inside, self.cross[chosen]
            )
            gains = table.gains(self.squares)
            gains[chosen] = 0.0
            most_inside = float(gains[columns].max(initial=0.0))
            tried.append(Tried(at, inside, self.cross[chosen], most_inside))
            above = gains > most_inside
            wanted = np.maximum(wanted, np.where(above, gains, 0.0))
            if len(chosen):
                wanted = np.maximum(wanted, table.exchanges(self.squares).max(axis=1))
        wanted[~outside] = 0.0
        limit = LOWER * max(self.total, 1e-300)
        order = np.argsort(-wanted, kind="stable")[:most]
        joining = order[wanted[order] > limit]
        if self.whole is not None:
            bar = float(wanted[joining[-1]]) if len(joining) == most else limit
            some = self.whole.spread(self.columns(union).T)
            self.whole.log.add(MissingLook(self._seen, some, tuple(tried), bar))
        return joining


@dataclass(frozen=True)
class Tableau:
    """What is known of every column of some, given a set S of them in the model.

    Attributes
    ----------
    coef : array (k,)
        Coefficients of the set.
    inverse : array (k,)
        Diagonal of the inverse of its inner products.
    explained : array (w, k)
        Coefficients of every column's regression on the set.
    slope, left : array (w,)
        Inner product of every column with the residuals, and what the set leaves of its square.
    """

    coef: Array
    inverse: Array
    explained: Array
    slope: Array
    left: Array

    @classmethod
    def of(
        cls, with_set: Array, cross: Array, squares: Array, inside: Array, own: Array
    ) -> "Tableau":
        """From inner products of all columns with the set, with the target and with themselves, and the set's own."""
        inverse = _inverse(inside)
        coef = inverse @ own
        explained = with_set @ inverse
        left = squares - np.einsum("ij,ij->i", explained, with_set)
        return cls(coef, np.diag(inverse), explained, cross - with_set @ coef, left)

    @property
    def cost(self) -> Array:
        """By how much the residual sum of squares grows without each member."""
        return np.asarray(self.coef**2 / np.maximum(self.inverse, 1e-300))

    def gains(self, squares: Array) -> Array:
        """By how much it falls with each column added."""
        enough = self.left > DEPENDENT * squares
        return np.where(enough, self.slope**2 / np.where(enough, self.left, 1.0), 0.0)

    def exchanges(self, squares: Array) -> Array:
        """By how much it falls (w, k) with each column added in the place of each member."""
        freed = self.explained / np.maximum(self.inverse, 1e-300)
        slope = self.slope[:, None] + freed * self.coef
        left = self.left[:, None] + freed * self.explained
        enough = left > DEPENDENT * squares[:, None]
        return np.where(enough, slope**2 / np.where(enough, left, 1.0), 0.0) - self.cost


def _inverse(inside: Array) -> Array:
    """Inverse of the inner products of a set; of one that is singular up to rounding the pseudo-inverse."""
    if not len(inside):
        return inside
    factor, failed = dpotrf(inside, lower=1, clean=0)
    # A small pivot means that rounding decides.
    if failed or np.diag(factor).min() ** 2 <= DEPENDENT * inside.diagonal().max():
        return np.asarray(np.linalg.pinv(inside, hermitian=True))
    half = dpotri(factor, lower=1)[0]
    lower = np.tril(half)
    return np.asarray(lower + np.tril(half, -1).T)


class ColumnSets:
    """The working set: inner products of some columns, and sets of these, by their places among them."""

    def __init__(self, rows: ColumnRows, columns: Indices) -> None:
        self.rows, self.places = rows, columns
        block = rows.columns(columns)
        self.gram = block @ block.T
        self.cross, self.squares = rows.cross[columns], rows.squares[columns]

    def columns(self, chosen: Indices) -> Indices:
        """The columns of a set."""
        return self.places[chosen]

    def freedom(self, chosen: Indices) -> int:
        """Degrees of freedom of a set."""
        return len(chosen)

    def worth(self, chosen: Indices, rss: float) -> float:
        """What sets of one size are compared by, the less the better."""
        return rss

    def tableau(self, chosen: Indices) -> Tableau:
        """What is known of the working set given some of it in the model."""
        return Tableau.of(
            self.gram[:, chosen],
            self.cross,
            self.squares,
            self.gram[np.ix_(chosen, chosen)],
            self.cross[chosen],
        )

    def rss(self, chosen: Indices) -> float:
        """Residual sum of squares of a set."""
        if not len(chosen):
            return self.rows.total
        own = self.cross[chosen]
        coef = _inverse(self.gram[np.ix_(chosen, chosen)]) @ own
        return max(self.rows.total - float(own @ coef), 0.0)

    def grown(self, chosen: Indices) -> Indices | None:
        """The set with the column that explains most of what it leaves."""
        if len(chosen) == len(self.places):
            return None
        gains = self.tableau(chosen).gains(self.squares)
        gains[chosen] = 0.0
        best = int(np.argmax(gains))
        return np.append(chosen, best) if gains[best] > 0.0 else None

    def independent(self, chosen: Indices) -> Indices:
        """The set without columns that those before them explain."""
        kept = np.zeros(0, dtype=np.int64)
        for place in chosen:
            left = self.squares[place]
            if len(kept):
                inside = self.gram[np.ix_(kept, kept)]
                shared = self.gram[place, kept]
                left = left - shared @ np.linalg.solve(inside, shared)
            if left > DEPENDENT * self.squares[place]:
                kept = np.append(kept, place)
        return kept

    def shrunk(self, chosen: Indices) -> Indices:
        """The set without the column that explains least."""
        return np.delete(chosen, int(np.argmin(self.tableau(chosen).cost)))

    def exchanged(self, chosen: Indices) -> tuple[Indices, float]:
        """The set after the best exchanges of one column for another, until none helps; its residual sum of squares."""
        chosen, rss = chosen.copy(), self.rss(chosen)
        for _ in range(2 * len(chosen) + 20):
            if not len(chosen):
                break
            falls = self.tableau(chosen).exchanges(self.squares)
            falls[chosen] = 0.0
            enters, leaves = np.unravel_index(int(np.argmax(falls)), falls.shape)
            if falls[enters, leaves] <= LOWER * rss:
                break
            before = chosen[leaves]
            chosen[leaves] = enters
            lower = self.rss(chosen)
            if not lower < rss:
                chosen[leaves] = before
                break
            rss = lower
        return np.sort(chosen), rss
