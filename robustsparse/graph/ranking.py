"""In which order pairs of variables become edges: hard thresholding averaged over subsamples.

Hard thresholding of all rows keeps a neighbor or drops it, which orders edges coarsely. Over subsamples of the rows it
varies as the evidence does, and the average coefficient orders them finely.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import sparse

from robustsparse import kernels
from robustsparse.base.matrices import canonical
from robustsparse.base.types import Array, Indices
from robustsparse.graph.rows import TrustedRows

SUBSAMPLES = 40
# Neighbors kept in each subsample: a tight and a generous threshold, averaged; and one more where a direction has much
# of the variance of all variables, through which each has many neighbors.
_NEIGHBORS, _MORE = (4, 8), 16
# Size of subsamples as for the stability approach to regularization (Liu, Roeder and Wasserman, 2010): 10 sqrt(n)
# rows, or this share of few rows.
_SHARE_OF_FEW, _FEW = 0.8, 144
# A subsample remembers this many pairs for each node, its strongest, to measure how stable a graph of them is.
_REMEMBERED_PER_NODE = 10


@dataclass(frozen=True)
class Subsample:
    """What one subsample of the rows selects; pairs are places in a flat (d, d) array.

    Attributes
    ----------
    places, coef : arrays (m,)
        Neighbors, in row j those of node j, and their coefficients, averaged over the values of k.
    tight : array
        Pairs that the tight threshold selects in either direction, above the diagonal.
    strongest : array
        Pairs above the diagonal, from the strongest down; -1 where there are no more.
    """

    places: Indices
    coef: Array
    tight: Indices
    strongest: Indices


@dataclass(frozen=True)
class Ranking:
    """Order of the pairs, and how stable it is.

    Attributes
    ----------
    scores : sparse array (d, d)
        Evidence for each pair, symmetric: that of both directions, averaged, or of one of them.
    stability : sparse array (d, d)
        Share of subsamples in which the tight threshold selects a pair, in either direction.
    strongest : array (subsamples, m)
        The strongest pairs of each subsample.
    stronger : sparse array (d, d) or None
        The same evidence by the stronger direction alone, if that may decide. A hub has many neighbors, each with a
        small coefficient, while it explains each of them well: the average of both hides them.
    criterion : dict or None
        Extended BIC of the graphs of the strongest pairs, by their number, as far as it is known.
    """

    scores: sparse.csr_array
    stability: sparse.csr_array
    strongest: Indices
    stronger: sparse.csr_array | None = None
    criterion: dict[int, float] | None = None

    def instability(self, n_edges: int) -> float:
        """Mean over all pairs of twice the variance of being among the `n_edges` strongest of a subsample."""
        count, d = len(self.strongest), self.scores.shape[0]
        among = self.strongest[:, :n_edges].ravel()
        times = np.bincount(among[among >= 0])
        # A pair that is among them c times of m varies by c (m - c) / m².
        varied = count * int(times.sum()) - int(times @ times)
        return float(2.0 * varied / (count**2 * (d * (d - 1) / 2)))


def subsample_size(n: int) -> int:
    """Rows in a subsample of n.

    Examples
    --------
    >>> subsample_size(100), subsample_size(1257)
    (80, 354)
    """
    return int(10.0 * sqrt(n)) if n > _FEW else int(_SHARE_OF_FEW * n)


def neighbors_kept(n: int, d: int, *, many: bool = False) -> Indices:
    """Values of k for subsamples of n rows of d variables that have few neighbors or many, ascending."""
    most = max(1, min(d - 1, n // 3))
    wanted = (*_NEIGHBORS, _MORE) if many else _NEIGHBORS
    return np.unique(np.minimum(wanted, most)).astype(np.int64)


def rank_subsample(rows: TrustedRows, seed: int, *, many: bool = False) -> Subsample:
    """Hard thresholding of every node, which may have many neighbors, on a subsample of the trusted rows."""
    d, kept = len(rows.values), rows.kept
    size = subsample_size(len(kept))
    ks = neighbors_kept(size, d, many=many)
    drawn = np.random.default_rng(seed).choice(kept, size, replace=False)
    S = rows.correlations(drawn)
    neighbors, values = np.empty((d, ks.sum()), dtype=np.int64), np.empty((d, ks.sum()))
    kernels.threshold_nodes(S, 0, d, ks, neighbors, values)
    directed = np.arange(d)[:, None] * d + neighbors
    first = directed[:, : ks[0]][values[:, : ks[0]] != 0]
    places, coef = _sums(directed, values / len(ks))
    pairs, scores = _sums(_above(places, d), np.abs(coef))
    strongest = _first(pairs, scores, _REMEMBERED_PER_NODE * d)
    return Subsample(places, coef, np.unique(_above(first, d)), strongest)


def _sums(places: Indices, values: Array) -> tuple[Indices, Array]:
    """Distinct places, ascending, and the sum of the values at each."""
    distinct, where = np.unique(places, return_inverse=True)
    return distinct, np.asarray(np.bincount(where.ravel(), values.ravel()), dtype=np.float64)


def _above(places: Indices, d: int) -> Indices:
    """Indices in a flat (d, d) array, mirrored to be above the diagonal."""
    rows, columns = np.divmod(places, d)
    return np.minimum(rows, columns) * d + np.maximum(rows, columns)


def _first(places: Indices, scores: Array, count: int) -> Indices:
    """Indices of the largest scores, from the largest down; -1 after the last that is not zero."""
    # Ties go to the pair that comes first.
    best = np.argsort(-scores, kind="stable")[:count]
    out = np.full(count, -1)
    out[: len(best)] = np.where(scores[best] > 0, places[best], -1)
    return out


def combine(subsamples: Sequence[Subsample], rule: str, d: int) -> Ranking:
    """Ranking of the pairs of d variables by their mean coefficients.

    Parameters
    ----------
    subsamples : sequence of Subsample
        All of them; sums are taken in their order, whoever made which.
    rule : {"or", "and"}
        Whether the sizes of the two directions are averaged, or the smaller one counts.
    d : int
        Number of variables.
    """
    count = len(subsamples)
    places, coef, tight = (
        np.concatenate([getattr(one, name) for one in subsamples])
        for name in ("places", "coef", "tight")
    )
    size = np.abs(np.bincount(places, coef, minlength=d * d).reshape(d, d)) / count
    scores = 0.5 * (size + size.T) if rule == "or" else np.minimum(size, size.T)
    stronger = canonical(np.maximum(size, size.T)) if rule == "or" else None
    above = np.bincount(tight, minlength=d * d).reshape(d, d) / count
    strongest = np.array([one.strongest for one in subsamples])
    return Ranking(canonical(scores), canonical(above + above.T), strongest, stronger)
