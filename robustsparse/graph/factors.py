"""Variables without what common factors make of them.

A factor that all variables share, as the market moves all stocks, ties every pair; no sparse graph describes it. Given
the factor, what is left may have one.
"""

import numpy as np
from scipy.linalg import eigh

from robustsparse.base.types import Array
from robustsparse.graph.rows import TrustedRows
from robustsparse.graph.scores import correlation, normal_scores


def without_factors(
    XT: Array, rows: TrustedRows, count: int, threads: int = 1
) -> tuple[Array, float]:
    """What the leading principal factors of the trusted rows leave of each variable, and the share that they explain.

    Factors are those of the weighted correlations of normal scores, with wrong and missing cells mended, so that a few
    bad rows or cells make none. Wrong cells keep their distance from what the factors let expect.

    Parameters
    ----------
    XT : array (d, n)
        Standardized variables.
    rows : TrustedRows
        The same variables, judged.
    count : int
        Number of factors.
    threads : int
        Threads for large tables.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> XT = rng.normal(size=(20, 1)) * rng.normal(size=200) + rng.normal(size=(20, 200))
    >>> from robustsparse.graph.rows import trusted_rows
    >>> left, share = without_factors(XT, trusted_rows(XT), 1)
    >>> before, after = (np.abs(np.corrcoef(each) - np.eye(20)).max() for each in (XT, left))
    >>> bool(before > 0.6), bool(after < 0.35), bool(0.2 < share < 0.7)
    (True, True, True)
    """
    d = len(XT)
    S = correlation(rows.values, rows.weights)
    size, directions = eigh(S, subset_by_index=[d - count, d - 1])
    scores = normal_scores(rows.standard, threads)
    factors = directions.T @ scores
    weighted = factors * rows.weights
    loadings = np.linalg.solve(weighted @ factors.T, weighted @ scores.T).T
    left = np.where(rows.errors, XT, scores) - loadings @ factors
    return np.asarray(left), float(size.sum() / d)
