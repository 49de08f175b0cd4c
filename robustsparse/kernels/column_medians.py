"""Medians of columns."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import ZERO
from robustsparse.kernels.order_statistics import select
from robustsparse.kernels.vectors import gather, larger, vector, whole_numbers

# Values of a column that bracket its median.
SAMPLE = np.int64(33)
# A column is sampled if it has so many times as many values.
SAMPLED = 4
# A bracket that holds more than one in so many values of the column is narrowed by interpolation: to the place of the
# median, and to both sides of it these many times the square root of the number of values in the bracket.
WIDE_PART, ROOTS = 8, 2.0


@part
def _count_between(x, low, high):
    """How many values lie below `low`, and how many do not exceed `high`."""
    below = ZERO
    upto = ZERO
    for i in range(len(x)):
        below += x[i] < low
        upto += x[i] <= high
    return below, upto


@kernel
def row_medians(XT, out):
    """Median of each row: a sample brackets it, and only values in the bracket are selected."""
    d, n = XT.shape
    work = vector(n)
    bracketed = whole_numbers(1, n)[0]
    first = (n - 1) // 2
    last = n // 2
    for j in range(d):
        x = XT[j]
        low = 0.0
        high = 0.0
        below = ZERO
        upto = ZERO
        if n >= SAMPLED * SAMPLE:
            for i in range(SAMPLE):
                work[i] = x[i * (n // SAMPLE)]
            select(work, ZERO, SAMPLE - 1, SAMPLE // 3)
            low = work[SAMPLE // 3]
            select(work, SAMPLE // 3, SAMPLE - 1, 2 * SAMPLE // 3 - 1)
            high = work[2 * SAMPLE // 3 - 1]
            below, upto = _count_between(x, low, high)
        if below <= first and last < upto and upto - below > n // WIDE_PART:
            share = (first - below + 0.5) / (upto - below)
            half = ROOTS / math.sqrt(upto - below)
            nearer = low + (share - half) * (high - low)
            further = low + (share + half) * (high - low)
            inside, within = _count_between(x, nearer, further)
            if inside <= first and last < within:
                low, high, below, upto = nearer, further, inside, within
        count = ZERO
        if below <= first and last < upto:
            for i in range(n):
                bracketed[i] = (x[i] >= low) & (x[i] <= high)
            count = gather(x, bracketed, n, work)
        else:
            below = ZERO
            for i in range(n):
                work[i] = x[i]
            count = n
        select(work, ZERO, count - 1, last - below)
        top = work[last - below]
        if first < last:
            bottom = work[0]
            for i in range(1, last - below):
                bottom = larger(bottom, work[i])
            # Halves are added, not the sum halved: the sum of two values near the largest float overflows.
            top = 0.5 * bottom + 0.5 * top
        out[j] = top
