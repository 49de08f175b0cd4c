"""Medians of columns, and their median absolute deviations."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import ZERO
from robustsparse.kernels.order_statistics import select
from robustsparse.kernels.vectors import gather, larger, room_for_flags, vector

# Values of a column that bracket its middle, as many as are compared at a time; and their ranks at the ends of it.
SAMPLE = np.int64(32)
LOW_RANK, HIGH_RANK = SAMPLE // 3, 2 * SAMPLE // 3
# A column is sampled if it has so many times as many values.
SAMPLED = 4
# The bracket is narrowed by interpolation so often, unless it holds few values: to the place of the middle, and to both
# sides of it these many times the square root of the number of values in the bracket. The first time it is less sure.
NARROWINGS, FEW = 3, 24
FIRST_ROOTS, ROOTS = 2.0, 1.4


@part
def _count_between(x, low, high):
    """How many values lie below `low`, and how many do not exceed `high`."""
    below = ZERO
    upto = ZERO
    for i in range(len(x)):
        below += x[i] < low
        upto += x[i] <= high
    return below, upto


@part
def _ranked(values, count, rank):
    """The value of a rank among a few: none is moved, which takes no longer whatever their order is."""
    value = values[0]
    for i in range(count):
        value = values[i]
        below = ZERO
        upto = ZERO
        for j in range(count):
            below += values[j] < value
            upto += values[j] <= value
        if below <= rank and rank < upto:
            break
    return value


@part
def _bracket(x, work):
    """Values of a sample around its middle."""
    for i in range(SAMPLE):
        work[i] = x[i * (len(x) // SAMPLE)]
    return _ranked(work, SAMPLE, LOW_RANK), _ranked(work, SAMPLE, HIGH_RANK)


@part
def _middles(x, work, flags):
    """The two values in the middle, which are one if their number is odd: a sample brackets them.

    `work` and `flags` (n,) are overwritten.
    """
    n = len(x)
    first = (n - 1) // 2
    last = n // 2
    low = 0.0
    high = 0.0
    below = ZERO
    upto = ZERO
    if n >= SAMPLED * SAMPLE:
        low, high = _bracket(x, work)
        below, upto = _count_between(x, low, high)
    held = below <= first and last < upto
    roots = FIRST_ROOTS
    for _ in range(NARROWINGS if held else 0):
        if upto - below <= FEW:
            break
        share = (first - below + 0.5) / (upto - below)
        half = roots / math.sqrt(upto - below)
        roots = ROOTS
        nearer = low + (share - half) * (high - low)
        further = low + (share + half) * (high - low)
        inside, within = _count_between(x, nearer, further)
        if not (inside <= first and last < within):
            # A column of few values: they may be those of the ends.
            inside, within = _count_between(x, high, low)
            if last < within:
                return low, low
            if inside <= first:
                return high, high
            break
        low, high, below, upto = nearer, further, inside, within
    count = n
    if held:
        for i in range(n):
            flags[i] = (x[i] >= low) & (x[i] <= high)
        count = gather(x, flags, n, work)
    else:
        below = ZERO
        for i in range(n):
            work[i] = x[i]
    if count <= FEW:
        top = _ranked(work, count, last - below)
        return top if first == last else _ranked(work, count, first - below), top
    select(work, ZERO, count - 1, last - below)
    top = work[last - below]
    if first == last:
        return top, top
    bottom = work[0]
    for i in range(1, last - below):
        bottom = larger(bottom, work[i])
    return bottom, top


@part
def _median(x, work, flags):
    bottom, top = _middles(x, work, flags)
    # Halves are added, not the sum halved: the sum of two values near the largest float overflows.
    return top if len(x) % 2 == 1 else 0.5 * bottom + 0.5 * top


@kernel
def row_deviations(XT, center, location, deviation):
    """Median of each row, or zero, and of the absolute deviations from it, unless there is no room for these."""
    d, n = XT.shape
    work = vector(n)
    size = vector(n)
    flags = room_for_flags(1, n)[0]
    for j in range(d):
        x = XT[j]
        middle = _median(x, work, flags) if center else 0.0
        location[j] = middle
        if len(deviation):
            for i in range(n):
                size[i] = abs(x[i] - middle)
            deviation[j] = _median(size, work, flags)
