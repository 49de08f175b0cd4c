"""Where labels go so that none covers another: geometry in pixels, without matplotlib."""

import numpy as np
from numpy.typing import ArrayLike

from robustsparse.base.types import Array, Mask, Places

# Where a label may stand relative to its point, best first: right, left, above, below, corners.
_SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], float)
# Distances from the point that are tried, in units of the gap.
_REACHES = (1.0, 2.5, 4.5)
# A label is moved a step outward only if it then covers at least this many points fewer.
_COST = 1.5


def spread(wanted: ArrayLike, gap: float, low: float, high: float) -> Array:
    """Move positions apart to at least `gap`, as little as possible and within [low, high].

    Parameters
    ----------
    wanted : (n,) array
        Where the labels would be, ascending.
    gap : float
        Smallest distance of neighbors.
    low, high : float
        Limits; if they leave too little room, the gap shrinks.

    Returns
    -------
    (n,) array
        The positions nearest to those wanted, in squared distance.

    Examples
    --------
    >>> spread([0.0, 0.0, 5.0], gap=1.0, low=-10.0, high=10.0)
    array([-0.5,  0.5,  5. ])
    """
    values = np.asarray(wanted, float)
    n = len(values)
    gap = min(gap, (high - low) / max(n - 1, 1))
    steps = gap * np.arange(n)
    # Without the gaps, positions need only be ascending: an isotonic regression, clipped.
    return np.clip(_isotonic(values - steps), low, high - gap * (n - 1)) + steps


def _isotonic(values: Array) -> Array:
    """Nearest ascending sequence: neighbors that are out of order are pooled."""
    pools: list[list[float]] = []
    for value in values:
        pools.append([float(value), 1.0])
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            mean, count = pools.pop()
            before, number = pools[-1]
            pools[-1] = [(mean * count + before * number) / (count + number), count + number]
    return np.repeat([mean for mean, _ in pools], [int(count) for _, count in pools])


def place(
    anchors: Array, sizes: Array, points: Array, boxes: Array, bounds: ArrayLike, gap: float
) -> Array:
    """Place a box beside each anchor so that boxes overlap neither each other nor the limits.

    Parameters
    ----------
    anchors : (m, 2) array
        The points to label, most important first.
    sizes : (m, 2) array
        Width and height of each label.
    points : (n, 2) array
        Points that a label rather does not cover.
    boxes : (b, 4) array
        Boxes (left, bottom, right, top) that no label may cover.
    bounds : (4,) array
        Box that no label may leave.
    gap : float
        Distance of a label from its point.

    Returns
    -------
    (m, 2) array
        Lower left corners; NaN for a label that has no room.

    Examples
    --------
    >>> at = np.array([[5.0, 5.0]])
    >>> place(at, np.array([[2.0, 1.0]]), at, np.empty((0, 4)), (0, 0, 10, 10), gap=1.0)
    array([[6. , 4.5]])
    """
    taken = [np.asarray(box, float) for box in boxes]
    corners = np.full((len(anchors), 2), np.nan)
    for i, (anchor, size) in enumerate(zip(anchors, sizes, strict=True)):
        candidates = _candidates(anchor, size, gap)
        free = _inside(candidates, np.asarray(bounds, float)) & ~_overlaps(candidates, taken)
        if free.any():
            steps = np.repeat(np.arange(len(_REACHES)), len(_SIDES))[free]
            candidates = candidates[free]
            best = candidates[np.argmin(_covered(candidates, points) + _COST * steps)]
            corners[i] = best[:2]
            taken.append(best)
    return corners


def _candidates(anchor: Array, size: Array, gap: float) -> Array:
    """Boxes (c, 4) around a point, best first."""
    reach = np.repeat(_REACHES, len(_SIDES))[:, None] * gap
    sides = np.tile(_SIDES, (len(_REACHES), 1))
    centers = anchor + sides * (reach + size / 2)
    return np.hstack([centers - size / 2, centers + size / 2])


def _inside(boxes: Array, bounds: Array) -> Mask:
    ends = np.hstack([boxes[:, :2] - bounds[:2], bounds[2:] - boxes[:, 2:]])
    inside: Mask = np.min(ends, axis=1) >= 0
    return inside


def _overlaps(boxes: Array, taken: list[Array]) -> Mask:
    hit = np.zeros(len(boxes), bool)
    for box in taken:
        hit |= (boxes[:, :2] < box[2:]).all(1) & (boxes[:, 2:] > box[:2]).all(1)
    return hit


def _covered(boxes: Array, points: Array) -> Places:
    """Number of points that each box covers."""
    near = (points >= boxes[:, :2].min(0)) & (points <= boxes[:, 2:].max(0))
    around = points[near.all(1)]
    inside = (around >= boxes[:, None, :2]) & (around <= boxes[:, None, 2:])
    counts: Places = np.sum(np.all(inside, axis=2), axis=1)
    return counts
