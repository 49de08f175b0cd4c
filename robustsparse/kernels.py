"""The compiled hot loops; the only module that knows the compiler.

A design enters transposed, as `XT` (d, n), C-contiguous, so that one predictor is one contiguous
row. `r` are the scores (n,), and `m` is the number of values that a trimmed mean drops at each end.
Every exact value of a trimmed mean comes out of `_kept_sum`, whose order of summation depends on
nothing but the data: that makes a fit with screening equal to one without it to the last bit.
"""

import math

import numpy as np
from numba import njit

# Sums may be reordered, which is what lets them vectorize; products are never fused, so that a
# product has the same bits wherever it is formed. NaN and infinity keep their meaning.
_SUMS = {"reassoc", "nsz"}

# Unit roundoff of float32.
_ROUND32 = 2.0**-24
# Smallest width of a bracket.
_TINY = 1e-30
# What a product can lose to float32's smallest numbers: 2**-149 times the largest score.
_UNDERFLOW = 1e-24
# Below this float64 rounds absolutely, and what is proved with relative errors does not hold.
_SMALLEST = 1e-300
# A sum of squares below this has lost terms to underflow.
_SMALLEST_SQUARE = 1e-200
# What is claimed of a column must survive the rounding of the claim itself.
_SLACK = 1.0 + 1e-9

# Columns of a screening state: what is known of each predictor since it was last looked at.
VALUE, RADIUS, LOW, HIGH, LOW_GAP, HIGH_GAP, CLIP = range(7)
STATE_WIDTH = 7
# Columns of a drift record: how far the scores moved since a reference (see `drift`).
ALL, LIGHT, LIGHT_MAX, RATIO_SUM, RATIO_MAX, JUMP_MAX, JUMP_SUM = range(7)
DRIFT_WIDTH = 7


# -- selection


@njit(cache=True, nogil=True)
def _select(a, lo, hi, k):
    """Rearrange `a[lo..hi]` so that `a[k]` is in its sorted place, smaller before and larger after."""
    while hi - lo > 10:
        mid = (lo + hi) >> 1
        if a[mid] < a[lo]:
            a[mid], a[lo] = a[lo], a[mid]
        if a[hi] < a[lo]:
            a[hi], a[lo] = a[lo], a[hi]
        if a[hi] < a[mid]:
            a[hi], a[mid] = a[mid], a[hi]
        pivot = a[mid]
        i = lo
        j = hi
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if k <= j:
            hi = j
        elif k >= i:
            lo = i
        else:
            return
    for i in range(lo + 1, hi + 1):
        x = a[i]
        j = i - 1
        while j >= lo and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


@njit(cache=True, nogil=True)
def _median(a, n):
    """Median of `a[:n]`, which is rearranged."""
    half = n // 2
    _select(a, 0, n - 1, half)
    if n % 2 == 1:
        return a[half]
    below = a[0]
    for i in range(1, half):
        below = max(below, a[i])
    # Halves are added, not the sum halved: the sum of two values near the largest float overflows.
    return 0.5 * below + 0.5 * a[half]


# -- exact trimmed means


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _kept_sum(x, r, m, low, high):
    """Sum of the products between the cuts, ties at a cut counted as often as they are kept."""
    n = x.shape[0]
    total = 0.0
    below = np.int64(0)
    above = np.int64(0)
    for i in range(n):
        v = x[i] * r[i]
        total += v if (v > low) & (v < high) else 0.0
        below += v <= low
        above += v >= high
    if low == high:
        return low * (n - 2 * m)
    return total + low * (below - m) + high * (above - m)


@njit(cache=True, nogil=True)
def _cuts(x, r, m, buffer):
    """Smallest and largest kept product, by selection."""
    n = x.shape[0]
    for i in range(n):
        buffer[i] = x[i] * r[i]
    _select(buffer, 0, n - 1, m)
    _select(buffer, m, n - 1, n - m - 1)
    return buffer[m], buffer[n - m - 1]


@njit(cache=True, nogil=True)
def _near_cuts(x, r, m, low, high, low_width, high_width, lower, upper):
    """Smallest and largest kept product, looked for only near the guesses; `ok` tells whether they were there."""
    a = low - low_width
    b = low + low_width
    c = high - high_width
    e = high + high_width
    if not b < c:
        return False, low, high
    under = 0
    over = 0
    n_lower = 0
    n_upper = 0
    for i in range(x.shape[0]):
        v = x[i] * r[i]
        under += v < a
        over += v > e
        lower[n_lower] = v
        n_lower += (v >= a) & (v <= b)
        upper[n_upper] = v
        n_upper += (v >= c) & (v <= e)
    k = m - under
    j = n_upper - 1 - (m - over)
    if k < 0 or k >= n_lower or m - over < 0 or j < 0:
        return False, low, high
    _select(lower, 0, n_lower - 1, k)
    _select(upper, 0, n_upper - 1, j)
    return True, lower[k], upper[j]


@njit(cache=True, nogil=True)
def trim_rows(XT, r, m, out):
    """Trimmed mean of `XT[j] * r` for every row j."""
    d, n = XT.shape
    buffer = np.empty(n + 1)
    upper = np.empty(n + 1)
    low = 0.0
    high = 0.0
    for j in range(d):
        # Predictors of one scale have cuts alike, and looking near the last ones is cheaper than
        # selecting afresh.
        width = 0.15 * (high - low)
        ok, low, high = _near_cuts(XT[j], r, m, low, high, width, width, buffer, upper)
        if not ok:
            low, high = _cuts(XT[j], r, m, buffer)
        out[j] = _kept_sum(XT[j], r, m, low, high) / (n - 2 * m)


# -- certified trimmed means


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _certificate_pass(x, r, a, mid_low, b, c, mid_high, e):
    """One pass in float32: the clipped sum, and how many products lie beyond each of four thresholds."""
    total = np.float32(0)
    c0 = np.int32(0)
    c1 = np.int32(0)
    c2 = np.int32(0)
    c3 = np.int32(0)
    for i in range(x.shape[0]):
        v = x[i] * r[i]
        c0 = np.int32(c0 + (v < a))
        c1 = np.int32(c1 + (v < b))
        c2 = np.int32(c2 + (v > c))
        c3 = np.int32(c3 + (v > e))
        w = v if v > mid_low else mid_low
        w = w if w < mid_high else mid_high
        total += w
    return total, c0, c1, c2, c3


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _certify(x, r, m, low, high, low_gap, high_gap, spread, bar):
    """Interval that must contain the trimmed mean, from float32 passes alone.

    Returns ok, value, radius, low, high, low_gap, high_gap, clip. Brackets around the guessed cuts
    are moved until they hold them, then narrowed while the column could still reach `bar`.
    """
    n = x.shape[0]
    kept = n - 2 * m
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
            a = min(a, b)
            e = max(e, c)
        mid_low = one * (a + b)
        mid_high = one * (c + e)
        total, c0, c1, c2, c3 = _certificate_pass(x, r, a, mid_low, b, c, mid_high, e)
        if c0 <= m and m <= c1 and c3 <= m and m <= c2:
            down = max((c1 - m) * (mid_low - a), (m - c0) * (b - mid_low))
            up = max((c2 - m) * (e - mid_high), (m - c3) * (mid_high - c))
            reach = max(max(abs(a), abs(b)), max(abs(c), abs(e)))
            error = (n + 8) * _ROUND32 * n * reach + n * _UNDERFLOW
            middle64 = np.float64(total) - m * (np.float64(mid_low) + np.float64(mid_high))
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
            done = (abs(value) + radius) * _SLACK < bar or (c1 - c0 <= 6 and c2 - c3 <= 6)
            if narrowed >= 2 or done:
                break
            narrowed += 1
            half = (1.5 + 0.9 * math.sqrt(c1 - c0)) * new_low_gap
            a = max(a, np.float32(low - half))
            b = min(b, np.float32(low + half))
            half = (1.5 + 0.9 * math.sqrt(c2 - c3)) * new_high_gap
            c = max(c, np.float32(high - half))
            e = min(e, np.float32(high + half))
            continue
        if ok:
            break  # a narrower bracket missed its cut; the wider interval stands
        # The factor grows with the miss, so that a bad first guess costs few passes.
        width = max(b - a, np.float32(_TINY))
        if c0 > m:
            b = a
            a = np.float32(a - 2 * width * (1 + (c0 - m) / spread))
        elif c1 < m:
            a = b
            b = np.float32(b + 2 * width * (1 + (m - c1) / spread))
        width = max(e - c, np.float32(_TINY))
        if c3 > m:
            c = e
            e = np.float32(e + 2 * width * (1 + (c3 - m) / spread))
        elif c2 < m:
            e = c
            c = np.float32(c - 2 * width * (1 + (m - c2) / spread))
    return ok, value, radius, low, high, low_gap, high_gap, clip


@njit(cache=True, nogil=True)
def _largest(x):
    """Largest absolute value."""
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, abs(x[i]))
    return largest


@njit(cache=True, nogil=True)
def _norm(square, largest, n):
    """Upper bound of an l2 norm from the sum of squares and the largest value; it survives underflow."""
    return math.sqrt(square) if square > _SMALLEST_SQUARE else math.sqrt(n) * largest


@njit(cache=True, nogil=True, fastmath=_SUMS)
def drift(r, reference, heavy, light, out):
    """How far the scores moved since `reference`, as `_upper_bound` needs it.

    `heavy` holds the rows of extreme leverage and `light` is 0 on them, 1 elsewhere. A heavy row
    whose score kept its sign and changed by less than half enters by its relative change, the
    others by their absolute one.
    """
    square = 0.0
    largest = 0.0
    for i in range(r.shape[0]):
        e = abs(r[i] - reference[i]) * light[i]
        square += e * e
        largest = max(largest, e)
    out[LIGHT] = _norm(square, largest, r.shape[0])
    out[LIGHT_MAX] = largest
    out[RATIO_SUM:] = 0.0
    for h in range(heavy.shape[0]):
        a = r[heavy[h]]
        b = reference[heavy[h]]
        e = abs(a - b)
        square += e * e
        largest = max(largest, e)
        least = min(abs(a), abs(b))
        if a * b > 0.0 and e < 0.5 * least:
            out[RATIO_SUM] += e / least
            out[RATIO_MAX] = max(out[RATIO_MAX], e / least)
        else:
            out[JUMP_SUM] += e
            out[JUMP_MAX] = max(out[JUMP_MAX], e)
    out[ALL] = _norm(square, largest, r.shape[0])


@njit(cache=True, nogil=True)
def _upper_bound(known, moved, norms, kept, split):
    """Largest absolute value that a column's trimmed mean can have, without reading the column.

    Sorting is an l1 contraction, so the kept sum moves by at most |x_j| |r - r_ref|
    (Cauchy-Schwarz). With rows of extreme leverage that bound is useless; there the sum of products
    clipped at C, beyond all cuts, is bounded instead. `norms` holds |x_j|, the same over light
    rows, and the largest |x_ij| over light and over heavy rows.
    """
    change = norms[0] * moved[ALL]
    if split:
        clip = max(
            known[CLIP] + max(norms[2] * moved[LIGHT_MAX], norms[3] * moved[JUMP_MAX]),
            known[CLIP] / (1.0 - moved[RATIO_MAX]),
        )
        clipped = norms[1] * moved[LIGHT] + clip * moved[RATIO_SUM] + norms[3] * moved[JUMP_SUM]
        change = min(change, clipped)
    return (abs(known[VALUE]) + known[RADIUS] + change / kept) * _SLACK + _SMALLEST


@njit(cache=True, nogil=True)
def _kth_largest(a, n, k, buffer):
    for i in range(n):
        buffer[i] = a[i]
    _select(buffer, 0, n - 1, n - k)
    return buffer[n - k]


@njit(cache=True, nogil=True)
def trim_survivors(
    XT, XT32, r, r32, unit, m, first, last, active, k, bar, certify,
    norms, sizes, slots, slot, moved, split, state, guess, found, values,
):  # fmt: skip
    """Exact trimmed means of the columns in [first, last) that may be among the k largest in absolute value.

    `bar` is a value that k columns are known to reach; columns of `active` are left out. `unit` is
    a robust size of the scores: `r32` is r / unit and cuts are remembered in that unit, so they
    serve as guesses after the scores have shrunk. `slots[j]` says at which reference column j was
    last evaluated (-1: never), `moved` the drift since each reference and `slot` the reference that
    r itself is. `guess` (4,) carries typical cuts and gaps for columns never seen. Returns the
    number of columns written to `found` and `values`.
    """
    n = XT.shape[1]
    kept = n - 2 * m
    share = m / n
    deviation = math.sqrt(n * share * (1.0 - share)) + 1.0
    buffer = np.empty(n + 1)
    lower = np.empty(n + 1)
    upper = np.empty(n + 1)
    floor = np.empty(k + 64)
    scratch = np.empty(k + 64)
    n_floor = 0
    count = 0
    drift_low = 1.0
    drift_high = 1.0
    for j in range(first, last):
        if active[j]:
            continue
        known = state[j]
        seen = slots[j] >= 0
        if seen and _upper_bound(known, moved[slots[j]], norms[j], kept, split) < bar:
            continue
        if certify and not (seen and slots[j] == slot):
            if seen:
                low0 = known[LOW]
                high0 = known[HIGH]
                low = low0 * drift_low
                high = high0 * drift_high
                low_gap = min(
                    max(known[LOW_GAP], 0.6 * guess[2] * sizes[j]), 1.6 * guess[2] * sizes[j]
                )
                high_gap = min(
                    max(known[HIGH_GAP], 0.6 * guess[3] * sizes[j]), 1.6 * guess[3] * sizes[j]
                )
            else:
                low0 = 0.0
                high0 = 0.0
                low = guess[0] * sizes[j]
                high = guess[1] * sizes[j]
                low_gap = guess[2] * sizes[j]
                high_gap = guess[3] * sizes[j]
            ok, value, radius, low, high, low_gap, high_gap, clip = _certify(
                XT32[j], r32, m, low, high, low_gap, high_gap, 2.0 * deviation, bar / unit
            )
            slots[j] = slot
            known[LOW] = low
            known[HIGH] = high
            known[LOW_GAP] = low_gap
            known[HIGH_GAP] = high_gap
            if ok:
                known[VALUE] = value * unit
                # Zero is reserved for exact values.
                known[RADIUS] = radius * unit + _SMALLEST
                known[CLIP] = clip * unit * (1.0 + 4.0 * _ROUND32)
                if low0 < 0.0 < high0:
                    if 0.2 < low / low0 < 5.0:
                        drift_low += 0.05 * (low / low0 - drift_low)
                    if 0.2 < high / high0 < 5.0:
                        drift_high += 0.05 * (high / high0 - drift_high)
                elif not seen:
                    guess[0] += 0.02 * (low / sizes[j] - guess[0])
                    guess[1] += 0.02 * (high / sizes[j] - guess[1])
                guess[2] += 0.02 * (low_gap / sizes[j] - guess[2])
                guess[3] += 0.02 * (high_gap / sizes[j] - guess[3])
            else:
                known[VALUE] = 0.0
                known[RADIUS] = np.inf
                known[CLIP] = np.inf
            if (abs(known[VALUE]) + known[RADIUS]) * _SLACK < bar:
                continue
            least = (abs(known[VALUE]) - known[RADIUS]) / _SLACK
            if least > bar:
                floor[n_floor] = least
                n_floor += 1
                if n_floor >= k and (n_floor == k + 64 or n_floor % 16 == 0):
                    bar = max(bar, _kth_largest(floor, n_floor, k, scratch))
                    best = 0
                    for i in range(n_floor):
                        if floor[i] >= bar:
                            floor[best] = floor[i]
                            best += 1
                    n_floor = min(best, k)  # ties at the bar may be many; k of them are enough
        found[count] = j
        count += 1
    if n_floor >= k:
        bar = max(bar, _kth_largest(floor, n_floor, k, scratch))
    survivors = 0
    for c in range(count):
        j = found[c]
        known = state[j]
        here = slots[j] == slot
        if here and (abs(known[VALUE]) + known[RADIUS]) * _SLACK < bar:
            continue
        if not (here and known[RADIUS] == 0.0):
            ok = False
            low = known[LOW] * unit
            high = known[HIGH] * unit
            if certify and known[RADIUS] < np.inf:
                width = (0.6 * deviation + 1.0) * unit
                ok, low, high = _near_cuts(
                    XT[j],
                    r,
                    m,
                    low,
                    high,
                    width * known[LOW_GAP],
                    width * known[HIGH_GAP],
                    lower,
                    upper,
                )
            if not ok:
                low, high = _cuts(XT[j], r, m, buffer)
            slots[j] = slot
            known[VALUE] = _kept_sum(XT[j], r, m, low, high) / kept
            known[RADIUS] = 0.0
            known[LOW] = low / unit
            known[HIGH] = high / unit
            known[CLIP] = max(abs(low), abs(high))
        found[survivors] = j
        values[survivors] = known[VALUE]
        survivors += 1
    return survivors


# -- median of means


@njit(cache=True, nogil=True)
def _block_means(x, r, blocks, out):
    """Means of `x * r` over the blocks {i : i mod blocks = b}, which vectorizes because blocks lie side by side."""
    n = x.shape[0]
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


@njit(cache=True, nogil=True)
def _block_median(x, order, r, blocks, buffer, means):
    """Median over the blocks of the means of `x[order] * r`; `r` is already in that order."""
    for i in range(order.shape[0]):
        buffer[i] = x[order[i]]
    _block_means(buffer, r, blocks, means)
    return _median(means, blocks)


@njit(cache=True, nogil=True)
def block_median_rows(XT, order, r, blocks, out):
    """Median of means of `XT[j] * r` for every row j."""
    d, n = XT.shape
    buffer = np.empty(n)
    means = np.empty(blocks)
    for j in range(d):
        out[j] = _block_median(XT[j], order, r, blocks, buffer, means)


@njit(cache=True, nogil=True)
def block_setup(XT, order, blocks, first, last, XT32, norms):
    """Float32 copy in block order, and the norm of each block of each column over its size.

    Norms are rounded up, and are never so small that float32's smallest numbers matter beside them.
    """
    n = XT.shape[1]
    means = np.empty(blocks)
    buffer = np.empty(n)
    for j in range(first, last):
        for i in range(n):
            buffer[i] = XT[j, order[i]]
            XT32[j, i] = buffer[i]
        _block_means(buffer, buffer, blocks, means)
        for b in range(blocks):
            size = n // blocks + (b < n % blocks)
            norms[j, b] = max(math.sqrt(means[b] / size), _TINY) * (1.0 + 1e-6)


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _blocks_that_reach(means, norms, moved, bar):
    """How many blocks may have a mean of at least `bar`, and of at most -`bar`."""
    high = np.int32(0)
    low = np.int32(0)
    for b in range(means.shape[0]):
        e = norms[b] * moved[b]
        high = np.int32(high + (means[b] + e >= bar))
        low = np.int32(low + (e - means[b] >= bar))
    return high, low


@njit(cache=True, nogil=True)
def _edge(bar, unit):
    """The bar in a unit, lowered by all that rounding could add to a block mean beside its bound."""
    return np.float32(max(bar - _SMALLEST, 0.0) / unit * (1.0 - 1e-6))


@njit(cache=True, nogil=True)
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
    buffer = np.empty(XT.shape[1])
    work = np.empty(blocks)
    floor = np.empty(k + 64)
    scratch = np.empty(k + 64)
    n_floor = 0
    count = 0
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
        if abs(value) < bar:
            continue
        found[count] = j
        values[count] = value
        count += 1
        # Times the step, values a rounding apart may tie, and the lowest column of a tie is kept.
        floor[n_floor] = abs(value) / _SLACK
        n_floor += 1
        if n_floor >= k and (n_floor == k + 64 or n_floor % 8 == 0):
            bar = max(bar, _kth_largest(floor, n_floor, k, scratch))
            best = 0
            for i in range(n_floor):
                if floor[i] >= bar:
                    floor[best] = floor[i]
                    best += 1
            n_floor = min(best, k)
    return count


# -- columns of a design


@njit(cache=True, nogil=True)
def _count_between(a, n, low, high):
    """How many values lie below `low`, and how many do not exceed `high`."""
    below = np.int64(0)
    upto = np.int64(0)
    for i in range(n):
        below += a[i] < low
        upto += a[i] <= high
    return below, upto


@njit(cache=True, nogil=True)
def _bracketed_median(a, n, work):
    """Median of `a[:n]`, which stays as it is: a sample brackets it, and only values in the bracket are selected."""
    first = (n - 1) // 2
    last = n // 2
    sample = 33
    if n < 4 * sample:
        for i in range(n):
            work[i] = a[i]
        return _median(work, n)
    for i in range(sample):
        work[i] = a[i * (n // sample)]
    _select(work, 0, sample - 1, 11)
    low = work[11]
    _select(work, 11, sample - 1, 21)
    high = work[21]
    below, upto = _count_between(a, n, low, high)
    if below <= first and last < upto and upto - below > n // 8:
        share = (first - below + 0.5) / (upto - below)
        half = 2.0 * math.sqrt(upto - below) / (upto - below)
        nearer = low + (share - half) * (high - low)
        further = low + (share + half) * (high - low)
        inside, within = _count_between(a, n, nearer, further)
        if inside <= first and last < within:
            low, high, below, upto = nearer, further, inside, within
    count = 0
    if below <= first and last < upto:
        for i in range(n):
            work[count] = a[i]
            count += (a[i] >= low) & (a[i] <= high)
    else:
        below = 0
        for i in range(n):
            work[i] = a[i]
        count = n
    _select(work, 0, count - 1, last - below)
    top = work[last - below]
    if first == last:
        return top
    bottom = work[0]
    for i in range(1, last - below):
        bottom = max(bottom, work[i])
    return 0.5 * bottom + 0.5 * top


@njit(cache=True, nogil=True)
def column_profiles(XT, center, low, high, two, location, spread):
    """Range, whether there are two values only, median and median absolute deviation of each row.

    With `center` false the deviation is taken from zero.
    """
    d, n = XT.shape
    buffer = np.empty(n)
    work = np.empty(n + 1)
    for j in range(d):
        x = XT[j]
        least = x[0]
        most = x[0]
        for i in range(n):
            least = min(least, x[i])
            most = max(most, x[i])
        low[j] = least
        high[j] = most
        two[j] = True
        for i in range(n):
            if x[i] != least and x[i] != most:
                two[j] = False
                break
        middle = _bracketed_median(x, n, work) if center else 0.0
        for i in range(n):
            buffer[i] = abs(x[i] - middle)
        location[j] = middle
        spread[j] = _bracketed_median(buffer, n, work)


@njit(cache=True, nogil=True, fastmath=_SUMS)
def trim_setup(XT, first, last, XT32, norms, sizes, nonzeros, row_squares):
    """Float32 copy, norm, typical size and nonzero values of each column, and squared norms of rows."""
    n = XT.shape[1]
    step = max(1, n // 64)
    buffer = np.empty(n)
    for j in range(first, last):
        square = 0.0
        count = np.int64(0)
        for i in range(n):
            v = XT[j, i]
            XT32[j, i] = v
            square += v * v
            row_squares[i] += v * v
            count += v != 0.0
        nonzeros[j] = count
        # The largest value is sought only if needed: a maximum in the loop would not vectorize.
        norms[j, 0] = _norm(square, 0.0 if square > _SMALLEST_SQUARE else _largest(XT[j]), n)
        count = 0
        for i in range(0, n, step):
            buffer[count] = abs(XT[j, i])
            count += 1
        middle = _median(buffer, count)
        sizes[j] = middle if middle > 0.0 else 1.0


@njit(cache=True, nogil=True)
def leverage_setup(XT, heavy, light, first, last, norms):
    """Norms and largest values of each column over the light and the heavy rows."""
    for j in range(first, last):
        square = 0.0
        largest = 0.0
        for i in range(XT.shape[1]):
            v = abs(XT[j, i]) * light[i]
            square += v * v
            largest = max(largest, v)
        heaviest = 0.0
        for h in range(heavy.shape[0]):
            heaviest = max(heaviest, abs(XT[j, heavy[h]]))
        norms[j, 1] = _norm(square, largest, XT.shape[1]) * _SLACK
        norms[j, 2] = largest
        norms[j, 3] = heaviest
