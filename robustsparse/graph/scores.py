"""Normal scores of variables, and their weighted correlations: what rows are judged on and graphs made of."""

import numpy as np

from robustsparse.base.ranks import normal_quantiles
from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array

# Whether work is worth several threads depends on its time, in units of reading one value: ranking one takes this many.
_SORTING = 20


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


def correlation(values: Array, weights: Array) -> Array:
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
    S = np.asarray(centered @ centered.T)
    root = np.sqrt(np.diag(S))
    varies = root > np.finfo(float).eps * np.abs(values).max(axis=1, initial=0.0)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=varies)
    S *= np.outer(inverse, inverse)
    np.fill_diagonal(S, 1.0)
    return S
