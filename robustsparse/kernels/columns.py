"""Range, median and spread of columns."""

import numpy as np

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.selection import bracketed_median
from robustsparse.kernels.vectors import larger, smaller


@kernel
def column_profiles(XT, center, low, high, two, location, spread):
    """Range, whether there are two values only, median and median absolute deviation of each row.

    With `center` false the deviation is taken from zero.
    """
    d, n = XT.shape
    buffer = np.empty(n)
    work = np.empty(n + 1)
    for j in range(d):
        x = XT[j]
        least = x[0]
        most = x[0]
        for i in range(n):
            least = smaller(least, x[i])
            most = larger(most, x[i])
        low[j] = least
        high[j] = most
        two[j] = True
        for i in range(n):
            if x[i] != least and x[i] != most:
                two[j] = False
                break
        middle = bracketed_median(x, n, work) if center else 0.0
        for i in range(n):
            buffer[i] = abs(x[i] - middle)
        location[j] = middle
        spread[j] = bracketed_median(buffer, n, work)
