"""Best subsets by inner products: which column to add to a set, to remove from it or to exchange.

`gram` (w, w) are the inner products of all columns, `cross` (w,) those with the target and `squares` (w,) the columns'
own.
"""

import numpy as np

from robustsparse.kernels.cholesky import factorize, solve_factored
from robustsparse.kernels.compiler import brief, kernel, part
from robustsparse.kernels.constants import SUMS, ZERO
from robustsparse.kernels.vectors import dot, larger, matrix, vector


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
    if not factorize(inside, 0.0, 1.0, factor) > dependent * most:
        return True
    unit = vector(k)
    for i in range(k):
        unit[i] = 0.0
    for i in range(k):
        unit[i] = 1.0
        solve_factored(factor, unit, inverse[i])
        unit[i] = 0.0
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
def _members(chosen, w):
    """Whether each of w columns is in a set."""
    inside = np.empty(w, dtype=np.bool_)
    for j in range(w):
        inside[j] = False
    for i in range(len(chosen)):
        inside[chosen[i]] = True
    return inside


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
    shared = vector(k)
    explained = vector(k)
    rss = np.inf
    for _ in range(steps):
        if _inverse(gram, chosen, dependent, inverse):
            return -1.0, -1, -1
        rss = larger(total - _coefficients(inverse, cross, chosen, coef), 0.0)
        least = ZERO
        for i in range(k):
            cost[i] = coef[i] * coef[i] / inverse[i, i]
            if cost[i] < cost[least]:
                least = i
        inside = _members(chosen, w)
        gain = 0.0
        most = lower * rss
        adds = -1
        enters = -1
        leaves = ZERO
        for j in range(w):
            if inside[j]:
                continue
            slope = cross[j]
            left = squares[j]
            for i in range(k):
                shared[i] = gram[j, chosen[i]]
            for i in range(k):
                explained[i] = dot(inverse[i], shared)
                slope -= shared[i] * coef[i]
                left -= shared[i] * explained[i]
            if left > dependent * squares[j] and slope * slope > gain * left:
                gain = slope * slope / left
                adds = j
            for i in range(k):
                freed = explained[i] / inverse[i, i]
                rest = left + freed * explained[i]
                rise = slope + freed * coef[i]
                if rest > dependent * squares[j] and rise * rise > (most + cost[i]) * rest:
                    most = rise * rise / rest - cost[i]
                    enters = j
                    leaves = i
        if enters < 0:
            return rss, adds, chosen[least]
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
