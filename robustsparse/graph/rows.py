"""Which rows and cells of a table of variables cannot be trusted, judged on all variables at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata

from robustsparse.losses import MAD_TO_SD

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Cells with a robust z beyond FAR are compared with those between NEAR and FAR. A tail that falls has fewer beyond,
# even Cauchy's has only 1.5 times as many; more than twice as many are errors.
_NEAR, _FAR, _ERRORS_PER_TAIL = 3.0, 5.0, 2.0
# In a column, errors begin after a gap: a value this many times the one before, which counts as at least _BULK. The
# gap must leave three quarters of the column in the bulk.
_GAP, _BULK, _FIRST_ERROR, _LEAST_BULK = 1.5, 2.0, 3.5, 0.75
# A variable adds at most this much to the size of a row, so that a single wild cell makes no row suspicious.
_LARGEST_SQUARE = 9.0
# Rows larger than the median by this many MADs are far, and far rows whose directions agree better than those of the
# others, by this many MADs, are rejected.
_ROW_CUT, _AGREEMENT_CUT = 3.0, 3.0


@dataclass(frozen=True)
class TrustedRows:
    """Variables on a common scale, and how far each row is trusted.

    Attributes
    ----------
    values : array (d, n)
        Normal scores of each variable; zero where the cell was judged an error.
    weights : array (n,)
        0 = rejected, below 1 for a row that is large.
    errors : array of bool (d, n)
        Cells judged to be errors.
    """

    values: Array
    weights: Array
    errors: Bools

    @property
    def kept(self) -> NDArray[np.intp]:
        """Places of the rows that were not rejected."""
        return np.flatnonzero(self.weights > 0)


def trusted_rows(XT: Array) -> TrustedRows:
    """Judge the cells, then the rows, of standardized variables.

    Parameters
    ----------
    XT : array (d, n)
        Variables, each with robust location 0 and scale 1 (or all zero).

    Examples
    --------
    Two rows of forty are shifted in all of fifty variables:

    >>> rng = np.random.default_rng(0)
    >>> XT = rng.normal(size=(50, 40))
    >>> XT[:, :2] += 2.0
    >>> rows = trusted_rows(XT)
    >>> np.flatnonzero(rows.weights == 0).tolist()
    [0, 1]
    """
    errors = wrong_cells(XT)
    values = normal_scores(np.where(errors, 0.0, XT))
    values[errors] = 0.0
    return TrustedRows(values, row_weights(values), errors)


def wrong_cells(XT: Array) -> Bools:
    """Cells that lie apart from the rest of their variable, if there are too many of them for a heavy tail.

    The number of far cells of all variables tells errors from tails; where they are errors, the gap in each variable
    tells which cells they are.
    """
    size = np.abs(XT)
    beyond, between = (size > _FAR).sum(), ((size > _NEAR) & (size <= _FAR)).sum()
    if beyond <= _ERRORS_PER_TAIL * (between + 1):
        return np.zeros(XT.shape, dtype=bool)
    ordered = np.sort(size, axis=1)
    ratio = ordered[:, 1:] / np.maximum(ordered[:, :-1], _BULK)
    gap = (ratio > _GAP) & (ordered[:, 1:] > _FIRST_ERROR)
    gap[:, : int(_LEAST_BULK * XT.shape[1])] = False
    first = np.where(gap.any(axis=1), gap.argmax(axis=1) + 1, 0)
    cut = np.where(first > 0, ordered[np.arange(len(XT)), first], np.inf)
    return np.asarray(size >= cut[:, None])


def normal_scores(XT: Array) -> Array:
    """Each variable's ranks as quantiles of the normal distribution; constant variables become zero.

    Examples
    --------
    >>> normal_scores(np.array([[1.0, 50.0, 2.0], [7.0, 7.0, 7.0]])).round(3).tolist()
    [[-0.674, 0.674, 0.0], [0.0, 0.0, 0.0]]
    """
    ranks = rankdata(XT, axis=1)
    return np.asarray(ndtri(ranks / (XT.shape[1] + 1.0)), dtype=np.float64)


def row_weights(values: Array) -> Array:
    """Weights (n,): large rows are brought to the size of the others, those that agree with each other are rejected.

    A heavy tail makes rows large in all directions; dividing by their size loses nothing. Outliers with a common
    cause are large in the same direction, and would build a false factor even at the size of the others.
    """
    size = np.minimum(values**2, _LARGEST_SQUARE).mean(axis=0)
    median, spread = _median_mad(size)
    weights: Array = np.minimum(1.0, median / np.maximum(size, np.finfo(float).tiny))
    far = size > median + _ROW_CUT * spread
    weights[np.flatnonzero(far)[_agree(values, far)]] = 0.0
    return weights


def _agree(values: Array, far: Bools) -> Bools:
    """Which of the far rows point in directions that other far rows share."""
    if far.sum() < 2:
        return np.zeros(int(far.sum()), dtype=bool)
    lengths = np.linalg.norm(values, axis=0)
    directions = values / np.where(lengths > 0, lengths, 1.0)
    median, spread = _median_mad(_mean_agreement(directions[:, ~far]))
    found = _mean_agreement(directions[:, far])
    # A mean over few rows varies more than one over many.
    chance = np.sqrt(max(1.0, float((~far).sum() / far.sum())))
    return np.asarray(found > median + _AGREEMENT_CUT * chance * spread)


def _mean_agreement(directions: Array) -> Array:
    """Mean squared cosine of each direction (d, m) with the others."""
    cosines = directions.T @ directions
    return np.asarray((np.square(cosines).sum(axis=1) - 1.0) / (len(cosines) - 1.0))


def _median_mad(values: Any) -> tuple[float, float]:
    median = float(np.median(values))
    return median, MAD_TO_SD * float(np.median(np.abs(values - median)))


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
