"""Columns of numbers, read from a frame some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from robustsparse.base.types import Array, Places
from robustsparse.design.frames import column_kinds, kind_of, numbers

# Columns converted at once: wide enough to amortize pandas, narrow enough to stay in cache.
CHUNK = 256
# Columns looked at to see how a frame lies in memory.
PROBES = 32
SINGLE = np.dtype(np.float32)


@dataclass(frozen=True)
class NumericBlock:
    """Numeric columns of a frame, handed out in chunks.

    Attributes
    ----------
    names : the columns, in order.
    dtype : float32 if all columns are, else float64.
    """

    names: Sequence[str]
    dtype: np.dtype[Any]
    _frame: pd.DataFrame
    _places: Places

    @classmethod
    def of(cls, frame: pd.DataFrame, names: Sequence[str]) -> NumericBlock:
        """Find columns; those that are no numbers raise when their turn comes."""
        places = frame.columns.get_indexer(pd.Index(names, dtype=object))
        single = set(frame.dtypes.to_numpy()[places]) == {SINGLE}
        dtype = SINGLE if single else np.dtype(np.float64)
        if len(places) > PROBES and _scattered(frame, places):
            # Thousands of arrays: gather them once, or pandas handles each of them many times.
            if set(column_kinds(frame).values()) != {"numeric"} or 2 * len(places) < frame.shape[1]:
                frame, places = frame.iloc[:, places], np.arange(len(places))
            frame = pd.DataFrame(_floats(frame, dtype), copy=False)
        return cls(names, dtype, frame, places)

    def chunks(self) -> Iterator[tuple[slice, Array]]:
        """Walk through chunks (n, up to CHUNK) with their places among the names."""
        for start in range(0, len(self._places), CHUNK):
            part = self._places[start : start + CHUNK]
            together = part[-1] - part[0] == len(part) - 1 and bool((np.diff(part) == 1).all())
            # A slice shares memory with the frame where a list of positions would copy.
            columns = slice(part[0], part[-1] + 1) if together else part
            yield slice(start, start + len(part)), _floats(self._frame.iloc[:, columns], self.dtype)


def _scattered(frame: pd.DataFrame, places: Places) -> bool:
    """Tell from a sample whether most columns are arrays of their own."""
    sample = places[np.linspace(0, len(places) - 1, PROBES).astype(int)]
    columns = [frame.iloc[:, place].to_numpy() for place in sample]
    owners = {id(column if column.base is None else column.base) for column in columns}
    return len(owners) > PROBES // 2


def _floats(block: pd.DataFrame, dtype: npt.DTypeLike = np.float64) -> Array:
    dtypes = block.dtypes.to_numpy()
    if any(kind_of(dtype) != "numeric" for dtype in set(dtypes)):
        block = pd.DataFrame({name: numbers(block[name]) for name in block.columns})
        dtypes = block.dtypes.to_numpy()
    if all(isinstance(dtype, np.dtype) for dtype in set(dtypes)):
        return block.to_numpy(dtype=dtype)
    return block.to_numpy(dtype=dtype, na_value=np.nan)


def numeric_column(frame: pd.DataFrame, name: str) -> Array:
    """Read one column as floats, NaN where it is missing."""
    return _floats(frame[[name]])[:, 0].copy()
