"""What a new vector of scores means for what is remembered of old ones.

Scores at which columns were looked at stay in a few slots, the references. New scores take the slot that is missed
least, and the distance from every other reference says how far its columns can have moved since.
"""

from robustsparse.kernels.compiler import brief, part
from robustsparse.kernels.constants import CALM_SCALE, DRIFT_WIDTH, LARGEST_SCORE, SCALE, ZERO
from robustsparse.kernels.order_statistics import select
from robustsparse.kernels.trimmed_mean.drift import drift
from robustsparse.kernels.vectors import smaller, vector

# Rows whose score exceeds this many typical ones are bounded apart.
WILD = 3.0
# The typical size is the mean of absolute values, of which none counts as more than so many medians.
MOST_MEDIANS = 4.0


@part
def _typical_size(score):
    """Typical absolute value, which no few rows can change much; 1 if all are zero."""
    n = len(score)
    absolute = vector(n)
    for i in range(n):
        absolute[i] = abs(score[i])
    select(absolute, ZERO, n - 1, n // 2)
    most = MOST_MEDIANS * absolute[n // 2]
    total = 0.0
    clipped = 0.0
    for i in range(n):
        total += absolute[i] / n
        clipped += smaller(absolute[i], most) / n
    if clipped > 0.0:
        return clipped
    return total if total > 0.0 else 1.0


@part
def _claim_slot(slots, counts):
    """The slot that fewest columns refer to, freed for new scores; `counts` tells how many refer to each other one."""
    for s in range(len(counts)):
        counts[s] = 0
    for j in range(len(slots)):
        if slots[j] >= 0:
            counts[slots[j]] += 1
    slot = ZERO
    for s in range(len(counts)):
        if counts[s] < counts[slot]:
            slot = s
    if counts[slot] > 0:
        for j in range(len(slots)):
            if slots[j] == slot:
                slots[j] = -1
        counts[slot] = 0
    return slot


@brief
def claim_reference(score, slots, counts):
    """Typical size of new scores and a slot for them, which columns that refer to it lose; `counts` are taken anew."""
    return _typical_size(score), _claim_slot(slots, counts)


@brief
def take_scores(score, light, memory):
    """Make a reference of new scores, and find how far they moved since the others.

    Returns their typical size, the slot that they took, whether single precision can hold them over that size, and
    whether there are rows of extreme leverage, on which `light` (n,) is 0, or of extreme score.
    """
    n = len(score)
    counts = memory.counts
    references = memory.references
    moved = memory.moved
    score32 = memory.score32
    unit = _typical_size(score)
    slot = _claim_slot(memory.slots, counts)
    memory.units[slot] = unit
    all_rows = vector(n)
    calm = vector(n)
    fits = True
    n_wild = ZERO
    for i in range(n):
        v = score[i] / unit
        fits = fits and abs(v) < LARGEST_SCORE
        score32[i] = v
        references[slot, i] = score[i]
        all_rows[i] = 1.0
        calm[i] = light[i] if abs(v) <= WILD else 0.0
        n_wild += calm[i] == 0.0
    for s in range(len(counts)):
        if counts[s] > 0:
            drift(score, references[s], all_rows, calm, n_wild, moved[s])
    for c in range(DRIFT_WIDTH):
        moved[slot, c] = 0.0
    moved[slot, SCALE] = moved[slot, CALM_SCALE] = 1.0
    return unit, slot, fits, n_wild > 0
