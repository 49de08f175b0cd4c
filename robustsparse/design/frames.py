"""Data frames in, numbers out: names, kinds of columns and their values.

Nothing here knows of formulas, and nothing changes the caller's data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from robustsparse.base.errors import DataError, MissingDependencyError
from robustsparse.base.text import did_you_mean, listed

Kind = Literal["numeric", "factor", "time", "other"]

# The name of the constant term.
INTERCEPT = "Intercept"
# What pandas calls the content of an object column that is numbers, possibly with holes.
NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty"}
OBJECT = np.dtype(object)


def as_frame(data: Any) -> pd.DataFrame:
    """Make a pandas frame with unique string names of any data frame or mapping of columns.

    A frame that already is one comes back as it is; values are shared, never changed.

    Examples
    --------
    >>> as_frame({"a": [1, 2], 0: [3, 4]}).columns.tolist()
    ['a', '0']
    """
    if isinstance(data, Mapping):
        one_row = not any(map(types.is_list_like, data.values()))
        frame = pd.DataFrame([data] if one_row else dict(data))
    elif isinstance(data, pd.DataFrame):
        frame = data
    else:
        frame = _from_other_library(data)
    if isinstance(frame.columns, pd.MultiIndex):
        raise DataError("the columns have several levels; join them into one name per column first")
    if not all(isinstance(name, str) for name in frame.columns):
        frame = frame.copy(deep=False)
        frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    _require_unique(frame.columns)
    return _native(frame)


def _native(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with numbers in the machine's own order of bytes, since pandas cannot select rows of others."""
    foreign = {
        dtype
        for dtype in set(frame.dtypes.to_numpy())
        if isinstance(dtype, np.dtype) and not dtype.isnative
    }
    if not foreign:
        return frame
    changed = {
        name: dtype.newbyteorder("=")
        for name, dtype in zip(frame.columns, frame.dtypes.to_numpy(), strict=True)
        if dtype in foreign
    }
    return frame.astype(changed)


def _require_unique(columns: pd.Index) -> None:
    if not columns.is_unique:
        doubled = columns[columns.duplicated()].unique().tolist()
        raise DataError(f"column names must be unique, but these are not: {listed(doubled)}")


def _from_other_library(data: Any) -> pd.DataFrame:
    if isinstance(data, np.ndarray | list | tuple | pd.Series):
        raise DataError(
            f"data must be a data frame, not {type(data).__name__}; "
            "for arrays use rht_fit(X, y), for one row pass a dict or a frame of one row"
        )
    try:
        import narwhals
    except ImportError as error:
        raise MissingDependencyError(
            f"a {type(data).__name__} needs the package narwhals; or pass a pandas frame"
        ) from error
    try:
        frame = narwhals.from_native(data, eager_only=True)
    except TypeError as error:
        raise DataError(
            f"data must be a pandas or polars data frame, not {type(data).__name__} "
            "(a lazy frame: call .collect() or .compute() first)"
        ) from error
    columns = {series.name: _pandas_column(series) for series in frame.iter_columns()}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))


def _pandas_column(series: Any) -> Any:
    """Convert a column of another library without a detour through pyarrow."""
    dtype = series.dtype
    if (dtype.is_numeric() and not dtype.is_decimal()) or dtype.is_temporal():
        return series.to_numpy()
    values = pd.Series(series.to_list(), dtype=object)
    if hasattr(dtype, "categories"):
        return pd.Categorical(values, categories=list(dtype.categories))
    if types.infer_dtype(values, skipna=True) not in NUMBERS:
        return values
    return values.astype(float) if values.hasnans else values.infer_objects()


def kind_of(dtype: Any) -> Kind:
    """Tell whether a column of this type enters a model as numbers, as a factor, or not at all.

    Examples
    --------
    >>> [kind_of(pd.Series(v).dtype) for v in ([1, 2], [True], ["a"], [pd.Timestamp(0)])]
    ['numeric', 'numeric', 'factor', 'time']
    """
    if isinstance(dtype, pd.CategoricalDtype) or dtype == OBJECT:
        return "factor"
    # Truth values of Arrow are no numbers to pandas, as all others are.
    if types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype):
        return "other" if types.is_complex_dtype(dtype) else "numeric"
    if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        return "time"
    if isinstance(dtype, pd.PeriodDtype):
        return "time"
    return "factor" if types.is_string_dtype(dtype) else "other"


def column_kinds(frame: pd.DataFrame) -> dict[str, Kind]:
    """Tell the kind of every column, with one look per type, since frames can be very wide.

    Examples
    --------
    >>> column_kinds(pd.DataFrame({"a": [1.5], "g": ["u"]}))
    {'a': 'numeric', 'g': 'factor'}
    """
    seen: dict[Any, Kind] = {}
    kinds: dict[str, Kind] = {}
    for name, dtype in zip(frame.columns, frame.dtypes.to_numpy(), strict=True):
        if dtype not in seen:
            seen[dtype] = kind_of(dtype)
        kinds[name] = seen[dtype]
    return kinds


def prepared(series: pd.Series, kind: Kind | None = None) -> pd.Series:
    """Make one column as a formula should see it, with positions as its index.

    Small integers and floats widen, so that products neither overflow nor lose digits; nullable
    numbers become floats with NaN where needed; text of any type becomes objects. ``kind`` is the
    kind that the column had in training, if there was one.

    Examples
    --------
    >>> prepared(pd.Series([1, None], dtype="Int8")).tolist()
    [1.0, nan]
    """
    kind = kind or kind_of(series.dtype)
    if kind == "numeric":
        return pd.Series(_wide(series))
    if kind == "factor" and not isinstance(series.dtype, pd.CategoricalDtype):
        values = series.astype(object).reset_index(drop=True)
        return values.where(values.notna(), np.nan)
    return series.reset_index(drop=True)


def _wide(series: pd.Series) -> npt.NDArray[Any]:
    series = numbers(series)
    if not isinstance(series.dtype, np.dtype):
        series = _without_nullable(series)
    values: npt.NDArray[Any] = series.to_numpy()
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        return values.astype(np.int64)
    return values if values.dtype == bool else values.astype(np.float64)


def _without_nullable(series: pd.Series) -> pd.Series:
    if series.hasnans:
        return pd.Series(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return pd.Series(np.array(series.tolist()))


def numbers(series: pd.Series) -> pd.Series:
    """Return the column if it is numeric, or its objects as floats; anything else raises."""
    if kind_of(series.dtype) == "numeric":
        return series
    if series.dtype == OBJECT and types.infer_dtype(series, skipna=True) in NUMBERS:
        try:
            return series.astype(float)
        except OverflowError:
            raise DataError(
                f"column {series.name!r} holds a whole number that is too large for any float; mend or drop it"
            ) from None
    raise DataError(f"column {series.name!r} must be numeric, but it is {series.dtype}")


def require_columns(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise unless the frame has all these columns."""
    present = set(frame.columns)
    absent = [name for name in names if name not in present]
    if absent:
        hint = did_you_mean(absent[0], present) if len(absent) == 1 else ""
        raise DataError(f"the data lack columns that the model needs: {listed(absent)}{hint}")
