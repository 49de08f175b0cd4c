"""What a cell should have been: its expectation given the cells of the row in the columns nearest to its own."""

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.types import Array, Indices, Mask

# Products of long columns are computed in single precision.
Singles = NDArray[np.float32]

# Values further from the center of their column, in its units, count as if they were this far.
_CLIP = 3.0
# So many neighbors a column has at most, and none that is correlated less with it.
_NEIGHBORS, _LEAST_CORRELATION = 6, 0.15
# No cell is known better than this share of its column's variance allows.
_LEAST_VARIANCE = 1e-4
# Correlations of all pairs are computed as long as they take no more multiplications; else some rows tell which pairs
# are worth a closer look: those whose correlation in these rows is so many of its standard errors. Where all columns
# are alike, each is looked at with its nearest later ones alone, so many on average.
_MULTIPLICATIONS, _FEWEST_ROWS = 5e9, 100
_STANDARD_ERRORS, _MOST_HITS = 4.0, 16
# Numbers in one block of a large product, and in one that is passed over several times and should stay in the cache.
_BLOCK, _CACHED = 4_000_000, 1 << 17


@dataclass(frozen=True, eq=False)
class Imputer:
    """Columns with their nearest ones, enough to fill cells of these and of new rows.

    Attributes
    ----------
    columns : array of int (t,)
        Columns whose cells can be filled, ascending.
    neighbors : array of int (t, m)
        The nearest other columns of each; -1 where there are fewer.
    correlations : array (t, m, m)
        Robust correlations of the neighbors with each other.
    cross : array (t, m)
        Those of the column with its neighbors.
    mean, sd, low, high : array (d,)
        Robust mean and spread of every column, and where its values are clipped.
    """

    columns: Indices
    neighbors: Indices
    correlations: Array
    cross: Array
    mean: Array
    sd: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, XT: Array, doubtful: Mask, columns: Indices, rows: Mask | None = None) -> "Imputer":
        """Learn from standardized columns.

        Parameters
        ----------
        XT : array (d, n)
            Columns, each with robust location 0 and scale 1 (or all zero).
        doubtful : bool array (d, n)
            Cells that are missing or wrong, whatever they hold.
        columns : array of int
            Columns whose cells are to be filled.
        rows : bool array (n,), optional
            Rows to learn from; all by default.
        """
        Z, mean, sd, sound = _scores(XT, doubtful, rows)
        neighbors = _nearest(Z, columns)
        correlations, cross = _correlations(Z, sound, columns, neighbors)
        limit = np.full(len(XT), _CLIP)
        return cls(columns, neighbors, correlations, cross, mean, sd, -limit, limit)

    def fill(self, values: Array, doubtful: Mask) -> tuple[Indices, Indices, Array, Array]:
        """What doubtful cells should have been.

        Parameters
        ----------
        values : array (d, n)
            Columns; those of doubtful cells are not looked at.
        doubtful : bool array (d, n)
            Cells to fill; those in columns that were not learned are left out.

        Returns
        -------
        column, row : arrays of int (c,)
            The cells.
        filled : array (c,)
            Their expected values.
        error : array (c,)
            Standard deviations of what they are off by.
        """
        place, row = np.nonzero(doubtful[self.columns])
        filled, error = np.empty(len(row)), np.empty(len(row))
        step = max(1, _BLOCK // max(1, self.neighbors.shape[1]) ** 2)
        for start in range(0, len(row), step):
            part = slice(start, start + step)
            filled[part], error[part] = self._expected(values, doubtful, place[part], row[part])
        column = self.columns[place]
        return column, row, self.mean[column] + self.sd[column] * filled, self.sd[column] * error

    def _expected(
        self, values: Array, doubtful: Mask, place: Indices, row: Indices
    ) -> tuple[Array, Array]:
        """Expectation of cells given those of their neighbors that are sound, and its error, in standard units."""
        near = self.neighbors[place]
        known = ~doubtful[near, row[:, None]]
        known &= near >= 0
        clipped = np.clip(values[near, row[:, None]], self.low[near], self.high[near])
        score = np.where(known, (clipped - self.mean[near]) / self.sd[near], 0.0)
        slope, error = self._slopes(place, known)
        return np.einsum("ij,ij->i", slope, score), error

    def _slopes(self, place: Indices, known: Mask) -> tuple[Array, Array]:
        """Slopes of columns on those of their neighbors that are known, and the errors that remain."""
        # Most cells have neighbors that are all sound: their columns' slopes are computed once.
        fresh = np.r_[True, place[1:] != place[:-1]]
        own, at = place[fresh], np.cumsum(fresh) - 1
        there = self.neighbors[own] >= 0
        slope, error = _regression(self.correlations[own], self.cross[own], there)
        slope, error = slope[at], error[at]
        rest = np.flatnonzero((known != there[at]).any(axis=1))
        own = place[rest]
        slope[rest], error[rest] = _regression(self.correlations[own], self.cross[own], known[rest])
        return slope, error

    def in_units(self, location: Array, scale: Array) -> "Imputer":
        """The same for columns that are in units of their own."""
        return replace(
            self,
            mean=location + scale * self.mean,
            sd=scale * self.sd,
            low=location + scale * self.low,
            high=location + scale * self.high,
        )

    def part(self, columns: Indices) -> tuple["Imputer", Indices]:
        """The same for some of the columns it can fill, with the columns that it reads, ascending."""
        kept = np.isin(self.columns, columns)
        near = self.neighbors[kept]
        read = np.unique(np.r_[columns, near[near >= 0]])
        few = replace(
            self,
            columns=np.searchsorted(read, self.columns[kept]),
            neighbors=np.where(near >= 0, np.searchsorted(read, near), -1),
            correlations=self.correlations[kept],
            cross=self.cross[kept],
            mean=self.mean[read],
            sd=self.sd[read],
            low=self.low[read],
            high=self.high[read],
        )
        return few, read


def _regression(correlations: Array, cross: Array, known: Mask) -> tuple[Array, Array]:
    """Slopes (c, m) on the neighbors that are known, and the standard errors (c,) of what is expected with them."""
    # Neighbors that are not known are correlated with nothing.
    pairs = known[:, :, None] & known[:, None, :]
    matrix = np.where(pairs, correlations, np.eye(known.shape[1]))
    cross = np.where(known, cross, 0.0)
    slope: Array = np.linalg.solve(matrix, cross[:, :, None])[:, :, 0].astype(np.float64)
    explained = np.einsum("ij,ij->i", slope, cross)
    return slope, np.asarray(np.sqrt(np.clip(1.0 - explained, _LEAST_VARIANCE, 1.0)))


def _scores(XT: Array, doubtful: Mask, rows: Mask | None) -> tuple[Singles, Array, Array, Mask]:
    """Clipped columns with mean 0 and sum of squares 1, zero where doubtful; means, spreads, which cells are sound."""
    used = slice(None) if rows is None or rows.all() else np.flatnonzero(rows)
    d, n = len(XT), XT[:1, used].shape[1]
    Z, sound = np.empty((d, n), dtype=np.float32), np.empty((d, n), dtype=np.bool_)
    mean, sd = np.empty(d), np.empty(d)
    step = max(1, _CACHED // max(1, n))
    for start in range(0, d, step):
        part = slice(start, start + step)
        np.logical_not(doubtful[part][:, used], out=sound[part])
        # Doubtful cells may hold anything, and nothing times zero is safe but what is finite.
        known = np.where(sound[part], np.clip(XT[part][:, used], -_CLIP, _CLIP), 0.0)
        count = np.count_nonzero(sound[part], axis=1)
        most = np.maximum(count, 1)
        mean[part] = known.sum(axis=1) / most
        known = (known - mean[part, None]) * sound[part]
        root = np.sqrt(np.einsum("ij,ij->i", known, known))
        Z[part] = known / np.where(root > 0, root, 1.0)[:, None]
        # Of a column without sound cells only the units are known.
        sd[part] = np.where(count > 0, np.maximum(root / np.sqrt(most), 1e-12), 1.0)
    return Z, mean, sd, sound


def _nearest(Z: Singles, columns: Indices) -> Indices:
    """The most correlated others (t, m) of some columns; -1 where there are fewer beyond the bar of chance."""
    d, n = Z.shape
    t, m = len(columns), min(_NEIGHBORS, d - 1)
    nearest = np.full((t, m), -1, dtype=np.int64)
    if m == 0 or t == 0:
        return nearest
    rows = max(int(_MULTIPLICATIONS / (float(d) * t)), _FEWEST_ROWS)
    one, other, size = _beyond(Z, columns, rows) if n > rows else _largest(Z, columns, m)
    order = np.lexsort((other, -size, one))
    one, other, size = one[order], other[order], size[order]
    rank = np.arange(len(one)) - np.searchsorted(one, one)
    kept = (rank < m) & (size > max(_LEAST_CORRELATION, sqrt(2.0 * log(max(d, 2)) / n)))
    nearest[one[kept], rank[kept]] = other[kept]
    return nearest[:, (nearest >= 0).any(axis=0)]


def _largest(Z: Singles, columns: Indices, m: int) -> tuple[Indices, Indices, Array]:
    """Places of columns, the m others that are most correlated with each, and how much they are."""
    best, size = np.empty((len(columns), m), dtype=np.int64), np.empty((len(columns), m))
    step = max(1, _BLOCK // len(Z))
    for start in range(0, len(columns), step):
        own = columns[start : start + step]
        found = np.abs(Z[own] @ Z.T)
        found[np.arange(len(own)), own] = -1.0
        best[start : start + step] = np.argpartition(found, -m, axis=1)[:, -m:]
        size[start : start + step] = np.take_along_axis(found, best[start : start + step], axis=1)
    return np.repeat(np.arange(len(columns)), m), best.ravel(), size.ravel()


def _beyond(Z: Singles, columns: Indices, rows: int) -> tuple[Indices, Indices, Array]:
    """Places of columns, others that are correlated with them in some rows, and how much they are in all rows."""
    # The columns in question come first; so every pair has to be looked at once only.
    order = np.r_[columns, np.setdiff1d(np.arange(len(Z)), columns)]
    some = _some_rows(Z, rows)[order]
    step = max(1, _BLOCK // len(Z))
    t = len(columns)
    found = [_hits(some[a:], min(step, t - a), rows) + a for a in range(0, t, step)]
    one, other = np.concatenate(found, axis=1)
    size = np.empty(len(one))
    for part in np.array_split(np.arange(len(one)), max(1, len(one) * Z.shape[1] // _CACHED)):
        pair = Z[order[one[part]]], Z[order[other[part]]]
        size[part] = np.abs(np.einsum("ij,ij->i", *pair))
    back = other < t
    pairs = np.r_[one, other[back]], order[np.r_[other, one[back]]]
    return *pairs, np.r_[size, size[back]]


def _hits(some: Singles, count: int, rows: int) -> Indices:
    """Pairs (2, h) of one of the first columns with a later one that stand out by their correlation."""
    size = some[:count] @ some.T
    np.abs(size, out=size)
    size[:, :count] = np.triu(size[:, :count], 1)
    bar = _STANDARD_ERRORS / sqrt(rows)
    hits = np.flatnonzero(size > bar)
    most = _MOST_HITS * count
    if len(hits) > most:
        own = np.partition(size, -_MOST_HITS, axis=1)[:, -_MOST_HITS, None]
        hits = np.flatnonzero(size >= np.maximum(own, bar))
        # Copies are equally near, however many.
        hits = hits[:: -(-len(hits) // most)]
    return np.stack(np.divmod(hits, len(some)))


def _some_rows(Z: Singles, count: int) -> Singles:
    """Columns of some rows alone, of unit length."""
    rows = np.random.default_rng(0).choice(Z.shape[1], count, replace=False)
    part = np.take(Z, np.sort(rows), axis=1)
    length = np.sqrt(np.einsum("ij,ij->i", part, part))
    return np.asarray(part / np.where(length > 0, length, 1.0)[:, None])


def _correlations(
    Z: Singles, sound: Mask, columns: Indices, neighbors: Indices
) -> tuple[Array, Array]:
    """Correlations of neighbors with each other and with their column, shrunken for the chance in few rows."""
    t, m = neighbors.shape
    n = Z.shape[1]
    found = np.empty((t, m + 1, m + 1))
    step = max(1, _BLOCK // ((m + 1) * n))
    for start in range(0, t, step):
        part = slice(start, start + step)
        found[part] = _products(Z, sound, np.c_[neighbors[part], columns[part]])
    found = np.clip(found, -1.0, 1.0) / (1.0 + 2.0 * m / n)
    none = np.c_[neighbors, columns] < 0
    found[none[:, :, None] | none[:, None, :]] = 0.0
    found[:, np.arange(m), np.arange(m)] = 1.0
    return found[:, :m, :m].copy(), found[:, :m, m].copy()


def _products(Z: Singles, sound: Mask, sets: Indices) -> Array:
    """Correlations (t, m, m) within sets of columns (t, m)."""
    A = Z[sets]
    # Products are summed over the rows where both cells are sound; the lengths of the columns are of all their own.
    S = sound[sets].astype(np.float32)
    both = S @ S.transpose(0, 2, 1)
    count = np.sqrt(np.diagonal(both, axis1=1, axis2=2))
    grown = count[:, :, None] * count[:, None, :] / np.maximum(both, 1.0)
    return np.asarray(grown * (A @ A.transpose(0, 2, 1)), dtype=np.float64)
