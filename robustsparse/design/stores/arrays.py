"""Columns of arrays and sparse matrices in memory, of memory maps and zarr arrays."""

import mmap
from typing import Any

import numpy as np
from scipy import sparse

from robustsparse.base.types import Indices
from robustsparse.design.stores.store import Block, Source


def _single_or_double(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Single precision stays; all else is computed in double."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


class ArrayColumns(Source):
    """Columns of an array or a sparse matrix in memory, of which no second copy is made.

    Examples
    --------
    >>> ArrayColumns(np.arange(6.0).reshape(2, 3)).read(1, 3).tolist()
    [[1.0, 4.0], [2.0, 5.0]]
    """

    def __init__(self, X: Any) -> None:
        self._X = X.tocsc() if sparse.issparse(X) else X
        self.shape, self.dtype = X.shape, _single_or_double(X.dtype)

    def read(self, first: int, last: int) -> Block:
        """Columns as they are."""
        return self._copied(self._X[:, first:last])

    def pick(self, columns: Indices) -> Block:
        """Some columns."""
        return self._copied(self._X[:, columns])

    def _copied(self, part: Any) -> Block:
        dense = part.toarray() if sparse.issparse(part) else part
        return np.array(dense.T, dtype=self.dtype, order="C")


class FileColumns(Source):
    """Columns of a memory map, read from its file: mapped pages would count as memory of the process.

    Parameters
    ----------
    path : str
        The file.
    offset : int
        Byte of the first value.
    shape : pair of int
        Rows and columns.
    strides : pair of int
        Bytes from one row to the next and from one column to the next; one of them is the size of a value.
    stored : dtype
        Type of the values in the file.
    """

    def __init__(
        self,
        path: str,
        offset: int,
        shape: tuple[int, int],
        strides: tuple[int, int],
        stored: np.dtype[Any],
    ) -> None:
        self.path, self.offset, self.strides, self.stored = path, offset, strides, stored
        self.shape, self.dtype = shape, _single_or_double(stored)
        # Where the rows lie one after the other, a column takes as many reads as there are rows.
        self.together = 1 if strides[0] == stored.itemsize else min(shape[1], 512)

    def read(self, first: int, last: int) -> Block:
        """Columns of the file."""
        n, size = self.shape[0], self.stored.itemsize
        by_column = self.strides[0] == size
        count, length = (last - first, n) if by_column else (n, last - first)
        out = np.empty((count, length), dtype=self.stored)
        step = self.strides[1] if by_column else self.strides[0]
        with open(self.path, "rb", buffering=0) as file:
            start = self.offset + first * self.strides[1]
            if step == length * size:
                _read_into(file, start, out.reshape(-1))
            else:
                for place in range(count):
                    _read_into(file, start + place * step, out[place])
        # In native byte order, and of single or double precision.
        return np.ascontiguousarray(out if by_column else out.T).astype(self.dtype, copy=False)


def _read_into(file: Any, start: int, out: Any) -> None:
    file.seek(start)
    view, done = memoryview(out).cast("B"), 0
    while done < len(view):
        count = file.readinto(view[done:])
        if not count:
            raise OSError(f"{file.name!r} ends before its last column; was it cut off?")
        done += count


def map_columns(X: "np.memmap[Any, Any]") -> Source:
    """The columns of a memory map: from its file, if they or its rows lie there one value after the other."""
    root: Any = X
    while not isinstance(root.base, mmap.mmap):
        root = root.base
        if not isinstance(root, np.memmap):
            return ArrayColumns(X)
    moved = X.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    plain = root.filename is not None and X.dtype.itemsize in X.strides and min(X.strides) > 0
    # What was written to a map of mode "c" is in memory alone.
    if not plain or X.dtype.hasobject or root.mode == "c":
        return ArrayColumns(X)
    # Pages that were written and not yet stored would be missed.
    X.flush()
    rows, columns = X.strides
    return FileColumns(str(root.filename), root.offset + moved, X.shape, (rows, columns), X.dtype)


class ZarrColumns(Source):
    """Columns of a zarr array (n, d).

    Parameters
    ----------
    X : zarr array
        The array; chunks that hold all rows of some columns are read once a pass.
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self.shape, self.dtype = X.shape, _single_or_double(np.dtype(X.dtype))
        self.together = int(X.chunks[1])

    def read(self, first: int, last: int) -> Block:
        """Columns of the array."""
        return np.array(self._X[:, first:last].T, dtype=self.dtype, order="C")

    def pick(self, columns: Indices) -> Block:
        """Some columns; each chunk is read once."""
        return np.array(self._X.oindex[:, columns].T, dtype=self.dtype, order="C")
