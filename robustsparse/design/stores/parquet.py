"""Columns of a parquet file, or of a folder of them, of which only those that are asked for are read."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robustsparse.base.errors import DataError, MissingDependencyError
from robustsparse.base.types import Indices
from robustsparse.design.stores.store import Block, Source

# What the types of numbers are called, from the beginning.
_NUMBERS = ("halffloat", "float", "double", "int", "uint", "bool")


class ParquetTable:
    """A parquet file or folder.

    Attributes
    ----------
    path : str
        Where it is.
    names : tuple of str
        Its columns; an index that pandas stored with them is none.
    rows : int
        Number of rows.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = str(path)
        if not Path(self.path).exists():
            raise DataError(f"{self.path!r} is not there; give a parquet file or a folder of them.")
        table = self._open()
        index = _index_of(table.schema)
        self.names = tuple(name for name in table.schema.names if name not in index)
        self._kinds = {field.name: field.type for field in table.schema}
        self.rows = int(table.count_rows())

    def _open(self) -> Any:
        try:
            from pyarrow import dataset
        except ImportError:
            raise MissingDependencyError(
                "parquet files need the package pyarrow; install robustsparse[parquet]."
            ) from None
        try:
            return dataset.dataset(self.path, format="parquet")
        except (OSError, ValueError) as error:
            raise DataError(f"{self.path!r} cannot be read as parquet ({error}).") from error

    def precision(self, names: Sequence[str]) -> np.dtype[Any]:
        """Precision of some columns, all of which must be numbers."""
        for name in names:
            if not str(self._kinds[name]).startswith(_NUMBERS):
                quoted = name if name.isidentifier() else f"`{name}`"
                raise DataError(
                    f"column {name!r} of {self.path!r} is no number ({self._kinds[name]}); code it first, or leave it "
                    f"out of the formula: - {quoted}."
                )
        single = all(str(self._kinds[name]) == "float" for name in names)
        return np.dtype(np.float32 if single else np.float64)

    def column(self, name: str) -> Any:
        """One column, as a series."""
        return self._table([name]).column(0).to_pandas()

    def _table(self, names: Sequence[str]) -> Any:
        from pyarrow import compute

        # A name with a point in it is no path to a field in a field.
        return self._open().to_table(columns={name: compute.field(name) for name in names})

    def block(self, names: Sequence[str], dtype: np.dtype[Any]) -> Block:
        """Some columns (columns, rows); what is missing is not a number."""
        table = self._table(names)
        out = np.empty((len(names), table.num_rows), dtype=dtype)
        for place, column in enumerate(table.columns):
            out[place] = column.to_numpy()
        return out


def _index_of(schema: Any) -> set[str]:
    """Columns that are the index of the frame that was stored, as pandas noted."""
    noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return {name for name in noted.get("index_columns", []) if isinstance(name, str)}


class ParquetColumns(Source):
    """Some columns of numbers of a parquet table."""

    def __init__(self, table: ParquetTable, names: Sequence[str]) -> None:
        self.table, self._names = table, tuple(names)
        self.names = self._names
        self.shape, self.dtype = (table.rows, len(self._names)), table.precision(names)

    def read(self, first: int, last: int) -> Block:
        """Columns by number."""
        return self.table.block(self._names[first:last], self.dtype)

    def pick(self, columns: Indices) -> Block:
        """Some columns."""
        return self.table.block([self._names[j] for j in columns], self.dtype)
