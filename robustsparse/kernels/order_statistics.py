"""Order statistics by partial sorting."""

import numpy as np

from robustsparse.kernels.compiler import brief, part
from robustsparse.kernels.constants import ZERO
from robustsparse.kernels.vectors import larger

# Values that are gathered before the bar is raised again.
MORE = np.int64(12)


@part
def select(a, lo, hi, k):
    """Rearrange `a[lo..hi]` so that `a[k]` is in its sorted place, smaller before and larger after."""
    while hi - lo > 10:
        mid = (lo + hi) >> 1
        if a[mid] < a[lo]:
            a[mid], a[lo] = a[lo], a[mid]
        if a[hi] < a[lo]:
            a[hi], a[lo] = a[lo], a[hi]
        if a[hi] < a[mid]:
            a[hi], a[mid] = a[mid], a[hi]
        pivot = a[mid]
        i = lo
        j = hi
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if k <= j:
            hi = j
        elif k >= i:
            lo = i
        else:
            return
    for i in range(lo + 1, hi + 1):
        x = a[i]
        j = i - 1
        while j >= lo and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


@part
def median(a, n):
    """Median of `a[:n]`, which is rearranged."""
    half = n // 2
    select(a, ZERO, n - 1, half)
    if n % 2 == 1:
        return a[half]
    below = a[0]
    for i in range(1, half):
        below = larger(below, a[i])
    # Halves are added, not the sum halved: the sum of two values near the largest float overflows.
    return 0.5 * below + 0.5 * a[half]


@part
def raised_bar(bar, floor, n, k):
    """The bar, or the k-th largest of `floor[:n]` (0 < k <= n) if that is higher; the k largest go to its front."""
    rest = n - k
    select(floor, ZERO, n - 1, rest)
    for i in range(k):
        floor[i] = floor[rest + i]
    return larger(bar, floor[0])


@part
def sort_first(places, count):
    """Sort the first few, by insertion; numpy's sort takes a second to compile."""
    for i in range(1, count):
        place = places[i]
        at = i
        while at > 0 and places[at - 1] > place:
            places[at] = places[at - 1]
            at -= 1
        places[at] = place


@brief
def largest_places(columns, values, k, places):
    """Places of the k largest absolute values, zeros left out, ascending; ties go to the lowest column.

    They are written to `places` (k,); returns how many there are.
    """
    count = ZERO
    for i in range(len(values)):
        size = abs(values[i])
        if not size > 0.0:
            continue
        at = count
        while at > 0:
            other = places[at - 1]
            before = abs(values[other])
            if before > size or (before == size and columns[other] < columns[i]):
                break
            if at < k:
                places[at] = other
            at -= 1
        if at < k:
            places[at] = i
            count += count < k
    sort_first(places, count)
    return count
