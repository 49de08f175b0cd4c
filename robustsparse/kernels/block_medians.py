"""Medians of block means, all of them or only those that may be among the largest."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import SLACK, SMALLEST, SUMS, TINY, ZERO
from robustsparse.kernels.order_statistics import MORE, median, raised_bar
from robustsparse.kernels.vectors import vector

# Numbers that are rounded to single precision are first made larger, or smaller, by more than that can undo.
ABOVE32, BELOW32 = 1.0 + 1e-6, 1.0 - 1e-6


@part
def _block_means(x, r, blocks, out):
    """Means of `x * r` over the blocks {i : i mod blocks = b}, which vectorizes because blocks lie side by side."""
    n = len(x)
    rounds = n // blocks
    for b in range(blocks):
        out[b] = 0
    for lap in range(rounds):
        start = lap * blocks
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
def block_setup(design, first, last):
    """Float32 copy in block order, and the norm of each block of each column over its size, into a design.

    Norms are rounded up, and are never so small that float32's smallest numbers matter beside them.
    """
    XT, XT32, order, blocks, norms = design
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
            norms[j, b] = max(math.sqrt(means[b] / size), TINY) * ABOVE32


@part(fastmath=SUMS)
def _blocks_that_reach(means, norms, moved, bar):
    """How many blocks may have a mean of at least `bar`, and of at most -`bar`."""
    high = np.int32(0)
    low = np.int32(0)
    for b in range(len(means)):
        change = norms[b] * moved[b]
        high = np.int32(high + (means[b] + change >= bar))
        low = np.int32(low + (change - means[b] >= bar))
    return high, low


@part
def _edge(bar, unit):
    """The bar in a unit, lowered by all that rounding could add to a block mean beside its bound."""
    return np.float32(max(bar - SMALLEST, 0.0) / unit * BELOW32)


@kernel
def block_survivors(design, memory, scores, first, last, closed, k, bar, found, values):
    """Exact medians of means of the columns in [first, last) that may be among the k largest in absolute value.

    A column is excluded when fewer than half of its blocks can reach the bar, judged first from its
    last block means and how far the scores have moved since, then from a float32 pass. `bar` is a value that k columns
    are known to reach; columns that are `closed` (d,) are left out. Returns the number of columns written to `found`
    and `values`.
    """
    XT, XT32, order, blocks, norms = design
    slots = memory.slots
    units = memory.units
    moved = memory.moved
    means = memory.means
    score, score32, slot, certify = scores
    half = (blocks + 1) // 2
    buffer = vector(len(order))
    work = vector(blocks)
    floor = vector(k + MORE)
    # The bar is raised by the first k values, then by so many more.
    full = k
    n_floor = ZERO
    count = ZERO
    for j in range(first, last):
        if closed[j]:
            continue
        if certify:
            last_slot = slots[j]
            if last_slot >= 0:
                edge = _edge(bar, units[last_slot])
                high, low = _blocks_that_reach(means[j], norms[j], moved[last_slot], edge)
                if high < half and low < half:
                    continue
            if last_slot != slot:
                _block_means(XT32[j], score32, blocks, means[j])
                slots[j] = slot
                edge = _edge(bar, units[slot])
                high, low = _blocks_that_reach(means[j], norms[j], moved[slot], edge)
                if high < half and low < half:
                    continue
        value = _block_median(XT[j], order, score, blocks, buffer, work)
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
