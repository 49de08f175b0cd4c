"""Which cells of a table are errors: they lie apart from their column, and not together in the same rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, pdtrc

from robustsparse import kernels
from robustsparse.base.types import Array, Indices, Mask

# Cells with a robust z beyond FAR are compared with those between NEAR and FAR. A tail that falls has fewer beyond,
# even Cauchy's has only 1.5 times as many; more than twice as many may be errors.
_NEAR, _FAR, _ERRORS_PER_TAIL = 3.0, 5.0, 2.0
# Errors begin after a gap in their variable, a value this many times the one before. In a falling tail the logarithms
# of the values, from the largest down, differ by exponential numbers over 1, 2, 3 and so on; a gap of errors is this
# many times the mean of the eight before it, which chance gives once in 250 places. Of the variables that have such a
# gap those count in which it is so wide that at most this share of them would have it by chance, or where errors are
# suspected a larger one.
_GAP, _UNLIKELY, _SPACINGS = 1.5, 8.0, 8
_FALSE_SHARE, _SUSPECTED_SHARE = 0.05, 0.25
# If more than this share of the variables have errors, others may have them without a gap: where half as many cells lie
# between NEAR and FAR as between BODY and NEAR, as in no heavy tail, and beyond FAR more again, these are errors.
_MANY, _BODY = 0.1, 2.0
# No value nearer to the center is an error, nor are more than a quarter of a variable's, nor a single one.
_FIRST_ERROR, _MOST_ERRORS, _FEWEST_ERRORS = 3.5, 0.25, 2
# If the errors of two variables fall in the same rows more often than by chance, at this level, whole rows are bad:
# they are no errors of single cells.
_CHANCE, _FEWEST_MEETINGS = 0.01, 3
# Meetings of all pairs of columns are looked for as long as they take no more multiplications; else those with the
# columns that have the most errors, so many at least.
_MULTIPLICATIONS, _COMPARED = 5e9, 1024
# Cells in one block of columns: a block stays in the cache while it is worked on.
_BLOCK = 1 << 17
# Sizes are sorted in single precision, where larger ones would be infinite.
_LARGEST = 1e30


def wrong_cells(XT: Array, *, suspected: bool = False) -> Mask:
    """Cells that lie apart from the rest of their variable, and are too many for a heavy tail.

    The number of far cells of all variables tells whether there are errors, the gap in each variable which cells they
    are. Cells that are far together in the same rows are no errors of single cells; they are left to the rows.

    Parameters
    ----------
    XT : array (d, n)
        Variables, each with robust location 0 and scale 1 (or all zero).
    suspected : bool
        Whether somebody knows that there are errors, so that their number need not tell.
    """
    if not suspected and not too_many(XT):
        return np.zeros(XT.shape, dtype=bool)
    return _scattered(apart(XT, suspected=suspected))


def single_errors(XT: Array, *, suspected: bool = False) -> Mask:
    """Wrong cells of rows that are not bad as a whole: rows with far more large cells than others are left out first.

    Examples
    --------
    Eighty of a hundred rows have an error in one column; another is far out in every column, and keeps its values.

    >>> XT = np.random.default_rng(2).normal(size=(20, 100))
    >>> XT[np.arange(20).repeat(4), np.arange(80)] = 12.0
    >>> XT[:, 90] = 12.0
    >>> errors = single_errors(XT)
    >>> int(errors.sum()), int(errors[:, 90].sum())
    (80, 0)
    """
    errors = np.zeros(XT.shape, dtype=bool)
    if not suspected and not too_many(XT):
        return errors
    kept = ~row_counts(XT).crowded()
    if kept.all():
        return _scattered(apart(XT, suspected=suspected))
    errors[:, kept] = wrong_cells(XT[:, kept], suspected=suspected)
    return errors


def too_many(XT: Array) -> bool:
    """Whether cells are far out more often than the heaviest tail would have them."""
    counts = row_counts(XT)
    return counts.too_many()


@dataclass(frozen=True)
class RowCounts:
    """How many cells of each row are far out.

    Attributes
    ----------
    far, near, large : array of int (n,)
        Cells with a robust z beyond 5, beyond 3, and beyond 3.5, where no error is nearer.
    """

    far: Indices
    near: Indices
    large: Indices

    def too_many(self, rows: Mask | None = None) -> bool:
        """Whether cells, of some rows, are far out more often than the heaviest tail would have them."""
        some = slice(None) if rows is None else rows
        far, near = int(self.far[some].sum()), int(self.near[some].sum())
        return far > 0 and far > _ERRORS_PER_TAIL * (near - far + 1)

    def crowded(self) -> Mask:
        """Rows with more large cells than chance would scatter over them."""
        # Not those beyond a gap alone: rows that are wild in every column, each to its own extent, leave none.
        count = self.large
        usual = float(np.median(count)) + 0.5
        chance = pdtrc(count - 1.0, usual)
        out = (count >= _FEWEST_MEETINGS) & (chance < _CHANCE / len(count)) & (count > 2 * usual)
        return np.asarray(out)


def row_counts(XT: Array) -> RowCounts:
    """Far cells of the rows of a table (d, n) of standardized variables."""
    counts = np.zeros((3, XT.shape[1]), dtype=np.int32)
    limits = np.array([_FAR, _NEAR, _FIRST_ERROR])
    for part in _blocks(XT):
        kernels.count_beyond(np.asarray(XT[part], dtype=np.float64), limits, counts)
    return RowCounts(*counts.astype(np.int64))


def _blocks(XT: Array) -> Iterator[slice]:
    """The columns in blocks, so that the copies stay small."""
    step = max(1, _BLOCK // max(1, XT.shape[1]))
    return (slice(start, start + step) for start in range(0, len(XT), step))


def apart(XT: Array, *, suspected: bool = False) -> Mask:
    """Cells beyond a gap in their variable, of variables in which chance makes no such gap."""
    begins = beginnings(*widest_gaps(XT), lambda: rising_tails(XT), suspected=suspected)
    errors = np.zeros(XT.shape, dtype=bool)
    for part in _blocks(XT):
        if np.isfinite(begins[part]).any():
            errors[part] = _sizes(XT[part]) >= begins[part, None]
    return errors


def widest_gaps(XT: Array) -> tuple[Array, Array]:
    """Where the cells beyond the widest gap of each variable begin, and the chance that it has such a gap."""
    begins, chance = np.full(len(XT), np.inf), np.ones(len(XT))
    for part in _blocks(XT):
        size = _sizes(XT[part])
        beyond = np.count_nonzero(size > _FIRST_ERROR, axis=1)
        far = np.flatnonzero(beyond >= _FEWEST_ERRORS)
        if len(far):
            first, ratio = _gaps(size[far], int(beyond.max()))
            begins[part][far] = first
            # Each far value is a place for a gap.
            chance[part][far] = np.minimum(
                1.0, beyond[far] * (1.0 + ratio / _SPACINGS) ** -_SPACINGS
            )
    return begins, chance


def beginnings(
    begins: Array, chance: Array, rising: Callable[[], Mask], *, suspected: bool
) -> Array:
    """Where the errors of each variable begin, from its widest gap; infinity where it has none.

    `rising` tells which variables have a tail that rises, if that is asked for.
    """
    begins = begins.copy()
    begins[chance > _bar(chance, _SUSPECTED_SHARE if suspected else _FALSE_SHARE)] = np.inf
    found = np.isfinite(begins)
    if found.sum() > _MANY * max(len(begins), 1):
        begins[~found & rising()] = _FAR
    return begins


def rising_tails(XT: Array) -> Mask:
    """Variables with no gap whose tail falls steeply and then rises: errors of any size, as those in other units."""
    rising = np.zeros(len(XT), dtype=bool)
    for part in _blocks(XT):
        size = _sizes(XT[part])
        steps = [np.count_nonzero(size > limit, axis=1) for limit in (_BODY, _NEAR, _FAR)]
        body, between, beyond = steps[0] - steps[1], steps[1] - steps[2], steps[2]
        rising[part] = (2 * between < body) & (beyond > _ERRORS_PER_TAIL * (between + 1))
    return rising


def _sizes(values: Array) -> Array:
    """Sizes as they are compared, in single precision."""
    return np.minimum(np.abs(values), _LARGEST).astype(np.float32)


def _bar(chance: Array, share: float) -> float:
    """Largest chance with which a variable has errors, so that few that have them have none (Benjamini, Hochberg)."""
    ordered = np.sort(chance)
    allowed = share * np.arange(1, len(ordered) + 1) / len(ordered)
    below = np.flatnonzero(ordered <= allowed)
    return float(ordered[below[-1]]) if len(below) else -1.0


def _gaps(size: Array, beyond: int) -> tuple[Array, Array]:
    """Where the errors of each variable (d, n) begin, and how wide its widest gap is beside the spacings before it.

    Without a gap they begin at infinity. At most `beyond` cells may be errors.
    """
    ordered = _largest(size, min(beyond, int(_MOST_ERRORS * size.shape[1])))
    steps = np.diff(np.log(np.maximum(ordered, 0.5)), axis=1)
    after = np.arange(steps.shape[1], 0, -1)
    # Few are wide enough; the spacings before them are all that has to be looked at.
    row, at = np.nonzero((steps > np.log(_GAP)) & (ordered[:, 1:] > _FIRST_ERROR))
    inside = (at >= _SPACINGS) & (after[at] >= _FEWEST_ERRORS)
    row, at = row[inside], at[inside]
    before = at[:, None] - np.arange(1, _SPACINGS + 1)
    spacings = steps[row[:, None], before]
    usual = (spacings * after[before]).mean(axis=1)
    ratio = steps[row, at] * after[at] / np.where(usual > 0, usual, np.inf)
    # Values that repeat have no spacings to compare with.
    gap = (ratio > _UNLIKELY) & ((spacings > 0).mean(axis=1) >= 0.5)
    first, widest = np.full(len(size), np.inf), np.zeros(len(size))
    np.minimum.at(first, row[gap], ordered[row[gap], at[gap] + 1])
    np.maximum.at(widest, row[gap], ratio[gap])
    return first, widest


def _largest(size: Array, errors: int) -> Array:
    """The largest values of each variable, ascending: the errors, and those whose spacings they are compared with."""
    n = size.shape[1]
    count = min(errors + _SPACINGS + 1, n - n // 2)
    upper = np.partition(size, n - count, axis=1)[:, n - count :]
    return np.sort(upper, axis=1).astype(np.float64)


def _scattered(errors: Mask) -> Mask:
    """The errors without those of variables whose errors fall in the same rows."""
    errors[meeting(errors, len(errors))] = False
    return errors


def meeting(errors: Mask, among: int) -> Mask:
    """Variables whose errors meet those of another in the same rows more often than chance allows.

    They are those that have errors, `among` so many.
    """
    d, n = errors.shape
    count = np.count_nonzero(errors, axis=1)
    having = np.flatnonzero(count >= _FEWEST_MEETINGS)
    alike = np.zeros(d, dtype=bool)
    if not len(having):
        return alike
    compared = max(_COMPARED, int(_MULTIPLICATIONS / (n * len(having))))
    most = np.sort(having[np.argsort(-count[having], kind="stable")[:compared]])
    limit = _rarely_met(int(count.max()), _CHANCE / max(among * (among - 1) / 2, 1))
    others = errors[most].astype(np.float32).T
    for part in np.array_split(having, -(-len(having) // _COMPARED)):
        meetings = errors[part].astype(np.float32) @ others
        meetings[part[:, None] == most] = 0.0
        # Few variables meet any other often enough to be looked at.
        often = limit[meetings.max(axis=1).astype(int)] > count[part] * count[most].min() / n
        part, meetings = part[often], meetings[often].astype(int)
        rare = limit[meetings] > count[part, None] * count[most] / n
        alike[part[rare.any(axis=1)]] = True
        alike[most[rare.any(axis=0)]] = True
    return alike


def _rarely_met(most: int, chance: float) -> Array:
    """How few meetings must be expected for 0, 1, ... of them to be beyond chance."""
    limit = gammaincinv(np.arange(1.0, most + 1), chance)
    return np.asarray(np.r_[np.zeros(_FEWEST_MEETINGS), limit[_FEWEST_MEETINGS - 1 :]])
