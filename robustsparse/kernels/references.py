"""What a new vector of scores means for what is remembered of old ones."""

import numpy as np

from robustsparse.kernels.compiler import brief, part
from robustsparse.kernels.constants import ZERO
from robustsparse.kernels.selection import median
from robustsparse.kernels.trim_screen import drift
from robustsparse.kernels.vectors import copy_to


@brief
def typical_size(score):
    """Typical absolute value, which no few rows can change much; 1 if all are zero."""
    n = score.shape[0]
    absolute = np.empty(n)
    for i in range(n):
        absolute[i] = abs(score[i])
    most = 4.0 * median(absolute, n)
    total = 0.0
    clipped = 0.0
    for i in range(n):
        total += absolute[i] / n
        clipped += min(absolute[i], most) / n
    if clipped > 0.0:
        return clipped
    return total if total > 0.0 else 1.0


@brief
def claim_slot(slots, counts):
    """The slot that fewest columns refer to, freed for new scores; `counts` tells how many refer to each other one."""
    for s in range(counts.shape[0]):
        counts[s] = 0
    for j in range(slots.shape[0]):
        if slots[j] >= 0:
            counts[slots[j]] += 1
    slot = ZERO
    for s in range(counts.shape[0]):
        if counts[s] < counts[slot]:
            slot = s
    if counts[slot] > 0:
        for j in range(slots.shape[0]):
            if slots[j] == slot:
                slots[j] = -1
        counts[slot] = 0
    return slot


@part
def _drifts(score, references, counts, heavy, light, moved):
    """How far the scores moved since each reference that columns refer to (see `drift`)."""
    for slot in range(counts.shape[0]):
        if counts[slot] > 0:
            drift(score, references[slot], heavy, light, moved[slot])


@brief
def take_scores(score, largest, slots, counts, scores, units, heavy, light, moved, score32):
    """Make a reference of new scores, and find how far they moved since the others.

    Returns their typical size, the slot that they took, and whether all of them over that size, which go to `score32`,
    are below `largest`.
    """
    unit = typical_size(score)
    fits = True
    for i in range(score.shape[0]):
        v = score[i] / unit
        fits = fits and abs(v) < largest
        score32[i] = v
    slot = claim_slot(slots, counts)
    units[slot] = unit
    copy_to(scores[slot], score)
    _drifts(score, scores, counts, heavy, light, moved)
    for c in range(moved.shape[1]):
        moved[slot, c] = 0.0
    return unit, slot, fits
