"""Intervals that must contain a trimmed mean, from float32 passes alone."""

import math

import numpy as np

from robustsparse.kernels.compiler import part
from robustsparse.kernels.constants import ROUND32, SLACK, SUMS, TINY, UNDERFLOW
from robustsparse.kernels.vectors import larger, smaller

# Products that are summed in single precision; sums of so many are added in double precision. Unsigned, because an
# index that could be negative keeps a loop from being vectorized.
RUN = np.uint64(1024)


@part(fastmath=SUMS)
def _certificate_pass(x, r, a, mid_low, b, c, mid_high, e):
    """One pass in float32: the clipped sum, and how many products lie beyond each of four thresholds."""
    total = 0.0
    c0 = np.int32(0)
    c1 = np.int32(0)
    c2 = np.int32(0)
    c3 = np.int32(0)
    n = np.uint64(len(x))
    first = np.uint64(0)
    while first < n:
        last = first + RUN if first + RUN < n else n
        run = np.float32(0)
        for i in range(first, last):
            v = x[i] * r[i]
            c0 = np.int32(c0 + (v < a))
            c1 = np.int32(c1 + (v < b))
            c2 = np.int32(c2 + (v > c))
            c3 = np.int32(c3 + (v > e))
            w = v if v > mid_low else mid_low
            w = w if w < mid_high else mid_high
            run += w
        total += run
        first = last
    return total, c0, c1, c2, c3


@part
def _interpolate(edge, width, outer, inner, m, gap):
    """Cut and spacing of the order statistics near it, from counts at both ends of a bracket.

    Tails thin out about exponentially, so the logarithm of the count is interpolated; linear
    interpolation is biased outward. `width` is signed: from the outer end of the bracket, where
    `outer` products lie beyond, to the inner end, where `inner` do.
    """
    if inner <= outer:
        return edge + 0.5 * width, gap
    rate = math.log((inner + 0.5) / (outer + 0.5))
    cut = edge + width * math.log((m + 0.75) / (outer + 0.5)) / rate
    return cut, abs(width) / (rate * (m + 0.75))


@part
def certified(x, r, m, look, spread, bar):
    """Interval that must contain the trimmed mean, from float32 passes alone.

    `look` are guesses of the low and the high cut and of the gaps between order statistics near them, which better
    ones replace. Brackets around the cuts are moved until they hold them, then narrowed while the column could still
    reach `bar`. Returns ok, value, radius and a bound of the cuts; without success the last two are infinite.
    """
    low = look[0]
    high = look[1]
    low_gap = look[2]
    high_gap = look[3]
    n = len(x)
    kept = n - 2 * m
    summed = n if n < RUN else np.int64(RUN)
    one = np.float32(0.5)
    a = np.float32(low - spread * low_gap)
    b = np.float32(low + spread * low_gap)
    c = np.float32(high - spread * high_gap)
    e = np.float32(high + spread * high_gap)
    ok = False
    value = 0.0
    radius = np.inf
    clip = np.inf
    narrowed = 0
    for _ in range(8):
        if not b < c:
            middle = one * (b + c)
            b = middle
            c = middle
            a = smaller(a, b)
            e = larger(e, c)
        mid_low = one * (a + b)
        mid_high = one * (c + e)
        total, c0, c1, c2, c3 = _certificate_pass(x, r, a, mid_low, b, c, mid_high, e)
        if c0 <= m and m <= c1 and c3 <= m and m <= c2:
            down = larger((c1 - m) * (mid_low - a), (m - c0) * (b - mid_low))
            up = larger((c2 - m) * (e - mid_high), (m - c3) * (mid_high - c))
            reach = larger(larger(abs(a), abs(b)), larger(abs(c), abs(e)))
            error = (summed + 8) * ROUND32 * n * reach + n * UNDERFLOW
            middle64 = total - m * (np.float64(mid_low) + np.float64(mid_high))
            new_radius = (0.5 * (up + down) + error) / kept
            if new_radius < radius and math.isfinite(middle64):
                value = (middle64 + 0.5 * (up - down)) / kept
                radius = new_radius
            ok = True
            clip = reach
            low, new_low_gap = _interpolate(np.float64(a), np.float64(b) - a, c0, c1, m, low_gap)
            high, new_high_gap = _interpolate(np.float64(e), np.float64(c) - e, c3, c2, m, high_gap)
            if narrowed == 0:
                if c1 - c0 >= 4:
                    low_gap = new_low_gap
                if c2 - c3 >= 4:
                    high_gap = new_high_gap
            done = (abs(value) + radius) * SLACK < bar or (c1 - c0 <= 6 and c2 - c3 <= 6)
            if narrowed >= 2 or done:
                break
            narrowed += 1
            half = (1.5 + 0.9 * math.sqrt(c1 - c0)) * new_low_gap
            a = larger(a, np.float32(low - half))
            b = smaller(b, np.float32(low + half))
            half = (1.5 + 0.9 * math.sqrt(c2 - c3)) * new_high_gap
            c = larger(c, np.float32(high - half))
            e = smaller(e, np.float32(high + half))
            continue
        if ok:
            break  # a narrower bracket missed its cut; the wider interval stands
        # The factor grows with the miss, so that a bad first guess costs few passes.
        width = larger(b - a, np.float32(TINY))
        if c0 > m:
            b = a
            a = np.float32(a - 2 * width * (1 + (c0 - m) / spread))
        elif c1 < m:
            a = b
            b = np.float32(b + 2 * width * (1 + (m - c1) / spread))
        width = larger(e - c, np.float32(TINY))
        if c3 > m:
            c = e
            e = np.float32(e + 2 * width * (1 + (c3 - m) / spread))
        elif c2 < m:
            e = c
            c = np.float32(c - 2 * width * (1 + (m - c2) / spread))
    look[0] = low
    look[1] = high
    look[2] = low_gap
    look[3] = high_gap
    return ok, value, radius, clip
