"""Matrices that come as data frames: their columns keep their names and their rows their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from robustsparse.base.checks import as_matrix
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.text import listed, shown
from robustsparse.base.types import Array, Places
from robustsparse.design.blocks import NumericBlock
from robustsparse.design.frames import NUMBERS, OBJECT, as_frame, column_kinds, require_columns
from robustsparse.design.predictors import check_text


class Labelled(NamedTuple):
    """A matrix (n, d) with what a frame calls its columns and its rows; None for what has no names."""

    X: Any
    names: tuple[str, ...] | None
    rows: pd.Index | None


def is_frame(data: Any) -> bool:
    """Whether data are a data frame of any library, also one that is not computed yet."""
    return isinstance(data, pd.DataFrame) or any(
        hasattr(data, mark) for mark in ("__dataframe__", "collect_schema")
    )


def labelled(X: Any, names: Sequence[str] | None = None) -> Labelled:
    """A design as it was given: an array, or a frame of numbers with its names and labels.

    Examples
    --------
    >>> labelled(pd.DataFrame({"age": [30, 40]}, index=["Ann", "Bob"])).names
    ('age',)
    """
    if isinstance(X, str):
        raise ParameterError(
            f"X={shown(X)} is a text; with a formula and a data frame use rht(formula, data)."
        )
    if not is_frame(X):
        return Labelled(as_matrix(X), None if names is None else tuple(map(str, names)), None)
    frame = as_frame(X)
    own = tuple(frame.columns)
    if names is not None and tuple(map(str, names)) != own:
        raise ParameterError(
            f"names={shown(list(names))} are not the names of the columns of X, which are {listed(own)}; rename these "
            "(X.set_axis(names, axis=1)), or leave names out."
        )
    return Labelled(as_matrix(frame_matrix(frame)), own, frame.index)


def frame_matrix(frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Values of a frame of numbers, shared with it where they are of one type; NaN where they are missing."""
    kinds = column_kinds(frame)
    other = [name for name, kind in kinds.items() if kind != "numeric"]
    for name in other:
        _require_numbers(frame[name])
    found = set(frame.dtypes.to_numpy())
    if not other and len(found) == 1 and isinstance(next(iter(found)), np.dtype):
        return frame.to_numpy()
    block = NumericBlock.of(frame, list(frame.columns))
    values = np.empty(frame.shape, dtype=block.dtype, order="F")
    for place, chunk in block.chunks():
        values[:, place] = chunk
    return values


def _require_numbers(column: pd.Series) -> None:
    if column.dtype == OBJECT and types.infer_dtype(column, skipna=True) in NUMBERS:
        return
    check_text(column, "X", "leave it out with X.drop(columns=...)")
    raise DataError(
        f"column {column.name!r} of X is no number: it has type {column.dtype}, as {shown(column.iloc[0])}; a formula "
        "codes factors, rht('y ~ .', data), or leave it out with X.drop(columns=...)."
    )


def require_same_rows(name: str, values: Any, rows: pd.Index | None, of: str = "X") -> None:
    """Raise if a series has other row labels than the data, or in another order: going by position would be wrong."""
    if rows is None or not isinstance(values, pd.Series | pd.DataFrame):
        return
    index = values.index
    if len(index) != len(rows) or index.equals(rows):
        return
    same = index.is_unique and rows.is_unique and not len(index.symmetric_difference(rows))
    place = int(np.flatnonzero(np.asarray(index != rows))[0])
    how = "in another order" if same else "of its own"
    remedy = f"{name}.loc[{of}.index] brings them together" if same else "bring them together"
    raise DataError(
        f"{name} has row labels {how}: row {place} is {listed([rows[place]], quote=False)} in {of} and "
        f"{listed([index[place]], quote=False)} in {name}; {remedy}, or pass {name}.to_numpy() to go by position."
    )


def new_columns(
    newdata: Any, names: Sequence[str], by_name: bool, wanted: Places, needed: Places
) -> tuple[Array, pd.Index]:
    """Columns of new rows for a model that was fitted to a matrix, and the labels of the rows.

    Parameters
    ----------
    newdata : array or sparse matrix (n, d), or data frame or dict, whose columns are found by their names.
    names : the d columns of the model.
    by_name : whether these are the user's; a frame must then have them. Otherwise one that has none of them goes by
        position.
    wanted : places of the columns to make; of a frame those that it lacks are NaN.
    needed : places of those that must be there.
    """
    if not is_frame(newdata) and not isinstance(newdata, dict):
        matrix = as_matrix(newdata)
        _require_width(matrix.shape[1], len(names))
        return _dense(matrix[:, wanted]), pd.RangeIndex(matrix.shape[0])
    frame = as_frame(newdata)
    if not by_name and frame.columns.isin(names).sum() == 0 and len(wanted):
        _require_width(frame.shape[1], len(names))
        return _dense(frame_matrix(frame.iloc[:, wanted])), frame.index
    require_columns(frame, [names[j] for j in needed])
    columns = np.full((len(frame), len(wanted)), np.nan)
    places = frame.columns.get_indexer(pd.Index([names[j] for j in wanted], dtype=object))
    there = np.flatnonzero(places >= 0)
    if len(there):
        columns[:, there] = frame_matrix(frame.iloc[:, places[there]])
    return columns, frame.index


def _require_width(found: int, d: int) -> None:
    if found != d:
        raise DataError(f"newdata has {found} columns; the model was fitted to {d}.")


def _dense(X: Any) -> Array:
    return np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
