"""What is asked of every column of a design, in one pass: numbers, counts and slopes."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.constants import SUMS
from robustsparse.kernels.vectors import smaller, vector

# The bits of minus zero.
MINUS_ZERO = np.uint64(1 << 63)
# Shifts and factors of a finalizer that mixes the bits of a number (Stafford's variant 13, that of splitmix64).
SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@kernel
def hash_rows(bits, factors, out):
    """Sums (d,) of hashes times factors (n,), modulo 2^64, from the bits (d, n) of numbers; zeros are hashed to 0."""
    for j in range(len(out)):
        total = np.uint64(0)
        row = bits[j]
        for i in range(np.uint64(len(factors))):
            v = row[i]
            v = np.uint64(0) if v == MINUS_ZERO else v
            v ^= v >> SHIFTS[0]
            v *= FACTORS[0]
            v ^= v >> SHIFTS[1]
            v *= FACTORS[1]
            v ^= v >> SHIFTS[2]
            total += v * factors[i]
        out[j] = total


@kernel
def count_beyond(XT, limits, counts):
    """Add to `counts` (3, n) how many absolute values in each column of `XT` (d, n) are larger than each limit."""
    first = counts[0]
    second = counts[1]
    third = counts[2]
    for j in range(len(XT)):
        x = XT[j]
        for i in range(len(first)):
            size = abs(x[i])
            first[i] = np.int32(first[i] + (size > limits[0]))
            second[i] = np.int32(second[i] + (size > limits[1]))
            third[i] = np.int32(third[i] + (size > limits[2]))


@kernel(fastmath=SUMS)
def bisquare_slopes(XT, y, limit, out):
    """Size of each row's inner product with a centered y over its length, once weighted by bisquare and centered."""
    n = len(y)
    weighted = vector(n)
    for j in range(len(out)):
        x = XT[j]
        total = 0.0
        for i in range(n):
            part = smaller(abs(x[i]) / limit, 1.0)
            rest = 1.0 - part * part
            weighted[i] = x[i] * (rest * rest)
            total += weighted[i]
        mean = total / n
        square = 0.0
        cross = 0.0
        for i in range(n):
            z = weighted[i] - mean
            square += z * z
            cross += z * y[i]
        out[j] = abs(cross) / math.sqrt(square) if square > 0.0 else 0.0
