"""Which rows and cells of a table of variables cannot be trusted, judged on all variables at once."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import pdtrc

from robustsparse.base.ranks import normal_quantiles
from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Mask, Places
from robustsparse.robust.scales import median_and_mad

# Cells with a robust z beyond FAR are compared with those between NEAR and FAR. A tail that falls has fewer beyond,
# even Cauchy's has only 1.5 times as many; more than twice as many may be errors.
_NEAR, _FAR, _ERRORS_PER_TAIL = 3.0, 5.0, 2.0
# Errors begin after a gap in their variable, a value this many times the one before. In a falling tail the logarithms
# of the values, from the largest down, differ by exponential numbers over 1, 2, 3 and so on; a gap of errors is this
# many times the mean of those before it, which chance gives once in three thousand.
_GAP, _UNLIKELY, _SPACINGS = 1.5, 8.0, 8
# No value nearer to the center is an error, nor are more than a quarter of a variable's, nor a single one.
_FIRST_ERROR, _MOST_ERRORS, _FEWEST_ERRORS = 3.5, 0.25, 2
# If the errors of two variables fall in the same rows more often than by chance, at this level, whole rows are bad:
# they are no errors of single cells.
_CHANCE, _FEWEST_MEETINGS = 0.01, 3
# A variable adds at most this much to the size of a row, so that a single wild cell makes no row suspicious.
_LARGEST_Z = 3.0
# Rows larger than the median by this many MADs are far, and far rows whose directions agree better than those of the
# others, by this many MADs and by this factor, are rejected.
_ROW_CUT, _AGREEMENT_CUT, _AGREEMENT_RATIO = 3.0, 3.0, 1.5
# Whether work is worth several threads depends on its time, in units of reading one value: ranking a value takes this
# many, and this many multiplications of a matrix product take one.
_SORTING, _PRODUCTS = 20, 16
# Directions compared with all others at once, with any number of threads, so that rounding does not depend on it.
_BLOCK = 256


@dataclass(frozen=True)
class TrustedRows:
    """Variables on a common scale, and how far each row is trusted.

    Attributes
    ----------
    values : array (d, n)
        Normal scores of each variable; zero in rejected rows and where the cell was judged an error.
    weights : array (n,)
        0 = rejected, below 1 for a row that is large.
    errors : array of bool (d, n)
        Cells judged to be errors.
    """

    values: Array
    weights: Array
    errors: Mask

    @property
    def kept(self) -> Places:
        """Places of the rows that were not rejected."""
        return np.flatnonzero(self.weights > 0)


def trusted_rows(XT: Array, threads: int = 1) -> TrustedRows:
    """Judge the cells and the rows of standardized variables.

    Parameters
    ----------
    XT : array (d, n)
        Variables, each with robust location 0 and scale 1 (or all zero).
    threads : int
        Threads for large tables.

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
    weights = row_weights(np.where(errors, 0.0, XT), threads)
    kept = weights > 0
    if not kept.all():
        # Rejected rows may have hidden the errors in the others.
        errors[:, ~kept] = False
        errors[:, kept] = wrong_cells(XT[:, kept])
    values = np.zeros_like(XT)
    values[:, kept] = normal_scores(np.compress(kept, np.where(errors, 0.0, XT), axis=1), threads)
    values[errors] = 0.0
    return TrustedRows(values, weights, errors)


def wrong_cells(XT: Array) -> Mask:
    """Cells that lie apart from the rest of their variable, and are too many for a heavy tail.

    The number of far cells of all variables tells whether there are errors, the gap in each variable which cells they
    are. Cells that are far together in the same rows are no errors of single cells; they are left to the rows.
    """
    size = np.abs(XT)
    beyond, between = (size > _FAR).sum(), ((size > _NEAR) & (size <= _FAR)).sum()
    if beyond <= _ERRORS_PER_TAIL * (between + 1):
        return np.zeros(XT.shape, dtype=bool)
    errors = np.asarray(size >= _gaps(size)[:, None])
    errors[_meeting(errors)] = False
    return errors


def _gaps(size: Array) -> Array:
    """Where the errors of each variable (d, n) begin; infinite without a gap."""
    n = size.shape[1]
    ordered = np.sort(size, axis=1)[:, n // 2 :]
    steps = np.diff(np.log(np.maximum(ordered, 0.5)), axis=1)
    beyond = np.arange(steps.shape[1], 0, -1)
    usual, varied = _mean_before(steps * beyond), _mean_before((steps > 0).astype(np.float64))
    gap = (steps * beyond > _UNLIKELY * usual) & (steps > np.log(_GAP))
    # Values that repeat have no spacings to compare with.
    gap &= (varied >= 0.5) & (ordered[:, 1:] > _FIRST_ERROR)
    gap &= (beyond >= _FEWEST_ERRORS) & (beyond <= _MOST_ERRORS * n)
    first = np.where(gap.any(axis=1), gap.argmax(axis=1) + 1, 0)
    return np.asarray(np.where(first > 0, ordered[np.arange(len(size)), first], np.inf))


def _mean_before(values: Array) -> Array:
    """Mean of the values before each one in its row; infinite where there are too few."""
    sums = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1)[:, :-1]
    means = np.full(values.shape, np.inf)
    means[:, _SPACINGS:] = (sums[:, _SPACINGS:] - sums[:, :-_SPACINGS]) / _SPACINGS
    return means


def _meeting(errors: Mask) -> Mask:
    """Variables whose errors meet those of another in the same rows more often than chance allows."""
    d, n = errors.shape
    cells = errors.astype(np.float64)
    meetings = cells @ cells.T
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=1)) / n
    np.fill_diagonal(meetings, 0.0)
    rare = pdtrc(meetings - 1.0, np.maximum(expected, np.finfo(float).tiny))
    alike = (meetings >= _FEWEST_MEETINGS) & (rare < _CHANCE / (d * (d - 1) / 2))
    return np.asarray(alike.any(axis=1))


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


def row_weights(XT: Array, threads: int = 1) -> Array:
    """Weights (n,): large rows are brought to the size of the others, those that agree with each other are rejected.

    A heavy tail makes rows large in all directions; dividing by their size loses nothing. Outliers with a common
    cause are large in the same direction, and would build a false factor even at the size of the others.
    """
    values = np.clip(XT, -_LARGEST_Z, _LARGEST_Z)
    size = (values**2).mean(axis=0)
    median, spread = median_and_mad(size)
    far = size > median + _ROW_CUT * spread
    rejected = np.zeros(len(size), dtype=bool)
    rejected[np.flatnonzero(far)[_pointing_alike(values, far, threads)]] = True
    usual = _usual_size(values[:, ~rejected], threads)
    weights: Array = np.divide(usual, size, out=np.ones(len(size)), where=size > usual)
    weights[rejected] = 0.0
    return weights


def _usual_size(values: Array, threads: int) -> float:
    """Largest size of a row that is no larger than chance makes it: a standard deviation above the median."""
    squares = values**2
    S = correlation(normal_scores(values, threads), np.ones(values.shape[1]))
    # Number of independent variables whose mean square varies as much as that of these, which are correlated.
    independent = len(S) ** 2 / float(np.square(S).sum())
    chance = sqrt(float(np.median(squares.var(axis=1))) / independent)
    return float(np.median(squares.mean(axis=0))) + chance


def _pointing_alike(values: Array, far: Mask, threads: int) -> Mask:
    """Which of the far rows point in directions that other far rows share."""
    if far.sum() < 2:
        return np.zeros(int(far.sum()), dtype=bool)
    lengths = np.linalg.norm(values, axis=0)
    directions = values / np.where(lengths > 0, lengths, 1.0)
    median, spread = median_and_mad(_mean_agreement(directions[:, ~far], threads))
    found = _mean_agreement(directions[:, far], threads)
    # A mean over few rows varies more than one over many.
    chance = sqrt(max(1.0, float((~far).sum() / far.sum())))
    bar = max(median + _AGREEMENT_CUT * chance * spread, _AGREEMENT_RATIO * median)
    return np.asarray(found > bar)


def _mean_agreement(directions: Array, threads: int) -> Array:
    """Mean squared cosine of each direction (d, m) with the others."""
    d, m = directions.shape
    if m <= d:
        squares = np.square(directions.T @ directions).sum(axis=1)
    else:
        # The squared cosines of x with all directions, its own included, sum to x' D D' x.
        products, squares = directions @ directions.T, np.empty(m)

        def blocks(first: int, last: int) -> None:
            for start in range(first * _BLOCK, last * _BLOCK, _BLOCK):
                part = directions[:, start : start + _BLOCK]
                squares[start : start + _BLOCK] = np.einsum("ij,ij->j", products @ part, part)

        over_columns(blocks, -(-m // _BLOCK), m * d * d // _PRODUCTS, threads)
    return np.asarray((squares - 1.0) / (m - 1.0))


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
