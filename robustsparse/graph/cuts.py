"""How many edges: graphs of the strongest pairs of a ranking, compared by the extended BIC."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array, Places
from robustsparse.graph.adjacency import strongest_pairs
from robustsparse.graph.neighborhoods import pairs_criterion
from robustsparse.graph.ranking import Ranking

# Number of sizes that are compared first, from one edge up to the largest mean degree; then so many again between
# those next to the best one, until they are next to each other.
_CUTS, _BETWEEN, _LARGEST_DEGREE = 30, 8, 16


def compared_cuts(scores: Any, ranking: Ranking | None, covariance: Array, n: int) -> pd.DataFrame:
    """Graphs of the strongest edges, by their number: extended BIC, and instability where it is known.

    Parameters
    ----------
    scores : sparse array (d, d)
        Evidence for each pair.
    ranking : Ranking or None
        Where instability is known from.
    covariance : array (d, d)
        What the criterion rests on.
    n : int
        Number of rows that it rests on.
    """
    # Pairs that the path adds come after all others.
    enough = ranking is not None and ranking.scores.nnz // 2 >= _most_pairs(len(covariance))
    known = ranking.criterion if ranking is not None and enough else None
    found = _criteria(scores, covariance, n) if known is None else known
    table = {"criterion": [*found.values()]}
    if ranking is not None:
        table["instability"] = [ranking.instability(size) for size in found]
    return pd.DataFrame(table, index=pd.Index([*found], name="n_edges"))


def better_order(ranking: Ranking, covariance: Array, n: int, threads: int = 1) -> Ranking:
    """The ranking by the stronger direction of each pair, if its best graph has the smaller extended BIC."""
    if ranking.stronger is None:
        return ranking
    orders = (ranking.scores, ranking.stronger)
    found: list[dict[int, float]] = [{}, {}]

    def compare(first: int, last: int) -> None:
        for i in range(first, last):
            found[i] = _criteria(orders[i], covariance, n)

    over_columns(compare, len(orders), _CUTS * covariance.size, min(threads, len(orders)))
    best = min(range(len(orders)), key=lambda i: min(found[i].values()))
    return replace(ranking, scores=orders[best], criterion=found[best])


def _most_pairs(d: int) -> int:
    """Edges of the largest graph of d nodes that is compared."""
    return _LARGEST_DEGREE * d // 2


def _criteria(scores: Any, covariance: Array, n: int) -> dict[int, float]:
    """Extended BIC of the graphs of the strongest pairs, by their number."""
    rows, columns = next(strongest_pairs(scores, [_most_pairs(len(covariance))]))

    def value(size: int) -> float:
        return pairs_criterion(covariance, rows[:size], columns[:size], n)

    return refined(value, len(rows))


def refined(value: Callable[[int], float], most: int) -> dict[int, float]:
    """Values at sizes from 0 to `most`: at some that grow geometrically, then ever closer around the smallest.

    Examples
    --------
    >>> found = refined(lambda size: (size - 4321) ** 2, 10_000)
    >>> min(found, key=found.get), len(found) < 80
    (4321, True)
    """
    sizes = np.unique(np.r_[0, np.geomspace(1, max(most, 1), _CUTS).round()]).astype(int)
    found: dict[int, float] = {}
    while True:
        new = [size for size in sizes.tolist() if size <= most and size not in found]
        if not new:
            return dict(sorted(found.items()))
        found |= {size: value(size) for size in new}
        sizes = _around(min(sorted(found), key=lambda size: found[size]), np.array(sorted(found)))


def _around(best: int, known: Places) -> Places:
    """Sizes between the best one and those next to it."""
    at = int(np.searchsorted(known, best))
    near = known[max(at - 1, 0)], known[min(at + 1, len(known) - 1)]
    return np.unique(np.linspace(*near, _BETWEEN + 2).round()).astype(int)
