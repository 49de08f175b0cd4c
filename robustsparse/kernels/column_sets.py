"""Best subsets by inner products: which column to add to a set, to remove from it or to exchange.

`gram` (w, w) are the inner products of all columns, `cross` (w,) those with the target and `squares` (w,) the columns'
own.
"""

import math

import numpy as np

from robustsparse.kernels.cholesky import factorize, solve_factored
from robustsparse.kernels.compiler import brief, kernel, part
from robustsparse.kernels.constants import SUMS, ZERO
from robustsparse.kernels.vectors import (
    add_multiple,
    copy_to,
    dot,
    larger,
    matrix,
    vector,
    whole_numbers,
)

# Columns of which the others leave less than this part are inverted with more care.
APART = 1e-2
# Bars are lowered by this factor where rounding must not decide who is looked at.
NEARLY = 1.0 - 1e-9


@part
def _by_solutions(factor, inverse):
    """Inverse by the factor of a matrix, one column after the other, each on its own."""
    k = len(factor)
    unit = vector(k)
    for i in range(k):
        unit[i] = 0.0
    for i in range(k):
        unit[i] = 1.0
        solve_factored(factor, unit, inverse[i])
        unit[i] = 0.0


@part(fastmath=SUMS)
def _by_symmetry(factor, inverse):
    """The same in a third of the time: what is above the diagonal is also below."""
    k = len(factor)
    for i in range(k):
        inverse[i, i] = 1.0 / factor[i, i]
        for m in range(i + 1, k):
            total = 0.0
            for j in range(i, m):
                total += factor[m, j] * inverse[i, j]
            inverse[i, m] = -total / factor[m, m]
        for m in range(k - 1, i - 1, -1):
            inverse[i, m] /= factor[m, m]
            for j in range(i, m):
                inverse[i, j] -= inverse[i, m] * factor[m, j]
            inverse[m, i] = inverse[i, m]


@part
def _inverse(gram, chosen, dependent, inverse):
    """Inverse of the inner products of a set; returns whether rounding would decide."""
    k = len(chosen)
    inside = matrix(k, k)
    factor = matrix(k, k)
    most = 0.0
    for i in range(k):
        for j in range(k):
            inside[i, j] = gram[chosen[i], chosen[j]]
        most = larger(most, inside[i, i])
    least = factorize(inside, 0.0, 1.0, factor)
    if not least > dependent * most:
        return True
    if least > APART * most:
        _by_symmetry(factor, inverse)
    else:
        _by_solutions(factor, inverse)
    return False


@part
def _coefficients(inverse, cross, chosen, coef):
    """Least-squares coefficients of a set; returns what they explain."""
    own = vector(len(chosen))
    for i in range(len(chosen)):
        own[i] = cross[chosen[i]]
    for i in range(len(chosen)):
        coef[i] = dot(inverse[i], own)
    return dot(coef, own)


@part
def _explained(gram, chosen, inverse, explained):
    """Coefficients (k, w) of the regressions of all columns on a set.

    Column by column of the set, four at a time, so that loops go along memory.
    """
    k, w = explained.shape
    for i in range(k):
        for j in range(w):
            explained[i, j] = 0.0
        whole = k - k % 4
        for m in range(0, whole, 4):
            a, b, c, d = chosen[m], chosen[m + 1], chosen[m + 2], chosen[m + 3]
            p, q, r, s = inverse[i, m], inverse[i, m + 1], inverse[i, m + 2], inverse[i, m + 3]
            for j in range(w):
                explained[i, j] += (p * gram[a, j] + q * gram[b, j]) + (
                    r * gram[c, j] + s * gram[d, j]
                )
        for m in range(whole, k):
            add_multiple(explained[i], inverse[i, m], gram[chosen[m]])


@part
def _left(gram, squares, chosen, explained, left):
    """What a set leaves of the squares (w,) of all columns."""
    copy_to(left, squares)
    for i in range(len(chosen)):
        at = chosen[i]
        for j in range(len(left)):
            left[j] -= gram[at, j] * explained[i, j]


@part
def _exchange(gram, squares, chosen, inverse, enters, leaves, explained, left, across):
    """Bring what is known of all columns up to date with an exchange that is still to be made in `chosen`."""
    k, w = explained.shape
    own = inverse[leaves, leaves]
    for j in range(w):
        left[j] += explained[leaves, j] * explained[leaves, j] / own
    for i in range(k):
        if i != leaves:
            add_multiple(explained[i], -inverse[i, leaves] / own, explained[leaves])
    # Inner products with what the others leave of the column that enters.
    copy_to(across, gram[enters])
    for i in range(k):
        if i != leaves:
            add_multiple(across, -explained[i, enters], gram[chosen[i]])
    rest = left[enters]
    for j in range(w):
        explained[leaves, j] = across[j] / rest
        left[j] -= across[j] * explained[leaves, j]
    for i in range(k):
        if i != leaves:
            add_multiple(explained[i], -explained[i, enters], explained[leaves])


@part
def _mark(explained, slope, left, unit, coef, bar, marked):
    """Mark the columns that might be worth more than `bar` in the place of a member."""
    for j in range(len(marked)):
        along = unit * explained[j]
        rise = slope[j] + along * coef
        marked[j] |= rise * rise > bar * (left[j] + along * along)


@part
def _promising(explained, slope, left, inverse, coef, most, marked):
    """Mark the columns that might lower the squares by more than `most` in the place of a member of the set."""
    for j in range(len(marked)):
        marked[j] = 0
    for i in range(len(coef)):
        unit = 1.0 / math.sqrt(inverse[i, i])
        own = unit * coef[i]
        bar = (most + own * own) * NEARLY
        _mark(explained[i], slope, left, unit, own, bar, marked)


@kernel
def exchange_columns(gram, cross, squares, total, dependent, lower, steps, chosen):
    """Exchange one column of a set for another, each time the best pair, while the squares fall.

    An exchange must lower the residual sum of squares, `total` without any column, by the part `lower` of it. `chosen`
    (k,) is changed in place. Returns the residual sum of squares of the set, the column to add that would lower it
    most, -1 if there is none, and the member whose loss would raise it least. The first is -1 where rounding would
    decide, or if there were more exchanges than `steps`.
    """
    w = len(cross)
    k = len(chosen)
    inverse = matrix(k, k)
    coef = vector(k)
    cost = vector(k)
    explained = matrix(k, w)
    slope = vector(w)
    left = vector(w)
    across = vector(w)
    marked = whole_numbers(1, w)[0]
    for step in range(steps):
        if _inverse(gram, chosen, dependent, inverse):
            return -1.0, -1, -1
        rss = larger(total - _coefficients(inverse, cross, chosen, coef), 0.0)
        copy_to(slope, cross)
        for i in range(k):
            add_multiple(slope, -coef[i], gram[chosen[i]])
        if step == 0:
            _explained(gram, chosen, inverse, explained)
            _left(gram, squares, chosen, explained, left)
        most = lower * rss
        _promising(explained, slope, left, inverse, coef, most, marked)
        least = ZERO
        for i in range(k):
            cost[i] = coef[i] * coef[i] / inverse[i, i]
            if cost[i] < cost[least]:
                least = i
            # Members are not exchanged for themselves, nor added.
            marked[chosen[i]] = 0
            slope[chosen[i]] = 0.0
        gain = 0.0
        adds = -1
        for j in range(w):
            if left[j] > dependent * squares[j] and slope[j] * slope[j] > gain * left[j]:
                gain = slope[j] * slope[j] / left[j]
                adds = j
        enters = -1
        leaves = ZERO
        for j in range(w):
            if not marked[j]:
                continue
            for i in range(k):
                freed = explained[i, j] / inverse[i, i]
                rest = left[j] + freed * explained[i, j]
                rise = slope[j] + freed * coef[i]
                if rest > dependent * squares[j] and rise * rise > (most + cost[i]) * rest:
                    most = rise * rise / rest - cost[i]
                    enters = j
                    leaves = i
        if enters < 0:
            return rss, adds, chosen[least]
        _exchange(gram, squares, chosen, inverse, enters, leaves, explained, left, across)
        chosen[leaves] = enters
    return -1.0, -1, -1


@brief
def independent_members(gram, squares, dependent, chosen, kept):
    """Members of a set that those before them do not explain, to `kept`; returns how many."""
    count = ZERO
    factor = matrix(len(chosen), len(chosen))
    for place in chosen:
        row = factor[count]
        left = squares[place]
        for i in range(count):
            row[i] = (gram[place, kept[i]] - dot(factor[i, :i], row[:i])) / factor[i, i]
            left -= row[i] * row[i]
        if left > dependent * squares[place]:
            row[count] = np.sqrt(left)
            kept[count] = place
            count += 1
    return count


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
