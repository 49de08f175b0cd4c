"""Exact trimmed means of products.

First the two cuts are found, the smallest and the largest product that is kept; then one pass sums what lies between.
Every exact value of the package comes out of `kept_sum`.
"""

from robustsparse.kernels.compiler import brief, part
from robustsparse.kernels.constants import SIDES, SUMS, ZERO
from robustsparse.kernels.order_statistics import select
from robustsparse.kernels.vectors import gather, room_for_flags, smaller, vector

# How far cuts move from one step of a descent to the next, and from one column to another, in units of the distance
# between them.
AGAIN, ALIKE = 0.04, 0.06
# Brackets that are tried before all products are partitioned; one that misses is followed by one so many times as wide.
TRIES = 3
WIDER = 2.0
# Products that a first guess rests on, at least, and as a share of very many; with fewer than four times as many rows
# the guess costs more than it saves.
SAMPLE, SPARSE = 48, 64
# Products of which it is noted whether they are wanted before these are gathered: few enough for the nearest cache.
STRETCH = 2048


@part(fastmath=SUMS)
def kept_sum(x, r, m, low, high):
    """Sum of the products between the cuts, ties at a cut counted as often as they are kept."""
    n = len(x)
    total = 0.0
    below = ZERO
    above = ZERO
    for i in range(n):
        v = x[i] * r[i]
        total += v if (v > low) & (v < high) else 0.0
        below += v <= low
        above += v >= high
    if low == high:
        return low * (n - 2 * m)
    return total + low * (below - m) + high * (above - m)


@part
def kept_range(x, r, m, low, high, low_width, high_width, lower, upper, flags):
    """Smallest and largest kept product of `x * r`.

    They are looked for within the given widths of guesses if `low < high`, else around those of a
    sample if n is large. A bracket that misses its cut is moved to the side where that lies, and widened. What is not
    found so is selected from all products. `lower` and `upper` (n,) and `flags` (2, n) are overwritten.
    """
    n = len(x)
    wanted = flags[0]
    also = flags[1]
    guessed = low < high
    step = smaller(n // SAMPLE, SPARSE) if n >= 4 * SAMPLE and not guessed else 1
    while True:
        low_outer = low - low_width
        low_inner = low + low_width
        high_inner = high - high_width
        high_outer = high + high_width
        for _ in range(TRIES if guessed else 0):
            if not low_inner < high_inner:
                break
            # The tails first: most products are in neither, and the fewer stores and sums the better. What is
            # wanted is noted before it is gathered, since only the noting vectorizes, but not long before.
            tails = ZERO
            for begin in range(0, n, STRETCH):
                values = x[begin : begin + STRETCH]
                scores = r[begin : begin + STRETCH]
                for i in range(len(values)):
                    v = values[i] * scores[i]
                    upper[i] = v
                    wanted[i] = (v <= low_inner) | (v >= high_inner)
                tails += gather(upper, wanted, len(values), lower[tails:])
            under = ZERO
            over = ZERO
            for i in range(tails):
                v = lower[i]
                under += v < low_outer
                over += v > high_outer
                wanted[i] = (v >= high_inner) & (v <= high_outer)
                also[i] = (v >= low_outer) & (v <= low_inner)
            n_upper = gather(lower, wanted, tails, upper)
            n_lower = gather(lower, also, tails, lower)
            # Ranks of the cuts within their brackets, from the outside.
            low_rank = m - under
            high_rank = m - over
            low_held = low_rank >= 0 and low_rank < n_lower
            if low_held and high_rank >= 0 and high_rank < n_upper:
                high_place = n_upper - 1 - high_rank
                select(lower, ZERO, n_lower - 1, low_rank)
                select(upper, ZERO, n_upper - 1, high_place)
                return lower[low_rank], upper[high_place]
            width = WIDER * (low_inner - low_outer)
            if low_rank < 0:
                low_inner = low_outer
                low_outer -= width
            elif low_rank >= n_lower:
                low_outer = low_inner
                low_inner += width
            width = WIDER * (high_outer - high_inner)
            if high_rank < 0:
                high_inner = high_outer
                high_outer += width
            elif high_rank >= n_upper:
                high_outer = high_inner
                high_inner -= width
        count = n // step
        for i in range(count):
            lower[i] = x[i * step] * r[i * step]
        first = m * count // n
        last = count - 1 - first
        select(lower, ZERO, count - 1, first)
        select(lower, first, count - 1, last)
        low = lower[first]
        high = lower[last]
        if step == 1:
            return low, high
        low_width = high_width = ALIKE * (high - low)
        guessed = True
        step = 1


@brief
def trim_rows(XT, r, m, cuts, out):
    """Trimmed mean of `XT[j] * r` for every row j.

    `cuts` (rows, 2) are those of the last time, near which the new ones are looked for, or zero.
    """
    d, n = XT.shape
    lower = vector(n)
    upper = vector(n)
    flags = room_for_flags(SIDES, n)
    low = 0.0
    high = 0.0
    for j in range(d):
        # Predictors of one scale have cuts alike, and looking near another's is cheaper than selecting afresh.
        width = ALIKE * (high - low)
        if cuts[j, 0] < cuts[j, 1]:
            low = cuts[j, 0]
            high = cuts[j, 1]
            width = AGAIN * (high - low)
        low, high = kept_range(XT[j], r, m, low, high, width, width, lower, upper, flags)
        cuts[j, 0] = low
        cuts[j, 1] = high
        out[j] = kept_sum(XT[j], r, m, low, high) / (n - 2 * m)
