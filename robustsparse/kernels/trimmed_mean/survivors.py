"""Trimmed means of those columns only that may be among the largest."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.constants import (
    CLIP,
    HIGH,
    HIGH_GAP,
    KNOWN,
    LOW,
    LOW_GAP,
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
from robustsparse.kernels.vectors import larger, smaller, vector

# Half the width of the bracket around a guessed cut, in units of the typical miss.
FIRST = 2.5
# Columns that are judged by what is known of them before any is read; the bar rises while they are.
BATCH = 512


@kernel
def trim_survivors(
    XT, XT32, r, r32, unit, m, first, last, active, k, bar, certify,
    norms, sizes, slots, slot, moved, split, state, guess, found, values,
):  # fmt: skip
    """Exact trimmed means of the columns in [first, last) that may be among the k largest in absolute value.

    `bar` is a value that k columns are known to reach; columns of `active` are left out. `unit` is
    a robust size of the scores: `r32` is r / unit and cuts are remembered in that unit, so they
    serve as guesses after the scores have shrunk. `slots[j]` says at which reference column j was
    last evaluated (-1: never), `moved` the drift since each reference and `slot` the reference that
    r itself is. `guess` (5,) carries typical cuts and gaps for columns never seen, and by how much such
    cuts are missed. Returns the number of columns written to `found` and `values`.
    """
    n = len(r)
    kept = n - 2 * m
    share = m / n
    deviation = math.sqrt(n * share * (1.0 - share)) + 1.0
    lower = vector(n)
    upper = vector(n)
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
            start, smaller(start + BATCH, last), active, bar, kept, split, slots, moved, norms, state,
            found, count,
        )  # fmt: skip
        for c in range(count, end):
            j = found[c]
            seen = slots[j] >= 0
            if certify and slots[j] != slot:
                spread = 2.0 * deviation
                if not seen:
                    spread = larger(spread, FIRST * guess[4] / smaller(guess[2], guess[3]))
                for side in range(SIDES):
                    gap = guess[2 + side] * sizes[j]
                    look[side] = guess[side] * sizes[j]
                    look[2 + side] = gap
                    if seen:
                        look[side] = state[LOW + side, j] * trend[side]
                        look[2 + side] = smaller(
                            larger(state[LOW_GAP + side, j], 0.6 * gap), 1.6 * gap
                        )
                ok, value, radius, clip = certified(XT32[j], r32, m, look, spread, bar / unit)
                slots[j] = slot
                for side in range(SIDES):
                    cut = look[side]
                    ratio = cut / state[LOW + side, j]
                    state[LOW + side, j] = cut
                    state[LOW_GAP + side, j] = look[2 + side]
                    if not ok:
                        continue
                    if not seen:
                        miss = cut / sizes[j] - guess[side]
                        guess[side] += 0.02 * miss
                        guess[4] += 0.01 * (abs(miss) - guess[4])
                    elif 0.2 < ratio < 5.0:
                        trend[side] += 0.05 * (ratio - trend[side])
                    guess[2 + side] += 0.02 * (look[2 + side] / sizes[j] - guess[2 + side])
                # Zero is reserved for exact values.
                radius = radius * unit + SMALLEST
                value *= unit
                state[VALUE, j] = value
                state[RADIUS, j] = radius
                state[CLIP, j] = clip * unit * (1.0 + 4.0 * ROUND32)
                state[KNOWN, j] = abs(value) + radius
                if (abs(value) + radius) * SLACK < bar:
                    continue
                least = (abs(value) - radius) / SLACK
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
        here = slots[j] == slot
        if here and state[KNOWN, j] * SLACK < bar:
            continue
        if not (here and state[RADIUS, j] == 0.0):
            # Equal guesses are none.
            near = unit if certify and state[RADIUS, j] < np.inf else 0.0
            width = (0.6 * deviation + 1.0) * near
            low, high = kept_range(
                XT[j], r, m, state[LOW, j] * near, state[HIGH, j] * near,
                width * state[LOW_GAP, j], width * state[HIGH_GAP, j], lower, upper,
            )  # fmt: skip
            value = kept_sum(XT[j], r, m, low, high) / kept
            slots[j] = slot
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
