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
        In how many subsamples a pair was selected by the tight threshold, in either direction.
    strongest : array (subsamples, m)
        Numbers of the pairs, in the order of `np.triu_indices`, from the strongest down; -1 where there are no more.
    """

    coef: Array
    counts: Array
    strongest: NDArray[np.int64]


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
        Numbers of the strongest pairs in each subsample, in the order of `np.triu_indices`.
    """

    scores: sparse.csr_array
    stability: sparse.csr_array
    strongest: NDArray[np.int64]

    def instability(self, n_edges: int) -> float:
        """Mean over all pairs of twice the variance of being among the `n_edges` strongest of a subsample."""
        count, d = len(self.strongest), self.scores.shape[0]
        among = self.strongest[:, :n_edges].ravel()
        times = np.bincount(among[among >= 0])
        # A pair that is among them c times of m varies by c (m - c) / m².
        varied = count * int(times.sum()) - int(times @ times)
        return 2.0 * varied / (count**2 * (d * (d - 1) / 2))


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
    out = np.empty((len(ks), d, d))
    total, counts = np.zeros((d, d)), np.zeros((d, d))
    pairs = np.flatnonzero(np.triu(np.ones((d, d), dtype=bool), k=1))
    strongest = []
    for seed in seeds:
        drawn = np.random.default_rng(seed).choice(kept, size, replace=False)
        S = correlation(rows.values[:, drawn], rows.weights[drawn])
        kernels.threshold_nodes(S, 0, d, ks, out)
        mean = out.mean(axis=0)
        total += mean
        counts += (out[0] != 0) | (out[0].T != 0)
        strength = np.abs(mean)
        score = (strength + strength.T).ravel()[pairs]
        strongest.append(_first(score, _REMEMBERED_PER_NODE * d))
    return Batch(total, counts, np.array(strongest))


def _first(score: Array, count: int) -> NDArray[np.int64]:
    """Places of the largest scores, in order; -1 for scores of zero."""
    out = np.full(min(count, len(score)), -1, dtype=np.int64)
    some = np.flatnonzero(score > 0)
    # Ties go to the pair that comes first.
    best = some[np.argsort(-score[some], kind="stable")][: len(out)]
    out[: len(best)] = best
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
    stability = sum((batch.counts for batch in batches[1:]), batches[0].counts.copy()) / count
    return Ranking(canonical(scores), canonical(stability), strongest)
