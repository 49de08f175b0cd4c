"""Which rows and cells of a table of variables cannot be trusted, judged on all variables at once."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Mask, Places
from robustsparse.graph.cells import MIDDLE, moderate_errors, shortfall
from robustsparse.graph.conformity import (
    expected_scores,
    is_minority,
    rows_apart,
    unexplained,
    weights_by_size,
)
from robustsparse.graph.narrow import rows_across
from robustsparse.graph.scores import (
    as_uncut,
    correlation,
    inner_products,
    much_is_shared,
    normal_scores,
)
from robustsparse.robust.imputation import Imputer
from robustsparse.robust.scales import median_and_mad
from robustsparse.robust.wrong_cells import wrong_cells

# A variable adds at most this much to the size of a row, so that a single wild cell makes no row suspicious.
_LARGEST_Z = 3.0
# Rows larger than the median by this many MADs are far, and far rows whose directions agree better than those of the
# others, by this many MADs and by this factor, are rejected.
_ROW_CUT, _AGREEMENT_CUT, _AGREEMENT_RATIO = 3.0, 3.0, 1.5
# Whether work is worth several threads depends on its time, in units of reading one value: this many multiplications of
# a matrix product take one.
_PRODUCTS = 16
# Rows that hid behind others are looked for so often at most.
_ROUNDS = 4
# Directions compared with all others at once, with any number of threads, so that rounding does not depend on it.
_BLOCK = 256


@dataclass(frozen=True)
class TrustedRows:
    """Variables on a common scale, and how far each row is trusted.

    Attributes
    ----------
    values : array (d, n)
        Normal scores of each variable in `standard`; zero in rejected rows.
    weights : array (n,)
        0 = rejected, below 1 for a row that is large.
    errors : array of bool (d, n)
        Cells judged to be errors.
    standard : array (d, n)
        The variables in units of their scale; errors and missing cells hold what the nearest variables let expect.
    cut : float or None
        Where the scores are cut off, if errors fill up the ends of the variables and cannot be told from good values.
    """

    values: Array
    weights: Array
    errors: Mask
    standard: Array
    cut: float | None = None

    @property
    def kept(self) -> Places:
        """Places of the rows that were not rejected."""
        return np.flatnonzero(self.weights > 0)

    def correlations(self, places: Places | None = None, threads: int = 1) -> Array:
        """Weighted correlations (d, d) of the variables, over all rows or those at some places."""
        some = slice(None) if places is None else places
        S = correlation(self.values[:, some], self.weights[some], threads)
        return S if self.cut is None else as_uncut(S, self.cut)


def trusted_rows(XT: Array, threads: int = 1, missing: Mask | None = None) -> TrustedRows:
    """Judge the cells and the rows of standardized variables.

    Parameters
    ----------
    XT : array (d, n)
        Variables, each with robust location 0 and scale 1 (or all zero).
    threads : int
        Threads for large tables.
    missing : bool array (d, n), optional
        Cells that are missing, whatever they hold, never all of a row: they make it neither near nor far.

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
    if missing is not None:
        XT = np.where(missing, 0.0, XT)
    errors, weights = _judged(XT, threads, missing)
    rows, expected = _conforming(XT, errors, weights, threads, missing)
    if not _shortfall(rows, expected, threads, missing):
        return rows
    more = _moderate(XT, rows, expected, threads, missing)
    if more.any():
        errors |= more
        weights = row_weights(np.where(errors, 0.0, XT), threads, missing)
        weights[rows.weights == 0] = 0.0
        rows, expected = _conforming(XT, errors, weights, threads, missing)
    return _cut_off(rows, expected, threads, missing)


def _judged(XT: Array, threads: int, missing: Mask | None) -> tuple[Mask, Array]:
    """Errors (d, n), and weights (n,) of the rows as their sizes without the errors tell."""
    errors = wrong_cells(XT)
    weights = row_weights(np.where(errors, 0.0, XT), threads, missing)
    kept = weights > 0
    if not kept.all():
        # Rejected rows may have hidden the errors in the others.
        errors[:, ~kept] = False
        errors[:, kept] = wrong_cells(XT[:, kept])
    return errors, weights


def _conforming(
    XT: Array, errors: Mask, weights: Array, threads: int, missing: Mask | None
) -> tuple[TrustedRows, Array]:
    """Rows judged by what neighbors leave of their variables as well, and what those let expect of the rows kept."""
    standard = with_expected(XT, _doubtful(errors, missing), weights > 0)
    weights = weights.copy()
    for more in reversed(range(_ROUNDS)):
        kept = np.flatnonzero(weights > 0)
        scores = normal_scores(standard[:, kept], threads)
        S = correlation(scores, weights[kept], threads)
        expected = expected_scores(scores, S)
        left = unexplained(scores, expected, threads)
        apart = _apart(left, scores, S, threads)
        if not (more and apart.any()):
            break
        weights[kept[apart]] = 0.0
    weights[kept] = np.minimum(weights[kept], weights_by_size(left))
    values = np.zeros_like(standard)
    values[:, kept] = scores
    # Of rows of absurd size nothing is left.
    return TrustedRows(values, weights, errors, standard), expected[:, weights[kept] > 0]


def _apart(left: Array, scores: Array, S: Array, threads: int) -> Mask:
    """Rows (n,) that lie apart or across, which are looked for side by side."""
    found = np.empty((2, scores.shape[1]), dtype=bool)

    def look(first: int, last: int) -> None:
        for i in range(first, last):
            found[i] = rows_apart(left) if i else rows_across(scores, S)

    over_columns(look, len(found), scores.size * len(S) // _PRODUCTS, min(threads, len(found)))
    return np.asarray(found.any(axis=0))


def _moderate(
    XT: Array, rows: TrustedRows, expected: Array, threads: int, missing: Mask | None
) -> Mask:
    """Cells (d, n) that are errors as well, as what neighbors let expect falls short of the ends of the variables."""
    doubtful = _doubtful(rows.errors, missing)
    short = _shortfall(rows, expected, threads, missing)

    def fill(suspects: Mask) -> Array:
        return with_expected(XT, doubtful | suspects, rows.weights > 0)

    scores = rows.values[:, rows.kept]
    return moderate_errors(rows.standard, scores, rows.weights, ~doubtful, short, fill, threads)


def _shortfall(rows: TrustedRows, expected: Array, threads: int, missing: Mask | None) -> float:
    """By which share what neighbors let expect falls short of the ends of the variables."""
    kept = rows.kept
    doubtful = _doubtful(rows.errors, missing)
    weights = np.broadcast_to(rows.weights[kept], expected.shape)
    if doubtful.any():
        weights = np.where(doubtful[:, kept], 0.0, weights)
    return shortfall(rows.values[:, kept], expected, weights, threads)


def _cut_off(rows: TrustedRows, expected: Array, threads: int, missing: Mask | None) -> TrustedRows:
    """Rows whose scores are cut off where the middle ends, if errors that nobody can name fill up the ends.

    Where a single direction has much of the variance neighbors may fall short for another reason: several populations
    have ends of their own.
    """
    if not _shortfall(rows, expected, threads, missing) or much_is_shared(rows.correlations()):
        return rows
    return replace(rows, values=np.clip(rows.values, -MIDDLE, MIDDLE), cut=MIDDLE)


def _doubtful(errors: Mask, missing: Mask | None) -> Mask:
    return errors if missing is None else errors | missing


def all_rows(XT: Array, threads: int = 1, missing: Mask | None = None) -> TrustedRows:
    """Every row and every cell trusted alike; arguments as in `trusted_rows`."""
    n = XT.shape[1]
    standard = XT if missing is None else with_expected(XT, missing, np.ones(n, dtype=bool))
    errors = np.zeros(XT.shape, dtype=bool)
    return TrustedRows(normal_scores(standard, threads), np.ones(n), errors, standard)


def with_expected(XT: Array, doubtful: Mask, kept: Mask) -> Array:
    """Variables (d, n) with what the nearest ones let expect in doubtful cells, learned from the rows that are kept.

    Examples
    --------
    The second variable is nearly the first one, which is missing once:

    >>> first = np.random.default_rng(0).normal(size=200)
    >>> XT = np.vstack([first, first + 0.1])
    >>> gap = np.zeros(XT.shape, dtype=bool)
    >>> gap[0, 7] = True
    >>> filled = with_expected(XT, gap, np.ones(200, dtype=bool))
    >>> bool(abs(filled[0, 7] - first[7]) < 0.1)
    True
    """
    if not doubtful.any():
        return XT
    imputer = Imputer.of(XT, doubtful, np.flatnonzero(doubtful.any(axis=1)), kept)
    column, row, expected, _ = imputer.fill(XT, doubtful)
    filled = XT.copy()
    filled[column, row] = expected
    return filled


def row_weights(XT: Array, threads: int = 1, missing: Mask | None = None) -> Array:
    """Weights (n,): large rows are brought to the size of the others, those that agree with each other are rejected.

    A heavy tail makes rows large in all directions; dividing by their size loses nothing. Outliers with a common
    cause are large in the same direction, and would build a false factor even at the size of the others.
    """
    values = np.clip(XT, -_LARGEST_Z, _LARGEST_Z)
    size = _sizes(values, missing)
    median, spread = median_and_mad(size)
    far = size > median + _ROW_CUT * spread
    rejected = np.zeros(len(size), dtype=bool)
    rejected[np.flatnonzero(far)[_pointing_alike(values, far, threads)]] = True
    if rejected.any() and not is_minority(_lengths_along(values, rejected), rejected):
        rejected[:] = False
    usual = _usual_size(
        values[:, ~rejected], None if missing is None else missing[:, ~rejected], threads
    )
    weights: Array = np.divide(usual, size, out=np.ones(len(size)), where=size > usual)
    weights[rejected] = 0.0
    return weights


def _sizes(values: Array, missing: Mask | None) -> Array:
    """Mean square of each row (n,); missing cells, which are zero, count as those of the median row.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 3.0]])
    >>> _sizes(values, values == 0).tolist()
    [1.0, 4.0, 6.5]
    """
    size = np.asarray((values**2).mean(axis=0))
    if missing is None:
        return size
    known = 1.0 - missing.mean(axis=0)
    return np.asarray(size + (1.0 - known) * np.median(size / known))


def _usual_size(values: Array, missing: Mask | None, threads: int) -> float:
    """Largest size of a row that is no larger than chance makes it: a standard deviation above the median."""
    squares = values**2
    S = correlation(normal_scores(values, threads), np.ones(values.shape[1]), threads)
    # Number of independent variables whose mean square varies as much as that of these, which are correlated.
    independent = len(S) ** 2 / float(np.square(S).sum())
    chance = sqrt(float(np.median(squares.var(axis=1))) / independent)
    return float(np.median(_sizes(values, missing))) + chance


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


def _lengths_along(values: Array, group: Mask) -> Array:
    """How far out each row (n,) lies along the directions of a group of rows, as a root mean square over them."""
    directions = values[:, group] / np.linalg.norm(values[:, group], axis=0)
    return np.asarray(np.sqrt(np.square(directions.T @ values).mean(axis=0)))


def _mean_agreement(directions: Array, threads: int) -> Array:
    """Mean squared cosine of each direction (d, m) with the others."""
    d, m = directions.shape
    if m <= d:
        squares = np.square(directions.T @ directions).sum(axis=1)
    else:
        # The squared cosines of x with all directions, its own included, sum to x' D D' x.
        products, squares = inner_products(directions, threads), np.empty(m)

        def blocks(first: int, last: int) -> None:
            for start in range(first * _BLOCK, last * _BLOCK, _BLOCK):
                part = directions[:, start : start + _BLOCK]
                squares[start : start + _BLOCK] = np.einsum("ij,ij->j", products @ part, part)

        over_columns(blocks, -(-m // _BLOCK), m * d * d // _PRODUCTS, threads)
    return np.asarray((squares - 1.0) / (m - 1.0))
