"""Steps of a descent on a few columns, accelerated by the secants of the last ones (Anderson).

A secant is the change of the point, and of the slope, since an earlier step. In the span of the secants the curvature
is known, so that the move can go straight to where the slope vanishes; only across them it is a plain step.
"""

import math

import numpy as np

from robustsparse.kernels.compiler import brief, kernel, part
from robustsparse.kernels.constants import FLAT, MISLED, SECANTS, SIDES, ZERO
from robustsparse.kernels.trimmed_mean.exact import trim_rows
from robustsparse.kernels.vectors import add_multiple, copy_to, dot_from, matrix, vector

# A secant that adds less than this part of itself to those before it is left out.
DEPENDENT = 1e-10


@part
def _secant_move(past, count, at, length, move):
    a = len(move)
    # The move so far, and what it leaves of the slope.
    ahead = vector(2 * a)
    for i in range(a):
        ahead[i] = 0.0
        ahead[a + i] = at[a + i]
    secants = matrix(count, 2 * a)
    used = ZERO
    for p in range(count - 1, -1, -1):
        secant = secants[used]
        for i in range(2 * a):
            secant[i] = at[i] - past[p, i]
        size = math.sqrt(dot_from(a, secant, secant))
        for q in range(used):
            add_multiple(secant, -dot_from(a, secant, secants[q]), secants[q])
        rest = math.sqrt(dot_from(a, secant, secant))
        if not rest > DEPENDENT * size:
            continue
        for i in range(2 * a):
            secant[i] /= rest
        add_multiple(ahead, -dot_from(a, secant, ahead), secant)
        used += 1
    for i in range(a):
        move[i] = ahead[i] - length * ahead[a + i]


@brief
def secant_move(past, count, at, length, move):
    """Move that the secants to `count` earlier points suggest; without any, plain descent.

    `at` (2a,) is a point and the slope there, `past` (SECANTS, 2a) the same of the earlier ones, the last of them last.
    Along the changes of the slope since these the move is the one that cancels the slope; across them it is a step of
    the given length.
    """
    _secant_move(past, count, at, length, move)


@part
def weighted_residuals(XT, values, share, y, weights, out):
    """Linear predictor less a share of the response, times the weights."""
    for i in range(len(out)):
        out[i] = -share * y[i]
    for j in range(len(values)):
        add_multiple(out, values[j], XT[j])
    for i in range(len(out)):
        out[i] *= weights[i]


@kernel
def polish_squares(XT, y, weights, m, share, steps, tol, once, values):
    """Steps for a weighted squared loss with a trimmed gradient, until `values` change by less than `tol`.

    `values` (a,) are changed in place. A step is `share` of the length that minimizes a robust quadratic model along
    the slope v, vᵀv / vᵀHv; it is measured at each step or, with `once`, only while there are no secants. Secants that
    mislead are forgotten, and the steps go on from the best point.
    """
    a, n = XT.shape
    cuts = matrix(a, SIDES)
    curved = matrix(a, SIDES)
    past = matrix(SECANTS, 2 * a)
    at = vector(2 * a)
    point = at[:a]
    slope = at[a:]
    move = vector(a)
    score = vector(n)
    for j in range(a):
        cuts[j, 0] = cuts[j, 1] = 0.0
    # `values` are the best point so far.
    copy_to(point, values)
    least = np.inf
    length = 0.0
    count = ZERO
    for _ in range(steps):
        weighted_residuals(XT, point, 1.0, y, weights, score)
        trim_rows(XT, score, m, cuts, slope)
        size = math.sqrt(dot_from(ZERO, slope, slope))
        if not size < MISLED * least:
            if count == 0:
                break
            count = ZERO
            copy_to(point, values)
            least = np.inf
            continue
        if size < least:
            least = size
            copy_to(values, point)
        if size == 0.0:
            break
        if count == 0 or not once:
            # Cuts of products that grow with the slope are no guess for those of the next one.
            for j in range(a):
                curved[j, 0] = curved[j, 1] = 0.0
            weighted_residuals(XT, slope, 0.0, y, weights, score)
            trim_rows(XT, score, m, curved, move)
            curvature = dot_from(ZERO, slope, move)
            length = share * (size * size / curvature if curvature > FLAT * size * size else 1.0)
        _secant_move(past, count, at, length, move)
        if count == SECANTS:
            for p in range(SECANTS - 1):
                copy_to(past[p], past[p + 1])
            count -= 1
        copy_to(past[count], at)
        count += 1
        add_multiple(point, 1.0, move)
        if math.sqrt(dot_from(ZERO, move, move)) <= tol * math.sqrt(dot_from(ZERO, point, point)):
            break
    finite = True
    for i in range(a):
        finite = finite and math.isfinite(point[i])
    if finite:
        copy_to(values, point)
