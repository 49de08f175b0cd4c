"""Whether columns that a run did not hold would have changed it: all its looks at once, for one block of columns.

A pure function of a block, so that a pass can be a loop over a file or tasks of a cluster. Values are computed here by
other arithmetic than in the run, so that a column counts as reaching a bar that it misses by no more than rounding: at
worst the run holds a column more than it needs to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.algorithm.exchanges import DEPENDENT, Tableau
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.design.stores.store import Block
from robustsparse.regression.fit.copies import sizes_of_correlations
from robustsparse.regression.fit.levels import RareLevels, rare_values
from robustsparse.regression.fit.looks import (
    CopyLook,
    GradientLook,
    LevelLook,
    Look,
    MiddleLook,
    MissingLook,
    Projected,
    PromisingLook,
)
from robustsparse.regression.large.statistics import Units
from robustsparse.robust.slopes import middle_slopes
from robustsparse.robust.standardize import Scaling

# A column that reaches a bar but for this part of it may have reached it but for rounding.
_ROUNDING = 1e-9
# Columns that come so near to the bar of a gradient, or to what a column must explain alone, may join the next run as
# well: its bars are a little different.
_NEAR, _NEAR_ALONE = 0.9, 0.8
# A look names so many columns for each one that it kept, the strongest. More of them cannot all have a say: those that
# join raise the bar. Most looks of a run that is not proved are looks of another run, with bars that mean little.
NAMED = 2


class Own(NamedTuple):
    """What is known of a block: its scaling, and which of its columns were held."""

    scaling: Scaling
    held: Mask


@dataclass(frozen=True)
class Named:
    """Columns that would have changed the outcome of a look, or came near to it: the strongest, and these first.

    Attributes
    ----------
    columns : array of int (c,)
        The columns.
    sizes : array (c,)
        How strong they are, descending.
    changes : bool array (c,)
        Which would have changed the outcome; the others came near.
    objections : int
        Number of all columns that would have changed it, named or not.
    """

    columns: Indices
    sizes: Array
    changes: Mask
    objections: int

    @property
    def complete(self) -> bool:
        """Whether all are named that would have changed the outcome."""
        return int(self.changes.sum()) == self.objections

    def moved(self, first: int) -> "Named":
        """With columns of a block as those of the design."""
        return replace(self, columns=first + self.columns)


def strongest(look: Look, some: Sequence[Named]) -> Named:
    """What blocks name for a look, put together."""
    sizes = np.concatenate([one.sizes for one in some])
    most = None if look.count is None else NAMED * look.count
    order = np.argsort(-sizes, kind="stable")[:most]
    columns = np.concatenate([one.columns for one in some])[order]
    changes = np.concatenate([one.changes for one in some])[order]
    return Named(columns, sizes[order], changes, sum(one.objections for one in some))


# Columns that are named for some of the looks, by their places among these.
Verdict = dict[int, Named]


def prove(block: Block, own: Own, units: Units, looks: Sequence[Look]) -> Verdict:
    """Judge the columns of a block by all looks of a run."""
    XT = units.standardized(block, own.scaling)
    out = own.held | own.scaling.constant
    place = {id(look): at for at, look in enumerate(looks)}
    verdict: Verdict = {}
    with np.errstate(all="ignore"):
        for judged in _judged(XT, out, looks):
            found = np.flatnonzero((judged.near | judged.changes) & ~out)
            if len(found):
                changes = judged.changes[found]
                named = Named(found, judged.sizes[found], changes, int(changes.sum()))
                verdict[place[id(judged.look)]] = strongest(judged.look, [named])
    return verdict


class _Judged(NamedTuple):
    """How strong all columns of a block are for a look, which come near to changing it, and which change it."""

    look: Look
    sizes: Array
    near: Mask
    changes: Mask


def _judged(XT: Array, out: Mask, looks: Sequence[Look]) -> Iterable[_Judged]:
    yield from _gradients(XT, out, [look for look in looks if isinstance(look, GradientLook)])
    linear = [look for look in looks if isinstance(look, PromisingLook | MissingLook)]
    if linear:
        yield from _subsets(XT, linear)
    for look in looks:
        if isinstance(look, MiddleLook):
            slopes = middle_slopes(XT, look.y)
            yield _against_bar(look, slopes, look.bar, _NEAR)
        elif isinstance(look, CopyLook):
            alike = sizes_of_correlations(XT, look.share, look.chosen, look.length)
            reached: Mask = np.any(alike >= look.bars * (1.0 - _ROUNDING), axis=1)
            yield _Judged(look, alike.max(axis=1, initial=0.0), reached, reached)
    levels = [look for look in looks if isinstance(look, LevelLook)]
    if levels:
        yield from _levels(XT, levels)


def _against_bar(look: Look, sizes: Array, bar: float, near: float) -> _Judged:
    return _Judged(look, sizes, sizes >= near * bar, sizes >= bar * (1.0 - _ROUNDING))


def _gradients(XT: Array, out: Mask, looks: Sequence[GradientLook]) -> Iterable[_Judged]:
    """How large the robust gradients of the columns are."""
    plain = [look for look in looks if not look.trimmed]
    if plain:
        scores = np.array([look.score for look in plain])
        sizes = np.abs(np.asarray(XT, dtype=np.float64) @ scores.T) / XT.shape[1]
        for look, size in zip(plain, sizes.T, strict=True):
            yield _against_bar(look, size, look.bar, _NEAR)
    views: dict[bytes, list[GradientLook]] = {}
    for look in looks:
        if look.trimmed:
            views.setdefault(b"" if look.rows is None else look.rows.tobytes(), []).append(look)
    for some in views.values():
        rows = some[0].rows
        part = XT if rows is None else np.take(XT, rows, axis=1)
        yield from _trimmed(part, out, some)


def _trimmed(XT: Array, out: Mask, looks: Sequence[GradientLook]) -> Iterable[_Judged]:
    """The same for trimmed means of the same rows; most are excluded by how little the scores have moved."""
    bound: dict[int, ScreenedTrim] = {}
    for look in looks:
        if look.trimmed not in bound:
            like = next(iter(bound.values()), None)
            bound[look.trimmed] = (
                ScreenedTrim(XT, look.trimmed) if like is None else like.dropping(look.trimmed)
            )
        gradient = bound[look.trimmed]
        gradient.begin(look.score)
        columns, values = gradient.survivors(out, len(XT), _NEAR * look.bar)
        sizes, near = np.zeros(len(XT)), np.zeros(len(XT), dtype=bool)
        sizes[columns], near[columns] = np.abs(values), True
        yield _Judged(look, sizes, near, near & (sizes >= look.bar * (1.0 - _ROUNDING)))


def _subsets(XT: Array, looks: Sequence[PromisingLook | MissingLook]) -> Iterable[_Judged]:
    """Columns that explain much alone, or that a set of others would take up."""
    groups: dict[int, list[PromisingLook | MissingLook]] = {}
    for look in looks:
        groups.setdefault(id(look.rows), []).append(look)
    block = np.asarray(XT, dtype=np.float64)
    squares = block**2 @ np.array([some[0].rows.root ** 2 for some in groups.values()]).T
    for some, raw in zip(groups.values(), squares.T, strict=True):
        moments = _Moments.of(block, some[0].rows, raw)
        for look in some:
            if isinstance(look, PromisingLook):
                yield _against_bar(look, moments.alone(), look.bar, _NEAR_ALONE)
            else:
                yield _missing(block, moments, look)


class _Moments(NamedTuple):
    """Inner products of columns with the target and with themselves, what the kept ones explain projected out."""

    cross: Array
    squares: Array
    free: Mask

    @classmethod
    def of(cls, block: Array, rows: Projected, raw: Array) -> "_Moments":
        """Those of the columns of a block, whose weighted squares are `raw`."""
        both = block @ (rows.root[:, None] * np.column_stack([rows.target, rows.basis]))
        squares = raw - (both[:, 1:] ** 2).sum(axis=1)
        return cls(both[:, 0], squares, squares > DEPENDENT * raw)

    def alone(self) -> Array:
        """What each column explains as the only one."""
        return np.where(self.free, self.cross**2 / np.where(self.free, self.squares, 1.0), -1.0)


def _missing(block: Array, moments: _Moments, look: MissingLook) -> _Judged:
    """Columns that one of the sets would take up, as `ColumnRows.missing` finds them."""
    products = block @ (look.rows.root[:, None] * look.some)
    wanted = np.zeros(len(block))
    for one in look.sets:
        table = Tableau.of(products[:, one.at], moments.cross, moments.squares, one.inside, one.own)
        gains = table.gains(moments.squares)
        above = gains > one.gain * (1.0 - _ROUNDING)
        wanted = np.maximum(wanted, np.where(above, gains, 0.0))
        if len(one.at):
            wanted = np.maximum(wanted, table.exchanges(moments.squares).max(axis=1))
    reached = np.asarray(moments.free & (wanted > look.bar * (1.0 - 1e-3)))
    return _Judged(look, wanted, reached, reached)


def _levels(XT: Array, looks: Sequence[LevelLook]) -> Iterable[_Judged]:
    """Columns of rare levels whose rows were rejected for want of them."""
    found, members = rare_values(XT)
    levels = RareLevels(
        np.array(found, dtype=np.int64), np.array(members, dtype=bool).reshape(-1, XT.shape[1])
    )
    for look in looks:
        reached = np.zeros(len(XT), dtype=bool)
        reached[levels.mended(look.good, look.resid)[1]] = True
        yield _Judged(look, reached.astype(np.float64), reached, reached)
