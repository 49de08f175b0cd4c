"""What a new vector of scores means for what is remembered of old ones."""

import numpy as np

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.selection import median
from robustsparse.kernels.trim_screen import drift


@kernel
def typical_size(score):
    """Typical absolute value, which no few rows can change much; 1 if all are zero."""
    n = score.shape[0]
    absolute = np.abs(score)
    most = 4.0 * median(absolute, n)
    total = 0.0
    clipped = 0.0
    for i in range(n):
        total += absolute[i] / n
        clipped += min(absolute[i], most) / n
    if clipped > 0.0:
        return clipped
    return total if total > 0.0 else 1.0


@kernel
def claim_slot(slots, counts):
    """The slot that fewest columns refer to, freed for new scores; `counts` tells how many refer to each other one."""
    counts[:] = 0
    for j in range(slots.shape[0]):
        if slots[j] >= 0:
            counts[slots[j]] += 1
    slot = np.argmin(counts)
    if counts[slot] > 0:
        for j in range(slots.shape[0]):
            if slots[j] == slot:
                slots[j] = -1
        counts[slot] = 0
    return slot


@kernel
def drifts(score, references, counts, heavy, light, moved):
    """How far the scores moved since each reference that columns refer to (see `drift`)."""
    for slot in range(counts.shape[0]):
        if counts[slot] > 0:
            drift(score, references[slot], heavy, light, moved[slot])
