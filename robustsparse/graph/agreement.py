"""How well a graph agrees with groups of its nodes that it was not told of."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustsparse.base.matrices import canonical, upper

Codes = NDArray[np.integer[Any]]


def agreement(adjacency: Any, weights: Any, groups: "pd.Series[Any]") -> "pd.Series[float]":
    """All measures of this module, and the number of nodes without neighbors.

    Parameters
    ----------
    adjacency : sparse (d, d) matrix of bool
        Symmetric graph.
    weights : sparse (d, d) matrix
        Strength of the edges.
    groups : Series of categories
        Group of each node, as `adjacency.as_groups` gives them.

    Examples
    --------
    >>> from robustsparse.design.networks import as_adjacency, as_groups
    >>> chain = as_adjacency([[0, 1, 0], [1, 0, 1], [0, 1, 0]], "abc")
    >>> agreement(chain, 1.0 * chain, as_groups(["u", "u", "v"], "abc"))
    purity           0.500
    vote_accuracy    0.500
    isolated         0.000
    modularity      -0.125
    dtype: float64
    """
    return pd.Series(
        {
            "purity": purity(adjacency, groups),
            "vote_accuracy": vote_accuracy(adjacency, weights, groups),
            "isolated": float((np.diff(canonical(adjacency).indptr) == 0).sum()),
            "modularity": modularity(adjacency, groups),
        }
    )


def purity(adjacency: Any, groups: "pd.Series[Any]") -> float:
    """Share of edges that join nodes of the same group; edges of nodes without a group do not count.

    Parameters
    ----------
    adjacency : sparse (d, d) matrix of bool
        Symmetric graph.
    groups : Series of categories
        Group of each node, as `adjacency.as_groups` gives them.

    Examples
    --------
    >>> from robustsparse.design.networks import as_adjacency, as_groups
    >>> chain = as_adjacency([[0, 1, 0], [1, 0, 1], [0, 1, 0]], "abc")
    >>> purity(chain, as_groups(["u", "u", "v"], "abc"))
    0.5
    """
    one, other = _ends(adjacency, groups)
    return float((one == other).mean()) if len(one) else float("nan")


def modularity(adjacency: Any, groups: "pd.Series[Any]") -> float:
    """Newman's modularity: the share of edges within groups beyond what the degrees alone would give.

    Nodes without a group are left out, with their edges.

    Parameters
    ----------
    adjacency : sparse (d, d) matrix of bool
        Symmetric graph.
    groups : Series of categories
        Group of each node, as `adjacency.as_groups` gives them.

    Examples
    --------
    >>> from robustsparse.design.networks import as_adjacency, as_groups
    >>> pairs = as_adjacency([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "abcd")
    >>> modularity(pairs, as_groups(["u", "u", "v", "v"], "abcd"))
    0.5
    """
    one, other = _ends(adjacency, groups)
    if not len(one):
        return float("nan")
    # Share of the ends of edges that lie in each group.
    share = np.bincount(np.r_[one, other]) / (2 * len(one))
    return float((one == other).mean() - np.square(share).sum())


def vote_accuracy(adjacency: Any, weights: Any, groups: "pd.Series[Any]") -> float:
    """Share of nodes whose group is the most frequent among their neighbors.

    Ties go to the group whose edges weigh more; where that is equal too, the node counts in part. Nodes that have no
    group, or no neighbor with a group, do not vote.

    Parameters
    ----------
    adjacency : sparse (d, d) matrix of bool
        Symmetric graph.
    weights : sparse (d, d) matrix
        Strength of the edges.
    groups : Series of categories
        Group of each node, as `adjacency.as_groups` gives them.

    Examples
    --------
    >>> from robustsparse.design.networks import as_adjacency, as_groups
    >>> chain = as_adjacency([[0, 1, 0], [1, 0, 1], [0, 1, 0]], "abc")
    >>> vote_accuracy(chain, 1.0 * chain, as_groups(["u", "u", "v"], "abc"))
    0.5
    """
    code = _codes(groups)
    member = (code[:, None] == np.arange(code.max(initial=0) + 1)).astype(np.float64)
    votes = canonical(adjacency).astype(np.float64) @ member
    strength = canonical(weights).astype(np.float64) @ member
    voters = (code >= 0) & (votes.sum(axis=1) > 0)
    if not voters.any():
        return float("nan")
    most = votes == votes.max(axis=1, keepdims=True)
    strength = np.where(most, strength, -np.inf)
    winners = strength == strength.max(axis=1, keepdims=True)
    right = winners[np.arange(len(code)), code] / winners.sum(axis=1)
    return float(right[voters].mean())


def _codes(groups: "pd.Series[Any]") -> Codes:
    return np.asarray(groups.cat.codes, dtype=np.intp)


def _ends(adjacency: Any, groups: "pd.Series[Any]") -> tuple[Codes, Codes]:
    """Groups at the two ends of each edge that has a group at both."""
    rows, columns, _ = upper(adjacency)
    code = _codes(groups)
    known = (code[rows] >= 0) & (code[columns] >= 0)
    return code[rows][known], code[columns][known]
