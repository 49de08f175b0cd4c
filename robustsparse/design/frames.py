"""Data frames in, numbers out: kinds of columns, blocks of numbers, rows that cannot be used.

Nothing here knows of formulas, and nothing changes the caller's data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api import types

from robustsparse.base.checks import check_weights
from robustsparse.base.errors import DataError, MissingDependencyError
from robustsparse.base.text import did_you_mean, listed, shown
from robustsparse.base.types import Array, Mask, Places

Kind = Literal["numeric", "factor", "time", "other"]

# The name of the constant term.
INTERCEPT = "Intercept"
# Columns converted at once: wide enough to amortize pandas, narrow enough to stay in cache.
CHUNK = 256
# Columns looked at to see how a frame lies in memory.
PROBES = 32
# What pandas calls the content of an object column that is numbers, possibly with holes.
NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty"}
OBJECT = np.dtype(object)
SINGLE = np.dtype(np.float32)
DATES = {"date", "datetime", "datetime64", "timedelta", "timedelta64", "period", "time"}
# A factor with a level for nearly every row is a label of rows, not a predictor.
ID_SHARE = 0.9
ID_ROWS = 10
# Text that holds more different numbers than this is no code of a few kinds, but numbers that were read as text.
CODES = 10


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


def infinite(values: pd.Series | npt.NDArray[Any]) -> Mask:
    """Find where a column is plus or minus infinity; factors never are."""
    array = np.asarray(values)
    if array.dtype.kind != "f":
        return np.zeros(array.shape, dtype=bool)
    return np.asarray(np.isinf(array))


@dataclass
class RowAudit:
    """Which rows cannot be used, and for which columns.

    A row that is both missing and infinite somewhere counts as missing.
    """

    missing: Mask
    infinite: Mask
    _found: dict[str, Mask] = field(default_factory=dict)

    @classmethod
    def of(cls, n: int) -> RowAudit:
        """Start with n rows and nothing found."""
        return cls(np.zeros(n, dtype=bool), np.zeros(n, dtype=bool))

    @property
    def bad(self) -> Mask:
        """Rows that cannot be used."""
        return self.missing | self.infinite

    @property
    def columns(self) -> dict[str, int]:
        """Number of values at fault, by column."""
        return {name: int(found.sum()) for name, found in self._found.items()}

    def found(self, names: Iterable[str]) -> Mask:
        """Rows where one of these columns or pieces is at fault."""
        faults = [self._found[name] for name in names if name in self._found]
        return np.any(faults, axis=0) if faults else np.zeros(len(self.missing), dtype=bool)

    def note(self, name: str, missing: Mask, infinite: Mask) -> None:
        """Add what one column holds."""
        self.missing |= missing
        self.infinite |= infinite
        found = missing | infinite
        if found.any():
            self._found[name] = found | self._found.get(name, False)

    def scan(self, block: NumericBlock) -> None:
        """Add what plain numeric columns hold."""
        for place, values in block.chunks():
            with np.errstate(all="ignore"):
                clean = np.isfinite(values.sum())
            # A finite sum proves a clean chunk at the price of one pass; else look closely.
            if clean:
                continue
            missing, unbounded = np.isnan(values), np.isinf(values)
            for j in np.flatnonzero((missing | unbounded).any(axis=0)):
                self.note(block.names[place.start + j], missing[:, j], unbounded[:, j])

    def describe(self) -> str:
        """List columns with the number of values at fault, worst first."""
        worst = sorted(self.columns.items(), key=lambda item: -item[1])
        return listed([f"{name} ({count})" for name, count in worst], quote=False)


@dataclass(frozen=True)
class Dropped:
    """Rows that were left out.

    Attributes
    ----------
    missing, infinite : how many rows; one that is both counts as missing.
    labels : the index labels of all rows that were left out.
    columns : how many values were at fault, by column or term.
    weightless : how many rows of weight 0; what they hold does not matter.
    """

    missing: int
    infinite: int
    labels: pd.Index
    columns: dict[str, int]
    weightless: int = 0


def row_values(frame: pd.DataFrame, role: str, value: Any) -> Array | None:
    """Read weights or an offset, given as a column or an array, as floats for every row."""
    if value is None:
        return None
    if isinstance(value, str):
        if value not in frame.columns:
            hint = did_you_mean(value, frame.columns)
            raise DataError(f"{role}={value!r} is no column of the data{hint}")
        return numeric_column(frame, value)
    if isinstance(value, pd.Series) and not value.index.equals(frame.index):
        raise DataError(
            f"the index of {role} differs from that of the data; "
            "reindex it, or pass its values to go by position"
        )
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{role} holds values that are not numbers; convert them first") from None
    if array.shape != (len(frame),):
        raise DataError(f"{role} has shape {array.shape}, but the data have {len(frame)} rows")
    return array


def row_weights(frame: pd.DataFrame, value: Any) -> Array | None:
    """Read weights, which must be finite, not negative and not all zero."""
    weights = row_values(frame, "weights", value)
    if weights is None:
        return None
    check_weights(weights, frame.index)
    return weights


def numeric_column(frame: pd.DataFrame, name: str) -> Array:
    """Read one column as floats, NaN where it is missing."""
    return _floats(frame[[name]])[:, 0].copy()


def float_or_nan(value: Any) -> float:
    """A number of anything that is one, also as text."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def check_text(column: pd.Series, where: str, without: str, *, coded: str = "") -> None:
    """Raise if a column of text holds numbers, most of them different, which nobody wants for levels of a factor.

    `coded` is how to take them for levels all the same.
    """
    filled = column[column.notna()]
    # Who made a category of numbers wants it, unless there is one for every row.
    few = ID_SHARE * len(filled) if isinstance(column.dtype, pd.CategoricalDtype) else CODES
    if kind_of(column.dtype) != "factor" or filled.nunique() <= few:
        return
    wrong, convert = _no_numbers(filled, f"{where}[{column.name!r}]")
    if 2 * len(wrong) >= len(filled):
        return
    text = "text" if any(isinstance(value, str) for value in filled) else "objects"
    what = f"column {column.name!r} of {where} holds numbers as {text}, such as {shown(filled.iloc[0])}"
    if len(wrong):
        what += f", but not in rows {listed(wrong.index.tolist())}: {listed(wrong.tolist())}"
        convert = f"mend these and {convert}, whose errors='coerce' makes them missing"
    raise DataError(f"{what}; {convert}, or {without}{coded}")


def _no_numbers(filled: pd.Series, name: str) -> tuple[pd.Series, str]:
    """Values that are no numbers, and how to convert the others, which may have a decimal comma."""
    wrong = np.isnan([float_or_nan(value) for value in filled])
    texts = [value.replace(",", ".", 1) if isinstance(value, str) else value for value in filled]
    beyond_commas = np.isnan([float_or_nan(value) for value in texts])
    if beyond_commas.sum() < wrong.sum():
        return filled[beyond_commas], f"convert it with pd.to_numeric({name}.str.replace(',', '.'))"
    return filled[wrong], f"convert it with pd.to_numeric({name})"


def check_predictor(column: pd.Series, kind: Kind, *, by_dot: bool) -> None:
    """Raise if a column that is no number cannot be a factor either.

    ``by_dot`` says that nobody asked for this very column, so that a label of rows is refused.
    """
    name = str(column.name)
    quoted = name if name.isidentifier() else f"`{name}`"
    without = f"leave it out with `- {quoted}`"
    if kind == "time" or (column.dtype == OBJECT and types.infer_dtype(column) in DATES):
        raise DataError(
            f"column {name!r} holds dates or times; convert it to a number "
            f"(such as days since the first date), or {without}"
        )
    if kind == "other":
        raise DataError(f"column {name!r} has type {column.dtype}, no number or factor; {without}")
    try:
        levels, filled = column.nunique(), int(column.notna().sum())
    except TypeError as error:
        raise DataError(f"column {name!r} holds no labels ({error}); {without}") from error
    check_text(column, "data", without, coded=f", or write C({quoted}) to make a level of each")
    if by_dot and filled >= ID_ROWS and levels >= ID_SHARE * filled:
        raise DataError(
            f"column {name!r} has {levels} levels in {filled} rows, as a row label would; {without}"
        )


def require_columns(frame: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise unless the frame has all these columns."""
    present = set(frame.columns)
    absent = [name for name in names if name not in present]
    if absent:
        hint = did_you_mean(absent[0], present) if len(absent) == 1 else ""
        raise DataError(f"the data lack columns that the model needs: {listed(absent)}{hint}")
