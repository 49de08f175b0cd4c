"""Trimmed means of those columns only that may be among the largest."""

import math

import numpy as np

from robustsparse.kernels.certificate import certified
from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import (
    ALL,
    CLIP,
    HIGH,
    HIGH_GAP,
    JUMP_MAX,
    JUMP_SUM,
    LIGHT,
    LIGHT_MAX,
    LOW,
    LOW_GAP,
    RADIUS,
    RATIO_MAX,
    RATIO_SUM,
    ROUND32,
    SLACK,
    SMALLEST,
    SMALLEST_SQUARE,
    SUMS,
    VALUE,
    ZERO,
)
from robustsparse.kernels.selection import kth_largest, median
from robustsparse.kernels.trimmed import kept_sum, near_cuts, trimmed_cuts


# Half the width of the bracket around a guessed cut, in units of the typical miss.
FIRST = 2.5
# About so many values tell the size of a column, and one in 16 of a short one.
SIZED = 64


@part
def _largest(x):
    """Largest absolute value."""
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, abs(x[i]))
    return largest


@part
def _norm(square, largest, n):
    """Upper bound of an l2 norm from the sum of squares and the largest value; it survives underflow."""
    return math.sqrt(square) if square > SMALLEST_SQUARE else math.sqrt(n) * largest


@part(fastmath=SUMS)
def drift(r, reference, heavy, light, out):
    """How far the scores moved since `reference`, as `_upper_bound` needs it.

    `heavy` holds the rows of extreme leverage and `light` is 0 on them, 1 elsewhere. A heavy row
    whose score kept its sign and changed by less than half enters by its relative change, the
    others by their absolute one. Without heavy rows only the norm of all is needed.
    """
    square = 0.0
    largest = 0.0
    if heavy.shape[0] == 0:
        for i in range(r.shape[0]):
            square += (r[i] - reference[i]) * (r[i] - reference[i])
        if square > SMALLEST_SQUARE:
            out[ALL] = math.sqrt(square)
            return
        square = 0.0
    for i in range(r.shape[0]):
        e = abs(r[i] - reference[i]) * light[i]
        square += e * e
        largest = max(largest, e)
    out[LIGHT] = _norm(square, largest, r.shape[0])
    out[LIGHT_MAX] = largest
    for c in range(RATIO_SUM, out.shape[0]):
        out[c] = 0.0
    for h in range(heavy.shape[0]):
        a = r[heavy[h]]
        b = reference[heavy[h]]
        e = abs(a - b)
        square += e * e
        largest = max(largest, e)
        least = min(abs(a), abs(b))
        if a * b > 0.0 and e < 0.5 * least:
            out[RATIO_SUM] += e / least
            out[RATIO_MAX] = max(out[RATIO_MAX], e / least)
        else:
            out[JUMP_SUM] += e
            out[JUMP_MAX] = max(out[JUMP_MAX], e)
    out[ALL] = _norm(square, largest, r.shape[0])


@part
def _upper_bound(j, state, slot, moved, norms, kept, split):
    """Largest absolute value that the trimmed mean of column j can have, without reading the column.

    Sorting is an l1 contraction, so the kept sum moves by at most |x_j| |r - r_ref|
    (Cauchy-Schwarz). With rows of extreme leverage that bound is useless; there the sum of products
    clipped at C, beyond all cuts, is bounded instead. `norms` holds |x_j|, the same over light
    rows, and the largest |x_ij| over light and over heavy rows. Whole arrays are passed: to take a
    row of one costs more than all else here.
    """
    change = norms[j, 0] * moved[slot, ALL]
    if split:
        farthest = max(norms[j, 2] * moved[slot, LIGHT_MAX], norms[j, 3] * moved[slot, JUMP_MAX])
        clip = max(
            state[j, CLIP] + farthest,
            state[j, CLIP] / (1.0 - moved[slot, RATIO_MAX]),
        )
        clipped = (
            norms[j, 1] * moved[slot, LIGHT]
            + clip * moved[slot, RATIO_SUM]
            + norms[j, 3] * moved[slot, JUMP_SUM]
        )
        change = min(change, clipped)
    return (abs(state[j, VALUE]) + state[j, RADIUS] + change / kept) * SLACK + SMALLEST


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
    for j in range(first, last):
        if active[j]:
            continue
        seen = slots[j] >= 0
        if seen and _upper_bound(j, state, slots[j], moved, norms, kept, split) < bar:
            continue
        known = state[j]
        if certify and not (seen and slots[j] == slot):
            spread = 2.0 * deviation
            if seen:
                low0 = known[LOW]
                high0 = known[HIGH]
                low = low0 * drift_low
                high = high0 * drift_high
                low_gap = min(
                    max(known[LOW_GAP], 0.6 * guess[2] * sizes[j]), 1.6 * guess[2] * sizes[j]
                )
                high_gap = min(
                    max(known[HIGH_GAP], 0.6 * guess[3] * sizes[j]), 1.6 * guess[3] * sizes[j]
                )
            else:
                low0 = 0.0
                high0 = 0.0
                low = guess[0] * sizes[j]
                high = guess[1] * sizes[j]
                low_gap = guess[2] * sizes[j]
                high_gap = guess[3] * sizes[j]
                spread = max(spread, FIRST * guess[4] / min(guess[2], guess[3]))
            ok, value, radius, low, high, low_gap, high_gap, clip = certified(
                XT32[j], r32, m, low, high, low_gap, high_gap, spread, bar / unit
            )
            slots[j] = slot
            known[LOW] = low
            known[HIGH] = high
            known[LOW_GAP] = low_gap
            known[HIGH_GAP] = high_gap
            if ok:
                known[VALUE] = value * unit
                # Zero is reserved for exact values.
                known[RADIUS] = radius * unit + SMALLEST
                known[CLIP] = clip * unit * (1.0 + 4.0 * ROUND32)
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
                known[VALUE] = 0.0
                known[RADIUS] = np.inf
                known[CLIP] = np.inf
            if (abs(known[VALUE]) + known[RADIUS]) * SLACK < bar:
                continue
            least = (abs(known[VALUE]) - known[RADIUS]) / SLACK
            if least > bar:
                floor[n_floor] = least
                n_floor += 1
                if n_floor >= k and (n_floor == k + 64 or n_floor % 16 == 0):
                    bar = max(bar, kth_largest(floor, n_floor, k, scratch))
                    best = ZERO
                    for i in range(n_floor):
                        if floor[i] >= bar:
                            floor[best] = floor[i]
                            best += 1
                    n_floor = min(best, k)  # ties at the bar may be many; k of them are enough
        found[count] = j
        count += 1
    if n_floor >= k:
        bar = max(bar, kth_largest(floor, n_floor, k, scratch))
    survivors = ZERO
    for c in range(count):
        j = found[c]
        known = state[j]
        here = slots[j] == slot
        if here and (abs(known[VALUE]) + known[RADIUS]) * SLACK < bar:
            continue
        if not (here and known[RADIUS] == 0.0):
            ok = False
            low = known[LOW] * unit
            high = known[HIGH] * unit
            if certify and known[RADIUS] < np.inf:
                width = (0.6 * deviation + 1.0) * unit
                ok, low, high = near_cuts(
                    XT[j],
                    r,
                    m,
                    low,
                    high,
                    width * known[LOW_GAP],
                    width * known[HIGH_GAP],
                    lower,
                    upper,
                )
            if not ok:
                low, high = trimmed_cuts(XT[j], r, m, buffer)
            slots[j] = slot
            known[VALUE] = kept_sum(XT[j], r, m, low, high) / kept
            known[RADIUS] = 0.0
            known[LOW] = low / unit
            known[HIGH] = high / unit
            known[CLIP] = max(abs(low), abs(high))
        found[survivors] = j
        values[survivors] = known[VALUE]
        survivors += 1
    return survivors


@kernel(fastmath=SUMS)
def trim_setup(XT, first, last, XT32, norms, sizes, nonzeros, row_squares):
    """Float32 copy, norm, typical size and nonzero values of each column, and squared norms of rows."""
    n = XT.shape[1]
    step = max(1, n // SIZED, min(n // 16, 16))
    buffer = np.empty(n)
    for j in range(first, last):
        square = 0.0
        count = ZERO
        for i in range(n):
            v = XT[j, i]
            XT32[j, i] = v
            square += v * v
            row_squares[i] += v * v
            count += v != 0.0
        nonzeros[j] = count
        # The largest value is sought only if needed: a maximum in the loop would not vectorize.
        norms[j, 0] = _norm(square, 0.0 if square > SMALLEST_SQUARE else _largest(XT[j]), n)
        count = ZERO
        for i in range(0, n, step):
            buffer[count] = abs(XT[j, i])
            count += 1
        middle = median(buffer, count)
        sizes[j] = middle if middle > 0.0 else 1.0


@kernel
def leverage_setup(XT, heavy, light, first, last, norms):
    """Norms and largest values of each column over the light and the heavy rows."""
    for j in range(first, last):
        square = 0.0
        largest = 0.0
        for i in range(XT.shape[1]):
            v = abs(XT[j, i]) * light[i]
            square += v * v
            largest = max(largest, v)
        heaviest = 0.0
        for h in range(heavy.shape[0]):
            heaviest = max(heaviest, abs(XT[j, heavy[h]]))
        norms[j, 1] = _norm(square, largest, XT.shape[1]) * SLACK
        norms[j, 2] = largest
        norms[j, 3] = heaviest
