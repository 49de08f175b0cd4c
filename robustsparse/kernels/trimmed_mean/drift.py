"""How far a trimmed mean can have moved with the scores since a column was last looked at.

The products of a column with two vectors of scores differ by the column times the difference of the scores. So the
distance between the scores, found once, and the norm of each column, found once, bound the change of every trimmed
mean without reading the design. `drift` finds the distance, `within_reach` applies it to the columns.
"""

import math

from robustsparse.kernels.compiler import part
from robustsparse.kernels.constants import (
    ALL,
    CALM,
    CALM_MAX,
    CALM_SCALE,
    CLIP,
    GROWTH,
    JUMP_MAX,
    JUMP_SUM,
    KNOWN,
    LIGHT_NORM,
    LIGHT_PEAK,
    NORM,
    PEAK,
    RATIO_SUM,
    ROUND64,
    SCALE,
    SLACK,
    SMALLEST,
    SMALLEST_SQUARE,
    SUMS,
)
from robustsparse.kernels.vectors import larger, smaller

# Wild rows that grow by more than this are taken for new ones.
MOST_GROWTH = 4.0
# Roundings for each row in a move and in the two sums of products that are compared.
ROUNDINGS = 4.0


@part
def norm_bound(square):
    """Upper bound of an l2 norm from the sum of squares, some of which may have been lost to underflow."""
    return math.sqrt(larger(square, SMALLEST_SQUARE))


@part
def peak_bound(eighths, norm):
    """Upper bound of the largest absolute value from the sum of eighth powers and an l2 norm.

    The largest value itself is dearer: a loop that seeks it does not vectorize.
    """
    return (
        smaller(norm, math.sqrt(math.sqrt(math.sqrt(eighths)))) * SLACK
        if eighths > SMALLEST_SQUARE
        else norm
    )


@part(fastmath=SUMS)
def _move(r, reference, used):
    """How far the `used` rows (1, others 0) moved since `reference`, from its nearest multiple.

    Returns that multiple, and bounds of the norm of the move and of its largest entry.
    """
    n = len(r)
    product = 0.0
    square = 0.0
    for i in range(n):
        before = reference[i] * used[i]
        product += r[i] * before
        square += before * before
    scale = product / square
    if not (square > SMALLEST_SQUARE and math.isfinite(scale)):
        scale = 1.0
    slack = ROUNDINGS * n * ROUND64 * abs(scale) * norm_bound(square)
    square = 0.0
    eighths = 0.0
    for i in range(n):
        power = (r[i] - scale * reference[i]) * used[i]
        power *= power
        square += power
        power *= power
        eighths += power * power
    norm = norm_bound(square)
    return scale, norm + slack, peak_bound(eighths, norm) + slack


@part
def drift(r, reference, all_rows, calm, n_wild, out):
    """How far the scores moved since `reference`, as `within_reach` needs it.

    Trimmed means of multiples are multiples of trimmed means, so a move is counted from the nearest
    multiple of the reference: scores that all shrink by one factor do not move.

    `calm` is 0 on the `n_wild` rows of extreme leverage or score, 1 elsewhere, `all_rows` is 1 on all. Apart
    from the norm of the whole move there is that of the calm rows, from their nearest multiple. A
    wild row whose score kept its sign and about its size enters by its relative change, the others
    by their absolute one.
    """
    scale, out[ALL], _ = _move(r, reference, all_rows)
    out[SCALE] = abs(scale)
    if n_wild == 0:
        return
    scale, out[CALM], out[CALM_MAX] = _move(r, reference, calm)
    out[CALM_SCALE] = abs(scale)
    ratios = 0.0
    growth = 1.0
    jumps = 0.0
    longest = 0.0
    for i in range(len(r)):
        if calm[i] != 0.0:
            continue
        now = r[i]
        before = scale * reference[i]
        change = abs(now - before)
        # Signs, not their product, which may underflow.
        if (now > 0.0) == (before > 0.0) and abs(now) < MOST_GROWTH * abs(before):
            ratios += change / larger(abs(now), abs(before)) + ROUNDINGS * len(r) * ROUND64
            growth = larger(growth, now / before * SLACK)
        else:
            jumps += change
            longest = larger(longest, change)
    out[RATIO_SUM] = ratios
    out[GROWTH] = growth
    out[JUMP_SUM] = jumps
    out[JUMP_MAX] = longest


@part
def within_reach(first, last, closed, bar, wild, design, memory, found, count):
    """Columns of [first, last) that are not `closed` and whose trimmed mean may reach `bar`, without reading them.

    Sorting is an l1 contraction, so the kept sum moves by at most |x_j| |r - c r_ref| from c times
    the one at the reference (Cauchy-Schwarz). With `wild` rows that bound may be useless; so the sum
    of products clipped at C, beyond all cuts, is bounded as well: a wild row that grows or shrinks
    moves it by at most C. The columns go to `found`, after the `count` that are there; returns how
    many there are then.
    """
    slots = memory.slots
    moved = memory.moved
    state = memory.state
    norms = design.norms
    edge = (bar - SMALLEST) / SLACK
    share = 1.0 / (len(design.light) - 2 * design.trimmed)
    for j in range(first, last):
        if closed[j]:
            continue
        found[count] = j
        slot = slots[j]
        if slot < 0:
            count += 1
            continue
        known = state[KNOWN, j]
        if known * moved[slot, SCALE] + norms[NORM, j] * moved[slot, ALL] * share < edge:
            continue
        if wild:
            clip = state[CLIP, j] * moved[slot, CALM_SCALE]
            farthest = larger(
                norms[LIGHT_PEAK, j] * moved[slot, CALM_MAX], norms[PEAK, j] * moved[slot, JUMP_MAX]
            )
            change = (
                larger(clip + farthest, clip * moved[slot, GROWTH]) * moved[slot, RATIO_SUM]
                + norms[LIGHT_NORM, j] * moved[slot, CALM]
                + norms[PEAK, j] * moved[slot, JUMP_SUM]
            )
            if known * moved[slot, CALM_SCALE] + change * share < edge:
                continue
        count += 1
    return count
