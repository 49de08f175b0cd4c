"""Descent of robust regressions on the mean bisquare loss, one fit after the other.

A fit on a few columns is over in microseconds; numpy would spend most of its time between the operations of a step.
"""

import math

import numpy as np

from robustsparse.kernels.cholesky import factorize, solve_factored
from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import SUMS, ZERO
from robustsparse.kernels.vectors import add_multiple, copy_to, dot, larger, matrix, smaller, vector

# Newton's steps need a Hessian whose smallest eigenvalue, for columns of unit length, is beyond this: no saddle.
CONVEX = 1e-6
# A loss that rose by less than this did not rise.
UPHILL = 1e-9
# Relative ridge of the normal equations. The steps that it damps are corrections to the current coefficients, so it
# slows directions without information and biases nothing.
RIDGE = 1e-12
# Inverse squared scales beyond this, for a response of typical size 1, are those of rounding errors.
LARGEST_INVERSE = 1e26
# A step down of the inverse scale keeps this part of it.
SHORTENED = 0.1
# Rows that are worked on at a time, so that they stay near the processor.
BLOCK = np.int64(256)
# Columns whose inner products are summed side by side, so that each is read less often.
TILE = np.int64(4)
# As for other sums; and products may be fused with them.
FUSED = SUMS | {"contract"}


@part(fastmath=SUMS)
def _moments(squares, average, inverse, tuning, rest):
    """Mean bisquare loss of squared residuals, and its slope in the inverse scale.

    `rest` is what the squares leave of one, and its cube what the losses do.
    """
    factor = inverse / (tuning * tuning)
    loss = 0.0
    spread = 0.0
    for i in range(len(squares)):
        rest[i] = 1.0 - smaller(squares[i] * factor, 1.0)
        weight = rest[i] * rest[i] * average[i]
        loss += average[i] - weight * rest[i]
        # A square that is no number has no weight.
        spread += weight * squares[i] if weight > 0.0 else 0.0
    return loss, 3.0 * spread / (tuning * tuning)


@part
def _residuals(AT, y, coef, resid, squares):
    copy_to(resid, y)
    for j in range(len(coef)):
        add_multiple(resid, -coef[j], AT[j])
    for i in range(len(resid)):
        squares[i] = resid[i] * resid[i]


@part(fastmath=FUSED)
def _add_products(weighted, columns, i, j, first, size, out):
    """Add the inner products of some rows of two weighted columns with those of four columns from j on.

    In the place of columns beyond the last one that is taken; what is added for them is nothing to anybody.
    """
    start = np.uint64(first)
    last = len(columns) - 1
    j2, j3, j4 = smaller(j + 1, last), smaller(j + 2, last), smaller(j + 3, last)
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # Unsigned, or the loop is not vectorized.
    for r in range(np.uint64(size)):
        one = weighted[0, r]
        two = weighted[1, r]
        a += one * columns[j, start + r]
        b += one * columns[j2, start + r]
        c += one * columns[j3, start + r]
        d += one * columns[j4, start + r]
        e += two * columns[j, start + r]
        f += two * columns[j2, start + r]
        g += two * columns[j3, start + r]
        h += two * columns[j4, start + r]
    out[i, j] += a
    out[i, j + 1] += b
    out[i, j + 2] += c
    out[i, j + 3] += d
    out[i + 1, j] += e
    out[i + 1, j + 1] += f
    out[i + 1, j + 2] += g
    out[i + 1, j + 3] += h


@part
def _normal_matrix(columns, weights, weighted, out):
    """Weighted inner products of the columns, above the diagonal; there is room for a multiple of `TILE` of them."""
    p, n = columns.shape
    for i in range(len(out)):
        for j in range(len(out)):
            out[i, j] = 0.0
    for first in range(0, n, BLOCK):
        size = smaller(BLOCK, n - first)
        for i in range(0, p, 2):
            other = smaller(i + 1, p - 1)
            for r in range(size):
                weighted[0, r] = weights[first + r] * columns[i, first + r]
                weighted[1, r] = weights[first + r] * columns[other, first + r]
            for j in range(i - i % TILE, p, TILE):
                _add_products(weighted, columns, i, j, first, size, out)


@part
def _unit_diagonal(products, scaled, unit):
    """A matrix, given above its diagonal, scaled to a diagonal of ones, or minus ones."""
    p = len(unit)
    for i in range(p):
        unit[i] = math.sqrt(abs(products[i, i]))
        if not unit[i] > 0.0:
            unit[i] = 1.0
    for i in range(p):
        for j in range(i, p):
            scaled[i, j] = products[i, j] / (unit[i] * unit[j])
            scaled[j, i] = scaled[i, j]


@part
def _curvature(columns, prior, rest, near, weights, weighted, products, scaled, unit, factor):
    """Factor of the Hessian near a minimum, else of the normal matrix; whether it is the Hessian's."""
    newton = near
    while True:
        for i in range(len(prior)):
            bend = 5.0 * rest[i] - 4.0 if newton else rest[i]
            weights[i] = prior[i] * rest[i] * bend
        _normal_matrix(columns, weights, weighted, products)
        _unit_diagonal(products, scaled, unit)
        if not newton or factorize(scaled, -CONVEX, RIDGE, factor) > 0.0:
            break
        newton = False
    factorize(scaled, RIDGE, RIDGE, factor)
    return newton


@part
def next_inverse(inverse, aim, loss, slope):
    """Newton step of an inverse squared scale towards a mean loss, given the slope of that.

    The loss is concave in it, so that steps rise monotonically to the root from below and jump below it from above.
    Only such a jump can leave the positive numbers: it is shortened, and so is any step where every residual is beyond
    the cut and the slope says nothing.
    """
    excess = aim - loss
    step = excess / larger(slope, abs(excess) / (10.0 * inverse) + 1e-300)
    return larger(inverse + step, SHORTENED * inverse)


@kernel
def descend_bisquare(
    AT, y, prior, average, tuning, aim, near, tol, max_iter, coefs, inverses, moved
):
    """Move fits downhill on the mean bisquare loss, until each moves by less than `tol` scales; returns the most steps.

    `coefs` (q, p), `inverses` (q,), the inverse squared scales, and `moved` (q,), by how many scales the last step
    moved a fit, are changed in place. Reweighted least squares never goes uphill but creeps near the minimum, so that
    Newton's steps take over once a step moves the fit by less than `near` scales; one that went uphill is taken back.
    The scale follows the residuals to where the mean loss is `aim`, or stays if that is 0.
    """
    p, n = AT.shape
    resid = vector(n)
    squares = vector(n)
    rest = vector(n)
    weights = vector(n)
    weighted = matrix(2, BLOCK)
    tiled = p + (-p) % TILE
    products = matrix(tiled, tiled)
    scaled = matrix(p, p)
    factor = matrix(p, p)
    unit = vector(p)
    gradient = vector(p)
    right = vector(p)
    step = vector(p)
    before = vector(p)
    most = ZERO
    for q in range(len(coefs)):
        coef = coefs[q]
        reach = near
        newton = False
        bar = np.inf
        count = ZERO
        while True:
            _residuals(AT, y, coef, resid, squares)
            loss, slope = _moments(squares, average, inverses[q], tuning, rest)
            if newton and loss > bar + UPHILL:
                copy_to(coef, before)
                moved[q] = np.inf
                reach *= 0.1
                newton = False
                continue
            if count == max_iter or moved[q] < tol or inverses[q] >= LARGEST_INVERSE:
                break
            copy_to(before, coef)
            newton = _curvature(
                AT, prior, rest, moved[q] < reach, weights, weighted, products, scaled, unit, factor
            )  # fmt: skip
            for i in range(n):
                weights[i] = prior[i] * rest[i] * rest[i] * resid[i]
            for j in range(p):
                gradient[j] = dot(AT[j], weights)
            for j in range(p):
                right[j] = gradient[j] / unit[j]
            solve_factored(factor, right, step)
            for j in range(p):
                step[j] /= unit[j]
                coef[j] += step[j]
            # The step times the gradient is the weighted sum of squared changes.
            moved[q] = math.sqrt(abs(dot(step, gradient)) / n * inverses[q])
            bar = loss
            if aim > 0.0:
                inverses[q] = smaller(next_inverse(inverses[q], aim, bar, slope), LARGEST_INVERSE)
                # The new scale is the solution at the old coefficients.
                bar = aim
            count += 1
        most = larger(most, count)
    return most


@kernel
def inverse_scales(squares, average, tuning, aim, tol, max_iter, inverses):
    """Inverse squared scales at which the mean bisquare losses of rows of squared residuals are `aim`, in place."""
    rest = vector(len(average))
    for q in range(len(squares)):
        for _ in range(max_iter):
            loss, slope = _moments(squares[q], average, inverses[q], tuning, rest)
            new = next_inverse(inverses[q], aim, loss, slope)
            done = abs(new - inverses[q]) <= tol * inverses[q]
            inverses[q] = new
            if done:
                break
