"""Whether columns that a run did not hold would have changed it: all its looks at once, for one block of columns.

A pure function of a block, so that a pass can be a loop over a file or tasks of a cluster. Values are computed here by
other arithmetic than in the run, so that a column counts as reaching a bar that it misses by no more than rounding: at
worst the run holds a column more than it needs to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from robustsparse.regression.fit.views import middle_slopes
from robustsparse.regression.large.statistics import Units
from robustsparse.robust.standardize import Scaling

# A column that reaches a bar but for this part of it may have reached it but for rounding.
_ROUNDING = 1e-9
# Columns that come so near to the bar of a gradient, or to what a column must explain alone, join the next run as well:
# its bars are a little different.
_NEAR, _NEAR_ALONE = 0.9, 0.8


class Own(NamedTuple):
    """What is known of a block: its scaling, and which of its columns were held."""

    scaling: Scaling
    held: Mask


@dataclass(frozen=True)
class Verdict:
    """Columns of a block that would have changed a run, or might change the next.

    Attributes
    ----------
    columns : array of int (c,)
        Their places in the block.
    changes : bool array (c,)
        Which of them would have changed the run; the others came near.
    """

    columns: Indices
    changes: Mask


def prove(block: Block, own: Own, units: Units, looks: Sequence[Look]) -> Verdict:
    """Judge the columns of a block by all looks of a run."""
    XT = units.standardized(block, own.scaling)
    near, changes = np.zeros(len(XT), dtype=bool), np.zeros(len(XT), dtype=bool)
    out = own.held | own.scaling.constant
    with np.errstate(all="ignore"):
        for one_near, one_changes in _judged(XT, out, looks):
            near |= one_near
            changes |= one_changes
    near = (near | changes) & ~out
    columns = np.flatnonzero(near)
    return Verdict(columns, changes[columns])


def _judged(XT: Array, out: Mask, looks: Sequence[Look]) -> Iterable[tuple[Mask, Mask]]:
    """Columns near to changing the outcome of looks, and those that change it."""
    yield from _gradients(XT, out, [look for look in looks if isinstance(look, GradientLook)])
    linear = [look for look in looks if isinstance(look, PromisingLook | MissingLook)]
    if linear:
        yield from _subsets(XT, linear)
    for look in looks:
        if isinstance(look, MiddleLook):
            slopes = middle_slopes(XT, look.y)
            yield slopes >= _NEAR * look.bar, slopes >= look.bar * (1.0 - _ROUNDING)
        elif isinstance(look, CopyLook):
            alike = sizes_of_correlations(XT, look.share, look.chosen, look.length)
            reached: Mask = np.any(alike >= look.bars * (1.0 - _ROUNDING), axis=1)
            yield reached, reached
    levels = [look for look in looks if isinstance(look, LevelLook)]
    if levels:
        reached = _levels(XT, levels)
        yield reached, reached


def _gradients(XT: Array, out: Mask, looks: Sequence[GradientLook]) -> Iterable[tuple[Mask, Mask]]:
    """Columns whose robust gradient reaches the bar of a look."""
    plain = [look for look in looks if not look.trimmed]
    if plain:
        scores = np.array([look.score for look in plain])
        size = np.abs(np.asarray(XT, dtype=np.float64) @ scores.T) / XT.shape[1]
        bars = np.array([look.bar for look in plain])
        near, reaches = size >= _NEAR * bars, size >= bars * (1.0 - _ROUNDING)
        yield np.any(near, axis=1), np.any(reaches, axis=1)
    views: dict[bytes, list[GradientLook]] = {}
    for look in looks:
        if look.trimmed:
            views.setdefault(b"" if look.rows is None else look.rows.tobytes(), []).append(look)
    for some in views.values():
        rows = some[0].rows
        part = XT if rows is None else np.take(XT, rows, axis=1)
        yield _trimmed(part, out, some)


def _trimmed(XT: Array, out: Mask, looks: Sequence[GradientLook]) -> tuple[Mask, Mask]:
    """The same for trimmed means of the same rows; most are excluded by how little the scores have moved."""
    near, changes = np.zeros(len(XT), dtype=bool), np.zeros(len(XT), dtype=bool)
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
        near[columns] = True
        changes[columns[np.abs(values) >= look.bar * (1.0 - _ROUNDING)]] = True
    return near, changes


def _subsets(
    XT: Array, looks: Sequence[PromisingLook | MissingLook]
) -> Iterable[tuple[Mask, Mask]]:
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
                alone = moments.alone()
                yield alone >= _NEAR_ALONE * look.bar, alone >= look.bar * (1.0 - _ROUNDING)
            else:
                reached = _missing(block, moments, look)
                yield reached, reached


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


def _missing(block: Array, moments: _Moments, look: MissingLook) -> Mask:
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
    return np.asarray(moments.free & (wanted > look.bar * (1.0 - 1e-3)))


def _levels(XT: Array, looks: Sequence[LevelLook]) -> Mask:
    """Columns of rare levels whose rows were rejected for want of them."""
    found, members = rare_values(XT)
    levels = RareLevels(
        np.array(found, dtype=np.int64), np.array(members, dtype=bool).reshape(-1, XT.shape[1])
    )
    reached = np.zeros(len(XT), dtype=bool)
    for look in looks:
        reached[levels.mended(look.good, look.resid)[1]] = True
    return reached
