"""Medians of block means, all of them or only those that may be among the largest."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import SLACK, SMALLEST, SUMS, TINY, ZERO
from robustsparse.kernels.order_statistics import MORE, median, raised_bar
from robustsparse.kernels.vectors import vector


@part
def _block_means(x, r, blocks, out):
    """Means of `x * r` over the blocks {i : i mod blocks = b}, which vectorizes because blocks lie side by side."""
    n = len(x)
    rounds = n // blocks
    for b in range(blocks):
        out[b] = 0
    for c in range(rounds):
        start = c * blocks
        for b in range(blocks):
            out[b] += x[start + b] * r[start + b]
    start = rounds * blocks
    for b in range(n - start):
        out[b] += x[start + b] * r[start + b]
    for b in range(blocks):
        out[b] /= rounds + (b < n - start)


@part
def _block_median(x, order, r, blocks, buffer, means):
    """Median over the blocks of the means of `x[order] * r`; `r` is already in that order."""
    for i in range(len(order)):
        buffer[i] = x[order[i]]
    _block_means(buffer, r, blocks, means)
    return median(means, blocks)


@kernel
def block_median_rows(XT, order, r, blocks, out):
    """Median of means of `XT[j] * r` for every row j."""
    d, n = XT.shape
    buffer = vector(n)
    means = vector(blocks)
    for j in range(d):
        out[j] = _block_median(XT[j], order, r, blocks, buffer, means)


@kernel
def block_setup(XT, order, blocks, first, last, XT32, norms):
    """Float32 copy in block order, and the norm of each block of each column over its size.

    Norms are rounded up, and are never so small that float32's smallest numbers matter beside them.
    """
    n = len(order)
    means = vector(blocks)
    buffer = vector(n)
    for j in range(first, last):
        for i in range(n):
            buffer[i] = XT[j, order[i]]
            XT32[j, i] = buffer[i]
        _block_means(buffer, buffer, blocks, means)
        for b in range(blocks):
            size = n // blocks + (b < n % blocks)
            norms[j, b] = max(math.sqrt(means[b] / size), TINY) * (1.0 + 1e-6)


@part(fastmath=SUMS)
def _blocks_that_reach(means, norms, moved, bar):
    """How many blocks may have a mean of at least `bar`, and of at most -`bar`."""
    high = np.int32(0)
    low = np.int32(0)
    for b in range(len(means)):
        e = norms[b] * moved[b]
        high = np.int32(high + (means[b] + e >= bar))
        low = np.int32(low + (e - means[b] >= bar))
    return high, low


@part
def _edge(bar, unit):
    """The bar in a unit, lowered by all that rounding could add to a block mean beside its bound."""
    return np.float32(max(bar - SMALLEST, 0.0) / unit * (1.0 - 1e-6))


@kernel
def block_survivors(
    XT, XT32, order, r, r32, blocks, first, last, active, k, bar, certify,
    norms, means, slots, slot, moved, units, found, values,
):  # fmt: skip
    """Exact medians of means of the columns in [first, last) that may be among the k largest in absolute value.

    A column is excluded when fewer than half of its blocks can reach the bar, judged first from its
    last block means and the drift of the scores since (`moved`, one row a reference, in units of
    `units`), then from a float32 pass.
    """
    half = (blocks + 1) // 2
    buffer = vector(len(order))
    work = vector(blocks)
    floor = vector(k + MORE)
    # The bar is raised by the first k values, then by so many more.
    full = k
    n_floor = ZERO
    count = ZERO
    for j in range(first, last):
        if active[j]:
            continue
        if certify:
            s = slots[j]
            if s >= 0:
                edge = _edge(bar, units[s])
                high, low = _blocks_that_reach(means[j], norms[j], moved[s], edge)
                if high < half and low < half:
                    continue
            if s != slot:
                _block_means(XT32[j], r32, blocks, means[j])
                slots[j] = slot
                edge = _edge(bar, units[slot])
                high, low = _blocks_that_reach(means[j], norms[j], moved[slot], edge)
                if high < half and low < half:
                    continue
        value = _block_median(XT[j], order, r, blocks, buffer, work)
        # NaN reaches nothing either.
        if not abs(value) >= bar:
            continue
        found[count] = j
        values[count] = value
        count += 1
        # Times the step, values a rounding apart may tie, and the lowest column of a tie is kept.
        floor[n_floor] = abs(value) / SLACK
        n_floor += 1
        if n_floor >= full:
            bar = raised_bar(bar, floor, n_floor, k)
            n_floor = k
            full = k + MORE
    return count
