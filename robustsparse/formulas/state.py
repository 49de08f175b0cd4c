"""What transforms learned, as plain JSON, and back without the loss of a bit.

Types that JSON lacks are written as ``{"!": type, ...}``. Floats are exact, because Python writes
the shortest text that reads back as the same number. Nothing that is read back can run code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.errors import DataError

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
