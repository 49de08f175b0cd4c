"""Intervals that must contain a trimmed mean, from float32 passes alone.

A trimmed mean is the mean of the products between two cuts, the order statistics m and n - m. Each cut is caught in a
bracket: its outer end lies toward the tail, its inner end toward the middle. One pass counts the products beyond all
four ends and sums the products, clipped at the middles of the brackets. If the counts show that the cuts lie in their
brackets, the clipped sum is next to the kept sum, and the counts bound by how much it can be off.
"""

import math

import numpy as np

from robustsparse.kernels.compiler import part
from robustsparse.kernels.constants import CUTS, GAPS, ROUND32, SLACK, SUMS, TINY, UNDERFLOW
from robustsparse.kernels.vectors import larger, smaller

# Products that are summed in single precision; sums of so many are added in double precision. Unsigned, because an
# index that could be negative keeps a loop from being vectorized.
RUN = np.uint64(1024)
# Roundings of a summand besides those of adding it up: of the design, the scores, their product and the middles that
# it is clipped at, with room to spare.
OTHER_ROUNDINGS = 8
HALF = np.float32(0.5)
# Passes over a column at most; one whose cuts are not caught by then is evaluated exactly.
PASSES = 8
# Brackets that hold their cuts are narrowed so often, unless so few products are left in both that the interval is as
# narrow as it will be.
NARROWINGS = 2
FEW = 6
# A gap between order statistics is learned from a bracket that holds so many products at least.
FEWEST_FOR_GAP = 4
# Half the width of a narrowed bracket, in gaps: the interpolated cut is off by about the square root of the number of
# products in the bracket that it was interpolated in.
NARROW_LEAST, NARROW_ROOTS = 1.5, 0.9
# A bracket that missed its cut is followed by one beside it that is so many times as wide, and wider the farther the
# miss, so that a bad first guess costs few passes.
WIDER = 2
# Added to counts before their logarithm is taken, since they may be zero; and to the rank of a cut, at which the count
# goes from m to m + 1.
COUNT_OFFSET, RANK_OFFSET = 0.5, 0.75


@part(fastmath=SUMS)
def _count_and_sum(x, r, low_outer, low_middle, low_inner, high_inner, high_middle, high_outer):
    """One pass in float32: the sum clipped at the middles, and how many products lie beyond each of the four ends."""
    total = 0.0
    below_outer = np.int32(0)
    below_inner = np.int32(0)
    above_inner = np.int32(0)
    above_outer = np.int32(0)
    n = np.uint64(len(x))
    first = np.uint64(0)
    while first < n:
        last = first + RUN if first + RUN < n else n
        run = np.float32(0)
        for i in range(first, last):
            v = x[i] * r[i]
            below_outer = np.int32(below_outer + (v < low_outer))
            below_inner = np.int32(below_inner + (v < low_inner))
            above_inner = np.int32(above_inner + (v > high_inner))
            above_outer = np.int32(above_outer + (v > high_outer))
            clipped = v if v > low_middle else low_middle
            clipped = clipped if clipped < high_middle else high_middle
            run += clipped
        total += run
        first = last
    return total, below_outer, below_inner, above_inner, above_outer


@part
def _interpolate(edge, width, outer, inner, m, gap):
    """Cut and spacing of the order statistics near it, from counts at both ends of a bracket.

    Tails thin out about exponentially, so the logarithm of the count is interpolated; linear
    interpolation is biased outward. `width` is signed: from the outer end of the bracket, where
    `outer` products lie beyond, to the inner end, where `inner` do.
    """
    if inner <= outer:
        return edge + 0.5 * width, gap
    rate = math.log((inner + COUNT_OFFSET) / (outer + COUNT_OFFSET))
    cut = edge + width * math.log((m + RANK_OFFSET) / (outer + COUNT_OFFSET)) / rate
    return cut, abs(width) / (rate * (m + RANK_OFFSET))


@part
def certified(x, r, m, look, spread, bar):
    """Interval that must contain the trimmed mean.

    `look` are guesses of the low and the high cut and of the gaps between order statistics near them, which better
    ones replace; the first brackets reach `spread` gaps from the cuts to both sides. Brackets are moved until they
    hold their cuts, then narrowed while the column could still reach `bar`. Returns ok, value, radius and a bound of
    the cuts; without success the last two are infinite.
    """
    low = look[CUTS]
    high = look[CUTS + 1]
    low_gap = look[GAPS]
    high_gap = look[GAPS + 1]
    n = len(x)
    kept = n - 2 * m
    summed = n if n < RUN else np.int64(RUN)
    low_outer = np.float32(low - spread * low_gap)
    low_inner = np.float32(low + spread * low_gap)
    high_inner = np.float32(high - spread * high_gap)
    high_outer = np.float32(high + spread * high_gap)
    ok = False
    value = 0.0
    radius = np.inf
    clip = np.inf
    narrowed = 0
    for _ in range(PASSES):
        if not low_inner < high_inner:
            middle = HALF * (low_inner + high_inner)
            low_inner = middle
            high_inner = middle
            low_outer = smaller(low_outer, low_inner)
            high_outer = larger(high_outer, high_inner)
        low_middle = HALF * (low_outer + low_inner)
        high_middle = HALF * (high_inner + high_outer)
        total, below_outer, below_inner, above_inner, above_outer = _count_and_sum(
            x, r, low_outer, low_middle, low_inner, high_inner, high_middle, high_outer
        )
        if below_outer <= m and m <= below_inner and above_outer <= m and m <= above_inner:
            # The kept sum is larger than the clipped one by at most `up`, and smaller by at most `down`.
            down = larger(
                (below_inner - m) * (low_middle - low_outer),
                (m - below_outer) * (low_inner - low_middle),
            )
            up = larger(
                (above_inner - m) * (high_outer - high_middle),
                (m - above_outer) * (high_middle - high_inner),
            )
            reach = larger(
                larger(abs(low_outer), abs(low_inner)), larger(abs(high_inner), abs(high_outer))
            )
            error = (summed + OTHER_ROUNDINGS) * ROUND32 * n * reach + n * UNDERFLOW
            kept_sum = total - m * (np.float64(low_middle) + np.float64(high_middle))
            new_radius = (0.5 * (up + down) + error) / kept
            if new_radius < radius and math.isfinite(kept_sum):
                value = (kept_sum + 0.5 * (up - down)) / kept
                radius = new_radius
            ok = True
            clip = reach
            low, new_low_gap = _interpolate(
                np.float64(low_outer), np.float64(low_inner) - low_outer,
                below_outer, below_inner, m, low_gap,
            )  # fmt: skip
            high, new_high_gap = _interpolate(
                np.float64(high_outer), np.float64(high_inner) - high_outer,
                above_outer, above_inner, m, high_gap,
            )  # fmt: skip
            in_low = below_inner - below_outer
            in_high = above_inner - above_outer
            if narrowed == 0:
                if in_low >= FEWEST_FOR_GAP:
                    low_gap = new_low_gap
                if in_high >= FEWEST_FOR_GAP:
                    high_gap = new_high_gap
            done = (abs(value) + radius) * SLACK < bar or (in_low <= FEW and in_high <= FEW)
            if narrowed >= NARROWINGS or done:
                break
            narrowed += 1
            half = (NARROW_LEAST + NARROW_ROOTS * math.sqrt(in_low)) * new_low_gap
            low_outer = larger(low_outer, np.float32(low - half))
            low_inner = smaller(low_inner, np.float32(low + half))
            half = (NARROW_LEAST + NARROW_ROOTS * math.sqrt(in_high)) * new_high_gap
            high_inner = larger(high_inner, np.float32(high - half))
            high_outer = smaller(high_outer, np.float32(high + half))
            continue
        if ok:
            break  # a narrower bracket missed its cut; the wider interval stands
        width = WIDER * larger(low_inner - low_outer, np.float32(TINY))
        if below_outer > m:
            low_inner = low_outer
            low_outer = np.float32(low_outer - width * (1 + (below_outer - m) / spread))
        elif below_inner < m:
            low_outer = low_inner
            low_inner = np.float32(low_inner + width * (1 + (m - below_inner) / spread))
        width = WIDER * larger(high_outer - high_inner, np.float32(TINY))
        if above_outer > m:
            high_inner = high_outer
            high_outer = np.float32(high_outer + width * (1 + (above_outer - m) / spread))
        elif above_inner < m:
            high_outer = high_inner
            high_inner = np.float32(high_inner - width * (1 + (m - above_inner) / spread))
    look[CUTS] = low
    look[CUTS + 1] = high
    look[GAPS] = low_gap
    look[GAPS + 1] = high_gap
    return ok, value, radius, clip
