"""What a fit has to know of all columns before it begins, from one pass over them.

Location and scale of the columns, how far out the rows are, how many of their cells are, the columns by which clusters
of rows are found, and how well each column goes with the response, which says what to hold at first.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustsparse.algorithm.estimator import Estimator
from robustsparse.base.checks import LARGEST, check_finite_columns
from robustsparse.base.errors import DataError
from robustsparse.base.types import Array, Indices, Mask, Places
from robustsparse.design.stores.store import Block, ColumnStore
from robustsparse.regression.fit.rows import Leverage
from robustsparse.robust.common_values import beyond_ordinary
from robustsparse.robust.distances import (
    ROWS_A_COLUMN,
    directions,
    distance_cutoff,
    distances_beside,
    far_counts,
    robust_distances,
    score_cutoff,
)
from robustsparse.robust.row_clusters import MOST_COLUMNS, row_clusters
from robustsparse.robust.slopes import middle_slopes
from robustsparse.robust.standardize import Scaling, restandardized, standardize
from robustsparse.robust.subspaces import (
    inner_products,
    products,
    scores_from_inner,
    scores_from_products,
)
from robustsparse.robust.wrong_cells import RowCounts, row_counts

# Inner products of more rows are not formed; their leading directions cost several passes.
_MOST_INNER = 5000
# Inner products that are there at once, beside those of each thread: the sum, and what is made of it.
_INNER_COPIES = 3

# A pass with a bar of its progress, if one is wanted: takes the outcomes and what they are.
Shown = Callable[[Iterator[Any], str], Iterator[Any]]


@dataclass(frozen=True)
class Units:
    """How columns are brought to the units of the fit.

    Attributes
    ----------
    how : str
        Their scale, see `standardize`.
    center : bool
        Whether their location is subtracted.
    dtype : type
        Precision.
    rows : array of int or None
        The rows that count; None for all.
    """

    how: str
    center: bool
    dtype: type[np.floating]
    rows: Places | None = None

    def taken(self, block: Block) -> Block:
        """The rows that count."""
        return block if self.rows is None else np.take(block, self.rows, axis=1)

    def standardized(self, block: Block, scaling: Scaling) -> Array:
        """Columns in units that are known."""
        return restandardized(self.taken(block), scaling, self.dtype)


@dataclass(frozen=True)
class Asked:
    """What a first pass is to find out.

    Attributes
    ----------
    every : int
        One of so many columns is looked at for clusters of rows.
    inner : bool
        Whether inner products of the rows are formed.
    cells : bool
        Whether cells are judged.
    estimator : Estimator
        Robust mean by which columns are compared with the response.
    y : array (n,)
        Response, centered, no value of it far out.
    """

    every: int
    inner: bool
    cells: bool
    estimator: Estimator
    y: Array


@dataclass(frozen=True)
class Described:
    """What is found in a block of columns; the fields are those of `Statistics` before they are put together."""

    scaling: Scaling
    far: Indices
    squares: Array
    inner: Array | None
    counts: RowCounts
    own_counts: RowCounts
    sample: Array
    slopes: Array
    broken: int | None = None


def describe(block: Block, first: int, units: Units, asked: Asked) -> Described | int:
    """What there is to be known of a block of columns; the number of the first one that holds no finite numbers."""
    block = units.taken(block)
    # NaN and infinity fail these comparisons too.
    low, high = block.min(axis=1).astype(np.float64), block.max(axis=1).astype(np.float64)
    broken = np.flatnonzero(~((low >= -LARGEST) & (high <= LARGEST)))
    if len(broken):
        return first + int(broken[0])
    XT, scaling = standardize(block.T, units.how, center=units.center, dtype=units.dtype)
    Z = beyond_ordinary(XT).T
    inner = inner_products(Z) if asked.inner else None
    squares = np.diagonal(inner).copy() if inner is not None else _squares(Z)
    by_mad = units.center and units.how == "mad"
    counts = row_counts(XT) if asked.cells else _no_counts(XT.shape[1])
    own = counts
    if asked.cells and not by_mad:
        own = row_counts(standardize(XT.T, "mad")[0])
    offset = -first % asked.every
    slopes = np.array([np.abs(asked.estimator(XT.T, asked.y)), middle_slopes(XT, asked.y)])
    slopes[:, scaling.constant] = -1.0
    return Described(
        scaling,
        far_counts(Z),
        squares,
        inner,
        counts,
        own,
        XT[offset :: asked.every].copy(),
        slopes,
    )


def _squares(Z: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", Z, Z, dtype=np.float64))


def _no_counts(n: int) -> RowCounts:
    return RowCounts(*(np.zeros(n, dtype=np.int64) for _ in range(3)))


def multiply(block: Block, scaling: Scaling, units: Units, some: Array) -> Array:
    """Product of the inner products of rows, as far as a block has a part in them, with some vectors."""
    return products(beyond_ordinary(units.standardized(block, scaling)).T, some)


@dataclass(frozen=True)
class Statistics:
    """What is known of all columns.

    Attributes
    ----------
    scaling : Scaling
        Location and scale of the d columns.
    far : Leverage
        How far out the rows are.
    clusters : array of int (n,)
        Clusters of rows.
    counts, own_counts : RowCounts
        Far cells of the rows, in the units of the fit and in units of the MAD.
    slopes : array (2, d)
        How well columns go with the response, by two measures; negative for constant ones.
    """

    scaling: Scaling
    far: Leverage
    clusters: Indices
    counts: RowCounts
    own_counts: RowCounts
    slopes: Array

    @property
    def constant(self) -> Mask:
        """Columns without variation."""
        return self.scaling.constant

    def parts(self, blocks: Sequence[tuple[int, int]]) -> list[Scaling]:
        """The scaling of each block."""
        return [part_of(self.scaling, slice(*block)) for block in blocks]


def part_of(scaling: Scaling, columns: Any) -> Scaling:
    """The scaling of some columns."""
    return Scaling(scaling.location[columns], scaling.scale[columns], scaling.constant[columns])


def statistics(
    store: ColumnStore,
    units: Units,
    asked: Asked,
    names: Sequence[str],
    memory: int,
    threads: int,
    shown: Shown,
) -> Statistics:
    """Find out what is to be known of all columns: in one pass, or in eight if there are very many rows."""
    n, d = len(asked.y), store.shape[1]
    copies = threads + _INNER_COPIES
    few = d * ROWS_A_COLUMN <= n
    inner = not few and n <= _MOST_INNER and 16 * n * n * copies <= memory
    asked = replace(asked, inner=inner)
    found = _Sums(n)
    firsts = [block[0] for block in store.blocks]
    for part in shown(store.map(describe, units, asked, each=firsts), "statistics of all columns"):
        if isinstance(part, int):
            # Raises, with the name of the column.
            check_finite_columns(units.taken(store.take(np.array([part]))), 0, [names[part]])
        found.add(part)
    known = found.together()
    distances = _distances(store, units, known, found, few, memory, shown)
    scores = found.far / d
    cutoff = distance_cutoff(distances)
    far = Leverage((scores > score_cutoff(scores)) | (distances > cutoff), distances, cutoff)
    return replace(known, far=far)


def _distances(
    store: ColumnStore,
    units: Units,
    known: Statistics,
    found: "_Sums",
    few: bool,
    memory: int,
    shown: Shown,
) -> Array:
    """Distances of the rows, as `rows.leverage` finds them."""
    n, d = len(found.squares), store.shape[1]
    if few:
        return _robust_distances(store, units, known, memory)
    most = directions(n, d)
    if not most:
        return distances_beside(found.squares, np.empty((n, 0)))
    if found.inner is not None:
        return distances_beside(*scores_from_inner(found.inner, most))

    def multiplied(some: Array) -> Array:
        passed = store.map(multiply, units, some, each=known.parts(store.blocks))
        return np.asarray(sum(shown(passed, "distances of the rows")))

    return distances_beside(found.squares, scores_from_products(found.squares, most, multiplied))


def _robust_distances(store: ColumnStore, units: Units, known: Statistics, memory: int) -> Array:
    """Of few columns, which are held."""
    n, d = store.shape
    if 64 * n * d > memory:
        raise DataError(
            f"X has {n} rows and only {d} columns, whose robust distances need {64 * n * d / 1e9:.2g} GB; columns are "
            "what a fit of large data reads in parts. Raise memory=, or fit a sample of the rows."
        )
    XT = units.standardized(store.take(np.arange(d)), known.scaling)
    return robust_distances(beyond_ordinary(XT).T)


class _Sums:
    """What blocks tell, put together as they come."""

    def __init__(self, n: int) -> None:
        self.far, self.squares = np.zeros(n, dtype=np.int64), np.zeros(n)
        self.inner: Array | None = None
        self.parts: list[tuple[Scaling, Array, Array]] = []
        self.counts, self.own_counts = _no_counts(n), _no_counts(n)

    def add(self, part: Described) -> None:
        """Add a block."""
        self.far += part.far
        self.squares += part.squares
        if self.inner is None:
            self.inner = part.inner
        elif part.inner is not None:
            self.inner += part.inner
        self.counts = _added(self.counts, part.counts)
        self.own_counts = _added(self.own_counts, part.own_counts)
        self.parts.append((part.scaling, part.sample, part.slopes))

    def together(self) -> Statistics:
        """The statistics, but for how far out the rows are."""
        scaling = Scaling(
            np.concatenate([part[0].location for part in self.parts]),
            np.concatenate([part[0].scale for part in self.parts]),
            np.concatenate([part[0].constant for part in self.parts]),
        )
        clusters = row_clusters(np.concatenate([part[1] for part in self.parts]))
        nobody = Leverage(np.zeros(len(self.far), dtype=bool), np.zeros(len(self.far)), 0.0)
        slopes = np.concatenate([part[2] for part in self.parts], axis=1)
        return Statistics(scaling, nobody, clusters, self.counts, self.own_counts, slopes)


def _added(one: RowCounts, other: RowCounts) -> RowCounts:
    return RowCounts(one.far + other.far, one.near + other.near, one.large + other.large)


def sampled(d: int) -> int:
    """One of so many columns is looked at for clusters of rows."""
    return max(1, -(-d // MOST_COLUMNS))
