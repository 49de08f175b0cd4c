"""In which order pairs of variables become edges: hard thresholding averaged over subsamples.

Hard thresholding of all rows keeps a neighbor or drops it, which orders edges coarsely. Over subsamples of the rows it
varies as the evidence does, and the average coefficient orders them finely.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from robustsparse import kernels
from robustsparse.adjacency import canonical
from robustsparse.graph.rows import TrustedRows, correlation

Array = NDArray[np.float64]
Places = NDArray[np.int64]

SUBSAMPLES = 40
# Neighbors kept in each subsample: a tight and a generous threshold, averaged.
_NEIGHBORS = (4, 8)
# Size of subsamples as for the stability approach to regularization (Liu, Roeder and Wasserman, 2010): 10 sqrt(n)
# rows, or this share of few rows.
_SHARE_OF_FEW, _FEW = 0.8, 144
# Subsamples in one task; their sums are added in order, so that the result does not depend on who does which.
BATCH = 5
# A subsample remembers this many pairs for each node, its strongest, to measure how stable a graph of them is.
_REMEMBERED_PER_NODE = 10


@dataclass(frozen=True)
class Batch:
    """Sums over some subsamples.

    Attributes
    ----------
    coef : array (d, d)
        Coefficients, row j those of node j, summed over subsamples and averaged over the values of k.
    counts : array (d, d)
        Above the diagonal: in how many subsamples the tight threshold selects a pair, in either direction.
    strongest : array (subsamples, m)
        Places of the pairs above the diagonal of a flat (d, d) array, from the strongest down; -1 where there are no
        more.
    """

    coef: Array
    counts: Array
    strongest: Places


@dataclass(frozen=True)
class Ranking:
    """Order of the pairs, and how stable it is.

    Attributes
    ----------
    scores : sparse array (d, d)
        Evidence for each pair, symmetric.
    stability : sparse array (d, d)
        Share of subsamples in which the tight threshold selects a pair, in either direction.
    strongest : array (subsamples, m)
        Places of the strongest pairs in each subsample, as in `Batch`.
    """

    scores: sparse.csr_array
    stability: sparse.csr_array
    strongest: Places

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


def neighbors_kept(n: int, d: int) -> NDArray[np.int64]:
    """Values of k for subsamples of n rows of d variables, ascending."""
    most = max(1, min(d - 1, n // 3))
    return np.unique(np.minimum(_NEIGHBORS, most)).astype(np.int64)


def rank_batch(rows: TrustedRows, seeds: Sequence[int]) -> Batch:
    """Hard thresholding of every node on subsamples of the trusted rows, one for each seed."""
    d = len(rows.values)
    kept = rows.kept
    size = subsample_size(len(kept))
    ks = neighbors_kept(size, d)
    neighbors, values = np.empty((d, ks.sum()), dtype=np.int64), np.empty((d, ks.sum()))
    nodes = np.arange(d)[:, None]
    total, counts = np.zeros((d, d)), np.zeros((d, d))
    strongest = []
    for seed in seeds:
        drawn = np.random.default_rng(seed).choice(kept, size, replace=False)
        S = correlation(rows.values[:, drawn], rows.weights[drawn])
        kernels.threshold_nodes(S, 0, d, ks, neighbors, values)
        places = nodes * d + neighbors
        tight, sizes = _sums(_above(places[:, : ks[0]], d), np.abs(values[:, : ks[0]]))
        counts.ravel()[tight] += sizes > 0
        places, coef = _sums(places, values / len(ks))
        total.ravel()[places] += coef
        pairs, scores = _sums(_above(places, d), np.abs(coef))
        strongest.append(_first(pairs, scores, _REMEMBERED_PER_NODE * d))
    return Batch(total, counts, np.array(strongest))


def _sums(places: Places, values: Array) -> tuple[Places, Array]:
    """Distinct places, ascending, and the sum of the values at each."""
    distinct, where = np.unique(places, return_inverse=True)
    return distinct, np.asarray(np.bincount(where.ravel(), values.ravel()), dtype=np.float64)


def _above(places: Places, d: int) -> Places:
    """Places in a flat (d, d) array, mirrored to be above the diagonal."""
    rows, columns = np.divmod(places, d)
    return np.minimum(rows, columns) * d + np.maximum(rows, columns)


def _first(places: Places, scores: Array, count: int) -> Places:
    """Places of the largest scores, from the largest down; -1 after the last that is not zero."""
    # Ties go to the pair that comes first.
    best = np.argsort(-scores, kind="stable")[:count]
    out = np.full(count, -1)
    out[: len(best)] = np.where(scores[best] > 0, places[best], -1)
    return out


def combine(batches: Sequence[Batch], rule: str) -> Ranking:
    """Ranking of the pairs from all subsamples, by the mean coefficients of the two directions.

    Parameters
    ----------
    batches : sequence of Batch
        All subsamples.
    rule : {"or", "and"}
        Whether the sizes of the two directions are averaged, or the smaller one counts.
    """
    strongest = np.concatenate([batch.strongest for batch in batches])
    count = len(strongest)
    coef = sum((batch.coef for batch in batches[1:]), batches[0].coef.copy())
    size = np.abs(coef) / count
    scores = 0.5 * (size + size.T) if rule == "or" else np.minimum(size, size.T)
    counts = sum((batch.counts for batch in batches[1:]), batches[0].counts.copy())
    return Ranking(canonical(scores), canonical((counts + counts.T) / count), strongest)
