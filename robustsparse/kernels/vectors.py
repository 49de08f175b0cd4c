"""Small operations on numbers and vectors."""

import numpy as np

from robustsparse.kernels.compiler import part
from robustsparse.kernels.constants import SUMS, ZERO


@part
def smaller(x, y):
    """The smaller of two numbers; `min` takes longer to compile."""
    return y if y < x else x


@part
def larger(x, y):
    """The larger of two numbers; `max` takes longer to compile."""
    return y if y > x else x


@part
def vector(n):
    """Room for n numbers; `np.empty` itself is compiled anew for callers with other options."""
    return np.empty(n)


@part
def matrix(rows, n):
    """Room for so many rows of n numbers, as `vector`."""
    return np.empty((rows, n))


@part
def room_for_flags(rows, n):
    """The same for ones and zeros, in bytes: what is read and written of longer numbers takes as long as the sums."""
    return np.empty((rows, n), dtype=np.uint8)


@part
def gather(values, wanted, n, out):
    """Move those of the first n values that are `wanted`, 1 or 0, to the front of `out`; returns how many there are."""
    count = ZERO
    for i in range(n):
        out[count] = values[i]
        count += wanted[i]
    return count


@part
def filled(rows, n, value):
    """So many rows of n equal numbers."""
    out = matrix(rows, n)
    for i in range(rows):
        for j in range(n):
            out[i, j] = value
    return out


@part
def soft(z, penalty):
    """Soft threshold."""
    if z > penalty:
        return z - penalty
    if z < -penalty:
        return z + penalty
    return 0.0


@part
def add_multiple(y, factor, x):
    """Add `factor * x` to y, without a temporary array."""
    for i in range(len(y)):
        y[i] += factor * x[i]


@part
def copy_to(target, source):
    """Copy a vector; assigning to a slice would take seconds to compile."""
    for i in range(len(target)):
        target[i] = source[i]


@part(fastmath=SUMS)
def dot(x, y):
    """Inner product of two short vectors."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@part(fastmath=SUMS)
def dot_from(first, x, y):
    """Inner product of two short vectors from the element `first` on."""
    total = 0.0
    # Unsigned, or the loop is not vectorized and rounds otherwise than `dot`.
    for i in range(np.uint64(first), np.uint64(len(x))):
        total += x[i] * y[i]
    return total


@part(fastmath=SUMS)
def dot_to(last, x, y):
    """Inner product of the first `last` elements of two vectors; slices would take longer to compile."""
    total = 0.0
    # Unsigned, as in `dot_from`.
    for i in range(np.uint64(last)):
        total += x[i] * y[i]
    return total
