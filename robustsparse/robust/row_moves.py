"""What each row moves the coefficients of a robust regression by, and the covariances that follow from it.

Rows that have a say of their own add up in squares; those of a cluster are added before they are squared.
"""

from dataclasses import dataclass

import numpy as np

from robustsparse.base.types import Array, Indices, Mask, Places

# A row, or a cluster, of more leverage than this determines a coefficient alone: its residual is rounding error.
ALONE = 0.99
# Directions with less information than this (relative eigenvalue) get the variance that belongs to it.
LEAST_INFORMATION = 1e-8


@dataclass(frozen=True, eq=False)
class RowMoves:
    """What each row does to the coefficients of q independent columns.

    Attributes
    ----------
    scores : array (n, q)
        Each row's part of the estimating equations.
    unit : array (n, q)
        The same if the row's error were one typical error.
    roots : array (n, q)
        Rows times the root of their weights, whose leverage counts.
    inverse : array (q, q)
        Inverse of the derivative of the estimating equations.
    rest : array (n, q)
        What a row moves the coefficients by through what else was estimated.
    extra : array (q, q)
        Covariance for want of what the rows cannot tell.
    """

    scores: Array
    unit: Array
    roots: Array
    inverse: Array
    rest: Array
    extra: Array

    @classmethod
    def nothing(cls, n: int, q: int) -> "RowMoves":
        """Those of rows without errors."""
        rows, square = np.zeros((n, q)), np.zeros((q, q))
        return cls(rows, rows, rows, square, rows, square)

    def among(self, used: Mask, columns: Places, p: int, unit: float = 1.0) -> "RowMoves":
        """The same among all rows and p columns, of which these are some, with coefficients in another unit."""

        def rows(part: Array, factor: float = 1.0) -> Array:
            whole = np.zeros((len(used), p))
            whole[np.ix_(used, columns)] = part * factor
            return whole

        def square(part: Array, factor: float = 1.0) -> Array:
            whole = np.zeros((p, p))
            whole[np.ix_(columns, columns)] = part * factor
            return whole

        return RowMoves(
            scores=rows(self.scores, unit),
            unit=rows(self.unit, unit),
            roots=rows(self.roots),
            inverse=square(self.inverse),
            rest=rows(self.rest, unit),
            extra=square(self.extra, unit**2),
        )

    def rows(self, kept: Mask) -> "RowMoves":
        """Those of some of the rows."""
        parts = (self.scores, self.unit, self.roots, self.rest)
        scores, unit, roots, rest = (part[kept] for part in parts)
        return RowMoves(scores, unit, roots, self.inverse, rest, self.extra)

    def row_by_row(self) -> Array:
        """Moves (n, q) by rows, each as if it were left out (HC3, MacKinnon and White, 1985)."""
        half = half_inverse(self.roots.T @ self.roots)
        pull = ((self.roots @ half) ** 2).sum(axis=1)
        left = self.scores / np.maximum(1.0 - pull, 1.0 - ALONE)[:, None]
        corrected = np.where((pull > ALONE)[:, None], self.unit, left)
        return corrected @ self.inverse + self.rest

    def by_cluster(self, clusters: Indices) -> Array:
        """Moves (clusters, q), each as if the cluster were left out (CR3, Bell and McCaffrey, 2002).

        `clusters` (n,) are numbers from 0 on.
        """
        information = self.roots.T @ self.roots
        half = half_inverse(information)
        order = np.argsort(clusters, kind="stable")
        starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
        sums = np.add.reduceat(self.scores[order], starts) @ half
        parts = np.split((self.roots @ half)[order], starts[1:])
        left = np.array([_without(part, sum_) for part, sum_ in zip(parts, sums, strict=True)])
        rest = np.add.reduceat(self.rest[order], starts)
        return np.asarray(left @ (information @ half).T @ self.inverse + rest)


def _without(rows: Array, scores: Array) -> Array:
    """Scores (q,) of a cluster over what its rows, in units of all information, leave of that."""
    values, vectors = np.linalg.eigh(np.eye(rows.shape[1]) - rows.T @ rows)
    return np.asarray(vectors @ ((vectors.T @ scores) / np.maximum(values, 1.0 - ALONE)))


def half_inverse(information: Array) -> Array:
    """Root (q, q) of the inverse of a positive semidefinite matrix: `half @ half.T` is the inverse.

    Examples
    --------
    >>> A = np.array([[4.0, 1.0], [1.0, 9.0]])
    >>> half = half_inverse(A)
    >>> bool(np.allclose(half @ half.T, np.linalg.inv(A)))
    True
    """
    size = np.sqrt(np.diagonal(information))
    unit = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(unit, unit))
    return np.asarray(vectors / np.sqrt(np.maximum(values, LEAST_INFORMATION)) / unit[:, None])


def clustered(moves: RowMoves, clusters: Indices) -> Array:
    """Covariance (q, q) of coefficients if rows depend on each other within clusters.

    Parameters
    ----------
    moves : RowMoves
        What rows do.
    clusters : array of int (n,)
        Number of each row's cluster, from 0 on.
    """
    count = int(clusters.max()) + 1
    # What leaving clusters out in turn tells is the variance of all of them less one.
    each = moves.by_cluster(clusters)
    return np.asarray((count - 1) / count * (each.T @ each) + moves.extra)


def heteroscedastic(moves: RowMoves) -> Array:
    """Covariance (q, q) of coefficients if rows are independent, each with an error of a size of its own (HC3)."""
    each = moves.row_by_row()
    return np.asarray(each.T @ each + moves.extra)
