"""Cells of a design that are missing, and what stands in their place until they are imputed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.errors import DataError
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.design.frames import Kind
from robustsparse.design.row_audit import infinite

NA_ACTIONS = ("drop", "raise", "impute")
# Dropping a larger share of the rows for missing values is worth a warning.
LARGE_SHARE = 0.1

Gaps = tuple[Indices, Indices]


def fill_gaps(columns: Array, names: Sequence[str], first: int = 0) -> Gaps:
    """Give the cells of some columns that are no finite numbers a stand-in, in place; the gaps by row and column.

    Stand-ins are evenly spaced quantiles of the column's other values, so that its location and scale stay as they are.

    Parameters
    ----------
    columns : array (d, n)
        Columns, transposed.
    names : sequence of str
        Names of all columns.
    first : int
        Number of the first of these columns.

    Examples
    --------
    >>> columns = np.array([[1.0, np.nan, 3.0, 2.0], [0.0, 1.0, np.inf, np.nan]])
    >>> row, column = fill_gaps(columns, ["a", "b"])
    >>> row.tolist(), column.tolist(), columns.tolist()
    ([1, 2, 3], [0, 1, 1], [[1.0, 2.0, 3.0, 2.0], [0.0, 1.0, 0.25, 0.75]])
    """
    with np.errstate(all="ignore"):
        # A finite sum proves that there is no gap at the price of one pass.
        suspects = np.flatnonzero(~np.isfinite(columns.sum(axis=1)))
    rows: list[Indices] = []
    places: list[Indices] = []
    for j in suspects:
        gap = ~np.isfinite(columns[j])
        m = int(gap.sum())
        if not m:
            continue
        if m == len(gap):
            raise DataError(
                f"column {names[first + int(j)]!r} has no finite value, so nothing can be imputed in it; leave it out."
            )
        columns[j, gap] = np.quantile(columns[j, ~gap], (np.arange(m) + 0.5) / m)
        rows.append(np.flatnonzero(gap))
        places.append(np.full(m, first + j))
    nothing = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *rows]), np.concatenate([nothing, *places])


def stand_ins(frame: pd.DataFrame, names: Sequence[str], kinds: Mapping[str, Kind]) -> pd.DataFrame:
    """A frame in which missing and infinite values of some columns are ordinary ones: a median, or the commonest level.

    What a formula makes of them is a gap all the same, see `fill_gaps`.
    """
    return frame.assign(**{name: _ordinary(frame[name], kinds.get(name)) for name in names})


def _ordinary(column: "pd.Series[Any]", kind: Kind | None) -> "pd.Series[Any]":
    gap: Mask = column.isna().to_numpy() | infinite(column)
    sound = column[~gap]
    if not gap.any() or sound.empty:
        return column
    if kind != "numeric":
        return column.where(~gap, sound.mode().iloc[0])
    values = column.astype(float) if column.dtype.kind in "fc" else column.astype("Float64")
    return values.mask(gap, float(np.median(sound.to_numpy(dtype=float)))).astype(float)
