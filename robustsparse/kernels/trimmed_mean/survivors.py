"""Trimmed means of those columns only that may be among the largest.

Three sieves, each finer and dearer than the one before, against a bar that k columns are known to reach: bounds from
what was known of a column and how far the scores have moved (`drift`); intervals from passes in single precision
(`interval`); exact values (`exact`). The bar rises with what is found on the way.
"""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.constants import (
    CLIP,
    CUTS,
    GAPS,
    HIGH,
    HIGH_GAP,
    KNOWN,
    LOW,
    LOW_GAP,
    MISS,
    RADIUS,
    ROUND32,
    SIDES,
    SLACK,
    SMALLEST,
    VALUE,
    ZERO,
)
from robustsparse.kernels.order_statistics import MORE, raised_bar
from robustsparse.kernels.trimmed_mean.drift import within_reach
from robustsparse.kernels.trimmed_mean.exact import kept_range, kept_sum
from robustsparse.kernels.trimmed_mean.interval import certified
from robustsparse.kernels.vectors import larger, room_for_flags, smaller, vector

# Half the width of the first bracket around a cut: in standard deviations of the number of products beyond the cut;
# for a column never looked at, in units of the typical miss if that is more.
DEVIATIONS, MISSES = 2.0, 2.5
# The same where the exact cut is looked for, with one product more.
EXACT_DEVIATIONS = 0.6
# The gap between order statistics that is remembered of a column rests on few of them; it is used within these
# multiples of what is typical of columns of its size.
LEAST_GAP, MOST_GAP = 0.6, 1.6
# Parts of the way that typical values go to what a new column shows: cuts and gaps, the miss of cuts, and the factor
# by which cuts have changed. They average the last hundred columns or fewer, and follow if later columns differ.
GUESS_RATE, MISS_RATE, TREND_RATE = 0.02, 0.01, 0.05
# A cut that changed by a factor outside of these was near zero, and tells nothing of other cuts.
LEAST_TREND, MOST_TREND = 0.2, 5.0
# Bounds of the cuts are rounded up by more than single precision can have rounded them down.
CLIP_SLACK = 1.0 + 4.0 * ROUND32
# Columns that are judged by what is known of them before any is read; the bar rises while they are.
BATCH = 512


@kernel
def trim_survivors(design, memory, scores, first, last, closed, k, bar, found, values):
    """Exact trimmed means of the columns in [first, last) that may be among the k largest in absolute value.

    `bar` is a value that k columns are known to reach; columns that are `closed` (d,) are left out. Returns the number
    of columns written to `found` and `values`.
    """
    XT = design.XT
    XT32 = design.XT32
    m = design.trimmed
    sizes = design.sizes
    slots = memory.slots
    state = memory.state
    guess = memory.guess
    score = scores.score
    unit = scores.unit
    n = len(score)
    kept = n - 2 * m
    share = m / n
    deviation = math.sqrt(n * share * (1.0 - share)) + 1.0
    lower = vector(n)
    upper = vector(n)
    flags = room_for_flags(SIDES, n)
    floor = vector(k + MORE)
    # The bar is raised by the first k values, then by so many more.
    full = k
    # Cuts and gaps, low and high; by which factor cuts have changed since they were last seen.
    look = vector(2 * SIDES)
    trend = vector(SIDES)
    trend[0] = trend[1] = 1.0
    n_floor = ZERO
    count = ZERO
    for start in range(first, last, BATCH):
        end = within_reach(
            start, smaller(start + BATCH, last), closed, bar, scores.wild, design, memory, found, count
        )  # fmt: skip
        for c in range(count, end):
            j = found[c]
            seen = slots[j] >= 0
            if scores.certify and slots[j] != scores.slot:
                spread = DEVIATIONS * deviation
                if not seen:
                    least_gap = smaller(guess[GAPS], guess[GAPS + 1])
                    spread = larger(spread, MISSES * guess[MISS] / least_gap)
                for side in range(SIDES):
                    gap = guess[GAPS + side] * sizes[j]
                    look[CUTS + side] = guess[CUTS + side] * sizes[j]
                    look[GAPS + side] = gap
                    if seen:
                        look[CUTS + side] = state[LOW + side, j] * trend[side]
                        look[GAPS + side] = smaller(
                            larger(state[LOW_GAP + side, j], LEAST_GAP * gap), MOST_GAP * gap
                        )
                ok, value, radius, clip = certified(
                    XT32[j], memory.score32, m, look, spread, bar / unit
                )
                slots[j] = scores.slot
                for side in range(SIDES):
                    cut = look[CUTS + side]
                    gap = look[GAPS + side]
                    ratio = cut / state[LOW + side, j]
                    state[LOW + side, j] = cut
                    state[LOW_GAP + side, j] = gap
                    if not ok:
                        continue
                    if not seen:
                        miss = cut / sizes[j] - guess[CUTS + side]
                        guess[CUTS + side] += GUESS_RATE * miss
                        guess[MISS] += MISS_RATE * (abs(miss) - guess[MISS])
                    elif LEAST_TREND < ratio < MOST_TREND:
                        trend[side] += TREND_RATE * (ratio - trend[side])
                    guess[GAPS + side] += GUESS_RATE * (gap / sizes[j] - guess[GAPS + side])
                # Zero is reserved for exact values.
                radius = radius * unit + SMALLEST
                value *= unit
                state[VALUE, j] = value
                state[RADIUS, j] = radius
                state[CLIP, j] = clip * unit * CLIP_SLACK
                state[KNOWN, j] = abs(value) + radius
                if (abs(value) + radius) * SLACK < bar:
                    continue
            # A second look at the same scores, for a lower bar, finds all intervals at hand.
            if slots[j] == scores.slot:
                least = (abs(state[VALUE, j]) - state[RADIUS, j]) / SLACK
                if least > bar:
                    floor[n_floor] = least
                    n_floor += 1
                    if n_floor >= full:
                        bar = raised_bar(bar, floor, n_floor, k)
                        n_floor = k
                        full = k + MORE
            found[count] = j
            count += 1
    if n_floor > k:
        bar = raised_bar(bar, floor, n_floor, k)
    survivors = ZERO
    for c in range(count):
        j = found[c]
        here = slots[j] == scores.slot
        if here and state[KNOWN, j] * SLACK < bar:
            continue
        if not (here and state[RADIUS, j] == 0.0):
            # Equal guesses are none.
            near = unit if scores.certify and state[RADIUS, j] < np.inf else 0.0
            width = (EXACT_DEVIATIONS * deviation + 1.0) * near
            low, high = kept_range(
                XT[j], score, m, state[LOW, j] * near, state[HIGH, j] * near,
                width * state[LOW_GAP, j], width * state[HIGH_GAP, j], lower, upper, flags,
            )  # fmt: skip
            value = kept_sum(XT[j], score, m, low, high) / kept
            slots[j] = scores.slot
            state[VALUE, j] = value
            state[RADIUS, j] = 0.0
            state[KNOWN, j] = abs(value)
            state[LOW, j] = low / unit
            state[HIGH, j] = high / unit
            state[CLIP, j] = larger(abs(low), abs(high))
        found[survivors] = j
        values[survivors] = state[VALUE, j]
        survivors += 1
    return survivors
