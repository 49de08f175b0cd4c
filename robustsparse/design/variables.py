"""Variables of a graph: from a data frame, an array, or a one-sided formula on a data frame."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from robustsparse.base.checks import FEWEST_ROWS, as_matrix, check_choice
from robustsparse.base.errors import DataError, FormulaError, ParameterError
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.design.blocks import NumericBlock
from robustsparse.design.frames import as_frame, column_kinds

NaAction = Literal["drop", "raise", "impute"]


@dataclass(frozen=True)
class Variables:
    """Columns of numbers without gaps.

    Attributes
    ----------
    X : array (n, d)
        The rows that have all values; or all rows, with placeholders in missing cells.
    nodes : tuple of str
        Names of the columns.
    rows : Index
        Labels of the rows.
    notes : tuple of str
        What was left out.
    left_out : int
        Number of rows that were.
    missing : array of bool (n, d) or None
        Cells to impute; they hold values of their column that leave its quantiles as they are. None without any.
    """

    X: Array
    nodes: tuple[str, ...]
    rows: "pd.Index[Any]"
    notes: tuple[str, ...]
    left_out: int = 0
    missing: Mask | None = None


def variables(
    data: Any,
    formula: str | None = None,
    *,
    na_action: NaAction = "drop",
    context: Mapping[str, Any] | None = None,
) -> Variables:
    """Read the variables of a graph; rows with missing or infinite values are left out and noted, refused, or kept.

    Parameters
    ----------
    data : DataFrame, array or sparse matrix (n, d)
        The data; never changed.
    formula : str, optional
        One-sided, such as ``"~ a + log(b) + c"`` or ``"~ . - id"``; needs a data frame.
    na_action : {"drop", "raise", "impute"}
        What to do about rows with missing or infinite values. Those to impute are marked, not imputed yet; a formula
        must then be one of plain columns.
    context : dict, optional
        Names that the formula may use beside the columns.

    Examples
    --------
    >>> got = variables(np.vstack([np.arange(12.0).reshape(6, 2), [[np.nan, 1.0]]]))
    >>> got.nodes, got.X.shape, got.notes
    (('x1', 'x2'), (6, 2), ('1 row with missing or infinite values was left out',))
    """
    check_choice("na_action", na_action, ("drop", "raise", "impute"))
    if na_action == "impute":
        return _with_gaps(*_matrix(data if formula is None else _plain(formula, data, context)))
    if formula is not None:
        return _checked(*_by_formula(formula, data, na_action, context))
    X, nodes, rows = _matrix(data)
    usable: Mask = np.asarray(np.isfinite(X).all(axis=1))
    if na_action == "raise" and not usable.all():
        column = nodes[int(np.flatnonzero(~np.isfinite(X).all(axis=0))[0])]
        raise DataError(
            f"{int((~usable).sum())} of {len(X)} rows have missing or infinite values, the first in column {column!r}; "
            'use na_action="impute" to fill the gaps, or na_action="drop" to leave these rows out.'
        )
    return _checked(X if usable.all() else X[usable], nodes, rows[usable], int((~usable).sum()))


def _with_gaps(X: Array, nodes: tuple[str, ...], rows: "pd.Index[Any]") -> Variables:
    """All rows that have a value, with the cells that have none."""
    missing: Mask = ~np.isfinite(X)
    empty = [nodes[j] for j in np.flatnonzero(missing.all(axis=0))]
    if empty:
        raise DataError(
            f"column(s) {listed(empty)} have no values to learn from; drop them, or give a formula such as "
            "'~ . - name'."
        )
    some: Mask = np.asarray(~missing.all(axis=1))
    left_out = int((~some).sum())
    if left_out:
        X, missing, rows = X[some], missing[some], rows[some]
    for j in np.flatnonzero(missing.any(axis=0)):
        X[missing[:, j], j] = _placeholders(X[~missing[:, j], j], missing[:, j])
    table = _checked(X, nodes, rows, left_out)
    notes = _note(left_out, "no values at all")
    return replace(table, notes=notes, missing=missing if missing.any() else None)


def _placeholders(known: Array, gaps: Mask) -> Array:
    """Evenly spaced order statistics, so that the quantiles of a column and its number of values stay as they are.

    Examples
    --------
    >>> _placeholders(np.array([5.0, 1.0, 3.0]), np.array([True, False, False, False]))
    array([3.])
    """
    count = int(gaps.sum())
    places: Indices = ((np.arange(count) + 0.5) * (len(known) / count)).astype(np.int64)
    return np.asarray(np.sort(known)[places])


def _checked(X: Array, nodes: tuple[str, ...], rows: "pd.Index[Any]", left_out: int) -> Variables:
    if len(nodes) < 2:
        raise DataError("a graph needs at least two variables; the data have one column.")
    if len(X) < FEWEST_ROWS:
        raise DataError(
            f"{len(X)} of {len(X) + left_out} rows have values to use; a graph needs at least {FEWEST_ROWS}."
        )
    return Variables(X, nodes, rows, _note(left_out), left_out)


def _note(count: int, what: str = "missing or infinite values") -> tuple[str, ...]:
    if not count:
        return ()
    rows, were = ("row", "was") if count == 1 else ("rows", "were")
    return (f"{count} {rows} with {what} {were} left out",)


def _by_formula(
    formula: str, data: Any, na_action: Literal["drop", "raise"], context: Mapping[str, Any] | None
) -> tuple[Array, tuple[str, ...], "pd.Index[Any]", int]:
    """Columns of a one-sided formula; a column of row numbers stands in for the response."""
    _check_formula(formula, data)
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


def _plain(formula: str, data: Any, context: Mapping[str, Any] | None) -> pd.DataFrame:
    """Columns that a one-sided formula names, with their gaps."""
    _check_formula(formula, data)
    frame = as_frame(data)
    # Gaps are filled with numbers while the formula is read: which columns it names does not depend on them.
    whole = frame.copy(deep=False)
    for name, kind in column_kinds(frame).items():
        if kind == "numeric":
            _, values = next(NumericBlock.of(frame, [name]).chunks())
            gaps = ~np.isfinite(values[:, 0])
            if gaps.any():
                whole[name] = np.where(gaps, 1.0 + np.arange(len(frame)), values[:, 0])
    names = list(_by_formula(formula, whole, "drop", context)[1])
    other = [name for name in names if name not in frame.columns]
    if other:
        raise ParameterError(
            f'na_action="impute" fills columns as they are; the formula makes {listed(other)} of them. Make these '
            "columns in the data, or leave out the formula."
        )
    return frame[names]


def _check_formula(formula: str, data: Any) -> None:
    if not (isinstance(formula, str) and formula.lstrip().startswith("~")):
        raise FormulaError(
            f"formula={formula!r}: a graph has no response; write a one-sided formula such as '~ a + b' or '~ .'."
        )
    if isinstance(data, np.ndarray):
        raise DataError("a formula needs a data frame with named columns; the data are an array.")


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
