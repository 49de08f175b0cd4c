"""Robust location and scale of the columns, and the way back to the data's own units.

Hard thresholding compares coefficients of different columns, so the columns must be on one scale,
and that scale must not be set by the bad rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from robustsparse import kernels
from robustsparse.base.checks import LARGEST, check_choice, check_finite_columns
from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Mask, Places
from robustsparse.robust.scales import MAD_TO_SD

SCALES = ("mad", "blocks", "winsor", "sd", "none")
# What `standardize=` takes.
ScaleLike = bool | Literal["mad", "blocks", "winsor", "sd", "none"]
# Columns are read in blocks of about this many entries: a block stays in the cache while it is
# worked on.
_BLOCK_ENTRIES = 1 << 17
# A spread below this fraction of a column's largest value is rounding: the column is constant.
_CONSTANT = 1e-12
# The winsorized scale clips this fraction at each end; the divisor makes it consistent at the
# normal.
_WINSOR, _WINSOR_SD = 0.1, 0.8235
# Block means for heavy tails: enough for four bad rows, few enough to feel the tails.
_BLOCKS = 9
# Columns with most values equal have no MAD; their scale clips this much less.
_RARE = 0.05
# The MAD of a coded column is next to nothing if it is below this part of the winsorized scale.
_NEXT_TO_NOTHING = 0.25
# No more than this fraction of a column is taken for gross outliers.
_OUTLIERS = 0.2


@dataclass(frozen=True)
class Scaling:
    """Location and scale of each column.

    Attributes
    ----------
    location, scale : array (d,)
        A standardized column is `(x - location) / scale`.
    constant : bool array (d,)
        Columns without variation; they are set to zero, so that they can never be selected.
    """

    location: Array
    scale: Array
    constant: Mask

    def to_data(self, coef: Array, intercept: float, unit: float = 1.0) -> tuple[Array, float]:
        """Coefficients and intercept on the data's own scale.

        Parameters
        ----------
        coef : array (d,)
            Coefficients of the standardized columns.
        intercept : float
            Intercept beside them.
        unit : float
            Scale of the response; coefficients are multiplied by it.

        Examples
        --------
        >>> scaling = Scaling(np.array([10.0]), np.array([2.0]), np.array([False]))
        >>> coef, intercept = scaling.to_data(np.array([1.0]), 0.0)
        >>> coef.tolist(), intercept  # x = 12 is one scale above the center
        ([0.5], -5.0)
        """
        raw = coef * (unit / self.scale)
        used = np.flatnonzero(coef)
        return raw, intercept * unit - float(raw[used] @ self.location[used])


def standardize(
    X: Any,
    how: str = "mad",
    *,
    center: bool = True,
    ones: bool = False,
    names: Sequence[str] | None = None,
    threads: int = 1,
    dtype: type[np.floating] = np.float64,
    coded: Mask | None = None,
) -> tuple[Array, Scaling]:
    """Transposed, standardized copy of a design, with the scaling.

    Parameters
    ----------
    X : array or scipy sparse matrix (n, d)
        The design; it is not changed. A memory map is read block by block.
    how : {"mad", "blocks", "winsor", "sd", "none"}
        Scale: median absolute deviation, median of block means of the absolute deviations (for
        heavy tails, with the location likewise), standard deviation of the column winsorized at
        10%, plain standard deviation, or none. Columns with two values (dummies) are always scaled
        by their standard deviation, since their MAD is zero or arbitrary.
    center : bool
        Whether to subtract the location. Without an intercept in the model that would change the
        model.
    ones : bool
        Append a row of ones for the intercept.
    names : sequence of str, optional
        Column names for error messages.
    threads : int
        Threads for large designs.
    dtype : type
        Precision of the copy; everything is computed in float64.
    coded : bool array (d,), optional
        Columns that were made of others, such as those of a spline: many are close to zero in half of the rows, without
        being outliers in the other half. Where their scale would be next to nothing it is the winsorized one.

    Returns
    -------
    XT : array (d, n) or (d + 1, n)
        The transposed design, C-contiguous.
    scaling : Scaling
        The location and scale of the columns.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [900.0, 1.0]])
    >>> XT, scaling = standardize(X)
    >>> scaling.location.tolist(), scaling.scale.round(3).tolist()
    ([2.5, 0.5], [1.483, 0.5])
    """
    check_choice("standardize", how, SCALES)
    n, d = X.shape
    labels = names if names is not None else [f"x{j + 1}" for j in range(d)]
    XT = np.empty((d + ones, n), dtype=dtype)
    XT[d:] = 1.0
    location, scale = np.zeros(d), np.ones(d)
    width = max(1, _BLOCK_ENTRIES // n)

    def columns(first: int, last: int) -> None:
        for a in range(first, last, width):
            b = min(a + width, last)
            block = _dense_block(X, a, b)
            low, high = block.min(axis=1), block.max(axis=1)
            if not (low.min() >= -LARGEST and high.max() <= LARGEST):
                check_finite_columns(block, a, labels)
            location[a:b], scale[a:b] = _location_scale(block, low, high, how, center)
            if coded is not None and how != "none":
                _widen(block, center, coded[a:b], scale[a:b])
            scaled = _scaled(block, location[a:b], scale[a:b])
            XT[a:b] = _in_range(scaled) if dtype == np.float32 else scaled

    over_columns(columns, d, n * d, threads)
    constant = scale == 0.0
    scale[constant] = 1.0
    return XT, Scaling(location, scale, constant)


def restandardized(block: Array, scaling: Scaling, dtype: type[np.floating]) -> Array:
    """Columns (d, n), transposed, that `standardize` has measured before, as it would standardize them.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [900.0, 1.0]])
    >>> XT, scaling = standardize(X)
    >>> bool((restandardized(X.T, scaling, np.float64) == XT).all())
    True
    """
    out = np.empty(block.shape, dtype=dtype)
    width = max(1, _BLOCK_ENTRIES // block.shape[1])
    for first in range(0, len(block), width):
        part = slice(first, first + width)
        own = np.where(scaling.constant[part], 0.0, scaling.scale[part])
        scaled = _scaled(np.array(block[part], dtype=np.float64), scaling.location[part], own)
        out[part] = _in_range(scaled) if dtype == np.float32 else scaled
    return out


def _in_range(scaled: Array) -> Array:
    """A value that fits single precision may not do so in units of its column's scale."""
    largest = 0.1 * float(np.finfo(np.float32).max)
    return np.clip(scaled, -largest, largest)


def _dense_block(X: Any, first: int, last: int) -> Array:
    """A copy of some columns, transposed."""
    block = X[:, first:last]
    if sparse.issparse(block):
        block = block.toarray()
    return np.array(block.T, dtype=np.float64, order="C")


def _scaled(block: Array, location: Array, scale: Array) -> Array:
    """The rows of a block standardized in place; scale 0 marks a constant row, which becomes zero."""
    if location.any():
        block -= location[:, None]
    if (scale != 1.0).any():
        block /= np.where(scale == 0.0, 1.0, scale)[:, None]
        block[scale == 0.0] = 0.0
    return block


def _location_scale(
    block: Array, low: Array, high: Array, how: str, center: bool
) -> tuple[Array, Array]:
    """Location and scale of the rows of a block between known ends; scale 0 marks a constant row."""
    largest = np.maximum(np.abs(low), np.abs(high))
    # Without an intercept a constant column is a predictor like any other, unless it is zero.
    constant = high - low <= _CONSTANT * largest if center else largest == 0.0
    if how in _MEASURES:
        location, scale = _MEASURES[how](block, center)
    else:
        location, scale = np.empty((2, len(block)))
        kernels.row_deviations(block, center, location, scale)
        scale *= MAD_TO_SD
    two = two_valued(block, low, high) if how != "none" else np.arange(0)
    if len(two):
        location[two], scale[two] = _moments(block[two], center)
    empty = (scale <= _CONSTANT * largest) & ~constant & (how != "none")
    if empty.any():
        part = block[empty], center, location[empty], scale[empty], largest[empty]
        location[empty], scale[empty] = _of_rare_values(*part)
    return location, np.where(constant, 0.0, scale)


def _widen(block: Array, center: bool, coded: Mask, scale: Array) -> None:
    """Give coded rows whose scale is next to nothing the winsorized one, in place."""
    rows = np.flatnonzero(coded & (scale > 0))
    _, wide = _winsorized(block[rows], center, _WINSOR, _WINSOR_SD)
    scale[rows] = np.where(scale[rows] < _NEXT_TO_NOTHING * wide, wide, scale[rows])


def two_valued(block: Array, low: Array, high: Array) -> Places:
    """Rows all of whose values are the smallest or the largest one."""
    rows = np.arange(len(block))
    # The first few values tell most rows apart.
    for part in (block[:, :8], block):
        ends = low[rows, None], high[rows, None]
        rows = rows[((part[rows] == ends[0]) | (part[rows] == ends[1])).all(axis=1)]
    return rows


def _of_rare_values(
    block: Array, center: bool, location: Array, scale: Array, largest: Array
) -> tuple[Array, Array]:
    """Location and scale of rows with most values equal, or so it seems beside the largest."""
    equal = scale <= _CONSTANT * np.abs(location)
    # Values that dwarf the others are gross outliers, unless there are too many of them.
    dwarfing = np.abs(block - location[:, None]) > scale[:, None] / _CONSTANT**0.5
    changed = equal | (dwarfing.mean(axis=1) > _OUTLIERS)
    median, clipped = _winsorized(block, center, _RARE, 1.0)
    _, plain = _winsorized(block, center, 0.0, 1.0)
    found = np.where(clipped > _CONSTANT * largest, clipped, plain)
    return np.where(changed, median, location), np.where(changed, found, scale)


def _moments(block: Array, center: bool) -> tuple[Array, Array]:
    location = block.mean(axis=1) if center else np.zeros(len(block))
    # The largest deviation is divided out, so that squares of huge values do not overflow.
    deviation = block - location[:, None]
    size = np.abs(deviation).max(axis=1, initial=0.0)
    unit = np.where(size > 0, size, 1.0)
    return location, unit * np.sqrt(((deviation / unit[:, None]) ** 2).mean(axis=1))


def _winsorized(block: Array, center: bool, clip: float, consistency: float) -> tuple[Array, Array]:
    """Median, and the standard deviation of the values clipped at two quantiles."""
    n = block.shape[1]
    m = int(clip * n)
    ordered = np.sort(block, axis=1)
    clipped = np.clip(block, ordered[:, m, None], ordered[:, n - m - 1, None])
    _, scale = _moments(clipped, center)
    location = np.median(block, axis=1) if center else np.zeros(len(block))
    return location, scale / consistency


def _block_medians(values: Array) -> Array:
    """Median of the means of interleaved blocks of each row."""
    blocks = min(_BLOCKS, values.shape[1])
    means = [values[:, b::blocks].mean(axis=1) for b in range(blocks)]
    return np.asarray(np.median(means, axis=0))


def _blocks(block: Array, center: bool) -> tuple[Array, Array]:
    # Rows may be sorted; a fixed shuffle keeps like rows out of one block.
    order = np.random.default_rng(0).permutation(block.shape[1])
    shuffled = block[:, order]
    location = _block_medians(shuffled) if center else np.zeros(len(block))
    return location, _block_medians(np.abs(shuffled - location[:, None]))


def _none(block: Array, center: bool) -> tuple[Array, Array]:
    location = np.median(block, axis=1) if center else np.zeros(len(block))
    return location, np.ones(len(block))


# The median absolute deviation, the default, has a kernel and no entry.
_MEASURES: dict[str, Callable[[Array, bool], tuple[Array, Array]]] = {
    "blocks": _blocks,
    "winsor": lambda block, center: _winsorized(block, center, _WINSOR, _WINSOR_SD),
    "sd": _moments,
    "none": _none,
}
