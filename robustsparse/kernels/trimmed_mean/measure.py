"""What screening needs to know of a design before the first scores."""

import numpy as np

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.constants import LIGHT_NORM, LIGHT_PEAK, NORM, PEAK, SLACK, SUMS, ZERO
from robustsparse.kernels.order_statistics import select
from robustsparse.kernels.trimmed_mean.drift import norm_bound, peak_bound
from robustsparse.kernels.vectors import larger, vector


@kernel(fastmath=SUMS)
def trim_setup(XT, first, last, step, XT32, norms, sizes, nonzeros, row_squares):
    """Float32 copy, norms (see `NORM` to `PEAK`), typical size and nonzero values of each column, and squares of rows.

    The typical size is the median of every `step`-th absolute value, the upper one of two.
    """
    n = len(row_squares)
    buffer = vector(n)
    for j in range(first, last):
        square = 0.0
        eighths = 0.0
        count = ZERO
        for i in range(n):
            power = np.float64(XT[j, i])
            XT32[j, i] = power
            count += power != 0.0
            power *= power
            square += power
            row_squares[i] += power
            power *= power
            eighths += power * power
        nonzeros[j] = count
        norm = norm_bound(square)
        norms[NORM, j] = norms[LIGHT_NORM, j] = norm
        norms[LIGHT_PEAK, j] = norms[PEAK, j] = peak_bound(eighths, norm)
        count = ZERO
        for i in range(0, n, step):
            buffer[count] = abs(XT[j, i])
            count += 1
        select(buffer, ZERO, count - 1, count // 2)
        sizes[j] = buffer[count // 2] if buffer[count // 2] > 0.0 else 1.0


@kernel
def leverage_setup(XT, light, first, last, norms):
    """Norm and largest value of each column over the rows without extreme leverage, on which `light` (n,) is 1."""
    for j in range(first, last):
        square = 0.0
        largest = 0.0
        for i in range(len(light)):
            size = abs(XT[j, i]) * light[i]
            square += size * size
            largest = larger(largest, size)
        norms[LIGHT_NORM, j] = norm_bound(square) * SLACK
        norms[LIGHT_PEAK, j] = largest
