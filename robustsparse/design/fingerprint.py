"""`Fingerprint`: a number for each column of a design, by which it is seen later whether the data have changed.

Each value is hashed, multiplied by a number of its row and summed over the rows, modulo 2^64: the result depends
neither on the layout of the array nor on whether it is sparse, and blocks of any kind of array can be added up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from robustsparse import kernels
from robustsparse.design.design import Design

Hashes = NDArray[np.uint64]

# Values hashed at a time: they stay in the cache of a processor.
_BLOCK = 1 << 16
# Rows or columns in a block at least, so that the loop over them is worth its beginning.
_FEWEST = 16
_PARTS = ("the response", "weights", "offset", "missing cells")


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """What is remembered of the data of a fit, instead of the data.

    Attributes
    ----------
    columns : array of uint64 (d,)
        A number for each column of the design.
    parts : dict from str to int
        The same for the response, weights and offset, and for the places of missing cells.
    """

    columns: Hashes
    parts: dict[str, int]

    @classmethod
    def of(cls, design: Design) -> "Fingerprint":
        """That of a design.

        Examples
        --------
        >>> from robustsparse.design.build import build_design
        >>> data = pd.DataFrame({"y": [1.0, 2.0, 4.0], "a": [5.0, 6.0, 7.0], "b": [1.0, 0.0, 0.0]})
        >>> before = Fingerprint.of(build_design("y ~ .", data))
        >>> data.loc[1, "b"] = 3.0
        >>> before.changes(Fingerprint.of(build_design("y ~ .", data)), ["a", "b"])
        ['b']
        """
        vectors = (design.response.values, design.weights, design.offset, _gap_numbers(design))
        parts = {
            name: int(column_numbers(np.asarray(values, dtype=np.float64)[:, None])[0])
            for name, values in zip(_PARTS, vectors, strict=True)
            if values is not None
        }
        return cls(column_numbers(design.X), parts)

    def changes(self, other: "Fingerprint", names: Sequence[str]) -> list[str]:
        """What another fingerprint is not the same in; nothing if the data are the same."""
        if len(self.columns) != len(other.columns):
            return [f"the number of columns ({len(self.columns)} then, {len(other.columns)} now)"]
        changed = [names[int(j)] for j in np.flatnonzero(self.columns != other.columns)]
        both = {**self.parts, **other.parts}
        return changed + [part for part in both if self.parts.get(part) != other.parts.get(part)]

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        parts = {name: f"{number:x}" for name, number in self.parts.items()}
        return {"columns": self.columns.astype("<u8").tobytes().hex(), "parts": parts}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Fingerprint":
        """Undo `to_dict`."""
        columns = np.frombuffer(bytes.fromhex(stored["columns"]), dtype="<u8").astype(np.uint64)
        return cls(
            columns, {str(name): int(number, 16) for name, number in stored["parts"].items()}
        )


def _gap_numbers(design: Design) -> Any:
    """Places of missing cells, one number each; None if there are none to be imputed."""
    if design.gaps is None:
        return None
    row, column = design.gaps
    return np.sort(row * len(design.names) + column)


def column_numbers(X: Any) -> Hashes:
    """A number for each column of an array of any layout, or of a sparse matrix.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [3.0, 0.0]])
    >>> numbers = column_numbers(X)
    >>> all((column_numbers(other) == numbers).all() for other in (np.asfortranarray(X), sparse.csr_array(X)))
    True
    >>> (column_numbers(X[::-1]) != numbers).tolist()
    [True, True]
    """
    n, d = X.shape
    factor = _hashed(np.arange(1.0, n + 1.0)) | np.uint64(1)
    sums = np.zeros(d, dtype=np.uint64)
    if sparse.issparse(X):
        entries = X.tocoo()
        np.add.at(sums, entries.col, _hashed(entries.data) * factor[entries.row])
        return sums
    if X.flags.f_contiguous:
        for part in _slices(d, n):
            kernels.hash_rows(_bits(X.T[part]), factor, sums[part])
    else:
        own = np.empty(d, dtype=np.uint64)
        for part in _slices(n, d):
            kernels.hash_rows(_bits(X[part].T), factor[part], own)
            sums += own
    return sums


def _bits(block: Any) -> Hashes:
    """The bits of numbers in double precision, laid out row by row."""
    return np.ascontiguousarray(block, dtype=np.float64).view(np.uint64)


def _hashed(values: Any) -> Hashes:
    # Zeros of both signs are the same number, and are hashed to zero, as they have to be for sparse matrices.
    plain = np.asarray(values, dtype=np.float64) + 0.0
    return pd.util.hash_array(plain.ravel(), categorize=False).reshape(plain.shape)


def _slices(long: int, short: int) -> Iterator[slice]:
    """Parts of the first axis of an array that lie together in memory."""
    step = max(_BLOCK // max(short, 1), _FEWEST)
    return (slice(start, start + step) for start in range(0, long, step))
