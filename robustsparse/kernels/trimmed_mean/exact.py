"""Exact trimmed means of products."""

from robustsparse.kernels.compiler import brief, part
from robustsparse.kernels.constants import SUMS, ZERO
from robustsparse.kernels.order_statistics import select
from robustsparse.kernels.vectors import vector

# How far cuts move from one step of a descent to the next, and from one column to another, in units of the distance
# between them.
AGAIN, ALIKE = 0.04, 0.06
# Brackets that are tried before all products are partitioned.
TRIES = 3
# Products that a first guess rests on.
SAMPLE = 48


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
def kept_range(x, r, m, low, high, low_width, high_width, lower, upper):
    """Smallest and largest kept product of `x * r`.

    They are looked for within the given widths of guesses if `low < high`, else around those of a
    sample if n is large. A bracket that misses its cut is moved to the side where that lies, and doubled. What is not
    found so is selected from all products. `lower` and `upper` (n,) are overwritten.
    """
    n = len(x)
    guessed = low < high
    step = n // SAMPLE if n >= 4 * SAMPLE and not guessed else 1
    while True:
        a = low - low_width
        b = low + low_width
        c = high - high_width
        e = high + high_width
        for _ in range(TRIES if guessed else 0):
            if not b < c:
                break
            # The tails first: most products are in neither, and the fewer stores and sums the better.
            tails = ZERO
            for i in range(n):
                v = x[i] * r[i]
                lower[tails] = v
                tails += (v <= b) | (v >= c)
            under = ZERO
            over = ZERO
            n_lower = ZERO
            n_upper = ZERO
            for i in range(tails):
                v = lower[i]
                under += v < a
                over += v > e
                upper[n_upper] = v
                n_upper += (v >= c) & (v <= e)
                lower[n_lower] = v
                n_lower += (v >= a) & (v <= b)
            k = m - under
            j = m - over
            if k >= 0 and k < n_lower and j >= 0 and j < n_upper:
                select(lower, ZERO, n_lower - 1, k)
                select(upper, ZERO, n_upper - 1, n_upper - 1 - j)
                return lower[k], upper[n_upper - 1 - j]
            width = 2.0 * (b - a)
            if k < 0:
                b = a
                a -= width
            elif k >= n_lower:
                a = b
                b += width
            width = 2.0 * (e - c)
            if j < 0:
                c = e
                e += width
            elif j >= n_upper:
                e = c
                c -= width
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
    low = 0.0
    high = 0.0
    for j in range(d):
        # Predictors of one scale have cuts alike, and looking near another's is cheaper than selecting afresh.
        width = ALIKE * (high - low)
        if cuts[j, 0] < cuts[j, 1]:
            low = cuts[j, 0]
            high = cuts[j, 1]
            width = AGAIN * (high - low)
        low, high = kept_range(XT[j], r, m, low, high, width, width, lower, upper)
        cuts[j, 0] = low
        cuts[j, 1] = high
        out[j] = kept_sum(XT[j], r, m, low, high) / (n - 2 * m)
