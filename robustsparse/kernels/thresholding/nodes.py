"""Regressions of every node of a graph on others, from a covariance matrix: on the best k, and on its neighbors."""

import math

import numpy as np

from robustsparse.kernels.compiler import kernel, part
from robustsparse.kernels.constants import ZERO
from robustsparse.kernels.order_statistics import sort_first
from robustsparse.kernels.vectors import (
    add_multiple,
    copy_to,
    dot,
    larger,
    matrix,
    smaller,
    vector,
)

# Step of the proposals: correlations have unit curvature along every coordinate, a little more along several.
STEP = 0.6
MAX_ROUNDS = 30
# Added to the diagonal, so that equal columns share a coefficient instead of failing.
JITTER = 1e-8


@part
def _largest(z, skip, k, places, sizes):
    """Places of the k largest |z| but `skip`, ties to the lowest place, ascending, by insertion."""
    count = 0
    for i in range(len(z)):
        size = abs(z[i])
        if i == skip or (count == k and size <= sizes[count - 1]):
            continue
        at = smaller(count, k - 1)
        while at > 0 and sizes[at - 1] < size:
            sizes[at] = sizes[at - 1]
            places[at] = places[at - 1]
            at -= 1
        sizes[at] = size
        places[at] = i
        count = smaller(count + 1, k)
    sort_first(places, count)


@part
def _least_squares(S, node, places, A, b):
    """Regression of the node on the variables at `places`, by Cholesky; the coefficients go to b."""
    k = len(places)
    for i in range(k):
        for j in range(i):
            A[i, j] = (S[places[i], places[j]] - dot(A[i, :j], A[j, :j])) / A[j, j]
        pivot = S[places[i], places[i]] + JITTER - dot(A[i, :i], A[i, :i])
        A[i, i] = math.sqrt(larger(pivot, JITTER))
        b[i] = (S[places[i], node] - dot(A[i, :i], b[:i])) / A[i, i]
    for i in range(k - 1, -1, -1):
        b[i] /= A[i, i]
        add_multiple(b[:i], -b[i], A[i, :i])


@part
def _settle(S, node, places, values, z, before, sizes, A):
    """Alternate between the k largest coefficients after a step and least squares on them, until they stay.

    `z` holds the coefficients after a step on entry; the answer is in `places` and `values`, the rest is room.
    """
    k = len(places)
    for i in range(k):
        before[i] = -1
    for _ in range(MAX_ROUNDS):
        _largest(z, node, k, places, sizes)
        stays = True
        for i in range(k):
            stays = stays and places[i] == before[i]
            before[i] = places[i]
        if stays:
            return
        _least_squares(S, node, places, A, values)
        for i in range(len(z)):
            z[i] = STEP * S[node, i]
        for i in range(k):
            add_multiple(z, -STEP * values[i], S[places[i]])
        for i in range(k):
            z[places[i]] += values[i]


@kernel
def threshold_nodes(S, first, last, ks, places, values):
    """Coefficients of hard thresholding pursuit of nodes on all others, for several k, ascending.

    Each k starts where the one before ended. Neighbors, ascending for each k, and their coefficients go to `places` and
    `values` (last - first, sum of ks), those of the first k first.
    """
    d = len(S)
    most = ks[-1]
    before = np.empty(most, dtype=np.int64)
    sizes = vector(most)
    A = matrix(most, most)
    z = vector(d)
    for node in range(first, last):
        copy_to(z, S[node])
        own, coef = places[node - first], values[node - first]
        start = 0
        for i in range(len(ks)):
            end = start + ks[i]
            _settle(S, node, own[start:end], coef[start:end], z, before, sizes, A)
            start = end


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
