"""What the neighbors of each node of a graph leave of its variance."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel
from robustsparse.kernels.constants import ZERO
from robustsparse.kernels.vectors import dot


@kernel
def residual_variances(S, starts, neighbors, out):
    """Variance of each node that a regression on its neighbors leaves, by Cholesky; NaN if that fails.

    The neighbors of node j are `neighbors[starts[j] : starts[j + 1]]`.
    """
    most = ZERO
    for j in range(len(S)):
        most = max(most, starts[j + 1] - starts[j])
    A = np.empty((most, most))
    b = np.empty(most)
    for node in range(len(S)):
        near = neighbors[starts[node] : starts[node + 1]]
        left = S[node, node]
        for i in range(len(near)):
            for j in range(i):
                A[i, j] = (S[near[i], near[j]] - dot(A[i, :j], A[j, :j])) / A[j, j]
            pivot = S[near[i], near[i]] - dot(A[i, :i], A[i, :i])
            if not pivot > 0.0:
                left = np.nan
                break
            A[i, i] = math.sqrt(pivot)
            b[i] = (S[near[i], node] - dot(A[i, :i], b[:i])) / A[i, i]
            left -= b[i] * b[i]
        out[node] = left
