"""Checks of arguments, shared by every entry point: each error names the value and the remedy."""

from collections.abc import Hashable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.text import did_you_mean, shown
from robustsparse.base.types import Array, Places

# What `rng=` takes.
Seed = int | np.random.Generator | None

# The same call gives the same answer unless the user asks for other random numbers.
DEFAULT_SEED = 0
# Fewer rows say nothing about which of them are bad.
FEWEST_ROWS = 5
# Kinds of numpy types that hold real numbers: bool, integers and floats.
_REAL_KINDS = "biuf"
# Sums and differences of numbers beyond this may leave the range of numbers.
LARGEST = 1e302


def as_rng(rng: Seed) -> np.random.Generator:
    """Generator from a seed, itself, or (for None) a fixed seed.

    Examples
    --------
    >>> bool(as_rng(None).integers(100) == as_rng(None).integers(100))
    True
    """
    try:
        return np.random.default_rng(DEFAULT_SEED if rng is None else rng)
    except (TypeError, ValueError, OverflowError, MemoryError):
        raise ParameterError(
            f"rng={shown(rng)} must be a whole number, a numpy Generator or None."
        ) from None


def refuse_word(name: str, value: Any, numbers: str) -> None:
    """Raise for a word where "auto" or numbers are taken.

    Examples
    --------
    >>> refuse_word("k", "auto", "a whole number")
    """
    if value != "auto":
        raise ParameterError(f"{name}={shown(value)} must be {numbers} or 'auto'.")


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Raise unless the value is one of the choices."""
    if not isinstance(value, Hashable) or value not in choices:
        raise ParameterError(
            f"{name}={shown(value)} is not one of {', '.join(map(repr, choices))}{_nearest(value, choices)}"
        )


def _nearest(value: Any, choices: Sequence[Any]) -> str:
    """The end of a sentence, with the choice that was probably meant."""
    words = [choice for choice in choices if isinstance(choice, str)]
    return (did_you_mean(value.lower(), words) if isinstance(value, str) else "") or "."


def check_number(
    name: str, value: Any, low: float, high: float = np.inf, *, open_low: bool = False
) -> float:
    """Finite number within [low, high], or (low, high] with `open_low`."""
    number = _to_float(value)
    if not (np.isfinite(number) and low <= number <= high) or (open_low and number == low):
        interval = f"{'(' if open_low else '['}{low:g}, {high:g}{']' if np.isfinite(high) else ')'}"
        share = number / 100.0
        meant = (
            f"; did you mean {share:g}?" if high <= 1.0 < number and low < share <= high else "."
        )
        raise ParameterError(f"{name}={shown(value)} must be a number in {interval}{meant}")
    return number


def check_count(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Whole number within [low, high]."""
    number = _to_float(value)
    whole = np.isfinite(number) and number == np.floor(number)
    if not whole or number < low or (high is not None and number > high):
        span = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ParameterError(f"{name}={shown(value)} must be a whole number {span}.")
    return int(number)


def _to_float(value: Any) -> float:
    """Float from a real number of any type, NaN from all else: strings, truth values, arrays."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    try:
        return float(value) if real else float("nan")
    except OverflowError:
        return float("inf")


def as_matrix(X: Any) -> Any:
    """Two-dimensional numeric X, dense or scipy sparse, unchanged and not copied where possible."""
    if type(X).__module__.startswith("dask"):
        raise DataError(
            "the data are with Dask, and this call needs them in memory: X.compute() gathers them. rht_fit reads them "
            "where they are."
        )
    if sparse.issparse(X):
        matrix = X.tocsc()
    else:
        matrix = as_array("X", X)
        if matrix.dtype == object and matrix.ndim:
            matrix = _numeric(matrix, "X")
    if matrix.ndim != 2:
        raise DataError(
            f"X has {matrix.ndim} dimension(s), shape {matrix.shape}; it must have two, rows by columns "
            "(X.reshape(-1, 1) makes one column of a vector)."
        )
    if matrix.dtype.kind == "c":
        raise DataError("X is complex; only real predictors can be used.")
    if matrix.dtype.kind not in _REAL_KINDS:
        raise DataError(
            f"X has type {matrix.dtype}; convert it to numbers first, for example with X.astype(float)."
        )
    if 0 in matrix.shape:
        raise DataError(f"X has shape {matrix.shape}; it needs at least one row and one column.")
    return matrix


def as_vector(name: str, values: Any, n: int) -> Array:
    """Finite vector of length n, as a new float64 array."""
    vector = as_array(name, values)
    if vector.ndim == 2 and 1 in vector.shape:
        vector = vector.ravel()
    if vector.ndim != 1 or len(vector) != n:
        raise DataError(
            f"{name} has shape {vector.shape}; it needs one value for each of the {n} rows of X."
        )
    if vector.dtype.kind == "c":
        raise DataError(f"{name} is complex; only real values can be used.")
    if vector.dtype.kind in "mM":
        raise DataError(f"{name} has type {vector.dtype}; convert it to numbers first.")
    vector = _numeric(vector, name)
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad):
        raise DataError(
            f"{name} has {len(bad)} missing or infinite value(s), the first in row {bad[0]} ({vector[bad[0]]}); "
            "drop or impute these rows first."
        )
    check_range(name, vector)
    return vector


def check_range(name: str, values: Array) -> None:
    """Raise if finite numbers are too large to compute with."""
    if len(values) and not -LARGEST <= values.min() <= values.max() <= LARGEST:
        raise DataError(
            f"{name}: {values[np.abs(values).argmax()]:.3g} is too large to compute with; divide all values by a "
            "constant, or drop this one if it stands for a missing value."
        )


def check_weights(weights: Array, rows: Any) -> None:
    """Raise if weights of rows, which are labelled so, are negative, missing, infinite or all zero."""
    wrong = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if len(wrong):
        first = int(wrong[0])
        raise DataError(
            f"weights must be finite and not negative, but {len(wrong)} of {len(weights)} are not, the first in row "
            f"{shown(rows[first])} ({weights[first]:g}); a weight of 0 leaves a row out."
        )
    if not weights.any():
        raise DataError(
            "all weights are zero, which leaves out every row; leave weights out, or give rows to fit a weight above 0."
        )
    check_range("weights", weights)


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Array of anything, masked values as NaN."""
    if np.ma.isMaskedArray(values):
        return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
    try:
        return np.asarray(values)
    except ValueError:
        raise DataError(f"{name} is not rectangular: its rows differ in length.") from None


def _numeric(values: NDArray[Any], name: str) -> Array:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        row, *column, value = _first_text(values)
        where = f"row {row}" + (f", column {column[0]}" if column else "")
        raise DataError(
            f"{name} holds values that are not numbers, the first {shown(value)} in {where}; convert them first."
        ) from None


def _first_text(values: NDArray[Any]) -> tuple[Any, ...]:
    """Place and value of the first entry that is not a number."""
    for place, value in np.ndenumerate(values):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            return *place, value
    return *(0,) * values.ndim, values.flat[0]


def check_finite_columns(
    block: Array, first: int, names: Sequence[str], rows: Places | None = None
) -> None:
    """Raise if a transposed block (columns, n) holds NaN, infinity or numbers too large to compute with.

    `first` is the number of its first column, `rows` those of its rows if they are not 0 to n - 1.
    """
    # NaN and infinity fail these comparisons too. In single precision the bound would be infinite.
    if not block.size or -LARGEST <= float(block.min()) <= float(block.max()) <= LARGEST:
        return
    finite = np.isfinite(block)
    wrong = np.abs(block) > LARGEST if finite.all() else ~finite
    column, row = np.argwhere(wrong)[0]
    number, value = row if rows is None else rows[row], block[column, row]
    name, count = names[first + column], int(wrong[column].sum())
    if not finite.all():
        raise DataError(
            f"column {name!r} of X has {count} missing or infinite value(s), the first in row {number} ({value}); "
            "drop or impute these rows first."
        )
    raise DataError(
        f"column {name!r} of X has {count} value(s) too large to compute with, the first in row {number} "
        f"({value:.3g}); divide the column by a constant, or drop these rows if they stand for missing values."
    )
