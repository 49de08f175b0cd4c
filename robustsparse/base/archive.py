"""Values, indexes, series and frames as plain JSON, and back without the loss of a bit.

Types that JSON lacks are written as ``{"!": type, ...}``. Floats are exact, because Python writes
the shortest text that reads back as the same number. Nothing that is read back can run code, and
nothing takes more memory than its text explains: types, widths and lengths are believed only as
far as the items that are stored with them bear them out. What cannot be read raises a ValueError or
its like; who knows the file's name says that the file is damaged.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.errors import DataError

TAG = "!"
# Types of arrays as numpy writes them: numbers, texts, times and objects.
_ARRAY_TYPE = re.compile(r"[<>|=]?([?biufUmMO])\d{0,9}(\[\d{0,3}\w{1,3}\])?")
_CLOCK_TYPE = re.compile(r"[mM]8\[(s|ms|us|ns)\]")
_ZONE = re.compile(r"(?!dateutil)[\w+/:-]{1,64}")
# How the type of a column names a zone that is a file of its own choice.
_ZONE_IN_FILE = "dateutil"
# Characters of a stored time, of the name of a type and of a frequency.
_LONGEST_WORD = 64
# Bytes of an array of texts for each byte of them, and how many each of them counts at least.
_WIDTH_RATIO, _LEAST_WIDTH = 8, 64
# Length of an index that nothing else in the file bears out.
_LONGEST_PROMISE = 1_000_000


def to_json(value: Any) -> Any:
    """Write a value made of numbers, text, arrays and containers as strict JSON.

    Examples
    --------
    >>> to_json({0: (1.5, None)})
    {'!': 'dict', 'items': [[0, {'!': 'tuple', 'items': [1.5, None]}]]}
    """
    if isinstance(value, np.generic):
        # The type decides how later arithmetic rounds, so it must survive.
        if isinstance(value.item(), np.generic):
            raise _unstorable(value)
        return {TAG: "scalar", "dtype": value.dtype.str, "value": to_json(value.item())}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {TAG: "float", "value": repr(value)}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, tuple):
        return {TAG: "tuple", "items": [to_json(item) for item in value]}
    if isinstance(value, dict):
        return {TAG: "dict", "items": [[to_json(k), to_json(v)] for k, v in value.items()]}
    return _tagged_object(value)


def _tagged_object(value: Any) -> dict[str, Any]:
    if isinstance(value, np.ndarray):
        flat = to_json(value.ravel().tolist())
        return {TAG: "array", "dtype": value.dtype.str, "shape": list(value.shape), "items": flat}
    if isinstance(value, pd.Interval):
        ends = [to_json(value.left), to_json(value.right)]
        return {TAG: "interval", "items": ends, "closed": value.closed}
    if isinstance(value, pd.Timestamp):
        return {TAG: "time", "value": value.isoformat()}
    raise _unstorable(value)


def _unstorable(value: Any) -> DataError:
    return DataError(
        f"cannot store {value!r} of type {type(value).__name__}; "
        "use numbers, text or intervals as levels and in the state of transforms"
    )


def from_json(value: Any) -> Any:
    """Undo :func:`to_json`.

    Examples
    --------
    >>> from_json(to_json({0: (1.5, None)}))
    {0: (1.5, None)}
    """
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    items = [from_json(item) for item in value.get("items", [])]
    match value[TAG]:
        case "dict":
            return dict(items)
        case "tuple":
            return tuple(items)
        case "array":
            return _array(items, value["dtype"], value["shape"])
        case "scalar":
            return _array([from_json(value["value"])], value["dtype"], ())[()]
        case "float":
            return float(_word(value["value"]))
        case "interval":
            left, right = items
            return pd.Interval(left, right, closed=value["closed"])
        case "time":
            return pd.Timestamp(_word(value["value"]))
    raise DataError(f"cannot read a stored value of type {str(value[TAG])[:_LONGEST_WORD]!r}")


def _word(text: Any, form: re.Pattern[str] | None = None) -> str:
    """A short text of a form; a file may hold anything in its place."""
    fits = isinstance(text, str) and len(text) <= _LONGEST_WORD
    if not fits or (form is not None and not form.fullmatch(text)):
        raise ValueError(f"cannot read {str(text)[:_LONGEST_WORD]!r}")
    return str(text)


def _array(items: list[Any], name: Any, shape: Any) -> Any:
    """An array of a stored type, no wider than its items need."""
    dtype = np.dtype(_word(name, _ARRAY_TYPE))
    if dtype.kind == "U":
        # One long text makes all others as wide.
        held = sum(4 * len(item) + _LEAST_WIDTH for item in items)
        if dtype.itemsize * len(items) > _WIDTH_RATIO * held:
            raise ValueError(f"cannot read {len(items)} texts of type {name!r}")
    if math.prod(shape) != len(items):
        raise ValueError(
            f"cannot read an array of shape {str(shape)[:_LONGEST_WORD]} from {len(items)} items"
        )
    values = np.empty(len(items), dtype=dtype)
    values[:] = items if dtype.kind != "O" else _objects(items)
    return values.reshape(shape)


def _objects(items: list[Any]) -> Any:
    """Items as objects, each one as it is: numpy would take lists for further dimensions."""
    values = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        values[place] = item
    return values


def index_to_json(index: pd.Index) -> dict[str, Any]:
    """An index as what JSON can hold."""
    if isinstance(index, pd.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "name": to_json(index.name)}
    if isinstance(index, pd.MultiIndex):
        levels = [index_to_json(index.get_level_values(i)) for i in range(index.nlevels)]
        return {"levels": levels, "names": [to_json(name) for name in index.names]}
    if isinstance(index, pd.CategoricalIndex):
        codes, order = index.codes.tolist(), bool(index.ordered)
        parts = {"codes": codes, "ordered": order, "categories": index_to_json(index.categories)}
        return {**parts, "name": to_json(index.name)}
    if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex | pd.PeriodIndex):
        return {"times": index.asi8.tolist(), **_clock(index), "name": to_json(index.name)}
    values = [_label(v.item() if isinstance(v, np.generic) else v) for v in index]
    return {"values": values, "dtype": str(index.dtype), "name": to_json(index.name)}


def _clock(index: Any) -> dict[str, Any]:
    """How the whole numbers of an index of times are to be read."""
    if isinstance(index, pd.PeriodIndex):
        return {"period": index.freqstr}
    zone = getattr(index, "tz", None)
    return {
        "dtype": f"{index.dtype.kind}8[{index.unit}]",
        "zone": None if zone is None else str(zone),
    }


def _label(value: Any) -> Any:
    """A row label; of a type that cannot be stored, its text."""
    if value is pd.NA:
        return None
    try:
        return to_json(value)
    except DataError:
        return str(value)


def index_from_json(stored: dict[str, Any], length: int | None = None) -> pd.Index:
    """An index from what `index_to_json` made of it, of a length if that is known."""
    _check_length(stored, length)
    if "levels" in stored:
        arrays = [index_from_json(level) for level in stored["levels"]]
        return pd.MultiIndex.from_arrays(
            arrays, names=[from_json(name) for name in stored["names"]]
        )
    name = from_json(stored["name"])
    if "range" in stored:
        return pd.RangeIndex(*stored["range"]).rename(name)
    if "times" in stored:
        times: pd.Index = _as_times(stored).rename(name)
        return times
    if "codes" in stored:
        _check_promise(stored["categories"], len(stored["codes"]))
        groups = pd.CategoricalDtype(index_from_json(stored["categories"]), stored["ordered"])
        return pd.CategoricalIndex(
            pd.Categorical.from_codes(stored["codes"], dtype=groups), name=name
        )
    values = [from_json(v) for v in stored["values"]]
    dtype = _column_type(stored["dtype"])
    index: pd.Index = pd.Index(values, dtype=dtype, name=name, tupleize_cols=False)
    return index


def _length(stored: dict[str, Any]) -> int:
    """Length of an index before it is made."""
    if "range" in stored:
        return len(range(*stored["range"]))
    if "levels" in stored:
        lengths = {_length(level) for level in stored["levels"]}
        if len(lengths) != 1:
            raise ValueError(f"cannot read an index whose levels have {sorted(lengths)} entries")
        return lengths.pop()
    key = next(key for key in ("times", "codes", "values") if key in stored)
    return len(stored[key])


def _check_length(stored: dict[str, Any], length: int | None) -> None:
    found = _length(stored)
    if length is not None and found != length:
        raise ValueError(f"cannot read an index of {found} entries for {length} values")
    if "levels" in stored:
        promised = sum(map(_promised, stored["levels"]))
        if promised > max(_LONGEST_PROMISE, 10 * (length or 0)):
            raise ValueError(f"cannot read levels of {promised} entries")


def _promised(level: dict[str, Any]) -> int:
    """How long a level becomes for no more than the text of a range; levels have no levels of their own."""
    if "levels" in level:
        raise ValueError("cannot read an index of levels within levels")
    if "codes" in level:
        return _promised(level["categories"])
    return _length(level) if "range" in level else 0


def _check_promise(stored: dict[str, Any], borne_out: int) -> None:
    """Refuse a range that would become an array, if nothing else in the file is nearly as long."""
    if "range" in stored and _length(stored) > max(_LONGEST_PROMISE, 10 * borne_out):
        raise ValueError(f"cannot read a range of {_length(stored)} entries")


def _column_type(name: Any) -> str:
    """Name of the type of an index or a series; text of a fixed width and records never are."""
    word = _word(name)
    try:
        numpy_type = np.dtype(word)
    except TypeError:
        # A type of pandas' own, whose width is fixed by its values.
        if re.search(r"\d{4,}", word) or _ZONE_IN_FILE in word:
            raise ValueError(f"cannot read values of type {word!r}") from None
        return word
    if numpy_type.kind in "VSU" and word != "str":
        raise ValueError(f"cannot read values of type {word!r}")
    return word


def _as_times(stored: dict[str, Any]) -> Any:
    if "period" in stored:
        periods: Any = pd.PeriodIndex
        return periods.from_ordinals(stored["times"], freq=_word(stored["period"]))
    clock = _word(stored["dtype"], _CLOCK_TYPE)
    times: Any = pd.Index(np.array(stored["times"], dtype="i8").view(clock))
    zone = stored["zone"]
    return times if zone is None else times.tz_localize("UTC").tz_convert(_word(zone, _ZONE))


def series_to_json(series: pd.Series[Any]) -> dict[str, Any]:
    """A series as what JSON can hold."""
    return {
        "index": index_to_json(series.index),
        "values": to_json(series.to_numpy().tolist()),
        "dtype": "object" if series.dtype.kind not in "biuf" else str(series.dtype),
        "name": to_json(series.name),
    }


def series_from_json(stored: dict[str, Any]) -> pd.Series[Any]:
    """A series from what `series_to_json` made of it."""
    index = index_from_json(stored["index"], len(stored["values"]))
    return _series_from_json(stored, index)


def _series_from_json(stored: dict[str, Any], index: pd.Index) -> pd.Series[Any]:
    values = from_json(stored["values"])
    dtype = None if stored["dtype"] == "object" else _column_type(stored["dtype"])
    return pd.Series(values, index, dtype=dtype, name=from_json(stored["name"]))


def frame_to_json(frame: pd.DataFrame | None) -> dict[str, Any] | None:
    """A data frame as what JSON can hold; None stays None."""
    if frame is None:
        return None
    columns = [series_to_json(frame.iloc[:, i]) for i in range(frame.shape[1])]
    for column in columns:
        del column["index"]
    return {
        "index": index_to_json(frame.index),
        "names": index_to_json(frame.columns),
        "columns": columns,
    }


def frame_from_json(stored: dict[str, Any] | None) -> pd.DataFrame | None:
    """A data frame from what `frame_to_json` made of it."""
    if stored is None:
        return None
    columns = stored["columns"]
    length = len(columns[0]["values"]) if columns else None
    if length is None:
        _check_promise(stored["index"], 0)
    index = index_from_json(stored["index"], length)
    names = index_from_json(stored["names"], len(columns))
    series = {place: _series_from_json(column, index) for place, column in enumerate(columns)}
    frame = pd.DataFrame(series, index=index)
    frame.columns = names
    return frame
