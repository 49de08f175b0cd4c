"""Lasso by coordinate descent on a Gram matrix, for every node of a graph."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.vectors import add_multiple, dot, soft

# Sweeps before the equations of the nonzero coordinates are solved outright, and between two such solutions.
FIRST_SOLUTION, NEXT_SOLUTION = 6, 25
# A pivot below this fraction of its diagonal entry is rounding: the equations are singular.
SINGULAR = 1e-10
# A move this many tolerances large, a thousand times the variances, belongs to a problem without a minimum.
DIVERGED = 1e12


@part
def _sweep(G, penalty, x, grad):
    """One round over the coordinates; returns the largest change of a coordinate's own gradient."""
    largest = 0.0
    for i in range(len(x)):
        curvature = G[i, i]
        new = soft(grad[i] + curvature * x[i], penalty) / curvature
        change = new - x[i]
        if change != 0.0:
            add_multiple(grad, -change, G[i])
            x[i] = new
            largest = max(largest, curvature * abs(change))
    return largest


@part
def _cholesky_solve(A, b):
    """Solve `A x = b` in place of both, from the lower triangle; coordinates that depend on earlier ones become 0."""
    n = len(b)
    for i in range(n):
        row = A[i]
        for j in range(i):
            row[j] = (row[j] - dot(row[:j], A[j, :j])) / A[j, j]
        pivot = row[i] - dot(row[:i], row[:i])
        row[i] = math.sqrt(pivot) if pivot > SINGULAR * row[i] else np.inf
        b[i] = (b[i] - dot(row[:i], b[:i])) / row[i]
    for i in range(n - 1, -1, -1):
        b[i] /= A[i, i]
        add_multiple(b[:i], -b[i], A[i, :i])


@part
def _jump(G, penalty, x, grad):
    """Go to the minimum among vectors of the same signs, or as far as the first sign allows.

    Coordinate descent finds the signs soon and the values late; with the signs known, the values are linear equations.
    """
    places = np.flatnonzero(x)
    n = len(places)
    A = np.empty((n, n))
    direction = np.empty(n)
    for i in range(n):
        direction[i] = grad[places[i]] - math.copysign(penalty, x[places[i]])
        for m in range(i + 1):
            A[i, m] = G[places[i], places[m]]
    _cholesky_solve(A, direction)
    step = 1.0
    stop = -1
    for i in range(n):
        if x[places[i]] * (x[places[i]] + step * direction[i]) < 0.0:
            step = -x[places[i]] / direction[i]
            stop = i
    for i in range(n):
        new = 0.0 if i == stop else x[places[i]] + step * direction[i]
        add_multiple(grad, x[places[i]] - new, G[places[i]])
        x[places[i]] = new


@part
def _settle(S, active, penalty, beta, grad, tol, max_sweeps):
    """Minimize over the active coordinates, and bring the whole gradient up to date; returns whether it settled.

    Where there is no minimum, because S is not positive semidefinite, everything stays as it was.
    """
    count = len(active)
    G = np.empty((count, count))
    for i in range(count):
        for m in range(count):
            G[i, m] = S[active[i], active[m]]
    x = beta[active]
    local = grad[active]
    settled = False
    for sweep in range(max_sweeps):
        moved = _sweep(G, penalty, x, local)
        if moved <= tol:
            settled = True
            break
        if moved > DIVERGED * tol:
            return False
        if sweep % NEXT_SOLUTION == FIRST_SOLUTION:
            _jump(G, penalty, x, local)
    for i in range(count):
        change = x[i] - beta[active[i]]
        if change != 0.0:
            add_multiple(grad, -change, S[active[i]])
            beta[active[i]] = x[i]
    return settled


@part
def lasso_on_gram(S, skip, penalty, beta, grad, tol, max_sweeps):
    """Minimize `beta' S beta / 2 - b' beta + penalty |beta|_1` from the given beta, without coordinate `skip`.

    `grad` is `b - S beta`, on entry and on return. Returns whether the sweeps settled.
    """
    d = len(S)
    active = np.empty(d, dtype=np.int64)
    member = np.zeros(d, dtype=np.bool_)
    count = 0
    settled = True
    while settled:
        before = count
        for m in range(d):
            if not member[m] and m != skip and (beta[m] != 0.0 or abs(grad[m]) > penalty + tol):
                member[m] = True
                active[count] = m
                count += 1
        if count == before:
            return True
        settled = _settle(S, active[:count], penalty, beta, grad, tol, max_sweeps)
    return False


@kernel
def lasso_node_paths(S, lambdas, first, last, tol, max_sweeps, out):
    """Lasso of nodes `first` to `last` on all others along descending lambdas, into `out[lambda, node]`.

    Returns the number of problems that did not settle.
    """
    beta = np.empty(len(S))
    unsettled = 0
    for j in range(first, last):
        beta[:] = 0.0
        grad = S[j].copy()
        for q in range(len(lambdas)):
            unsettled += not lasso_on_gram(S, j, lambdas[q], beta, grad, tol, max_sweeps)
            out[q, j] = beta
    return unsettled


@kernel
def lasso_from_gram(S, penalty, beta, grad, tol, max_sweeps):
    """Minimize `beta' S beta / 2 - b' beta + penalty |beta|_1` in place of `beta`, from where it is.

    `grad` is `b - S beta`, on entry and on return. Returns whether the sweeps settled.
    """
    return lasso_on_gram(S, -1, penalty, beta, grad, tol, max_sweeps)
