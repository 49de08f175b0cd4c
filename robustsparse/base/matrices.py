"""Sparse symmetric matrices in one form."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from robustsparse.base.types import Array, Places


def canonical(matrix: Any) -> Any:
    """Compressed rows without stored zeros, indices ascending: one form for each matrix."""
    if not sparse.issparse(matrix):
        return _compressed(np.asarray(matrix))
    out = sparse.csr_array(matrix)
    out.sum_duplicates()
    out.eliminate_zeros()
    out.sort_indices()
    return out


def _compressed(matrix: NDArray[Any]) -> Any:
    """The same of a dense matrix, faster than by coordinates."""
    d, width = matrix.shape
    places = np.flatnonzero(matrix)
    starts = np.searchsorted(places, width * np.arange(d + 1))
    small = max(width, len(places)) <= np.iinfo(np.int32).max
    own = np.int32 if small else np.int64
    parts = matrix.ravel()[places], (places % width).astype(own), starts.astype(own)
    return sparse.csr_array(parts, matrix.shape)


def upper(matrix: Any) -> tuple[Places, Places, NDArray[Any]]:
    """Rows, columns and values of the stored entries above the diagonal, by row, then column.

    Examples
    --------
    >>> [part.tolist() for part in upper(np.array([[0, 3, 0], [3, 0, 2], [0, 2, 0]]))]
    [[0, 1], [1, 2], [3, 2]]
    """
    whole = canonical(matrix)
    rows = np.repeat(np.arange(whole.shape[0]), np.diff(whole.indptr))
    above = whole.indices > rows
    return rows[above], whole.indices[above].astype(np.intp), whole.data[above]


def at_pairs(matrix: Any, rows: Any, columns: Any) -> Array:
    """Values (m,) of a sparse matrix at pairs.

    Examples
    --------
    >>> at_pairs(sparse.csr_array([[0.0, 3.0], [3.0, 0.0]]), [0, 1], [1, 1])
    array([3., 0.])
    """
    if not len(rows):
        return np.zeros(0)
    found = sparse.csr_array(matrix)[rows, columns]
    found = found.toarray() if sparse.issparse(found) else found
    return np.asarray(found, dtype=np.float64).ravel()


def symmetric(rows: Places, columns: Places, values: NDArray[Any], d: int) -> Any:
    """Sparse (d, d) matrix with the values at the pairs, in both halves."""
    both = np.r_[values, values], (np.r_[rows, columns], np.r_[columns, rows])
    return canonical(sparse.csr_array(both, (d, d)))
