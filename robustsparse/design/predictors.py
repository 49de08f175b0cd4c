"""Columns that cannot be predictors: dates, labels of rows, numbers that were read as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from robustsparse.base.errors import DataError
from robustsparse.base.text import listed, shown
from robustsparse.design.frames import OBJECT, Kind, kind_of

DATES = {"date", "datetime", "datetime64", "timedelta", "timedelta64", "period", "time"}
# A factor with a level for nearly every row is a label of rows, not a predictor.
ID_SHARE = 0.9
ID_ROWS = 10
# Text that holds more different numbers than this is no code of a few kinds, but numbers that were read as text.
CODES = 10


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
