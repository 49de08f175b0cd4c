"""Rows that are far out in the predictors: scores, distances, cutoffs and flags.

Scores and flags judge a row on all its columns; `robust_distances` judges it on the few that were
chosen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.special import chdtri

from robustsparse import kernels
from robustsparse.base.ranks import column_ranks
from robustsparse.base.row_slices import is_tall, row_slices
from robustsparse.base.sampling import some_rows
from robustsparse.base.types import Array, Indices, Mask, Places
from robustsparse.robust.scales import MAD_TO_SD, column_mads, column_medians, median_and_mad
from robustsparse.robust.subspaces import bounded, column_blocks, principal_scores

# A column speaks against a row if its robust z is beyond this: one in 2,000 for normal data.
FAR = 3.5
# Cutoffs stand this many robust standard deviations above the median row: normal rows pass but for
# one in 30,000.
CUTOFF_SDS = 4.0
# Regular rows are far out in runs of correlated columns: up to a fifth of them on smooth spectra.
# Whatever the other rows look like, a row is far out if more than half of its columns say so.
LEAST_SHARE = 0.2
CERTAIN_SHARE = 0.5
# The principal subspace: enough directions for this part of the robust variance, but no more than
# so many.
EXPLAINED = 0.8
MAX_RANK = 10
CANDIDATE_RANK = 20
# Orthogonal distances are differences of squares: below this part of the row's length they are
# rounding errors.
DISTANCE_ROUNDING = 1e-6
# Distances are robust against (just under) half of the rows; then rows within this quantile count
# fully.
INNER_QUANTILE = 0.975
LEAST_VARIANCE = 1e-9
MAX_STEPS = 100
# Rows that guesses are compared on, at most.
MOST_ROWS = 5000
# Robust distances need several rows for each column; with fewer, only the two other criteria flag
# rows.
ROWS_A_COLUMN = 10


def joint_scores(Z: Array) -> Array:
    """Share of a row's columns in which it is far out, |z| > 3.5.

    Parameters
    ----------
    Z : (n, d) array
        Robustly standardized predictors.

    Returns
    -------
    (n,) array
        Shares, from 0 to 1.

    Examples
    --------
    >>> joint_scores(np.array([[0.5, -1.0], [9.0, 0.0], [-4.0, 5.0]]))
    array([0. , 0.5, 1. ])
    """
    return np.asarray(far_counts(Z) / max(Z.shape[1], 1))


def far_counts(Z: Array) -> Indices:
    """Number of a row's columns in which it is far out."""
    counts = np.zeros((3, len(Z)), dtype=np.int32)
    limits = np.array([FAR, np.inf, np.inf])
    for block in column_blocks(Z):
        kernels.count_beyond(np.ascontiguousarray(block.T), limits, counts)
    far: Indices = counts[0].astype(np.int64)
    return far


def score_cutoff(scores: Array) -> float:
    """Largest joint score of a row that is not far out.

    Parameters
    ----------
    scores : (n,) array
        Joint scores of all rows, of which more than half are regular.

    Returns
    -------
    float
        The cutoff, from 0.2 (light tails) to 0.5 (most columns of most rows have heavy tails).

    Examples
    --------
    >>> score_cutoff(np.zeros(50))
    0.2
    """
    median, scale = median_and_mad(scores)
    limit = median + CUTOFF_SDS * scale
    return min(max(limit, LEAST_SHARE), CERTAIN_SHARE)


def distance_cutoff(distances: Array) -> float:
    """Largest distance of a row that is not far out.

    The cube root of a squared distance is nearly normal, whatever the number of dimensions (Wilson
    and Hilferty).

    Parameters
    ----------
    distances : (n,) array
        Distances of all rows, of which more than half are regular.

    Returns
    -------
    float
        The cutoff.

    Examples
    --------
    >>> distances = np.sqrt(np.random.default_rng(0).chisquare(5, size=100))
    >>> bool(distance_cutoff(distances) > distances.max())
    True
    """
    median, scale = median_and_mad(np.cbrt(distances**2))
    return float((median + CUTOFF_SDS * scale) ** 1.5)


def orthogonal_distances(Z: Array, rank: int | None = None) -> Array:
    """Distance of each row from a robust principal subspace.

    The subspace is spanned by eigenvectors of the covariance of the rows' directions (spatial
    signs), in which a row counts the same however long it is. They are ordered by the median
    absolute deviation of the rows along them, so that a direction that a minority of the rows makes
    is not chosen.

    Parameters
    ----------
    Z : (n, d) array
        Robustly standardized predictors.
    rank : int, optional
        Dimension of the subspace; by default what carries 80% of the robust variance, at most 10.

    Returns
    -------
    (n,) array
        Distances; 0 where there is no more than rounding error.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = np.outer(rng.normal(size=40), np.ones(6)) + 0.1 * rng.normal(size=(40, 6))
    >>> Z[3] = [9, -9, 9, -9, 9, -9]
    >>> int(orthogonal_distances(Z, rank=1).argmax())
    3
    """
    n, d = Z.shape
    squares, scores = principal_scores(Z, directions(n, d, rank))
    return distances_beside(squares, scores, rank)


def directions(n: int, d: int, rank: int | None = None) -> int:
    """Number of leading directions that a subspace of n rows and d columns is chosen from."""
    return min(d - 1, n // 2, CANDIDATE_RANK if rank is None else max(rank, CANDIDATE_RANK))


def distances_beside(squares: Array, scores: Array, rank: int | None = None) -> Array:
    """The distances, from squared lengths (n,) of the rows and coordinates (n, m) along leading directions."""
    variances = column_mads(scores) ** 2
    order = np.argsort(-variances, kind="stable")[: _rank(variances, rank)]
    rest = squares - (scores[:, order] ** 2).sum(axis=1)
    rest[rest < DISTANCE_ROUNDING**2 * squares] = 0.0
    return np.asarray(np.sqrt(rest))


def _rank(variances: Array, rank: int | None) -> int:
    if rank is not None:
        return min(rank, len(variances))
    explained = np.cumsum(-np.sort(-variances))
    if not len(variances) or explained[-1] == 0:
        return 0
    enough = 1 + int(np.searchsorted(explained, EXPLAINED * explained[-1]))
    return min(enough, MAX_RANK)


def _or_one(size: Array) -> Array:
    return np.where(size > 0, size, 1.0)


def robust_distances(A: Array) -> Array:
    """Robust Mahalanobis distance of each row, on a few columns.

    A deterministic minimum covariance determinant estimate: from several robust first guesses, the
    center and scatter of the half of the rows that lie closest together, then of all rows within
    the 97.5% ellipsoid.

    Parameters
    ----------
    A : (n, p) array
        Columns, n > p. Columns that take at most two values, or one value in half of the rows (the
        intercept, categories), have no distance of their own and are left out.

    Returns
    -------
    (n,) array
        Distances, scaled so that their median is that of normal data in as many dimensions.

    Examples
    --------
    >>> A = np.random.default_rng(0).normal(size=(100, 3))
    >>> A[:20] += 10.0
    >>> d = robust_distances(A)
    >>> bool(d[:20].min() > distance_cutoff(d) > d[20:].max())
    True
    """
    A = np.asarray(A)
    X = _Scaled.of(A, np.flatnonzero([_varies(column) for column in A.T]))
    n, m = X.shape
    if not m:
        return np.zeros(n)
    squares = _closest(X)
    inner = _calibrated(squares, m) <= _chi2_quantile(INNER_QUANTILE, m)
    return np.sqrt(_calibrated(_distances(X, inner)[1], m))


def _varies(column: Array) -> bool:
    """Whether a column has more than two values, none of them in half of the rows."""
    ordered = np.sort(column)
    n = len(ordered)
    # A value that half of the rows have is met again so many places further on.
    common = (ordered[(n + 1) // 2 - 1 :] == ordered[: n // 2 + 1]).any()
    return bool(not common and np.count_nonzero(ordered[1:] > ordered[:-1]) >= 2)


@dataclass(frozen=True)
class _Scaled:
    """Some columns of a design in units of their spread, all of them at hand or made of it when they are asked for.

    Attributes
    ----------
    A : array (n, p)
        The design.
    columns : array of int (m,)
        The columns.
    center, scale : array (m,)
        Their medians and median absolute deviations.
    held : array (n, m) or None
        The scaled columns; None if the design is tall, with more rows than guesses are compared on.
    """

    A: Array
    columns: Indices
    center: Array
    scale: Array
    held: Array | None = None

    @classmethod
    def of(cls, A: Array, columns: Indices) -> "_Scaled":
        """The columns of a design, each with its spread."""
        units = [_median_and_spread(A[:, j]) for j in columns]
        center, scale = np.array(units).reshape(-1, 2).T
        scaled = cls(A, columns, center, scale)
        if len(A) > MOST_ROWS and is_tall(*scaled.shape):
            return scaled
        return replace(scaled, held=scaled.rows(slice(None)))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.A), len(self.columns)

    def rows(self, chosen: slice | Places) -> Array:
        """Some of the rows."""
        part = np.asarray(self.A[chosen][:, self.columns], dtype=np.float64)
        return bounded((part - self.center) / self.scale)

    def some(self, chosen: Places) -> "_Scaled":
        """The same of some of the rows, at hand."""
        return replace(self, A=self.A[chosen], held=self.rows(chosen))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """All rows, part by part."""
        if self.held is not None:
            yield slice(None), self.held
            return
        for part in row_slices(*self.shape):
            yield part, self.rows(part)

    def moments(self, chosen: Mask | Places) -> tuple[Array, Array]:
        """Mean (m,) and covariance (m, m) of some of the rows."""
        if self.held is not None:
            part = self.held[chosen]
            center = part.mean(axis=0)
            part -= center
            return center, part.T @ part / len(part)
        among = np.zeros(len(self.A), dtype=bool)
        among[chosen] = True
        count, m = np.count_nonzero(among), len(self.columns)
        total, products = np.zeros(m), np.zeros((m, m))
        # The columns are centered about their medians, so that little is lost by taking the mean off afterwards.
        for rows, block in self.blocks():
            part = block[among[rows]]
            total += part.sum(axis=0)
            products += part.T @ part
        center = total / count
        return center, products / count - np.outer(center, center)


def _median_and_spread(column: Array) -> tuple[float, float]:
    values = np.array(column, dtype=np.float64)[:, None]
    median = column_medians(values)
    return float(median[0]), MAD_TO_SD * float(column_medians(np.abs(values - median))[0])


def _closest(X: _Scaled) -> Array:
    """Squared distances (n,) from the half of the rows that lie closest together, the best of several guesses.

    Of very many rows some are enough to tell the guesses apart, and all of them go on from the best one.
    """
    n, m = X.shape
    some = some_rows(n, MOST_ROWS)
    part = X if some is None else X.some(some)
    assert part.held is not None
    guesses = [_guess(part.held, vectors) for vectors in _guesses(part.held)]
    _, squares = min((_concentrate(part, guess) for guess in guesses), key=lambda final: final[0])
    if some is None:
        return squares
    half = (len(squares) + m + 1) // 2
    return _concentrate(X, _distances(X, some[np.argpartition(squares, half - 1)[:half]])[1])[1]


def _guesses(X: Array) -> list[Array]:
    """Orthogonal directions (m, m) from bounded transforms of the rows."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    ranks = column_ranks(X) / len(X) - 0.5
    transforms = [X / _or_one(length), np.tanh(X), ranks]
    return [np.linalg.eigh(part.T @ part)[1] for part in transforms]


def _guess(X: Array, vectors: Array) -> Array:
    """Squared distances (n,), with robust scales along the given directions."""
    scores = X @ vectors
    scores = scores - column_medians(scores)
    scale = MAD_TO_SD * column_medians(np.abs(scores))
    scores /= np.maximum(scale, np.sqrt(LEAST_VARIANCE))
    return np.asarray(np.einsum("ij,ij->i", scores, scores))


def _concentrate(X: _Scaled, squares: Array) -> tuple[float, Array]:
    """Closest half of the rows, from a guess: log determinant, and squared distances of all."""
    n, m = X.shape
    half = (n + m + 1) // 2
    best = np.inf
    # Begin with half of the rows and not with the slightly larger `half`: fewer rows of a bad guess.
    rows = np.argpartition(squares, n // 2)[: max(n // 2, min(m + 1, n))]
    for _ in range(MAX_STEPS):
        volume, squares = _distances(X, rows)
        if volume >= best - 1e-10 and len(rows) == half:
            break
        best = volume if len(rows) == half else np.inf
        before, rows = rows, np.sort(np.argpartition(squares, half - 1)[:half])
        # The same rows once more would lie as close together.
        if np.array_equal(before, rows):
            break
    return volume, squares


def _distances(X: _Scaled, rows: Mask | Places) -> tuple[float, Array]:
    """Log determinant of the covariance of some rows; squared distances (n,) of all from it."""
    center, cov = X.moments(rows)
    volume, whitening = _whitening(cov)
    squares = np.empty(len(X.A))
    for part, block in X.blocks():
        scores = (block - center) @ whitening
        squares[part] = np.einsum("ij,ij->i", scores, scores)
    return volume, squares


def _whitening(cov: Array) -> tuple[float, Array]:
    """Log determinant of a covariance, and a matrix (m, m) that gives rows unit covariance."""
    factor, failed = dpotrf(cov, lower=1, clean=1)
    if not failed:
        inverse, _ = dtrtri(factor, lower=1)
        # The trace of the inverse exceeds that of its largest eigenvalue: no variance is too small.
        if float((inverse**2).sum()) < 1.0 / LEAST_VARIANCE:
            return 2.0 * float(np.log(np.diag(factor)).sum()), inverse.T
    values, vectors = np.linalg.eigh(cov)
    values = np.maximum(values, LEAST_VARIANCE)
    return float(np.log(values).sum()), vectors / np.sqrt(values)


def _chi2_quantile(level: float, df: int) -> float:
    return float(chdtri(df, 1.0 - level))


def _calibrated(squares: Array, m: int) -> Array:
    scale = _chi2_quantile(0.5, m) / max(float(np.median(squares)), LEAST_VARIANCE)
    return squares * scale


def leverage_flags(Z: Array) -> Mask:
    """Rows that are far out in the predictors, by any of the criteria of this module.

    Parameters
    ----------
    Z : (n, d) array
        Robustly standardized predictors.

    Returns
    -------
    (n,) bool array
        True for a row whose joint score or orthogonal distance is beyond its cutoff, or, where
        there are at least ten rows for each column, whose robust distance is.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(50, 200))
    >>> Z[:2, :100] += 8.0
    >>> np.flatnonzero(leverage_flags(Z))
    array([0, 1])
    """
    n, d = Z.shape
    scores = joint_scores(Z)
    flags: Mask = scores > score_cutoff(scores)
    flags = flags | _beyond(orthogonal_distances(Z))
    if d * ROWS_A_COLUMN <= n:
        flags = flags | _beyond(robust_distances(Z))
    return flags


def _beyond(distances: Array) -> Mask:
    beyond: Mask = distances > distance_cutoff(distances)
    return beyond
