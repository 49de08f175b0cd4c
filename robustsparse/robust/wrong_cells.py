"""Which cells of a table are errors: they lie apart from their column, and not together in the same rows."""

import numpy as np
from scipy.special import pdtrc

from robustsparse.base.types import Array, Mask

# Cells with a robust z beyond FAR are compared with those between NEAR and FAR. A tail that falls has fewer beyond,
# even Cauchy's has only 1.5 times as many; more than twice as many may be errors.
_NEAR, _FAR, _ERRORS_PER_TAIL = 3.0, 5.0, 2.0
# Errors begin after a gap in their variable, a value this many times the one before. In a falling tail the logarithms
# of the values, from the largest down, differ by exponential numbers over 1, 2, 3 and so on; a gap of errors is this
# many times the mean of those before it, which chance gives once in three thousand.
_GAP, _UNLIKELY, _SPACINGS = 1.5, 8.0, 8
# No value nearer to the center is an error, nor are more than a quarter of a variable's, nor a single one.
_FIRST_ERROR, _MOST_ERRORS, _FEWEST_ERRORS = 3.5, 0.25, 2
# If the errors of two variables fall in the same rows more often than by chance, at this level, whole rows are bad:
# they are no errors of single cells.
_CHANCE, _FEWEST_MEETINGS = 0.01, 3
# With so many columns, meetings are looked for with those that have the most errors alone.
_COMPARED = 2048


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
    if not suspected and not _too_many(XT):
        return np.zeros(XT.shape, dtype=bool)
    errors = apart(XT)
    errors[_meeting(errors)] = False
    return errors


def single_errors(XT: Array, *, suspected: bool = False) -> Mask:
    """Wrong cells of rows that are not bad as a whole: rows with far more cells apart than others are left out first.

    Examples
    --------
    Ten cells of a hundred rows are errors; another row is far out in every column, and keeps its values.

    >>> XT = np.random.default_rng(0).normal(size=(40, 100))
    >>> XT[np.arange(40).repeat(2), np.arange(80)] = 12.0
    >>> XT[:, 90] = 12.0
    >>> errors = single_errors(XT)
    >>> int(errors.sum()), int(errors[:, 90].sum())
    (80, 0)
    """
    none = np.zeros(XT.shape, dtype=bool)
    if not suspected and not _too_many(XT):
        return none
    crowded = _crowded(apart(XT))
    if not crowded.any():
        return wrong_cells(XT, suspected=suspected)
    none[:, ~crowded] = wrong_cells(XT[:, ~crowded], suspected=suspected)
    return none


def _too_many(XT: Array) -> bool:
    """Whether cells are far out more often than the heaviest tail would have them."""
    # Compared without a copy of the table; NaN is nowhere here.
    far = int((XT > _FAR).sum()) + int((XT < -_FAR).sum())
    if not far:
        return False
    near = int((XT > _NEAR).sum()) + int((XT < -_NEAR).sum())
    return far > _ERRORS_PER_TAIL * (near - far + 1)


def _crowded(errors: Mask) -> Mask:
    """Rows with more errors than chance would scatter over them."""
    d, n = errors.shape
    count = errors.sum(axis=0)
    usual = float(np.median(count)) + 0.5
    chance = pdtrc(count - 1.0, usual)
    return np.asarray((count >= _FEWEST_MEETINGS) & (chance < _CHANCE / n) & (count > 2 * usual))


def apart(XT: Array) -> Mask:
    """Cells beyond a gap in their variable."""
    errors = np.zeros(XT.shape, dtype=bool)
    far = np.flatnonzero(np.maximum(XT.max(axis=1), -XT.min(axis=1)) > _FIRST_ERROR)
    # Blocks of columns, so that the copies stay small.
    for part in np.array_split(far, max(1, far.size * XT.shape[1] // 2_000_000)):
        size = np.abs(XT[part]).astype(np.float64)
        errors[part] = size >= _gaps(size)[:, None]
    return errors


def _gaps(size: Array) -> Array:
    """Where the errors of each variable (d, n) begin; infinite without a gap."""
    n = size.shape[1]
    ordered = np.sort(size, axis=1)[:, n // 2 :]
    steps = np.diff(np.log(np.maximum(ordered, 0.5)), axis=1)
    beyond = np.arange(steps.shape[1], 0, -1)
    usual, varied = _mean_before(steps * beyond), _mean_before((steps > 0).astype(np.float64))
    gap = (steps * beyond > _UNLIKELY * usual) & (steps > np.log(_GAP))
    # Values that repeat have no spacings to compare with.
    gap &= (varied >= 0.5) & (ordered[:, 1:] > _FIRST_ERROR)
    gap &= (beyond >= _FEWEST_ERRORS) & (beyond <= _MOST_ERRORS * n)
    first = np.where(gap.any(axis=1), gap.argmax(axis=1) + 1, 0)
    return np.asarray(np.where(first > 0, ordered[np.arange(len(size)), first], np.inf))


def _mean_before(values: Array) -> Array:
    """Mean of the values before each one in its row; infinite where there are too few."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)[:, :-1]
    means = np.full(values.shape, np.inf)
    means[:, _SPACINGS:] = (sums[:, _SPACINGS:] - sums[:, :-_SPACINGS]) / _SPACINGS
    return means


def _meeting(errors: Mask) -> Mask:
    """Variables whose errors meet those of another in the same rows more often than chance allows."""
    n = errors.shape[1]
    count = errors.sum(axis=1)
    having = np.flatnonzero(count >= _FEWEST_MEETINGS)
    alike = np.zeros(len(errors), dtype=bool)
    if not len(having):
        return alike
    most = np.sort(having[np.argsort(-count[having], kind="stable")[:_COMPARED]])
    compared = errors[most].astype(np.float32)
    pairs = len(errors) * (len(errors) - 1) / 2
    for part in np.array_split(having, -(-len(having) // _COMPARED)):
        meetings = errors[part].astype(np.float32) @ compared.T
        meetings[part[:, None] == most] = 0.0
        # Few pairs meet often enough to be looked at.
        one, other = np.nonzero(meetings >= _FEWEST_MEETINGS)
        expected = count[part[one]] * count[most[other]] / n
        rare = pdtrc(meetings[one, other] - 1.0, expected) < _CHANCE / pairs
        alike[part[one[rare]]] = True
        alike[most[other[rare]]] = True
    return alike
