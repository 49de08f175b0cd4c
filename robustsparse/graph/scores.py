"""Normal scores of variables, and their weighted correlations: what rows are judged on and graphs made of."""

from functools import lru_cache
from math import sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from robustsparse.base.ranks import normal_quantiles
from robustsparse.base.threads import is_large, over_columns
from robustsparse.base.types import Array

# Whether work is worth several threads depends on its time, in units of reading one value: ranking one takes this many.
_SORTING = 20
# A single direction has much of the variance of all variables if it has more than this share. So many multiplications
# find it.
_SHARED, _MULTIPLICATIONS = 1 / 3, 20
# Parts that the products of all pairs fall into, and how many multiplications take as long as reading one value.
_HALVES, _PRODUCTS = 2, 16
# Correlations at which what cutting scores off does to them is computed, and quantiles that stand for the distribution.
_CORRELATIONS, _QUANTILES = np.linspace(0.0, 1.0, 41), 500


def normal_scores(XT: Array, threads: int = 1) -> Array:
    """Each variable's ranks as quantiles of the normal distribution; constant variables become zero.

    Examples
    --------
    >>> normal_scores(np.array([[1.0, 50.0, 2.0], [7.0, 7.0, 7.0]])).round(3).tolist()
    [[-0.674, 0.674, 0.0], [0.0, 0.0, 0.0]]
    """
    out = np.empty(XT.shape)

    def columns(first: int, last: int) -> None:
        out[first:last] = normal_quantiles(XT[first:last])

    over_columns(columns, len(XT), _SORTING * XT.size, threads)
    return out


def correlation(values: Array, weights: Array, threads: int = 1) -> Array:
    """Weighted correlation matrix (d, d) of variables (d, n); a constant one is correlated with nothing.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 3.0, 9.0], [2.0, 4.0, 6.0, -9.0], [5.0, 5.0, 5.0, 5.0]])
    >>> correlation(values, np.array([1.0, 1.0, 1.0, 0.0]))
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    total = float(weights.sum())
    centered = values - ((values @ weights) / total)[:, None]
    centered *= np.sqrt(weights / total)
    S = inner_products(centered, threads)
    root = np.sqrt(np.diag(S))
    varies = root > np.finfo(float).eps * np.abs(values).max(axis=1, initial=0.0)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=varies)
    S *= np.outer(inverse, inverse)
    np.fill_diagonal(S, 1.0)
    return S


def inner_products(rows: Array, threads: int = 1) -> Array:
    """Inner products (d, d) of rows (d, n), the same for any number of threads.

    Examples
    --------
    >>> inner_products(np.array([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    """
    d, n = rows.shape
    reading = d * d * n // _PRODUCTS
    if not is_large(reading):
        return np.asarray(rows @ rows.T)
    out, half = np.empty((d, d)), d // 2
    one, other = rows[:half], rows[half:]

    def blocks(first: int, last: int) -> None:
        # Those of rows with rows of their own half, of which BLAS takes one side of the diagonal, take as long as those
        # with rows of the other half.
        if first == 0:
            out[:half, :half] = one @ one.T
            out[half:, half:] = other @ other.T
        if last == _HALVES:
            out[half:, :half] = other @ one.T
            out[:half, half:] = out[half:, :half].T

    over_columns(blocks, _HALVES, reading, threads)
    return out


def much_is_shared(S: Array) -> bool:
    """Whether a single direction has much of the variance of all variables, given their correlations.

    Examples
    --------
    >>> much_is_shared(np.full((10, 10), 0.5) + 0.5 * np.eye(10)), much_is_shared(np.eye(10))
    (True, False)
    """
    direction = S[:, np.argmax(np.square(S).sum(axis=0))]
    for _ in range(_MULTIPLICATIONS):
        direction = S @ (direction / np.linalg.norm(direction))
    return bool(np.linalg.norm(direction) > _SHARED * len(S))


def as_uncut(S: Array, cut: float) -> Array:
    """Correlations of normal variables whose values beyond ±`cut` were brought to it, as they were before.

    Examples
    --------
    >>> x, y = np.random.default_rng(0).normal(size=(2, 100_000))
    >>> S = np.corrcoef(np.clip([x, 0.6 * x + 0.8 * y], -1.0, 1.0))
    >>> S.round(2).tolist(), as_uncut(S, 1.0).round(2).tolist()
    ([[1.0, 0.56], [0.56, 1.0]], [[1.0, 0.6], [0.6, 1.0]])
    """
    return np.asarray(
        np.copysign(np.interp(np.abs(S), _correlations_of_cut(cut), _CORRELATIONS), S)
    )


@lru_cache
def _correlations_of_cut(cut: float) -> Array:
    """Correlations of normal variables cut off at ±`cut`, in place of those in `_CORRELATIONS`."""
    normal = ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
    own = np.clip(normal, -cut, cut)
    others = (_mean_of_cut(rho * normal, sqrt(1.0 - rho * rho), cut) for rho in _CORRELATIONS[:-1])
    return np.array([*(float(own @ other) for other in others), own @ own]) / float(own @ own)


def _mean_of_cut(mean: Array, sd: float, cut: float) -> Array:
    """Mean of normal variables, cut off at ±`cut`."""
    low, high = (-cut - mean) / sd, (cut - mean) / sd
    inside = ndtr(high) - ndtr(low)
    density = (np.exp(-0.5 * low**2) - np.exp(-0.5 * high**2)) / sqrt(2.0 * np.pi)
    return np.asarray(cut * (ndtr(-high) - ndtr(low)) + mean * inside + sd * density)
