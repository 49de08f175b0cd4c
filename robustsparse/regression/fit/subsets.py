"""Best subsets on rows that are trusted: one model for each number of predictors.

Where bad rows are out, least squares tells how good a set of columns is, and the best set of each size can be looked
for directly. A set grows by the column that explains most, shrinks by the one that explains least, and columns are
exchanged one for one while that lowers the residual sum of squares (as splicing does, but with the exact change for
every pair). Sets are carried from below and from above until none of them gets better.

All that is needed of the design are inner products within a working set of columns. Once the sets rest, the columns
outside are tried too, and those that would be exchanged or added join the working set.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from robustsparse.base.types import Array, Indices, Mask
from robustsparse.regression.fit.standardized import Standardized

# Columns of the first working set beside the seeds, by what each explains alone; how many join at a time and how often.
_WORKING, _JOIN, _ROUNDS = 300, 40, 12
# A path goes on this far beyond its best k: so many values, or this part of k.
_PATIENCE, _PATIENCE_SHARE = 12, 0.5
# What is left of a column that the others explain up to this part of it is rounding.
_DEPENDENT = 1e-7
# An exchange must lower the residual sum of squares by this part of it.
_LOWER = 1e-9
_SWEEPS = 4
# Entries of the design that are brought to double precision at a time.
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Subset:
    """The best set of columns of its size.

    Attributes
    ----------
    columns : array of int
        The columns, ascending.
    rss : float
        Weighted residual sum of squares, kept columns in the model.
    """

    columns: Indices
    rss: float


class _Rows:
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
        self.basis = kept[:, singular > _DEPENDENT * singular.max(initial=0.0)]
        self.target = self._projected(root * target)
        self.total = float(self.target @ self.target)
        self.free = np.ones(len(self.XT), dtype=bool)
        self.free[problem.keep] = False
        self.free[: problem.d][problem.scaling.constant] = False
        self.cross, self.squares = self._moments()

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
            self.free[part] &= squares[part] > _DEPENDENT * raw
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

    def alone(self) -> Array:
        """What each column would explain as the only one, -1 for those that cannot be chosen."""
        return np.where(self.free, self.cross**2 / np.where(self.free, self.squares, 1.0), -1.0)


@dataclass(frozen=True)
class _Tableau:
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
    ) -> "_Tableau":
        """From inner products of all columns with the set, with the target and with themselves, and the set's own."""
        inverse = np.linalg.pinv(inside, hermitian=True)
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
        enough = self.left > _DEPENDENT * squares
        return np.where(enough, self.slope**2 / np.where(enough, self.left, 1.0), 0.0)

    def exchanges(self, squares: Array) -> Array:
        """By how much it falls (w, k) with each column added in the place of each member."""
        freed = self.explained / np.maximum(self.inverse, 1e-300)
        slope = self.slope[:, None] + freed * self.coef
        left = self.left[:, None] + freed * self.explained
        enough = left > _DEPENDENT * squares[:, None]
        return np.where(enough, slope**2 / np.where(enough, left, 1.0), 0.0) - self.cost


class _Working:
    """The working set: inner products of some columns, and sets of these, by their places among them."""

    def __init__(self, rows: _Rows, columns: Indices) -> None:
        self.rows, self.places = rows, columns
        block = rows.columns(columns)
        self.gram = block @ block.T
        self.cross, self.squares = rows.cross[columns], rows.squares[columns]

    def tableau(self, chosen: Indices) -> _Tableau:
        """What is known of the working set given some of it in the model."""
        return _Tableau.of(
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
        coef = np.linalg.lstsq(self.gram[np.ix_(chosen, chosen)], own, rcond=None)[0]
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
            if left > _DEPENDENT * self.squares[place]:
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
            if falls[enters, leaves] <= _LOWER * rss:
                break
            before = chosen[leaves]
            chosen[leaves] = enters
            lower = self.rss(chosen)
            if not lower < rss:
                chosen[leaves] = before
                break
            rss = lower
        return np.sort(chosen), rss


def subset_path(
    problem: Standardized,
    seeds: Sequence[Indices],
    most: int,
    criterion: Callable[[int, float], float],
) -> "SubsetPath":
    """Best sets of 0, 1, 2, … columns, until the criterion has clearly turned.

    Parameters
    ----------
    problem : Standardized
        Trusted rows.
    seeds : sequence of arrays of int
        Sets that somebody else found, to start from as well.
    most : int
        Largest size.
    criterion : callable
        Takes a size and a residual sum of squares; the path ends some way beyond its minimum.
    """
    rows = _Rows(problem)
    most = min(most, int(rows.free.sum()))
    alone = rows.alone()
    first = np.argsort(-alone, kind="stable")[: min(_WORKING, int(rows.free.sum()))]
    known = [seed[rows.free[seed]] for seed in seeds]
    columns = np.unique(np.concatenate([first, *known])).astype(np.int64)
    sets: dict[int, Subset] = {}
    for _ in range(_ROUNDS):
        work = _Working(rows, columns)
        starts = [*known, *(subset.columns for subset in sets.values())]
        sets = _all_sizes(
            work, [np.searchsorted(columns, start) for start in starts], most, criterion
        )
        joining = (
            _missing(rows, sets, criterion, columns)
            if len(columns) < rows.free.sum()
            else columns[:0]
        )
        if not len(joining):
            break
        columns = np.union1d(columns, joining)
    return SubsetPath(sets, work)


class SubsetPath(dict[int, Subset]):
    """The best set of each size, which can be asked for larger ones."""

    def __init__(self, sets: dict[int, Subset], work: _Working) -> None:
        super().__init__(sets)
        self._work = work

    def continued(self, size: int) -> dict[int, Subset]:
        """The same sets and larger ones up to a size, each grown from the one before."""
        sets = dict(self)
        for last in range(max(sets), size):
            grown = self._work.grown(np.searchsorted(self._work.places, sets[last].columns))
            if grown is None:
                break
            chosen, rss = self._work.exchanged(grown)
            sets[last + 1] = Subset(self._work.places[chosen], rss)
        return sets


def _all_sizes(
    work: _Working, starts: Iterable[Indices], most: int, criterion: Callable[[int, float], float]
) -> dict[int, Subset]:
    """Sets of all sizes up to some way beyond the best, from below, from the starts and from above."""
    found: dict[int, tuple[Indices, float]] = {0: (np.zeros(0, dtype=np.int64), work.rows.total)}

    def offer(chosen: Indices | None) -> bool:
        if chosen is None or len(chosen) > most:
            return False
        better, rss = work.exchanged(chosen)
        size = len(better)
        if size in found and rss >= found[size][1] * (1.0 - _LOWER):
            return False
        found[size] = better, rss
        return True

    for start in starts:
        offer(work.independent(start))
    for _ in range(_SWEEPS):
        changed, end = False, 0
        for size in range(most):
            changed |= offer(work.grown(found[size][0]))
            if size + 1 not in found:
                break
            end = size + 1
            if _turned(found, end, criterion):
                break
        for size in [size for size in found if size > end]:
            del found[size]
        for size in range(end, 1, -1):
            changed |= offer(work.shrunk(found[size][0]))
        if not changed:
            break
    return {size: Subset(work.places[found[size][0]], found[size][1]) for size in sorted(found)}


def _turned(
    found: dict[int, tuple[Indices, float]], end: int, criterion: Callable[[int, float], float]
) -> bool:
    """Whether the criterion has its minimum well before the end."""
    values = {size: criterion(size, rss) for size, (_, rss) in found.items() if size <= end}
    best = min(values, key=values.__getitem__)
    return end - best >= max(_PATIENCE, int(_PATIENCE_SHARE * best))


def _missing(
    rows: _Rows, sets: dict[int, Subset], criterion: Callable[[int, float], float], columns: Indices
) -> Indices:
    """Columns outside the working set that the best set, or one next to it, would take up."""
    best = min(sets, key=lambda size: criterion(size, sets[size].rss))
    near = [sets[size].columns for size in (best, best + 1) if size in sets]
    union = np.unique(np.concatenate(near))
    products = rows.against(union)
    outside: Mask = rows.free.copy()
    outside[columns] = False
    wanted = np.zeros(len(outside))
    for chosen in near:
        at = np.searchsorted(union, chosen)
        inside = products[np.ix_(chosen, at)]
        table = _Tableau.of(products[:, at], rows.cross, rows.squares, inside, rows.cross[chosen])
        gains = table.gains(rows.squares)
        gains[chosen] = 0.0
        wanted = np.maximum(wanted, np.where(gains > gains[columns].max(initial=0.0), gains, 0.0))
        if len(chosen):
            wanted = np.maximum(wanted, table.exchanges(rows.squares).max(axis=1))
    wanted[~outside] = 0.0
    limit = _LOWER * max(rows.total, 1e-300)
    order = np.argsort(-wanted, kind="stable")[:_JOIN]
    return order[wanted[order] > limit]
