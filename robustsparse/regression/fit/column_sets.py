"""Sets of single columns on trusted rows: how they grow, shrink and exchange, by inner products alone."""

from collections.abc import Iterable, Sequence

import numpy as np

from robustsparse.algorithm.exchanges import DEPENDENT, LOWER, InnerProducts, Tableau
from robustsparse.algorithm.products import weighted_squares
from robustsparse.algorithm.sets_by_size import SetsBySize
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.looks import MissingLook, Projected, PromisingLook, Tried
from robustsparse.regression.fit.standardized import Standardized

# Entries of the design that are brought to double precision at a time.
_BLOCK = 1 << 16
# Columns of which everything beside a set is known at a time.
_COLUMNS = 1 << 12
# Of a large design inner products stay known with so many columns, as a share of its rows.
_KEPT = 0.02


class ColumnRows:
    """Weighted rows of a problem with what the kept columns explain projected out.

    `known` are the sets of columns that were searched.
    """

    def __init__(self, problem: Standardized) -> None:
        self.problem, self.XT = problem, problem.XT
        root = np.ones(problem.n) if problem.weights is None else np.sqrt(problem.weights)
        self.root = root
        # A small design is held as a weighted copy; a large one is read where it is, and what it meets is weighted.
        everything = np.arange(len(self.XT))
        self._copy = problem.columns(everything).T * root if problem.small else None
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
        # Inner products of all columns with those that were asked for before.
        self._with: dict[int, Array] = {}
        self._products = _Products(self)
        self.known: dict[bytes, ColumnSets] = {}
        self.whole = problem.whole
        if self.whole is not None:
            spread = self.whole.spread
            self._seen = Projected(spread(self.root), spread(self.target), spread(self.basis))

    def _projected(self, values: Array) -> Array:
        return np.asarray(values - self.basis @ (self.basis.T @ values))

    def _blocks(self) -> Iterable[tuple[slice, Array]]:
        """Columns in double precision: weighted ones of a copy, or as they stand in all rows of the design."""
        if self._copy is not None:
            yield slice(None), self._copy
            return
        width = max(1, _BLOCK // self.XT.shape[1])
        for first in range(0, len(self.XT), width):
            part = slice(first, first + width)
            yield part, np.asarray(self.XT[part], dtype=np.float64)

    def _across(self, values: Array) -> Array:
        """Values of rows as what these columns are multiplied with."""
        if self._copy is not None:
            return values
        root = self.root if values.ndim == 1 else self.root[:, None]
        return self.problem.on_all_rows(root * values)

    def _moments(self) -> tuple[Array, Array]:
        """Inner products of all columns with the target and with themselves."""
        cross, squares = np.empty(len(self.XT)), np.empty(len(self.XT))
        target, basis = self._across(self.target), self._across(self.basis)
        weights = self._across(self.root) if self._copy is None else np.ones(len(self.root))
        raw = np.empty(len(self.XT))
        for part, block in self._blocks():
            cross[part] = block @ target
            raw[part] = weighted_squares(block, weights)
            squares[part] = raw[part] - ((block @ basis) ** 2).sum(axis=1)
        self.free &= squares > DEPENDENT * raw
        return cross, squares

    def columns(self, chosen: Indices) -> Array:
        """Some columns (chosen, n), the kept ones projected out."""
        held = self._copy
        block = self.problem.columns(chosen).T * self.root if held is None else held[chosen]
        block -= (block @ self.basis) @ self.basis.T
        return block

    def against(self, chosen: Indices) -> Array:
        """Inner products (d, chosen) of all columns with some."""
        new = np.array([j for j in chosen if int(j) not in self._with], dtype=np.int64)
        if len(new):
            if self._copy is None and len(self._with) > _KEPT * self.problem.n:
                self._with.clear()
                new = np.unique(chosen)
            self._with.update(zip(new.tolist(), self._against(new), strict=True))
        return np.array([self._with[int(j)] for j in chosen]).reshape(-1, len(self.XT)).T

    def _against(self, chosen: Indices) -> Array:
        some = self._across(self.columns(chosen).T)
        out = np.empty((len(chosen), len(self.XT)))
        for part, block in self._blocks():
            out[:, part] = (block @ some).T
        return out

    def promising(self, count: int) -> Indices:
        """Columns that explain most as the only one."""
        alone = np.where(self.free, self.cross**2 / np.where(self.free, self.squares, 1.0), -1.0)
        order = np.argsort(-alone, kind="stable")[: min(count, int(self.free.sum()))]
        if self.whole is not None:
            bar = float(alone[order[-1]]) if len(order) == count else 0.0
            self.whole.log.add(PromisingLook(self._seen, bar, count))
        return order

    def terms(self, columns: Indices) -> Indices:
        """Those of some columns that can be chosen."""
        return columns[self.free[columns]]

    def sets(self, columns: Indices) -> "ColumnSets":
        """Sets of some columns, with what was found of them before if the design is small."""
        if self._copy is None:
            return ColumnSets(self, columns)
        key = columns.tobytes()
        if key not in self.known:
            self.known[key] = ColumnSets(self, columns)
        return self.known[key]

    def among(self, columns: Indices) -> Array:
        """Inner products (columns, columns) of some columns, the kept ones projected out."""
        if self._copy is not None:
            return self._products.among(self, columns)
        block = self.columns(columns)
        return np.asarray(block @ block.T)

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
            gains, exchanged = self._moves(products, at, chosen)
            gains[chosen] = 0.0
            most_inside = float(gains[columns].max(initial=0.0))
            tried.append(Tried(at, inside, self.cross[chosen], most_inside))
            wanted = np.maximum(wanted, np.where(gains > most_inside, gains, 0.0))
            wanted = np.maximum(wanted, exchanged)
        wanted[~outside] = 0.0
        limit = LOWER * max(self.total, 1e-300)
        wanting = np.flatnonzero(wanted > limit)
        joining = wanting[np.argsort(-wanted[wanting], kind="stable")[:most]]
        if self.whole is not None:
            bar = float(wanted[joining[-1]]) if len(joining) == most else limit
            some = self.whole.spread(self.columns(union).T)
            self.whole.log.add(MissingLook(self._seen, some, tuple(tried), bar, most))
        return joining

    def _moves(self, products: Array, at: Indices, chosen: Indices) -> tuple[Array, Array]:
        """By how much the squares fall with every column added to a set, and in the place of its worst member.

        `products` are inner products with some columns, of which those of the set are `at`. Some columns at a time, so
        that what is known of all of them takes little memory.
        """
        inside, own = products[np.ix_(chosen, at)], self.cross[chosen]
        gains, exchanged = np.zeros((2, len(products)))
        for first in range(0, len(products), _COLUMNS):
            part = slice(first, first + _COLUMNS)
            squares = self.squares[part]
            table = Tableau.of(products[part, at], self.cross[part], squares, inside, own)
            gains[part] = table.gains(squares)
            if len(chosen):
                exchanged[part] = table.exchanges(squares).max(axis=1)
        return gains, exchanged


class _Products:
    """Inner products of the columns that somebody asked for; those of others are added when they are asked for."""

    def __init__(self, rows: ColumnRows) -> None:
        self._places = np.full(len(rows.XT), -1, dtype=np.int64)
        self._block = np.empty((0, len(rows.root)))
        self._gram = np.empty((0, 0))

    def among(self, rows: ColumnRows, columns: Indices) -> Array:
        """Inner products of some columns."""
        before = len(self._block)
        self._add(rows, columns[self._places[columns] < 0])
        if not before and len(self._block) == len(columns):
            return self._gram
        at = self._places[columns]
        return self._gram[np.ix_(at, at)]

    def _add(self, rows: ColumnRows, columns: Indices) -> None:
        if not len(columns):
            return
        before, new = len(self._block), rows.columns(columns)
        block = np.concatenate([self._block, new]) if before else new
        gram = np.empty((len(block), len(block)))
        gram[:before, :before] = self._gram
        gram[before:, before:] = new @ new.T
        if before:
            gram[before:, :before] = new @ self._block.T
            gram[:before, before:] = gram[before:, :before].T
        self._block, self._gram = block, gram
        self._places[columns] = np.arange(before, len(block))


class ColumnSets:
    """The working set: inner products of some columns, and sets of these, by their places among them."""

    def __init__(self, rows: ColumnRows, columns: Indices) -> None:
        self.rows, self.places = rows, columns
        self._products = InnerProducts(
            rows.among(columns), rows.cross[columns], rows.squares[columns], rows.total
        )

    def by_size(self) -> SetsBySize:
        """Sets of every size, none of them known yet."""
        return SetsBySize(self._products)

    def columns(self, chosen: Indices) -> Indices:
        """The columns of a set."""
        return self.places[chosen]

    def freedom(self, chosen: Indices) -> int:
        """Degrees of freedom of a set."""
        return len(chosen)
