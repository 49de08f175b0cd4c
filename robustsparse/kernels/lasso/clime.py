"""Whole solution paths of the linear programs `min |b|_1 subject to |S b - e_j|_inf <= lambda`."""

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.vectors import add_multiple

# Pivots smaller than this are rounding (S is a correlation matrix or of like size).
SMALLEST_PIVOT = 1e-9


@part
def _next_event(p, q, variable, sign, d, now):
    """Largest lambda up to `now` at which a basic variable reaches a bound, its row, and the direction it must turn to.

    Basic variables are `p + lambda q`: coefficients (numbers below d), which keep their sign, and residuals, which stay
    within lambda of zero.
    """
    at = -1.0
    row = -1
    turn = 0.0
    for i in range(d):
        if variable[i] < d:
            if sign[i] * q[i] > 0.0 and -p[i] / q[i] > at:
                at, row, turn = -p[i] / q[i], i, sign[i]
        else:
            if q[i] < 1.0 and p[i] > at * (1.0 - q[i]):
                at, row, turn = p[i] / (1.0 - q[i]), i, -1.0
            if q[i] > -1.0 and -p[i] > at * (1.0 + q[i]):
                at, row, turn = -p[i] / (1.0 + q[i]), i, 1.0
    return min(at, now), row, turn


@part
def _entering(T_row, turn, variable, bound, cost, d):
    """The nonbasic variable that keeps the dual solution feasible, its direction and its price; -1 if there is none."""
    best = np.inf
    column = -1
    way = 0.0
    for m in range(d):
        entry = turn * T_row[m]
        if abs(entry) < SMALLEST_PIVOT:
            continue
        if variable[m] < d:
            direction = 1.0 if entry > 0.0 else -1.0
            price = 1.0 + direction * cost[m]
        else:
            direction = -bound[m]
            if entry * direction <= 0.0:
                continue
            price = direction * cost[m]
        ratio = max(price, 0.0) / abs(entry)
        if ratio < best:
            best, column, way = ratio, m, direction
    return column, way, best


@part
def _pivot(T, p, q, bound, cost, row, column, new_bound, price):
    """Exchange the basic variable of a row with the nonbasic one of a column."""
    d = len(T)
    entry = T[row, column]
    p_new = -p[row] / entry
    q_new = bound[column] + (new_bound - q[row]) / entry
    shift = q_new - bound[column]
    T[row] *= -1.0 / entry
    T[row, column] = 0.0
    pivot_row = T[row]
    for i in range(d):
        factor = T[i, column]
        if i == row or factor == 0.0:
            continue
        T[i, column] = 0.0
        add_multiple(T[i], factor, pivot_row)
        T[i, column] = factor / entry
        p[i] += factor * p_new
        q[i] += factor * shift
    cost[column] = 0.0
    add_multiple(cost, price, pivot_row)
    cost[column] = price / entry
    T[row, column] = 1.0 / entry
    p[row] = p_new
    q[row] = q_new
    bound[column] = new_bound


@part
def _column_path(S, j, lambdas, max_pivots, out):
    """One column of the precision matrix along descending lambdas, into `out[:, :, j]`; returns how many were reached.

    The parametric simplex method: `T` expresses the d basic variables by the d others, of which coefficients (numbers
    below d) are zero and residuals are at `bound * lambda`. As lambda falls, a basic variable reaches a bound and
    trades places, so that the dual solution (`cost`, the price of moving a nonbasic variable) stays feasible.
    """
    d = len(S)
    T = S.copy()
    p = np.zeros(d)
    p[j] = -1.0
    q = np.zeros(d)
    cost = np.zeros(d)
    sign = np.zeros(d)
    bound = np.zeros(d)
    basic = np.arange(d, 2 * d)
    nonbasic = np.arange(d)
    now = np.inf
    done = 0
    for _ in range(max_pivots):
        now, row, turn = _next_event(p, q, basic, sign, d, now)
        while done < len(lambdas) and lambdas[done] >= now:
            for i in range(d):
                if basic[i] < d:
                    out[done, basic[i], j] = p[i] + lambdas[done] * q[i]
            done += 1
        if done == len(lambdas) or row < 0:
            return done
        column, way, ratio = _entering(T[row], turn, nonbasic, bound, cost, d)
        leaving = basic[row]
        if leaving < d and ratio > 2.0:
            # It is cheaper to let the coefficient change its sign.
            add_multiple(cost, -2.0 * sign[row], T[row])
            sign[row] = -sign[row]
            continue
        if column < 0:
            return done
        entering = nonbasic[column]
        price = cost[column] + (way if entering < d else 0.0)
        _pivot(T, p, q, bound, cost, row, column, 0.0 if leaving < d else -turn, price)
        if leaving < d:
            cost[column] -= sign[row]
        sign[row] = way if entering < d else 0.0
        basic[row] = entering
        nonbasic[column] = leaving
    return done


@kernel
def clime_columns(S, lambdas, first, last, max_pivots, out, reached):
    """Columns `first` to `last` of the CLIME precision matrices; `reached[j]` lambdas of column j were solved."""
    for j in range(first, last):
        reached[j] = _column_path(S, j, lambdas, max_pivots, out)
