"""Steps of a descent on a few columns, accelerated by the secants of the last ones (Anderson)."""

import math

import numpy as np

from robustsparse.kernels.compiler import brief, kernel, part
from robustsparse.kernels.constants import FLAT, ZERO
from robustsparse.kernels.trimmed import trim_rows
from robustsparse.kernels.vectors import add_multiple, copy_to, dot

# A secant that adds less than this part of itself to those before it is left out.
DEPENDENT = 1e-10


@brief
def secant_move(points, slopes, count, values, slope, length, move):
    """Move that the secants to `count` earlier points suggest; without any, plain descent.

    Along the changes of the slope since these points the move is the one that cancels the slope; across them it is
    a step of the given length.
    """
    left = np.empty(slope.shape[0])
    copy_to(left, slope)
    turns = np.empty((count, values.shape[0]))
    steps = np.empty((count, values.shape[0]))
    used = ZERO
    for i in range(move.shape[0]):
        move[i] = 0.0
    for p in range(count - 1, -1, -1):
        turn = turns[used]
        step = steps[used]
        for i in range(values.shape[0]):
            turn[i] = slope[i] - slopes[p, i]
            step[i] = values[i] - points[p, i]
        size = math.sqrt(dot(turn, turn))
        for q in range(used):
            along = dot(turn, turns[q])
            add_multiple(turn, -along, turns[q])
            add_multiple(step, -along, steps[q])
        rest = math.sqrt(dot(turn, turn))
        if not rest > DEPENDENT * size:
            continue
        for i in range(values.shape[0]):
            turn[i] /= rest
            step[i] /= rest
        along = dot(turn, left)
        add_multiple(left, -along, turn)
        add_multiple(move, -along, step)
        used += 1
    add_multiple(move, -length, left)


@part
def weighted_residuals(XT, values, share, y, weights, out):
    """Linear predictor less a share of the response, times the weights."""
    for i in range(out.shape[0]):
        out[i] = -share * y[i]
    for j in range(values.shape[0]):
        add_multiple(out, values[j], XT[j])
    for i in range(out.shape[0]):
        out[i] *= weights[i]


@kernel
def polish_squares(XT, y, weights, m, share, steps, tol, memory, once, values):
    """Steps for a weighted squared loss with a trimmed gradient, until `values` change by less than `tol`.

    `values` (a,) are changed in place. A step is `share` of the length that minimizes a robust quadratic model along
    the slope v, vᵀv / vᵀHv; it is measured at each step or, with `once`, only while there are no secants. Secants that
    mislead are forgotten, and the steps go on from the best point.
    """
    a, n = XT.shape
    cuts = np.empty((a, 2))
    curved = np.empty((a, 2))
    for j in range(a):
        cuts[j, 0] = cuts[j, 1] = curved[j, 0] = curved[j, 1] = 0.0
    points = np.empty((memory, a))
    slopes = np.empty((memory, a))
    slope = np.empty(a)
    move = np.empty(a)
    score = np.empty(n)
    best = np.empty(a)
    copy_to(best, values)
    least = np.inf
    length = 0.0
    count = ZERO
    for _ in range(steps):
        weighted_residuals(XT, values, 1.0, y, weights, score)
        trim_rows(XT, score, m, cuts, slope)
        size = math.sqrt(dot(slope, slope))
        if not size < 2.0 * least:
            if count == 0:
                break
            count = ZERO
            copy_to(values, best)
            least = np.inf
            continue
        if size < least:
            least = size
            copy_to(best, values)
        if size == 0.0:
            break
        if count == 0 or not once:
            weighted_residuals(XT, slope, 0.0, y, weights, score)
            trim_rows(XT, score, m, curved, move)
            curvature = dot(slope, move)
            # Cuts of products that grow with the slope are no guess for those of the next one.
            for j in range(a):
                curved[j, 1] = curved[j, 0]
            length = share * (size * size / curvature if curvature > FLAT * size * size else 1.0)
        secant_move(points, slopes, count, values, slope, length, move)
        if count == memory:
            for p in range(memory - 1):
                copy_to(points[p], points[p + 1])
                copy_to(slopes[p], slopes[p + 1])
            count -= 1
        copy_to(points[count], values)
        copy_to(slopes[count], slope)
        count += 1
        add_multiple(values, 1.0, move)
        if math.sqrt(dot(move, move)) <= tol * math.sqrt(dot(values, values)):
            break
    for i in range(a):
        if not math.isfinite(values[i]):
            copy_to(values, best)
            break
