"""Graphical lasso by block coordinate descent."""

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.lasso.gram import lasso_on_gram
from robustsparse.kernels.vectors import add_multiple, dot

# Part of the tolerance to which the lasso of one column is solved, so that its error does not look like a change.
INNER_TOL = 0.1


@part
def _update_column(S, W, B, j, penalty, tol, max_sweeps, grad):
    """Lasso of variable j on the others under W, and what it says of column j of W; returns the largest change."""
    beta = B[j]
    grad[:] = S[j]
    for m in range(len(beta)):
        if beta[m] != 0.0:
            add_multiple(grad, -beta[m], W[m])
    settled = lasso_on_gram(W, j, penalty, beta, grad, tol, max_sweeps)
    largest = 0.0
    for m in range(len(beta)):
        if m != j:
            new = S[j, m] - grad[m]
            largest = max(largest, abs(new - W[j, m]))
            W[j, m] = new
            W[m, j] = new
    return largest if settled else np.inf


@kernel
def graphical_lasso(S, penalty, W, B, tol, max_rounds, max_sweeps):
    """Minimize `-log det(Theta) + tr(S Theta) + penalty * sum_{i != j} |Theta_ij|`.

    `W`, the covariance matrix, and `B`, whose row j are the coefficients of variable j on the others, hold the start
    and become the solution. The start must be positive definite, have the diagonal of S and lie within the penalty of
    S, which every round preserves. Returns the number of rounds, negative if they did not settle.
    """
    d = len(S)
    grad = np.empty(d)
    for rounds in range(1, max_rounds + 1):
        largest = 0.0
        for j in range(d):
            change = _update_column(S, W, B, j, penalty, INNER_TOL * tol, max_sweeps, grad)
            largest = max(largest, change)
        if largest <= tol:
            return rounds
    return -max_rounds


@kernel
def precision_from_columns(W, B, out):
    """Precision matrix of a settled graphical lasso; an entry is zero if either of its two regressions says so."""
    d = len(W)
    for j in range(d):
        out[j, j] = 1.0 / (W[j, j] - dot(W[j], B[j]))
    for j in range(d):
        for m in range(j):
            both = B[j, m] != 0.0 and B[m, j] != 0.0
            value = -0.5 * (B[j, m] * out[j, j] + B[m, j] * out[m, m]) if both else 0.0
            out[j, m] = value
            out[m, j] = value
