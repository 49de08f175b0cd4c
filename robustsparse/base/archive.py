"""Values, indexes, series and frames as plain JSON, and back without the loss of a bit.

Types that JSON lacks are written as ``{"!": type, ...}``. Floats are exact, because Python writes
the shortest text that reads back as the same number. Nothing that is read back can run code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.errors import DataError

TAG = "!"


def to_json(value: Any) -> Any:
    """Write a value made of numbers, text, arrays and containers as strict JSON.

    Examples
    --------
    >>> to_json({0: (1.5, None)})
    {'!': 'dict', 'items': [[0, {'!': 'tuple', 'items': [1.5, None]}]]}
    """
    if isinstance(value, np.generic):
        # The type decides how later arithmetic rounds, so it must survive.
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
    raise DataError(
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
            return np.array(items, dtype=value["dtype"]).reshape(value["shape"])
        case "scalar":
            return np.dtype(value["dtype"]).type(from_json(value["value"]))
        case "float":
            return float(value["value"])
        case "interval":
            left, right = items
            return pd.Interval(left, right, closed=value["closed"])
        case "time":
            return pd.Timestamp(value["value"])
    raise DataError(f"cannot read a stored value of type {value[TAG]!r}")


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
    try:
        return to_json(value)
    except DataError:
        return str(value)


def index_from_json(stored: dict[str, Any]) -> pd.Index:
    """An index from what `index_to_json` made of it."""
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
        groups = pd.CategoricalDtype(index_from_json(stored["categories"]), stored["ordered"])
        return pd.CategoricalIndex(
            pd.Categorical.from_codes(stored["codes"], dtype=groups), name=name
        )
    values = [from_json(v) for v in stored["values"]]
    index: pd.Index = pd.Index(values, dtype=stored["dtype"], name=name, tupleize_cols=False)
    return index


def _as_times(stored: dict[str, Any]) -> Any:
    if "period" in stored:
        periods: Any = pd.PeriodIndex
        return periods.from_ordinals(stored["times"], freq=stored["period"])
    times: Any = pd.Index(np.array(stored["times"], dtype="i8").view(stored["dtype"]))
    return times if stored["zone"] is None else times.tz_localize("UTC").tz_convert(stored["zone"])


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
    values = from_json(stored["values"])
    dtype = None if stored["dtype"] == "object" else stored["dtype"]
    return pd.Series(
        values, index_from_json(stored["index"]), dtype=dtype, name=from_json(stored["name"])
    )


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
    index = stored["index"]
    columns = {i: series_from_json({**c, "index": index}) for i, c in enumerate(stored["columns"])}
    frame = pd.DataFrame(columns, index=index_from_json(index))
    frame.columns = index_from_json(stored["names"])
    return frame
