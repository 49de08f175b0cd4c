"""Trimmed means of those columns only that may be among the largest."""

import math

import numpy as np

from robustsparse.kernels.bounds import within_reach
from robustsparse.kernels.certificate import certified
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
    SLACK,
    SMALLEST,
    VALUE,
    ZERO,
)
from robustsparse.kernels.selection import kth_largest
from robustsparse.kernels.trimmed import kept_sum, near_cuts, trimmed_cuts
from robustsparse.kernels.vectors import larger, smaller

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
    n = XT.shape[1]
    kept = n - 2 * m
    share = m / n
    deviation = math.sqrt(n * share * (1.0 - share)) + 1.0
    buffer = np.empty(n + 1)
    lower = np.empty(n + 1)
    upper = np.empty(n + 1)
    floor = np.empty(k + 64)
    scratch = np.empty(k + 64)
    n_floor = ZERO
    count = ZERO
    drift_low = 1.0
    drift_high = 1.0
    for start in range(first, last, BATCH):
        end = within_reach(
            start, smaller(start + BATCH, last), active, bar, kept, split, slots, moved, norms, state,
            found, count,
        )  # fmt: skip
        for c in range(count, end):
            j = found[c]
            seen = slots[j] >= 0
            if certify and not (seen and slots[j] == slot):
                spread = 2.0 * deviation
                if seen:
                    low0 = state[LOW, j]
                    high0 = state[HIGH, j]
                    low = low0 * drift_low
                    high = high0 * drift_high
                    low_gap = smaller(
                        larger(state[LOW_GAP, j], 0.6 * guess[2] * sizes[j]),
                        1.6 * guess[2] * sizes[j],
                    )
                    high_gap = smaller(
                        larger(state[HIGH_GAP, j], 0.6 * guess[3] * sizes[j]),
                        1.6 * guess[3] * sizes[j],
                    )
                else:
                    low0 = 0.0
                    high0 = 0.0
                    low = guess[0] * sizes[j]
                    high = guess[1] * sizes[j]
                    low_gap = guess[2] * sizes[j]
                    high_gap = guess[3] * sizes[j]
                    spread = larger(spread, FIRST * guess[4] / smaller(guess[2], guess[3]))
                ok, value, radius, low, high, low_gap, high_gap, clip = certified(
                    XT32[j], r32, m, low, high, low_gap, high_gap, spread, bar / unit
                )
                slots[j] = slot
                state[LOW, j] = low
                state[HIGH, j] = high
                state[LOW_GAP, j] = low_gap
                state[HIGH_GAP, j] = high_gap
                if ok:
                    state[VALUE, j] = value * unit
                    # Zero is reserved for exact values.
                    state[RADIUS, j] = radius * unit + SMALLEST
                    state[CLIP, j] = clip * unit * (1.0 + 4.0 * ROUND32)
                    if low0 < 0.0 < high0:
                        if 0.2 < low / low0 < 5.0:
                            drift_low += 0.05 * (low / low0 - drift_low)
                        if 0.2 < high / high0 < 5.0:
                            drift_high += 0.05 * (high / high0 - drift_high)
                    elif not seen:
                        miss = abs(low / sizes[j] - guess[0]) + abs(high / sizes[j] - guess[1])
                        guess[4] += 0.02 * (0.5 * miss - guess[4])
                        guess[0] += 0.02 * (low / sizes[j] - guess[0])
                        guess[1] += 0.02 * (high / sizes[j] - guess[1])
                    guess[2] += 0.02 * (low_gap / sizes[j] - guess[2])
                    guess[3] += 0.02 * (high_gap / sizes[j] - guess[3])
                else:
                    state[VALUE, j] = 0.0
                    state[RADIUS, j] = np.inf
                    state[CLIP, j] = np.inf
                state[KNOWN, j] = abs(state[VALUE, j]) + state[RADIUS, j]
                if state[KNOWN, j] * SLACK < bar:
                    continue
                least = (abs(state[VALUE, j]) - state[RADIUS, j]) / SLACK
                if least > bar:
                    floor[n_floor] = least
                    n_floor += 1
                    if n_floor >= k and (n_floor == k + 64 or n_floor % 16 == 0):
                        bar = larger(bar, kth_largest(floor, n_floor, k, scratch))
                        best = ZERO
                        for i in range(n_floor):
                            if floor[i] >= bar:
                                floor[best] = floor[i]
                                best += 1
                        # Ties at the bar may be many; k of them are enough.
                        n_floor = smaller(best, k)
            found[count] = j
            count += 1
    if n_floor >= k:
        bar = larger(bar, kth_largest(floor, n_floor, k, scratch))
    survivors = ZERO
    for c in range(count):
        j = found[c]
        here = slots[j] == slot
        if here and state[KNOWN, j] * SLACK < bar:
            continue
        if not (here and state[RADIUS, j] == 0.0):
            ok = False
            low = state[LOW, j] * unit
            high = state[HIGH, j] * unit
            if certify and state[RADIUS, j] < np.inf:
                width = (0.6 * deviation + 1.0) * unit
                ok, low, high = near_cuts(
                    XT[j],
                    r,
                    m,
                    low,
                    high,
                    width * state[LOW_GAP, j],
                    width * state[HIGH_GAP, j],
                    lower,
                    upper,
                )
            if not ok:
                low, high = trimmed_cuts(XT[j], r, m, buffer)
            slots[j] = slot
            state[VALUE, j] = kept_sum(XT[j], r, m, low, high) / kept
            state[RADIUS, j] = 0.0
            state[KNOWN, j] = abs(state[VALUE, j])
            state[LOW, j] = low / unit
            state[HIGH, j] = high / unit
            state[CLIP, j] = larger(abs(low), abs(high))
        found[survivors] = j
        values[survivors] = state[VALUE, j]
        survivors += 1
    return survivors
