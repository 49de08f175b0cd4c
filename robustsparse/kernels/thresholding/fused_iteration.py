"""One iteration of Algorithm 1 with a robust step, for the squared loss and a trimmed gradient, in one call.

`Descent.iterate` does the same for any loss and estimator, with one kernel after another. Small problems spend most of
their time in Python between the kernels, and threads wait for each other there, since one at a time runs Python.
"""

import math

import numpy as np

from robustsparse.kernels.arguments import TrimScores
from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import (
    BAR_ROUNDING,
    FLAT,
    LOOSE_STEPS,
    LOOSE_TOL,
    MOVE_SHARE,
    SHORTER,
    SHRINKAGES,
    TIGHT_STEPS,
    ZERO,
)
from robustsparse.kernels.order_statistics import largest_places
from robustsparse.kernels.thresholding.support_steps import polish_squares, weighted_residuals
from robustsparse.kernels.trimmed_mean.exact import trim_rows
from robustsparse.kernels.trimmed_mean.references import take_scores
from robustsparse.kernels.trimmed_mean.survivors import trim_survivors
from robustsparse.kernels.vectors import copy_to, dot, filled, matrix, smaller, vector


@part
def _gather(XT, columns):
    """Rows of the transposed design."""
    rows = matrix(len(columns), len(XT[0]))
    for j in range(len(columns)):
        copy_to(rows[j], XT[columns[j]])
    return rows


@part
def _scores(rows, values, y, weights):
    """Weighted residuals, in an array of their own."""
    score = vector(len(y))
    weighted_residuals(rows, values, 1.0, y, weights, score)
    return score


@part
def _trimmed(rows, score, m):
    """Trimmed means of the products of each row."""
    out = vector(len(rows))
    trim_rows(rows, score, m, filled(len(rows), 2, 0.0), out)
    return out


@part
def _quotient(rows, move, weights, m):
    """Length of the step along a move v that minimizes a robust quadratic model: vᵀv / vᵀHv."""
    square = dot(move, move)
    if square == 0.0:
        return 1.0
    n = len(weights)
    along = _scores(rows, move, filled(1, n, 0.0)[0], weights)
    curvature = dot(move, _trimmed(rows, along, m))
    if not curvature > FLAT * square:
        ones = filled(1, n, 1.0)
        for i in range(n):
            along[i] *= along[i] / weights[i] if weights[i] > 0.0 else 0.0
        curvature = _trimmed(ones, along, m)[0]
    return square / curvature if curvature > FLAT * square else 1.0


@part
def _sorted_by_column(columns, values):
    """Sort a support by its columns, by insertion."""
    for i in range(1, len(columns)):
        column = columns[i]
        value = values[i]
        at = i
        while at > 0 and columns[at - 1] > column:
            columns[at] = columns[at - 1]
            values[at] = values[at - 1]
            at -= 1
        columns[at] = column
        values[at] = value


@part
def _difference(columns, values, others, theirs):
    """Columns of two supports, both ascending, and the move from the second to the first."""
    union = np.empty(len(columns) + len(others), dtype=np.int64)
    move = vector(len(union))
    i = ZERO
    j = ZERO
    count = ZERO
    while i < len(columns) or j < len(others):
        if j == len(others) or (i < len(columns) and columns[i] < others[j]):
            union[count] = columns[i]
            move[count] = values[i]
            i += 1
        elif i == len(columns) or others[j] < columns[i]:
            union[count] = others[j]
            move[count] = -theirs[j]
            j += 1
        else:
            union[count] = columns[i]
            move[count] = values[i] - theirs[j]
            i += 1
            j += 1
        count += 1
    return union[:count], move[:count]


@part
def _same(columns, others):
    """Whether two supports are equal."""
    same = len(columns) == len(others)
    for i in range(smaller(len(columns), len(others))):
        same = same and columns[i] == others[i]
    return same


@part
def _closed(barred, columns):
    """Columns that cannot enter a support: those that are in it, and barred ones."""
    closed = np.empty(len(barred), dtype=np.bool_)
    for j in range(len(barred)):
        closed[j] = barred[j]
    for j in range(len(columns)):
        closed[columns[j]] = True
    return closed


@kernel
def iterate_squares(
    y, weights, k, kept, barred, columns, values, share, tight_tol, design, memory, new_columns, new_values
):  # fmt: skip
    """Gradient, robust step, threshold, then steps on the new support alone.

    `columns` and `values` are the iterate, in which more than the columns must be that are always `kept` (d,); `barred`
    ones (d,) never enter. `share` is the part of the minimizing step that is taken, `tight_tol` the relative change at
    which steps on a support that stayed end. `design` and `memory` are those of a screened gradient. The new iterate
    goes to `new_columns` and `new_values`. Returns its size, the length of the step, the distance from the iterate
    before and the number of columns in either, whether the support stayed, and the robust loss.
    """
    XT = design.XT
    m = design.trimmed
    n = len(y)
    a = len(columns)
    rows = _gather(XT, columns)
    score = _scores(rows, values, y, weights)
    unit, slot, fits, wild = take_scores(score, design.light, memory)
    scores = TrimScores(score, unit, slot, fits and not design.exact_only, wild)
    slope = _trimmed(rows, score, m)
    step = share * _quotient(rows, slope, weights, m)
    closed = _closed(barred, columns)
    n_kept = ZERO
    for j in range(a):
        n_kept += kept[columns[j]]
    found = np.empty(len(XT), dtype=np.int64)
    gradients = vector(len(XT))
    count = ZERO
    stays = False
    for attempt in range(SHRINKAGES + 1):
        bar = np.inf
        for j in range(a):
            if not kept[columns[j]]:
                bar = smaller(bar, abs(values[j] - step * slope[j]) / step)
        if a - n_kept < k:
            bar = 0.0
        entering = trim_survivors(
            design, memory, scores, ZERO, len(XT), closed, k, bar * BAR_ROUNDING, found, gradients
        )
        free = np.empty(a - n_kept + entering, dtype=np.int64)
        moves = vector(len(free))
        size = ZERO
        count = ZERO
        for j in range(a):
            value = values[j] - step * slope[j]
            if kept[columns[j]]:
                new_columns[count] = columns[j]
                new_values[count] = value
                count += 1
            else:
                free[size] = columns[j]
                moves[size] = value
                size += 1
        for j in range(entering):
            free[size + j] = found[j]
            moves[size + j] = -step * gradients[j]
        places = np.empty(k, dtype=np.int64)
        best = largest_places(free, moves, k, places)
        for j in range(best):
            new_columns[count] = free[places[j]]
            new_values[count] = moves[places[j]]
            count += 1
        _sorted_by_column(new_columns[:count], new_values[:count])
        stays = _same(new_columns[:count], columns)
        if stays or attempt == SHRINKAGES:
            break
        union, move = _difference(new_columns[:count], new_values[:count], columns, values)
        longest = MOVE_SHARE * _quotient(_gather(XT, union), move, weights, m)
        if step <= longest:
            break
        step = smaller(longest, step / SHORTER)
    rows = _gather(XT, new_columns[:count])
    polish_squares(
        rows, y, weights, m, share, TIGHT_STEPS if stays else LOOSE_STEPS,
        tight_tol if stays else LOOSE_TOL, True, new_values[:count],
    )  # fmt: skip
    # Half the weighted squares; the residuals carry the weight once already.
    score = _scores(rows, new_values[:count], y, weights)
    for i in range(n):
        score[i] *= 0.5 * score[i] / weights[i] if weights[i] > 0.0 else 0.0
    union, move = _difference(new_columns[:count], new_values[:count], columns, values)
    loss = _trimmed(filled(1, n, 1.0), score, m)[0]
    return count, step, math.sqrt(dot(move, move)), len(union), stays, loss
