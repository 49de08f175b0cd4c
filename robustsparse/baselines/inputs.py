"""Variables of a graph, from a data frame or an array."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from robustsparse.checks import as_matrix
from robustsparse.errors import DataError
from robustsparse.frames import NumericBlock, as_frame

Array = NDArray[np.float64]

# Ranks and correlations of fewer rows mean nothing.
FEWEST_ROWS = 5


@dataclass(frozen=True)
class Variables:
    """Columns of numbers without gaps.

    Attributes
    ----------
    X : array (n, d)
        The rows that have all values.
    nodes : tuple of str
        Names of the columns.
    rows : Index
        Labels of the rows.
    notes : tuple of str
        What was left out.
    """

    X: Array
    nodes: tuple[str, ...]
    rows: "pd.Index[Any]"
    notes: tuple[str, ...]


def variables(data: Any) -> Variables:
    """Read the variables of a graph; rows with missing or infinite values are left out and noted.

    Examples
    --------
    >>> got = variables(np.vstack([np.arange(12.0).reshape(6, 2), [[np.nan, 1.0]]]))
    >>> got.nodes, got.X.shape, got.notes
    (('x1', 'x2'), (6, 2), ('1 row with missing or infinite values was left out',))
    """
    X, nodes, rows = _matrix(data)
    if len(nodes) < 2:
        raise DataError("a graph needs at least two variables; the data have one column.")
    usable = np.asarray(np.isfinite(X).all(axis=1))
    if usable.sum() < FEWEST_ROWS:
        raise DataError(
            f"{int(usable.sum())} of {len(X)} rows have all values; a graph needs at least {FEWEST_ROWS}."
        )
    return Variables(X[usable], nodes, rows[usable], _left_out(int((~usable).sum())))


def _left_out(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    rows, were = ("row", "was") if count == 1 else ("rows", "were")
    return (f"{count} {rows} with missing or infinite values {were} left out",)


def _matrix(data: Any) -> tuple[Array, tuple[str, ...], "pd.Index[Any]"]:
    """Values as floats, names of the columns and labels of the rows."""
    if isinstance(data, np.ndarray | list | tuple) or sparse.issparse(data):
        matrix = as_matrix(data)
        X = np.array(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)
        return X, tuple(f"x{j + 1}" for j in range(X.shape[1])), pd.RangeIndex(len(X))
    frame = as_frame(data)
    if frame.empty:
        raise DataError(f"the data have shape {frame.shape}; there is nothing to estimate from.")
    names = [str(name) for name in frame.columns]
    X = np.empty(frame.shape, order="F")
    for place, values in NumericBlock.of(frame, names).chunks():
        X[:, place] = values
    return X, tuple(names), frame.index
