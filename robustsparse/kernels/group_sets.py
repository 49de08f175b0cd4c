"""Best subsets of groups by inner products: what groups add to a set, and in the place of its members."""

from robustsparse.kernels.cholesky import factorize, solve_factored
from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.vectors import dot, dot_to, filled, matrix, vector

# A bound is raised by this factor, more than rounding can have lowered it.
CLEARLY = 1.0 + 1e-6


@part
def _invert(whole, first, last, shift, inverse):
    """Inverse of a block of a matrix, with a number added to its diagonal, to the same places."""
    size = last - first
    block = matrix(size, size)
    factor = matrix(size, size)
    unit = vector(size)
    for i in range(size):
        unit[i] = 0.0
        for j in range(size):
            block[i, j] = whole[first + i, first + j]
    factorize(block, shift, shift, factor)
    for i in range(size):
        unit[i] = 1.0
        solve_factored(factor, unit, block[i])
        unit[i] = 0.0
        for j in range(size):
            inverse[first + i, first + j] = block[i, j]


@part
def _gained(left, slope, dependent, factor, solved):
    """What a group explains of the residuals, given what a set leaves of its own inner products.

    `factor` and `solved` are room to work in.
    """
    rank = len(slope)
    trace = 0.0
    for i in range(rank):
        trace += left[i, i]
    if not trace > dependent:
        return 0.0
    # A direction that the set explains has nothing left, and nothing to add.
    factorize(left, dependent, dependent, factor)
    solve_factored(factor, slope, solved)
    return dot(slope, solved)


@part
def _left(explained, shared, first, left):
    """What a set leaves of the inner products of the group that begins at a place: the lower triangle."""
    for i in range(len(left)):
        for j in range(i + 1):
            left[i, j] = -dot(explained[first + i], shared[first + j])
        left[i, i] += 1.0


@part
def _without(explained, freed, coef, group, first, last, slope, left, back, more, rest):
    """Slopes and what is left of the group that begins at a place, once a member of the set has gone.

    The member's vectors are those from `first` to `last`; `back` is room for as many numbers.
    """
    rank = len(more)
    for i in range(rank):
        # What the set explains of every basis vector through this member is given back.
        more[i] = slope[group + i]
        for s in range(first, last):
            given = 0.0
            for t in range(first, last):
                given += explained[group + i, t] * freed[t, s]
            back[s - first] = given
            more[i] += given * coef[s]
        for j in range(i + 1):
            value = left[i, j]
            for s in range(first, last):
                value += back[s - first] * explained[group + j, s]
            rest[i, j] = value


@part
def _at_most(slope, explained, pull, group, factor, more, solved):
    """What the group that begins at a place can explain at most once a member has gone, of which `pull` is given back.

    Without a member no less is left of the group, and the more is left the less a slope explains.
    """
    rank = len(more)
    total = 0.0
    for i in range(rank):
        more[i] = slope[group + i] + dot(explained[group + i], pull)
        solved[i] = (more[i] - dot_to(i, factor[i], solved)) / factor[i, i]
        total += solved[i] * solved[i]
    return total


@kernel
def exchange_groups(
    explained, shared, slope, inverse, coef, ends, members, dependent, more, added, exchanged, cost
):
    """What every group explains beside a set, to `added` (g,), and in the place of each member, to `exchanged` (m, g).

    `shared` (w, c) are inner products of the basis vectors of all groups with those of the set, `explained` their
    product with `inverse` (c, c), `coef` (c,) the coefficients of the set and `slope` (w,) inner products with its
    residuals. Vectors of group g are those from `ends[g]` to `ends[g + 1]`, and `members` (m + 1,) are the like of the
    set. By how much the residual sum of squares grows without a member goes to `cost` (m,). What clearly explains no
    `more` (m, g) than that, in the place of a member, counts for nothing.
    """
    freed = matrix(len(coef), len(coef))
    back = vector(len(coef))
    # Of each member, what is given back to the slopes of others without it.
    pull = filled(len(cost), len(coef), 0.0)
    for m in range(len(cost)):
        first, last = members[m], members[m + 1]
        _invert(inverse, first, last, dependent, freed)
        cost[m] = 0.0
        for s in range(first, last):
            for t in range(first, last):
                cost[m] += coef[s] * freed[s, t] * coef[t]
                pull[m, s] += freed[s, t] * coef[t]
    for g in range(len(added)):
        rank = ends[g + 1] - ends[g]
        own = vector(rank)
        moved = vector(rank)
        solved = vector(rank)
        left = matrix(rank, rank)
        rest = matrix(rank, rank)
        factor = matrix(rank, rank)
        beside = matrix(rank, rank)
        trace = 0.0
        for i in range(rank):
            own[i] = slope[ends[g] + i]
        _left(explained, shared, ends[g], left)
        for i in range(rank):
            trace += left[i, i]
        added[g] = _gained(left, own, dependent, factor, solved)
        for m in range(len(cost)):
            first, last = members[m], members[m + 1]
            if trace > dependent:
                most = _at_most(slope, explained, pull[m], ends[g], factor, moved, solved)
                if most * CLEARLY < cost[m] + more[m, g]:
                    exchanged[m, g] = 0.0
                    continue
            _without(explained, freed, coef, ends[g], first, last, slope, left, back, moved, rest)
            exchanged[m, g] = _gained(rest, moved, dependent, beside, solved)
