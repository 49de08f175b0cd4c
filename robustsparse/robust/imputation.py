"""What a cell should have been: its expectation given the cells of the row in the columns nearest to its own."""

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np

from robustsparse.base.types import Array, Indices, Mask

# Values further from the center of their column, in its units, count as if they were this far.
_CLIP = 3.0
# So many neighbors a column has at most, and none that is correlated less with it.
_NEIGHBORS, _LEAST_CORRELATION = 6, 0.15
# No cell is known better than this share of its column's variance allows.
_LEAST_VARIANCE = 1e-4
# Correlations of all pairs are computed as long as they take no more multiplications; else some rows tell which pairs
# are worth a closer look, by a correlation in these rows beyond one of the bars, the lowest that few pairs pass.
_MULTIPLICATIONS, _FEWEST_ROWS = 3e10, 100
_BARS, _MOST_HITS = (0.4, 0.6, 0.8, 0.9, 0.98), 30
# Numbers in one block of a large product.
_BLOCK = 4_000_000


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
        width = max(1, self.neighbors.shape[1])
        step = max(1, _BLOCK // width**2)
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
        known = (near >= 0) & ~doubtful[near, row[:, None]]
        clipped = np.clip(values[near, row[:, None]], self.low[near], self.high[near])
        score = np.where(known, (clipped - self.mean[near]) / self.sd[near], 0.0)
        # Neighbors that are not known are correlated with nothing.
        pairs = known[:, :, None] & known[:, None, :]
        matrix = np.where(pairs, self.correlations[place], np.eye(near.shape[1]))
        cross = np.where(known, self.cross[place], 0.0)
        slope = np.linalg.solve(matrix, cross[:, :, None])[:, :, 0]
        explained = np.einsum("ij,ij->i", slope, cross)
        error = np.sqrt(np.clip(1.0 - explained, _LEAST_VARIANCE, 1.0))
        return np.einsum("ij,ij->i", slope, score), error

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


def _scores(XT: Array, doubtful: Mask, rows: Mask | None) -> tuple[Array, Array, Array, Array]:
    """Clipped columns with mean 0 and sum of squares 1, zero where doubtful; their means, spreads, sound shares."""
    Z = np.clip(XT, -_CLIP, _CLIP, dtype=np.float32)
    Z[doubtful] = 0.0
    if rows is not None and not rows.all():
        Z, doubtful = np.compress(rows, Z, axis=1), np.compress(rows, doubtful, axis=1)
    n = Z.shape[1]
    count = np.maximum(n - doubtful.sum(axis=1), 1)
    mean = Z.sum(axis=1, dtype=np.float64) / count
    Z -= mean[:, None].astype(np.float32)
    Z[doubtful] = 0.0
    root = np.sqrt(np.einsum("ij,ij->i", Z, Z).astype(np.float64))
    Z /= np.where(root > 0, root, 1.0)[:, None].astype(np.float32)
    return Z, mean, np.maximum(root / np.sqrt(count), 1e-12), count / n


def _nearest(Z: Array, columns: Indices) -> Indices:
    """The most correlated others (t, m) of some columns; -1 where there are fewer beyond the bar of chance."""
    d, n = Z.shape
    bar = max(_LEAST_CORRELATION, sqrt(2.0 * log(max(d, 2)) / n))
    m = min(_NEIGHBORS, d - 1)
    nearest = np.full((len(columns), m), -1, dtype=np.int64)
    if m == 0:
        return nearest
    few = int(_MULTIPLICATIONS / (float(d) * max(len(columns), 1)))
    screened = n > max(few, _FEWEST_ROWS)
    some = _some_rows(Z, max(few, _FEWEST_ROWS)) if screened else Z
    step = max(1, _BLOCK // d)
    for start in range(0, len(columns), step):
        own = columns[start : start + step]
        size = np.abs(some[own] @ some.T)
        size[np.arange(len(own)), own] = 0.0
        if screened:
            size = _closer(Z, own, size)
        best = (
            np.argpartition(-size, m - 1, axis=1)[:, :m]
            if d > m
            else np.tile(np.arange(d), (len(own), 1))
        )
        found = np.take_along_axis(size, best, axis=1)
        order = np.argsort(-found, axis=1, kind="stable")
        best, found = (
            np.take_along_axis(best, order, axis=1),
            np.take_along_axis(found, order, axis=1),
        )
        nearest[start : start + step] = np.where(found > bar, best, -1)
    return nearest


def _some_rows(Z: Array, count: int) -> Array:
    """Columns of some rows alone, of unit length."""
    rows = np.random.default_rng(0).choice(Z.shape[1], count, replace=False)
    part = np.take(Z, np.sort(rows), axis=1)
    length = np.sqrt(np.einsum("ij,ij->i", part, part))
    return np.asarray(part / np.where(length > 0, length, 1.0)[:, None])


def _closer(Z: Array, own: Indices, size: Array) -> Array:
    """Correlations in all rows of those pairs that are beyond a bar in some; zero for the others."""
    for bar in _BARS:
        one, other = np.nonzero(size > bar)
        if len(one) <= _MOST_HITS * len(own):
            break
    exact = np.zeros_like(size)
    for part in np.array_split(np.arange(len(one)), max(1, len(one) * Z.shape[1] // _BLOCK)):
        pair = one[part], other[part]
        exact[pair] = np.abs(np.einsum("ij,ij->i", Z[own[pair[0]]], Z[pair[1]]))
    return exact


def _correlations(
    Z: Array, sound: Array, columns: Indices, neighbors: Indices
) -> tuple[Array, Array]:
    """Correlations of neighbors with each other and with their column, shrunken for the chance in few rows."""
    t, m = neighbors.shape
    n = Z.shape[1]
    within, cross = np.empty((t, m, m)), np.empty((t, m))
    step = max(1, _BLOCK // max(1, m * n))
    shrink = 1.0 / (1.0 + 2.0 * m / n)
    for start in range(0, t, step):
        part = slice(start, start + step)
        near, own = neighbors[part], columns[part]
        A = Z[near]
        # Cells that are zero because they are doubtful make products smaller than they are.
        share = np.sqrt(sound[near])
        within[part] = np.einsum("tan,tbn->tab", A, A, optimize=True) / (
            share[:, :, None] * share[:, None, :]
        )
        cross[part] = np.einsum("tan,tn->ta", A, Z[own]) / (share * np.sqrt(sound[own])[:, None])
        none = near < 0
        within[part][none[:, :, None] | none[:, None, :]] = 0.0
        cross[part][none] = 0.0
    np.clip(within, -1.0, 1.0, out=within)
    np.clip(cross, -1.0, 1.0, out=cross)
    within *= shrink
    within[:, np.arange(m), np.arange(m)] = 1.0
    return within, cross * shrink
