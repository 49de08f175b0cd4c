"""Best subsets by inner products: which column to add to a set, to remove from it or to exchange.

`gram` (w, w) are the inner products of all columns, `cross` (w,) those with the target and `squares` (w,) the columns'
own.
"""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import SUMS, ZERO
from robustsparse.kernels.vectors import add_multiple, copy_to, larger, matrix, vector

# Columns of the moves of a set: what to add and to remove next, and whether that has yet to be tried.
ADDS, LEAST, GROWS, SHRINKS = range(4)
MOVES_WIDTH = 4
NOBODY = np.int64(-1)
# What a set must leave of a new member's square, or else rounding stays with the others once that member has left.
CLEAN = 1e-3


@part
def _start(cross, squares, table, inner, left, held):
    """What is known of every column beside no set: `held` tells how many members it has, and whether near-copies."""
    copy_to(table[0], cross)
    copy_to(left, squares)
    inner[0, 0] = 0.0
    held[0] = held[1] = 0


@part
def _enter(gram, squares, dependent, place, members, table, inner, left, held):
    """Have a column enter a set, unless rounding would decide what is left of it beside the set.

    The first row of `table` are inner products of all columns with the residuals; then comes, for each member, its
    coefficient in the regression of every column on the set. `left` is what the set leaves of their squares, and
    `inner` the inverse of the members' inner products, bordered by what they explain and by their coefficients,
    negative. Each is changed in time that grows with the number of members alone.
    """
    k = held[0]
    pivot = left[place]
    if not pivot > dependent * squares[place]:
        return
    if pivot < CLEAN * squares[place]:
        held[1] = 1
    old = vector(k + 1)
    shared = vector(len(left))
    copy_to(shared, gram[place])
    for i in range(k + 1):
        old[i] = table[i, place]
        if i > 0:
            add_multiple(shared, -old[i], gram[members[i - 1]])
    new = table[k + 1]
    for j in range(len(left)):
        new[j] = shared[j] / pivot
        left[j] -= shared[j] * new[j]
    for i in range(k + 1):
        add_multiple(table[i], -old[i], new)
        table[i, place] = 0.0
        for m in range(k + 1):
            inner[i, m] += old[i] * old[m] / pivot
        inner[i, k + 1] = inner[k + 1, i] = -old[i] / pivot
    inner[k + 1, k + 1] = 1.0 / pivot
    new[place] = 1.0
    left[place] = 0.0
    members[k] = place
    held[0] = k + 1


@part
def _leave(at, members, table, inner, left, held):
    """Have a member leave a set, see `_enter`; the last one takes its place."""
    k = held[0]
    pivot = inner[at, at]
    gone = table[at]
    for j in range(len(left)):
        left[j] += gone[j] * gone[j] / pivot
    for i in range(k + 1):
        if i != at:
            share = inner[i, at] / pivot
            add_multiple(table[i], -share, gone)
            for m in range(k + 1):
                if m != at:
                    inner[i, m] -= share * inner[at, m]
    copy_to(gone, table[k])
    members[at - 1] = members[k - 1]
    for i in range(k):
        inner[at, i] = inner[i, at] = inner[k, i]
    inner[at, at] = inner[k, k]
    held[0] = k - 1


@part
def _lacking(places, others, first, last):
    """How many others in a range are not among some places."""
    lacking = last - first
    for i in range(first, last):
        for place in places:
            if place == others[i]:
                lacking -= 1
                break
    return lacking


@part
def _best(row, slope, left, squares, dependent, member, freed, coef, cost, most):
    """The column that lowers the squares most in the place of a member, -1 if none does by more than `most`; how much.

    `row` are the member's coefficients in the regressions of all columns, `freed` what the others leave of its square,
    and `coef` its own coefficient, all without which they would rise by `cost`.
    """
    hits = ZERO
    # Hits are rare, and counted in a fraction of the time in which they are looked for.
    for j in range(len(row)):
        share = freed * row[j]
        rest = left[j] + share * row[j]
        rise = slope[j] + share * coef
        hits += (rise * rise > (most + cost) * rest) & (rest > dependent * squares[j])
    best = -1
    for j in range(len(row) if hits > 0 else 0):
        share = freed * row[j]
        rest = left[j] + share * row[j]
        rise = slope[j] + share * coef
        enough = rest > dependent * squares[j] and j != member
        if enough and rise * rise > (most + cost) * rest:
            most = rise * rise / rest - cost
            best = j
    return best, most


@kernel
def improve_sets(
    gram,
    cross,
    squares,
    total,
    dependent,
    lower,
    starts,
    lengths,
    first,
    last,
    sets,
    rss,
    moves,
    chosen,
):
    """Find better sets of every size: from starts, then by growing, or shrinking, those from one size to another.

    Columns of a set are exchanged one for another, each time the best pair, while that lowers the residual sum of
    squares, `total` without any column, by the part `lower` of it. Members of the best set of k columns are the first k
    of `sets[k]`, its residual sum of squares is `rss[k]`, infinite if there is none, and `moves[k]` holds the column to
    add next, the member to remove, -1 if there is none, and whether each is still to be done. `starts` are one after
    the other, of the given `lengths`; columns that those before them explain are left out. Sets of size `first` up to,
    but not, `last` grow by a column, or shrink if `last` is less.

    Returns whether any set got better. It ends early below a size of which there is no set. A set of which rounding
    would decide whether its columns explain each other is passed over.
    """
    # Long, since to compile takes the longer the deeper calls are.
    members = np.empty(len(chosen), dtype=np.int64)
    table = matrix(len(chosen) + 1, len(cross))
    inner = matrix(len(chosen) + 1, len(chosen) + 1)
    left = vector(len(cross))
    held = np.empty(2, dtype=np.int64)
    _start(cross, squares, table, inner, left, held)
    way = 1 if last > first else -1
    better = False
    found = math.inf
    at = ZERO
    count = len(lengths)
    for q in range(count + way * (last - first)):
        size = first + way * (q - count)
        k = size + way
        kind, move = (GROWS, ADDS) if way > 0 else (SHRINKS, LEAST)
        if q < count:
            k = lengths[q]
            for i in range(k):
                chosen[i] = starts[at + i]
            at += k
        elif moves[size, kind] > 0 and moves[size, move] >= 0:
            moves[size, kind] = 0
            chosen[size] = moves[size, move]
            k = ZERO
            for i in range(size):
                chosen[k] = sets[size, i]
                k += way > 0 or sets[size, i] != moves[size, move]
            k += way > 0
        elif rss[k] < math.inf:
            continue
        else:
            break
        if rss[k] < math.inf and _lacking(chosen[:k], sets[k], ZERO, k) == 0:
            continue
        enters = ZERO
        steps = ZERO
        while enters >= 0 and steps < 4 * k + 40:
            # From the set at hand by the columns that differ, or anew where that is shorter.
            for anew in range(2):
                gone = _lacking(chosen[:k], members, ZERO, held[0])
                # Which columns others explain is a matter of their order.
                if anew or gone > k // 2 or (gone > 0 and held[1] > 0):
                    _start(cross, squares, table, inner, left, held)
                for i in range(held[0], 0, -1):
                    if _lacking(chosen[:k], members, i - 1, i) > 0:
                        _leave(i, members, table, inner, left, held)
                for i in range(k):
                    if _lacking(members[: held[0]], chosen, i, i + 1) > 0:
                        _enter(
                            gram, squares, dependent, chosen[i], members, table, inner, left, held
                        )
                if held[0] == k:
                    break
            if q < count and steps == 0:
                k = held[0]
            elif held[0] < k:
                break
            found = larger(total - inner[0, 0], 0.0)
            enters = NOBODY
            leaves = ZERO
            most = lower * found
            for i in range(1, k + 1):
                chosen[i - 1] = members[i - 1]
                coef = -inner[0, i]
                freed = 1.0 / inner[i, i]
                best, most = _best(
                    table[i], table[0], left, squares, dependent, members[i - 1], freed, coef,
                    coef * coef * freed, most,
                )  # fmt: skip
                if best >= 0:
                    enters = best
                    leaves = i - 1
            if enters >= 0:
                chosen[leaves] = enters
            steps += 1
        if held[0] == k and found < rss[k] * (1.0 - lower):
            better = True
            rss[k] = found
            adds, least = _best(
                table[0], table[0], left, squares, dependent, NOBODY, 0.0, 0.0, 0.0, 0.0
            )
            moves[k, ADDS] = adds
            moves[k, LEAST] = NOBODY
            moves[k, GROWS] = moves[k, SHRINKS] = 1
            least = math.inf
            for i in range(k):
                sets[k, i] = members[i]
                cost = inner[0, i + 1] * inner[0, i + 1] / inner[i + 1, i + 1]
                if cost < least:
                    least = cost
                    moves[k, LEAST] = members[i]
    return better


@kernel(fastmath=SUMS)
def weighted_squares(XT, weights, out):
    """Weighted sum of squares of each row of `XT` (d, n)."""
    for j in range(len(out)):
        total = 0.0
        for i in range(len(weights)):
            # Products may be reordered: the square of a value that does not count may be infinite.
            x = XT[j, i] if weights[i] > 0.0 else 0.0
            total += weights[i] * x * x
        out[j] = total
