"""Variables of a graph: from a data frame, an array, or a one-sided formula on a data frame."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from robustsparse.base.checks import FEWEST_ROWS, as_matrix, check_choice
from robustsparse.base.errors import DataError, FormulaError
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Mask
from robustsparse.design.frames import NumericBlock, as_frame, column_kinds


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


def variables(
    data: Any,
    formula: str | None = None,
    *,
    na_action: Literal["drop", "raise"] = "drop",
    context: Mapping[str, Any] | None = None,
) -> Variables:
    """Read the variables of a graph; rows with missing or infinite values are left out and noted, or refused.

    Parameters
    ----------
    data : DataFrame, array or sparse matrix (n, d)
        The data; never changed.
    formula : str, optional
        One-sided, such as ``"~ a + log(b) + c"`` or ``"~ . - id"``; needs a data frame.
    na_action : {"drop", "raise"}
        What to do about rows with missing or infinite values.
    context : dict, optional
        Names that the formula may use beside the columns.

    Examples
    --------
    >>> got = variables(np.vstack([np.arange(12.0).reshape(6, 2), [[np.nan, 1.0]]]))
    >>> got.nodes, got.X.shape, got.notes
    (('x1', 'x2'), (6, 2), ('1 row with missing or infinite values was left out',))
    """
    check_choice("na_action", na_action, ("drop", "raise"))
    if formula is not None:
        return _checked(*_by_formula(formula, data, na_action, context))
    X, nodes, rows = _matrix(data)
    usable: Mask = np.asarray(np.isfinite(X).all(axis=1))
    if na_action == "raise" and not usable.all():
        column = nodes[int(np.flatnonzero(~np.isfinite(X).all(axis=0))[0])]
        raise DataError(
            f"{int((~usable).sum())} of {len(X)} rows have missing or infinite values, the first in column {column!r}; "
            'impute or drop them, or use na_action="drop".'
        )
    return _checked(X if usable.all() else X[usable], nodes, rows[usable], int((~usable).sum()))


def _checked(X: Array, nodes: tuple[str, ...], rows: "pd.Index[Any]", left_out: int) -> Variables:
    if len(nodes) < 2:
        raise DataError("a graph needs at least two variables; the data have one column.")
    if len(X) < FEWEST_ROWS:
        raise DataError(
            f"{len(X)} of {len(X) + left_out} rows have all values; a graph needs at least {FEWEST_ROWS}."
        )
    return Variables(X, nodes, rows, _note(left_out))


def _note(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    rows, were = ("row", "was") if count == 1 else ("rows", "were")
    return (f"{count} {rows} with missing or infinite values {were} left out",)


def _by_formula(
    formula: str, data: Any, na_action: Literal["drop", "raise"], context: Mapping[str, Any] | None
) -> tuple[Array, tuple[str, ...], "pd.Index[Any]", int]:
    """Columns of a one-sided formula; a column of row numbers stands in for the response."""
    if not (isinstance(formula, str) and formula.lstrip().startswith("~")):
        raise FormulaError(
            f"formula={formula!r}: a graph has no response; write a one-sided formula such as '~ a + b' or '~ .'."
        )
    if isinstance(data, np.ndarray):
        raise DataError("a formula needs a data frame with named columns; the data are an array.")
    # Imported where it is used: most graphs have no formula, and need not wait for formulaic.
    from robustsparse.design.build import build_design

    frame = as_frame(data)
    stand_in = "row"
    while stand_in in frame.columns:
        stand_in += "_"
    numbered = frame.assign(**{stand_in: np.arange(float(len(frame)))})
    design = build_design(f"{stand_in} {formula}", numbered, na_action=na_action, context=context)
    left_out = design.dropped.missing + design.dropped.infinite
    return design.X, design.names, design.rows, left_out


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
    other = [name for name, kind in column_kinds(frame).items() if kind != "numeric"]
    if other:
        raise DataError(
            f"column(s) {listed(other)} hold no numbers; drop them, or give a formula such as "
            "'~ . - name' (one that names them codes them as 0/1 columns)."
        )
    X = np.empty(frame.shape, order="F")
    for place, values in NumericBlock.of(frame, names).chunks():
        X[:, place] = values
    return X, tuple(names), frame.index
