"""Wrong cells of a design that is not in memory: they can be looked for, but not mended."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustsparse.base.errors import DataError
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.design.stores.store import Block, ColumnStore
from robustsparse.regression.arguments import Cells
from robustsparse.regression.large.statistics import Shown, Statistics, Units, part_of
from robustsparse.robust.standardize import Scaling, standardize, two_valued
from robustsparse.robust.wrong_cells import beginnings, meeting, rising_tails, widest_gaps


@dataclass(frozen=True)
class _Gaps:
    """Gaps in the columns of a block, see `wrong_cells`; two-valued columns have no errors."""

    begins: Array
    chance: Array
    rising: Mask
    two: Mask


def gaps(block: Block, scaling: Scaling, units: Units, kept: Mask) -> _Gaps:
    """Gaps in the columns of a block, on some rows."""
    Z = _robust_scores(block, scaling, units)
    two = np.zeros(len(Z), dtype=bool)
    two[two_valued(Z, Z.min(axis=1), Z.max(axis=1))] = True
    rows = Z[:, kept]
    return _Gaps(*widest_gaps(rows), rising_tails(rows), two)


def _robust_scores(block: Block, scaling: Scaling, units: Units) -> Array:
    """Columns with median 0 and MAD 1, as `mending` judges them."""
    XT = units.standardized(block, scaling)
    return XT if units.center and units.how == "mad" else standardize(XT.T, "mad")[0]


def refuse_wrong_cells(
    store: ColumnStore,
    units: Units,
    known: Statistics,
    cells: Cells,
    names: Sequence[str],
    shown: Shown,
) -> None:
    """Raise if a fit in memory would find single wrong cells, and mend them."""
    suspected = cells is True
    if cells is False or not (suspected or known.counts.too_many()):
        return
    kept = ~known.own_counts.crowded()
    if not suspected and not (known.own_counts.too_many() and known.own_counts.too_many(kept)):
        return
    passed = store.map(gaps, units, kept, each=known.parts(store.blocks))
    parts = list(shown(passed, "wrong cells"))
    begins = beginnings(
        np.concatenate([part.begins for part in parts]),
        np.concatenate([part.chance for part in parts]),
        lambda: np.concatenate([part.rising for part in parts]),
        suspected=suspected,
    )
    found = np.flatnonzero(np.isfinite(begins))
    two = np.concatenate([part.two for part in parts])
    wrong = [j for j in _scattered(store, units, known, begins, found, kept) if not two[j]]
    if wrong:
        raise DataError(
            f"{len(wrong)} column(s) hold single cells that look wrong, {listed([names[j] for j in wrong])}; such "
            "cells are mended in memory only. Mend or leave out these columns, or pass cells=False to take them as "
            "they are."
        )


# Columns that are held at a time to look where their errors meet.
_AT_ONCE = 4096


def _scattered(
    store: ColumnStore,
    units: Units,
    known: Statistics,
    begins: Array,
    found: Indices,
    kept: Mask,
) -> Indices:
    """Columns whose errors do not fall in the same rows as those of others."""
    if not len(found):
        return found
    errors = np.empty((len(found), int(kept.sum())), dtype=bool)
    for first in range(0, len(found), _AT_ONCE):
        some = found[first : first + _AT_ONCE]
        Z = _robust_scores(store.take(some), part_of(known.scaling, some), units)
        errors[first : first + _AT_ONCE] = (
            np.abs(Z[:, kept]).astype(np.float32) >= begins[some, None]
        )
    return found[~meeting(errors, len(begins))]
