"""Weighted lasso by coordinate descent on the rows of a design."""

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import SUMS
from robustsparse.kernels.vectors import add_multiple, soft


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
