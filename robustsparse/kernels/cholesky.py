"""Small positive definite systems."""

import math

from robustsparse.kernels.compiler import part
from robustsparse.kernels.vectors import dot_to


@part
def factorize(matrix, shift, least, factor):
    """Lower Cholesky factor of a matrix with a number added to its diagonal; returns its smallest pivot.

    A pivot that is not positive is replaced by `least`.
    """
    p = len(matrix)
    smallest = math.inf
    for i in range(p):
        for j in range(i + 1):
            value = matrix[i, j] - dot_to(j, factor[i], factor[j])
            if j < i:
                factor[i, j] = value / factor[j, j]
                continue
            value += shift
            # What is no number is the smallest.
            smallest = smallest if value > smallest else value
            factor[i, i] = math.sqrt(value if value > 0.0 else least)
    return smallest


@part
def solve_factored(factor, right, out):
    """Solve a system by the Cholesky factor of its matrix."""
    p = len(out)
    for i in range(p):
        out[i] = (right[i] - dot_to(i, factor[i], out)) / factor[i, i]
    for i in range(p - 1, -1, -1):
        out[i] /= factor[i, i]
        for j in range(i):
            out[j] -= out[i] * factor[i, j]
