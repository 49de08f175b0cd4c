"""Errors of moderate size in single cells: values at the ends of a variable that its neighbors do not expect there.

However heavy a tail is, and whatever monotone function bends a variable, the nearest variables expect of its ranks at
the ends as much, in proportion, as of those in the middle. Errors come from nowhere: they fill up the ends, and what
neighbors expect there falls short. Only then are cells judged one by one, each by what its neighbors leave of it; as
long as they are scattered over the rows. Errors that this does not find, since they lie among good values, keep what
neighbors expect short: then nothing at the ends can be relied upon, and all scores are cut off where the middle ends.
"""

from collections.abc import Callable
from math import ceil, hypot

import numpy as np
from scipy.special import ndtr

from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Mask
from robustsparse.graph.conformity import coefficients_on_nearest
from robustsparse.graph.scores import correlation, normal_scores
from robustsparse.robust.scales import mads
from robustsparse.robust.wrong_cells import meeting

# Normal scores in the middle and at the ends of a variable, where errors may lie, and the share of all values that do.
MIDDLE, _ENDS = 1.3, 1.5
_SHARE_OF_ENDS = float(2.0 * ndtr(-_ENDS))
# What neighbors expect falls short if it is less than this part of what it should be, by so many standard errors.
_SHORT, _STANDARD_ERRORS = 0.9, 3.0
# Steps in which the sizes of what neighbors leave are counted, in scales. Errors begin with the first one that has this
# many times as many as a normal distribution, at the latest after so many.
_STEPS, _FIRST_STEPS, _CROWDED = np.linspace(2.4, 5.0, 14), 8, 2.0
# Rows whose sizes are counted have at least this weight: of large rows much is left in all variables.
_USUAL_ROW = 0.5
# No variable has more errors than this many times the mean that the shortfall tells.
_MOST = 2.0
# Errors hide the dependence that they are judged by: so often they are taken out and judged again.
_ROUNDS = 3
# Cells whose sums are taken at a time, so that they stay in the cache; and how long those of one cell take, in units of
# reading a value.
_BLOCK, _SUMMING = 1 << 15, 10

Fill = Callable[[Mask], Array]


def shortfall(scores: Array, expected: Array, weights: Array, threads: int = 1) -> float:
    """By which share neighbors expect too little of the values at the ends of their variables; 0 if by chance.

    Parameters
    ----------
    scores : array (d, n)
        Normal scores of the variables.
    expected : array (d, n)
        What the nearest variables let expect of them.
    weights : array (d, n)
        How much each cell counts.
    threads : int
        Threads for large tables.

    Examples
    --------
    A twentieth of the cells of variables that share a factor are overwritten:

    >>> rng = np.random.default_rng(0)
    >>> factor, noise = rng.normal(size=300), rng.normal(size=(30, 300))
    >>> clean = factor + noise
    >>> wrong = np.where(rng.random(clean.shape) < 0.05, 4.0, clean)
    >>> [round(shortfall(normal_scores(X), np.tile(factor, (30, 1)), np.ones(X.shape)), 1) for X in (clean, wrong)]
    [0.0, 0.4]
    """
    middle, ends = _sums(scores, expected, weights, threads)
    slope = _slope(*middle)
    if not slope > 0:
        return 0.0
    short = slope - _slope(*ends)
    if short < (1.0 - _SHORT) * slope:
        return 0.0
    chance = hypot(*(_error(part[0], part[1], slope) for part in (middle, ends)))
    return 0.0 if short < _STANDARD_ERRORS * chance else float(short / slope)


def _sums(scores: Array, expected: Array, weights: Array, threads: int) -> Array:
    """Sums of products with what is expected and of squares, of each row, in the middle and at the ends (2, 2, n)."""
    d, n = scores.shape
    step = max(1, _BLOCK // max(n, 1))
    # Blocks do not depend on the threads, or rounding would.
    blocks = -(-d // step)
    sums = np.empty((blocks, 2, 2, n))

    def columns(first: int, last: int) -> None:
        for block in range(first, last):
            part = slice(block * step, (block + 1) * step)
            own = scores[part]
            size, weighted = np.abs(own), weights[part] * own
            for some, out in zip((size < MIDDLE, size > _ENDS), sums[block], strict=True):
                counted = weighted * some
                (counted * expected[part]).sum(axis=0, out=out[0])
                (counted * own).sum(axis=0, out=out[1])

    over_columns(columns, blocks, _SUMMING * scores.size, threads)
    return np.asarray(sums.sum(axis=0))


def _slope(products: Array, squares: Array) -> float:
    """What is expected of a score of one."""
    total = float(squares.sum())
    return float(products.sum()) / total if total > 0 else 0.0


def _error(products: Array, squares: Array, slope: float) -> float:
    """Standard error of the slope, as rows are independent of each other and cells of a row are not."""
    total = float(squares.sum())
    return float(np.linalg.norm(products - slope * squares)) / total if total > 0 else 0.0


def moderate_errors(
    standard: Array,
    scores: Array,
    weights: Array,
    sound: Mask,
    short: float,
    fill: Fill,
    threads: int = 1,
) -> Mask:
    """Cells (d, n) that are errors, given by how much their neighbors fall short.

    Parameters
    ----------
    standard : array (d, n)
        Standardized variables; errors that are known, and missing cells, hold what neighbors let expect.
    scores : array (d, m)
        Normal scores of the rows that are kept.
    weights : array (n,)
        How much each row counts; rejected rows have no errors.
    sound : array of bool (d, n)
        Cells that are neither missing nor known to be errors.
    short : float
        As `shortfall` gives it, more than zero.
    fill : callable
        Gives the variables with what the nearest ones let expect in cells that are suspected, and in those that are
        not sound.
    threads : int
        Threads for large tables.
    """
    kept = weights > 0
    most = ceil(_MOST * short * _SHARE_OF_ENDS * np.count_nonzero(kept))
    errors, mended = np.zeros(standard.shape, dtype=bool), standard
    for _ in range(_ROUNDS):
        coef = coefficients_on_nearest(correlation(scores, weights[kept], threads))
        # What may be an error itself lets expect no more than it would where the ends begin.
        size = _sizes(standard - coef @ np.clip(mended, -_ENDS, _ENDS), sound, kept)
        errors = size > errors_begin(size[:, weights >= _USUAL_ROW])
        errors &= size > _largest(size, most)
        errors[meeting(errors, len(errors))] = False
        mended = fill(errors)
        scores = normal_scores(mended[:, kept], threads)
    return errors


def _sizes(left: Array, sound: Mask, kept: Mask) -> Array:
    """Sizes of what neighbors leave (d, n), in scales; zero where a cell is not sound or its row not kept."""
    scale = mads(left[:, kept], axis=1)
    size = np.abs(left) / np.where(scale > 0, scale, 1.0)[:, None]
    return np.asarray(np.where(sound & kept, size, 0.0))


def errors_begin(size: Array) -> float:
    """From which size on there are more than a normal distribution has.

    Examples
    --------
    >>> size = np.abs(np.random.default_rng(0).normal(size=10_000))
    >>> [round(errors_begin(each), 1) for each in (size, np.append(size, np.full(200, 3.1)))]
    [4.0, 3.0]
    """
    found = np.histogram(size, _STEPS)[0][:_FIRST_STEPS]
    normal = 2.0 * size.size * np.diff(ndtr(_STEPS))[:_FIRST_STEPS]
    crowded = np.flatnonzero(found >= _CROWDED * normal)
    return float(_STEPS[crowded[0] if len(crowded) else _FIRST_STEPS])


def _largest(size: Array, count: int) -> Array:
    """The size (d, 1) that so many cells of each variable exceed."""
    at = max(size.shape[1] - count - 1, 0)
    return np.partition(size, at, axis=1)[:, at : at + 1]
