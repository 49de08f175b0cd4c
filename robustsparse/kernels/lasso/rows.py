"""Weighted lasso by coordinate descent on the rows of a design."""

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import SUMS
from robustsparse.kernels.vectors import add_multiple, dot, larger, soft, vector


@part(fastmath=SUMS)
def _weighted_product(x, w, r):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * w[i] * r[i]
    return total


@part
def _center(w, r):
    """Subtract the weighted mean from the residuals; returns it."""
    mean = np.sum(w * r) / np.sum(w)
    r -= mean
    return mean


@part
def _row_sweep(XT, w, penalty, beta, r, active, curvature):
    """One round over the active coordinates; returns the largest change of a coordinate's own gradient."""
    largest = 0.0
    for i in range(len(active)):
        j = active[i]
        if curvature[i] <= 0.0:
            continue
        gradient = _weighted_product(XT[j], w, r)
        new = soft(gradient + curvature[i] * beta[j], penalty) / curvature[i]
        change = new - beta[j]
        if change != 0.0:
            add_multiple(r, -change, XT[j])
            beta[j] = new
            largest = max(largest, curvature[i] * abs(change))
    return largest


@kernel
def weighted_lasso(XT, w, r, penalty, beta, intercept, tol, max_sweeps):
    """Minimize `sum(w * r**2) / 2 + penalty * |beta|_1`, where `r` falls by `XT[j]` times what beta[j] gains.

    `beta` and `r` hold the start and become the solution; with `intercept` a constant is subtracted from r as well.
    Returns that constant and whether the sweeps settled.
    """
    d = len(XT)
    active = np.empty(d, dtype=np.int64)
    curvature = np.empty(d)
    member = np.zeros(d, dtype=np.bool_)
    count = 0
    constant = _center(w, r) if intercept else 0.0
    while True:
        before = count
        for j in range(d):
            if member[j]:
                continue
            if beta[j] != 0.0 or abs(_weighted_product(XT[j], w, r)) > penalty + tol:
                member[j] = True
                active[count] = j
                curvature[count] = _weighted_product(XT[j], w, XT[j])
                count += 1
        if count == before:
            return constant, True
        settled = False
        for _ in range(max_sweeps):
            largest = _row_sweep(XT, w, penalty, beta, r, active[:count], curvature)
            if intercept:
                shift = _center(w, r)
                constant += shift
                largest = max(largest, abs(shift) * np.sum(w))
            if largest <= tol:
                settled = True
                break
        if not settled:
            return constant, False


@part
def _elastic_sweep(Z, resid, threshold, ridge, beta, curvature, all_of_them):
    """One round over the coordinates, or over the nonzero ones; returns the largest change of a gradient."""
    largest = 0.0
    for j in range(len(beta)):
        old = beta[j]
        if curvature[j] <= 0.0 or (old == 0.0 and not all_of_them):
            continue
        gradient = dot(Z[j], resid) + curvature[j] * old
        new = soft(gradient, threshold) / (curvature[j] + ridge)
        if new != old:
            add_multiple(resid, old - new, Z[j])
            beta[j] = new
            largest = larger(largest, curvature[j] * abs(new - old))
    return largest


@kernel
def elastic_from_rows(Z, resid, threshold, ridge, beta, tol, max_sweeps):
    """Minimize `|resid|^2 / 2 + threshold |beta|_1 + ridge |beta|^2 / 2` in place of beta, from where it is.

    `resid` falls by `Z[j]` times what beta[j] gains. Returns whether the sweeps settled.
    """
    curvature = vector(len(beta))
    for j in range(len(beta)):
        curvature[j] = dot(Z[j], Z[j])
    all_of_them = True
    for _ in range(max_sweeps):
        moved = _elastic_sweep(Z, resid, threshold, ridge, beta, curvature, all_of_them)
        if moved <= tol and all_of_them:
            return True
        # Zeros have their turn when the others have settled.
        all_of_them = moved <= tol
    return False
