"""What screening needs to know of a design before the first scores."""

import numpy as np

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.constants import SLACK, SUMS, ZERO
from robustsparse.kernels.order_statistics import select
from robustsparse.kernels.trimmed_mean.drift import norm_bound, peak_bound
from robustsparse.kernels.vectors import larger, vector


@kernel(fastmath=SUMS)
def trim_setup(XT, first, last, step, XT32, norms, sizes, nonzeros, row_squares):
    """Float32 copy, norms (see `within_reach`), typical size and nonzero values of each column, and squares of rows.

    The typical size is the median of every `step`-th absolute value, the upper one of two.
    """
    n = len(row_squares)
    buffer = vector(n)
    for j in range(first, last):
        square = 0.0
        eighths = 0.0
        count = ZERO
        for i in range(n):
            v = np.float64(XT[j, i])
            XT32[j, i] = v
            count += v != 0.0
            v *= v
            square += v
            row_squares[i] += v
            v *= v
            eighths += v * v
        nonzeros[j] = count
        norm = norm_bound(square)
        norms[0, j] = norms[1, j] = norm
        norms[2, j] = norms[3, j] = peak_bound(eighths, norm)
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
            v = abs(XT[j, i]) * light[i]
            square += v * v
            largest = larger(largest, v)
        norms[1, j] = norm_bound(square) * SLACK
        norms[2, j] = largest
