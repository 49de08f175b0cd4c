"""Numbers as they are printed in a table of coefficients."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.types import Array
from robustsparse.report.summary.words import measure, printable, right

MISSING = "–"
# Digits of an estimate; where there is a standard error, the decimals are those that show this many
# digits of it, since what an estimate says ends there.
DIGITS = 4
SPREAD_DIGITS = 3
# All rows share their decimals as long as the largest number then has at most this many digits.
MAX_DIGITS = 7
MAX_DECIMALS = 8
# Powers of ten between which a row is written without exponent.
PLAIN = (-5, 7)
# Smaller p-values are not told apart, as in R (the rounding unit of double precision).
SMALLEST_P = 2e-16

# Which columns belong together, by name.
_P_VALUE = re.compile(r"(adj\. )?p([ .-]?values?)?|pr\(>\|[zt]\|\)", re.IGNORECASE)
_STATISTIC = re.compile(r"[zt]([ .-](value|statistic))?|statistic", re.IGNORECASE)
_FREQUENCY = re.compile(r".*\bfreq.*|.*\bshare\b.*|weight", re.IGNORECASE)
_SPREAD = re.compile(r"std\.? ?err(or|\.)?|se|standard error", re.IGNORECASE)
_ESTIMATE = re.compile(
    r"estimate|coef(ficient)?|.*\bci\b.*|.*%.*|low(er)?|high|upper", re.IGNORECASE
)


@dataclass(frozen=True)
class Column:
    """A formatted column: cells of equal width if `numeric`, their decimal points aligned."""

    name: str
    cells: tuple[str, ...]
    numeric: bool

    @property
    def width(self) -> int:
        """Columns of text that the widest cell takes."""
        return max(map(measure, self.cells), default=0)


def format_table(table: pd.DataFrame) -> list[Column]:
    """Format every column of a table by its type and name.

    Estimates, their standard errors and interval ends share their decimals; p-values, test
    statistics and frequencies have forms of their own; missing values print as a dash.

    Parameters
    ----------
    table : DataFrame
        One row a term.

    Returns
    -------
    list of Column
        In the table's order.

    Examples
    --------
    >>> table = pd.DataFrame({"Estimate": [12.3456, -0.5], "Std. Error": [0.0211, 0.02]})
    >>> table["p"] = [0.0, 0.03]
    >>> [column.cells for column in format_table(table)]
    [('12.3456', '-0.5000'), ('0.0211', '0.0200'), ('<2e-16', '0.0300')]
    """
    names = [printable(name) for name in table.columns]
    numeric = {
        j: _values(table.iloc[:, j]) for j in range(len(names)) if _is_float(table.iloc[:, j])
    }
    linked = [j for j in numeric if _ESTIMATE.fullmatch(names[j]) or _SPREAD.fullmatch(names[j])]
    cells = _format_linked([numeric[j] for j in linked], [names[j] for j in linked])
    formatted = dict(zip(linked, cells, strict=True))
    for j, values in numeric.items():
        if j not in formatted:
            formatted[j] = _format_alone(values, names[j])
    return [
        Column(names[j], align(formatted[j]), True)
        if j in formatted
        else _other_column(table.iloc[:, j], names[j])
        for j in range(len(names))
    ]


def _is_float(column: "pd.Series[Any]") -> bool:
    return pd.api.types.is_float_dtype(column.dtype)


def _values(column: "pd.Series[Any]") -> Array:
    return np.asarray(column.to_numpy(dtype=float, na_value=np.nan), dtype=np.float64)


def _other_column(column: "pd.Series[Any]", name: str) -> Column:
    """Whole numbers as they are, truth values in words, the rest as text."""
    dtype = column.dtype
    if pd.api.types.is_bool_dtype(dtype):
        words = [_or_missing(v, "yes" if v is not pd.NA and v else "no") for v in column]
        return Column(name, tuple(words), False)
    cells = [_or_missing(v, printable(v)) for v in column]
    if pd.api.types.is_integer_dtype(dtype):
        return Column(name, align(cells), True)
    return Column(name, tuple(cells), False)


def _or_missing(value: Any, text: str) -> str:
    return MISSING if pd.api.types.is_scalar(value) and pd.isna(value) else text


def _format_alone(values: Array, name: str) -> list[str]:
    if _P_VALUE.fullmatch(name):
        return [format_p(p) for p in values]
    if _STATISTIC.fullmatch(name) or _FREQUENCY.fullmatch(name):
        return [_format_fixed(v, 2) if not abs(v) >= 1e5 else f"{v:.2e}" for v in values]
    return _format_linked([values], [name])[0]


def format_p(p: float) -> str:
    """Write a p-value with four decimals, with an exponent below 0.001.

    Examples
    --------
    >>> format_p(0.0312), format_p(0.000031), format_p(0.0)
    ('0.0312', '3.1e-05', '<2e-16')
    """
    if np.isnan(p):
        return MISSING
    if p < SMALLEST_P:
        return "<2e-16"
    return f"{p:.1e}" if p < 0.001 else f"{p:.4f}"


def _format_linked(columns: Sequence[Array], names: Sequence[str]) -> list[list[str]]:
    """Format columns in the same units, row by row with the same decimals."""
    if not columns:
        return []
    block = np.column_stack(columns)
    spreads = [v for v, name in zip(columns, names, strict=True) if _SPREAD.fullmatch(name)]
    size = _exponent(np.where(np.isfinite(block), np.abs(block), 0.0).max(axis=1, initial=0.0))
    decimals = _decimals(size, _exponent(np.abs(spreads[0])) if spreads else None)
    plain = ~((size < PLAIN[0]) | (size >= PLAIN[1]))
    rows = [
        [_format_fixed(v, int(d)) if keep else _format_scientific(v) for v in row]
        for row, d, keep in zip(block, decimals, plain, strict=True)
    ]
    return [[row[j] for row in rows] for j in range(block.shape[1])]


def decimals_of(cells: Sequence[str]) -> int:
    """Most decimals of numbers that are written without an exponent.

    Examples
    --------
    >>> decimals_of(["0.25", "3", "1.2e-05"])
    2
    """
    return max(
        (len(cell.strip().partition(".")[2]) for cell in cells if "e" not in cell), default=0
    )


def format_to(values: Array, decimals: int | None = None) -> list[str]:
    """Numbers with so many decimals; by default so many that the largest shows four digits.

    Examples
    --------
    >>> format_to(np.array([0.9112, -0.0091, np.nan]))
    ['0.9112', '-0.0091', '–']
    """
    if decimals is None:
        known = np.abs(values[np.isfinite(values) & (values != 0)])
        size = float(_exponent(np.array([known.max()]))[0]) if len(known) else 0.0
        decimals = int(np.clip(DIGITS - 1 - size, 0, MAX_DECIMALS))
    plain = [_format_fixed(value, decimals) for value in values]
    large = 10.0 ** PLAIN[1]
    return [
        _format_scientific(value) if np.isfinite(value) and abs(value) >= large else cell
        for value, cell in zip(values, plain, strict=True)
    ]


def _exponent(values: Array) -> Array:
    """Power of ten of the first digit; NaN for zero and what is not finite."""
    usable = np.isfinite(values) & (values != 0)
    return np.floor(np.log10(np.where(usable, values, np.nan)))


def _decimals(size: Array, spread: Array | None) -> Array:
    """Decimals of each row, the same in all unless the terms' scales are far apart."""
    decimals = DIGITS - 1 - size
    if spread is not None:
        decimals = np.where(np.isnan(spread), decimals, SPREAD_DIGITS - 1 - spread)
    decimals = np.clip(decimals, 0, MAX_DECIMALS)
    inside = (size >= PLAIN[0]) & (size < PLAIN[1])
    if not inside.any():
        return np.zeros_like(size)
    most = decimals[inside].max()
    if most + max(size[inside].max(), 0) + 1 <= MAX_DIGITS:
        return np.full_like(size, most)
    return np.where(np.isnan(decimals), most, decimals)


def _format_fixed(value: float, decimals: int) -> str:
    if not np.isfinite(value):
        return _format_special(value)
    if value != 0 and abs(value) < 0.5 * 10.0**-decimals:
        return f"{value:.1e}"
    # Adding zero turns -0.0 into 0.0.
    return f"{value + 0.0:.{decimals}f}"


def _format_scientific(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.3e}" if np.isfinite(value) else _format_special(value)


def _format_special(value: float) -> str:
    return MISSING if np.isnan(value) else ("Inf" if value > 0 else "-Inf")


def align(cells: Sequence[str]) -> tuple[str, ...]:
    """Pad numbers to one width, so that their decimal points stand under each other.

    Examples
    --------
    >>> align(["1234", "0.5", "1.25e-09"])
    ('1234        ', '   0.5     ', '   1.25e-09')
    """
    if any("<" in cell for cell in cells) or not any("." in cell for cell in cells):
        width = max(map(measure, cells), default=0)
        return tuple(right(cell, width) for cell in cells)
    halves = [_split_at_point(cell) for cell in cells]
    before = max(len(a) for a, _ in halves)
    after = max(len(b) for _, b in halves)
    return tuple(a.rjust(before) + b.ljust(after) for a, b in halves)


def _split_at_point(cell: str) -> tuple[str, str]:
    whole, point, rest = cell.partition(".")
    return whole, point + rest
