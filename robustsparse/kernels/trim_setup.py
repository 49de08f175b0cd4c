"""What screening needs to know of a design before the first scores."""

import numpy as np

from robustsparse.kernels.bounds import norm_bound, peak_bound
from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.constants import SLACK, SUMS, ZERO
from robustsparse.kernels.selection import median
from robustsparse.kernels.vectors import larger, smaller

# About so many values tell the size of a column, and one in 16 of a short one.
SIZED = 64


@kernel(fastmath=SUMS)
def trim_setup(XT, first, last, XT32, norms, sizes, nonzeros, row_squares):
    """Float32 copy, norms (see `within_reach`), typical size and nonzero values of each column, and squares of rows."""
    n = XT.shape[1]
    step = larger(larger(1, n // SIZED), smaller(n // 16, 16))
    buffer = np.empty(n)
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
        norms[0, j] = norms[1, j] = norm_bound(square)
        norms[2, j] = norms[3, j] = peak_bound(eighths, norms[0, j])
        count = ZERO
        for i in range(0, n, step):
            buffer[count] = abs(XT[j, i])
            count += 1
        middle = median(buffer, count)
        sizes[j] = middle if middle > 0.0 else 1.0


@kernel
def leverage_setup(XT, light, first, last, norms):
    """Norm and largest value of each column over the rows without extreme leverage, on which `light` (n,) is 1."""
    for j in range(first, last):
        square = 0.0
        largest = 0.0
        for i in range(XT.shape[1]):
            v = abs(XT[j, i]) * light[i]
            square += v * v
            largest = larger(largest, v)
        norms[1, j] = norm_bound(square) * SLACK
        norms[2, j] = largest
