"""Errors of moderate size in single cells: too near for a gap in their variable, too many for a tail that falls.

However heavy a tail is, and whatever monotone function bends a variable, the logarithms of its sizes have one mode, and
beyond it their density falls. Errors of a few scales make it rise again. Then cells behind the valley count as errors
if the nearest variables do not let expect them either, as long as they are scattered over the rows.
"""

from collections.abc import Callable

import numpy as np

from robustsparse.base.types import Array, Mask
from robustsparse.graph.conformity import coefficients_on_nearest
from robustsparse.graph.scores import correlation, normal_scores
from robustsparse.robust.scales import mads
from robustsparse.robust.wrong_cells import meeting

# Sizes in robust scales that make steps alike on a log scale: the body, the valley and two steps where errors may lie.
_BODY, _VALLEY, _ERRORS = (1.35, 1.8), (2.4, 3.2), ((3.2, 4.3), (4.3, 5.7))
# The valley has less than this share of what lies before it, in a variable, and of what lies behind it, in all of
# them, by so many standard errors of a count.
_DEPTH, _STANDARD_ERRORS = 0.5, 4.0
# No value nearer is an error, nor one that lies nearer than this to what the nearest variables let expect.
_FIRST, _UNEXPECTED = 3.0, 3.0

Fill = Callable[[Array, Mask], Array]


def moderate_errors(XT: Array, weights: Array, fill: Fill, threads: int = 1) -> Mask:
    """Cells (d, n) of a few scales that are errors.

    Parameters
    ----------
    XT : array (d, n)
        Standardized variables, without errors that are known.
    weights : array (n,)
        How much each row counts; rejected rows have no errors.
    fill : callable
        Puts what the nearest variables let expect into some cells.
    threads : int
        Threads for large tables.
    """
    errors = np.zeros(XT.shape, dtype=bool)
    some = _with_valley(np.abs(XT), weights)
    if some.any():
        kept = weights > 0
        suspects = (np.abs(XT) > _FIRST) & some[:, None] & kept
        left = _unexpected(XT, suspects, weights, fill, threads)
        errors = suspects & (left > _UNEXPECTED)
        errors[meeting(errors, int(some.sum()))] = False
    return errors


def _with_valley(size: Array, weights: Array) -> Mask:
    """Variables whose sizes have a valley, if those of all such variables rise behind it; none otherwise."""
    body, valley, *steps = (_counts(size, weights, *step) for step in (_BODY, _VALLEY, *_ERRORS))
    some = valley < _DEPTH * body
    before = float(valley[some].sum())
    behind = max(float(step[some].sum()) for step in steps)
    rises = _DEPTH * behind > before + _STANDARD_ERRORS * np.sqrt(before + 1.0)
    return np.asarray(some & rises)


def _counts(size: Array, weights: Array, low: float, high: float) -> Array:
    """Weight of the rows in which each variable has a size between two limits."""
    return np.asarray(((size > low) & (size <= high)) @ weights)


def _unexpected(XT: Array, suspects: Mask, weights: Array, fill: Fill, threads: int) -> Array:
    """How far each value lies from what the nearest variables, mended, let expect, in scales."""
    kept = weights > 0
    mended = fill(XT, suspects)
    scores = normal_scores(mended[:, kept], threads)
    coef = coefficients_on_nearest(correlation(scores, weights[kept]))
    left = XT - coef @ mended
    scale = mads(left[:, kept], axis=1)
    return np.asarray(np.abs(left) / np.where(scale > 0, scale, 1.0)[:, None])
