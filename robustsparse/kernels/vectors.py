"""Small operations on numbers and vectors."""

from robustsparse.kernels.compiler import part
from robustsparse.kernels.constants import SUMS


@part
def smaller(x, y):
    """The smaller of two numbers; `min` takes longer to compile."""
    return y if y < x else x


@part
def larger(x, y):
    """The larger of two numbers; `max` takes longer to compile."""
    return y if y > x else x


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
    for i in range(y.shape[0]):
        y[i] += factor * x[i]


@part
def copy_to(target, source):
    """Copy a vector; assigning to a slice would take seconds to compile."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@part(fastmath=SUMS)
def dot(x, y):
    """Inner product of two short vectors."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@part(fastmath=SUMS)
def dot_from(first, x, y):
    """Inner product of two short vectors from the element `first` on."""
    total = 0.0
    for i in range(first, x.shape[0]):
        total += x[i] * y[i]
    return total
