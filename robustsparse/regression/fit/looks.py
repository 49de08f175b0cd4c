"""Looks at all predictors, noted down while a fit holds only some of them.

A fit whose design is too large for the memory runs on candidate columns. Whenever it looks at "all" predictors it notes
the look: what was asked of every column, and what a column would have to reach to change the outcome. `large` then
proves all looks in one pass over the design. Where no other column reaches what it would have to, the run is, look by
look, the run on all columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any

import numpy as np

from robustsparse.base.types import Array, Indices, Mask, Places


class Look:
    """What was asked of every column.

    Attributes
    ----------
    count : int or None
        Number of columns that it kept: no more of all columns can take their places. None if all that reach the bar
        have a say.
    """

    count: int | None = None

    def key(self) -> bytes:
        """The same for looks that ask the same."""
        digest = blake2b(type(self).__name__.encode(), digest_size=16)
        _digest(digest, self)
        return digest.digest()


def _digest(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        digest.update(
            f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
        )
    elif isinstance(value, tuple | list):
        for item in value:
            _digest(digest, item)
    elif isinstance(value, Look | Projected | Tried):
        for item in fields(value):  # type: ignore[arg-type]
            _digest(digest, getattr(value, item.name))
    else:
        digest.update(repr(value).encode())


@dataclass(frozen=True, eq=False)
class GradientLook(Look):
    """A threshold: which columns have a robust gradient as large as the bar.

    Attributes
    ----------
    rows : array of int or None
        The rows that it is the gradient of; None for all.
    trimmed : int
        Number of values trimmed at each end; 0 is the plain mean.
    score : array (rows,)
        The scores.
    bar : float
        What the smallest coefficient that was kept stands for.
    count : int
        Number of columns that were kept.
    """

    rows: Places | None
    trimmed: int
    score: Array
    bar: float
    count: int


@dataclass(frozen=True, eq=False)
class MiddleLook(Look):
    """The `count` columns whose middle goes best with the response `y` (n,), as well as the `bar`."""

    y: Array
    bar: float
    count: int


@dataclass(frozen=True, eq=False)
class LevelLook(Look):
    """Rare levels whose rows were rejected, and share a shift: the good rows (n,) and the residuals of all."""

    good: Mask
    resid: Array


@dataclass(frozen=True, eq=False)
class Projected:
    """Weighted rows in which columns are compared, with what the kept columns explain projected out.

    Attributes
    ----------
    root : array (n,)
        Roots of the weights, 0 for rows that have no part in it.
    target : array (n,)
        The response, weighted and projected.
    basis : array (n, q)
        Orthonormal basis of the kept columns, weighted.
    """

    root: Array
    target: Array
    basis: Array


@dataclass(frozen=True, eq=False)
class PromisingLook(Look):
    """The `count` columns that explain at least as much as the bar as the only one."""

    rows: Projected
    bar: float
    count: int


@dataclass(frozen=True, eq=False)
class Tried:
    """A set of columns for which others were tried: as `column_sets` takes them.

    Attributes
    ----------
    at : array of int (k,)
        Places of the set among the columns of the look.
    inside, own : array (k, k), (k,)
        Inner products of the set, and with the target.
    gain : float
        What the best column of the working set adds to it.
    """

    at: Indices
    inside: Array
    own: Array
    gain: float


@dataclass(frozen=True, eq=False)
class MissingLook(Look):
    """Columns that one of the sets would take up.

    Attributes
    ----------
    rows : Projected
        The rows.
    some : array (n, u)
        The columns of all sets, weighted and projected.
    sets : sequence of Tried
        The sets.
    bar : float
        By how much a column must lower the residual sum of squares to be taken up.
    count : int
        Number of columns that are taken up at most.
    """

    rows: Projected
    some: Array
    sets: tuple[Tried, ...]
    bar: float
    count: int


@dataclass(frozen=True, eq=False)
class CopyLook(Look):
    """Columns whose correlation with a chosen one is as large as its bar.

    Attributes
    ----------
    share : array (n,)
        Weights of the rows, of sum one.
    chosen : array (n, s)
        The chosen columns, centered.
    length : array (s,)
        Their standard deviations.
    bars : array (s,)
        The correlations.
    """

    share: Array
    chosen: Array
    length: Array
    bars: Array


@dataclass(eq=False)
class Log:
    """The looks of a run, and columns that it needed to hold and did not.

    Attributes
    ----------
    looks : dict from key to Look
        The looks; of gradients that differ in nothing but the bar the one with the lowest.
    needed : set of int
        Columns that a run must hold to be the whole run.
    """

    looks: dict[bytes, Look] = field(default_factory=dict)
    needed: set[int] = field(default_factory=set)

    def add(self, look: Look) -> None:
        """Note a look."""
        self.looks.setdefault(look.key(), look)


@dataclass(frozen=True, eq=False)
class Whole:
    """The design that a problem holds some columns of.

    Attributes
    ----------
    columns : array of int (c,)
        The predictors that are held, ascending.
    constant : bool array (d,)
        Which of all predictors are constant.
    n : int
        Number of rows of the design.
    log : Log
        Takes the looks.
    far : object
        How far out the rows are in all predictors, a `Leverage`.
    clusters : array of int (n,)
        Clusters of rows, judged on all predictors.
    rows : array of int or None
        Which rows of the design the problem holds; None for all.
    """

    columns: Indices
    constant: Mask
    n: int
    log: Log
    far: Any
    clusters: Indices
    rows: Places | None = None

    @property
    def d(self) -> int:
        """Number of all predictors."""
        return len(self.constant)

    def rows_of(self, index: Any) -> Places:
        """Rows of the design that some rows of the problem are."""
        chosen = np.asarray(index)
        places = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return places if self.rows is None else self.rows[places]

    def spread(self, values: Array) -> Array:
        """Values of the problem's rows as those of the design's, 0 for the others."""
        if self.rows is None:
            return values
        out = np.zeros((self.n, *values.shape[1:]))
        out[self.rows] = values
        return out

    def watch(self, trimmed: int) -> Any:
        """Takes the looks of a gradient that trims so many values at each end."""

        def note(score: Array, bar: float, count: int) -> None:
            own = np.array(score, dtype=np.float64)
            if trimmed:
                self.log.add(GradientLook(self.rows, trimmed, own, bar, count))
            else:
                # To a plain mean a row left out is a score of zero.
                full = self.spread(own) * (self.n / len(own))
                self.log.add(GradientLook(None, 0, full, bar, count))

        return note

    def first_free(self, taken: Sequence[int], count: int) -> Indices:
        """The first of all predictors that are free and not taken; by their places if they are held, else noted."""
        free = ~self.constant
        free[self.columns[np.asarray(taken, dtype=np.int64)]] = False
        wanted = np.flatnonzero(free)[:count]
        self.log.needed.update(np.setdiff1d(wanted, self.columns).tolist())
        return np.searchsorted(self.columns, np.intersect1d(wanted, self.columns))
