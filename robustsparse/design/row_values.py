"""Weights and offsets: numbers that belong to rows, given as a column or as an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_weights
from robustsparse.base.errors import DataError
from robustsparse.base.text import did_you_mean
from robustsparse.base.types import Array
from robustsparse.design.blocks import numeric_column


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
