"""Median and spread of columns."""

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.selection import bracketed_median
from robustsparse.kernels.vectors import vector


@kernel
def medians_and_spreads(XT, center, location, spread):
    """Median and median absolute deviation of each row; with `center` false the deviation is taken from zero."""
    d, n = XT.shape
    buffer = vector(n)
    work = vector(n + 1)
    for j in range(d):
        x = XT[j]
        middle = bracketed_median(x, n, work) if center else 0.0
        for i in range(n):
            buffer[i] = abs(x[i] - middle)
        location[j] = middle
        spread[j] = bracketed_median(buffer, n, work)
