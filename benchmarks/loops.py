"""Hard thresholding and trimmed means as one would write them with numpy and scipy alone."""

from collections.abc import Callable

import numpy as np
from scipy import stats

from benchmarks.problems import Array

Gradient = Callable[[Array, Array], Array]


def plain_gradient(XT: Array, r: Array) -> Array:
    """Mean of `x_ij r_i`: one GEMV."""
    return np.asarray(XT @ r) / len(r)


def trim_mean_gradient(trimmed: int) -> Gradient:
    """scipy's trimmed mean of `x_ij r_i`, with as many values dropped as the package drops."""

    def gradient(XT: Array, r: Array) -> Array:
        # Half a row is added because scipy rounds the number of dropped values down.
        return np.asarray(stats.trim_mean(XT * r, (trimmed + 0.5) / len(r), axis=1))

    return gradient


def partition_gradient(trimmed: int) -> Gradient:
    """Trimmed mean by two `np.partition` calls, one for each cut."""

    def gradient(XT: Array, r: Array) -> Array:
        upper = np.partition(XT * r, trimmed, axis=1)[:, trimmed:]
        kept = upper.shape[1] - trimmed
        return np.asarray(np.partition(upper, kept - 1, axis=1)[:, :kept].mean(axis=1))

    return gradient


def hard_thresholding(
    XT: Array, y: Array, k: int, gradient: Gradient, *, step: float, iterations: int
) -> Array:
    """Iterative hard thresholding from zero with a fixed step; predictions cost n k, not n d."""
    d = XT.shape[0]
    coef = np.zeros(d)
    support = np.zeros(0, dtype=np.intp)
    for _ in range(iterations):
        r = coef[support] @ XT[support] - y
        coef -= step * gradient(XT, r)
        support = np.argpartition(np.abs(coef), d - k)[d - k :]
        values = coef[support]
        coef[:] = 0.0
        coef[support] = values
    return coef
