"""What users say of a graph: its adjacency matrix, and the groups of its nodes."""

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from robustsparse.base.errors import DataError
from robustsparse.base.matrices import canonical
from robustsparse.base.text import did_you_mean

_NO_GROUPS = (
    "groups is a {}; give the group of each node as a dictionary or series by name, or as a list in the order of the "
    "nodes."
)


def as_adjacency(matrix: Any, nodes: Sequence[str], name: str = "adjacency") -> Any:
    """Bring a graph given in any form to a sparse symmetric matrix of truth values.

    Parameters
    ----------
    matrix : array, sparse matrix or DataFrame of shape (d, d)
        What is not zero is an edge; the diagonal does not count. A data frame with the names of the nodes is brought
        into their order.
    nodes : sequence of str
        Names of the d nodes.
    name : str
        What messages call the matrix.

    Returns
    -------
    csr_array of bool, shape (d, d)

    Examples
    --------
    >>> as_adjacency([[1, 2], [2, 0]], ["a", "b"]).toarray()
    array([[False,  True],
           [ True, False]])
    """
    values = _by_name(matrix, nodes, name) if isinstance(matrix, pd.DataFrame) else matrix
    values = values if sparse.issparse(values) else np.asarray(values)
    d = len(nodes)
    if values.shape != (d, d):
        raise DataError(f"{name} has shape {values.shape}; {d} nodes need ({d}, {d}).")
    if values.dtype.kind not in "?biufcO":
        raise DataError(f"{name} holds {values.dtype} values; an edge is a number other than zero.")
    edges = sparse.coo_array(values != 0)
    off = edges.row != edges.col
    graph = canonical(
        sparse.csr_array((np.ones(off.sum(), bool), (edges.row[off], edges.col[off])), (d, d))
    )
    one_way = sparse.coo_array(graph != graph.T)
    if one_way.nnz:
        i, j = int(one_way.row[0]), int(one_way.col[0])
        raise DataError(
            f"{name} is not symmetric: {nodes[i]!r} and {nodes[j]!r} are tied in one direction only; "
            "combine the two halves first."
        )
    return graph


def _by_name(frame: pd.DataFrame, nodes: Sequence[str], name: str) -> NDArray[Any]:
    """Values of a frame in the order of the nodes; a frame without names is taken as it stands."""
    names = [str(node) for node in nodes]
    labels = [_labels(index, names) for index in (frame.index, frame.columns)]
    named = [label for label in labels if label is not None]
    for label in named:
        if strange := set(label) ^ set(names):
            raise DataError(
                f"{name} and the graph do not have the same nodes; {min(strange)!r} is in one of them only."
            )
        if len(label) != len(names):
            twice = next(one for one in label if label.count(one) > 1)
            raise DataError(f"{name} has node {twice!r} twice.")
    if not named:
        return frame.to_numpy()
    # Rows without names beside named columns are in the order of these, and the other way round.
    place = {one: i for i, one in enumerate(names)}
    rows, columns = ([place[one] for one in label or named[0]] for label in labels)
    return frame.to_numpy()[np.ix_(np.argsort(rows), np.argsort(columns))]


def _labels(index: "pd.Index[Any]", names: Sequence[str]) -> list[str] | None:
    """Labels as the texts that nodes have, or None for the plain count 0, 1, ... unless these are nodes themselves."""
    labels = [str(label) for label in index]
    counted = isinstance(index, pd.RangeIndex) and (index.start, index.step) == (0, 1)
    return None if counted and not set(labels) <= set(names) else labels


def as_groups(groups: Any, nodes: Sequence[str]) -> "pd.Series[Any]":
    """Bring the groups of nodes, given in any form, to the order of the nodes.

    Parameters
    ----------
    groups : mapping, Series or sequence
        Group of each node: by name (nodes may be missing), or in the order of the nodes. A series that is labeled
        0, 1, ... goes in their order, unless nodes are called so.
    nodes : sequence of str
        Names of the d nodes.

    Returns
    -------
    Series of categories, by node
        In the order of the categories given, else sorted, numbers in texts by their size; missing where a node has no
        group.

    Examples
    --------
    >>> as_groups({"b": "low", "c": "high"}, ["a", "b", "c"]).tolist()
    [nan, 'low', 'high']
    >>> list(as_groups(["g10", "g2", "g1"], ["a", "b", "c"]).cat.categories)
    ['g1', 'g2', 'g10']
    """
    names = [str(node) for node in nodes]
    values = _group_values(groups)
    labels = _labels(values.index, names) if isinstance(groups, Mapping | pd.Series) else None
    if labels is not None:
        values = _named_groups(values.set_axis(labels), names)
    elif len(values) != len(names):
        raise DataError(f"groups has {len(values)} values; there are {len(names)} nodes.")
    known: pd.Series[Any] = _categories(values.set_axis(names)).cat.remove_unused_categories()
    known.name = groups.name if isinstance(groups, pd.Series) else None
    return known


def _group_values(groups: Any) -> "pd.Series[Any]":
    """Groups as a series with the labels they came with."""
    if isinstance(groups, Mapping):
        # The index by itself, lest tuples become levels of one.
        keys = pd.Index(list(groups), dtype=object, tupleize_cols=False)
        return pd.Series(list(groups.values()), index=keys, dtype=object)
    if isinstance(groups, str | bytes) or not hasattr(groups, "__len__"):
        raise DataError(_NO_GROUPS.format(type(groups).__name__))
    try:
        return pd.Series(groups)
    except (TypeError, ValueError):
        raise DataError(_NO_GROUPS.format(type(groups).__name__)) from None


def _named_groups(groups: "pd.Series[Any]", names: list[str]) -> "pd.Series[Any]":
    if not groups.index.is_unique:
        twice = groups.index[groups.index.duplicated()][0]
        raise DataError(f"groups has node {twice!r} twice.")
    if not groups.index.isin(names).any():
        first = str(groups.index[0]) if len(groups) else ""
        hint = did_you_mean(first, names)
        raise DataError(f"groups has none of the nodes; its first is {first!r}{hint or '.'}")
    return groups.reindex(names)


def _categories(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Groups as categories in their order: one that was given, or sorted."""
    if not isinstance(values.dtype, pd.CategoricalDtype):
        return values.astype(pd.CategoricalDtype(_in_order(values)))
    given = list(values.cat.categories)
    # Categories in the order of the alphabet are in nobody's order.
    chosen = values.cat.ordered or given != sorted(given, key=str)
    return values if chosen else values.cat.reorder_categories(_sorted(given))


def _in_order(values: "pd.Series[Any]") -> list[Any]:
    try:
        return _sorted(list(values.dropna().unique()))
    except TypeError:
        odd = next((one for one in values if not isinstance(one, Hashable)), values.iloc[0])
        raise DataError(f"groups has {odd!r} for a group; a group is a text or a number.") from None


def _sorted(found: list[Any]) -> list[Any]:
    try:
        return sorted(found, key=_natural)
    except TypeError:
        # Numbers beside texts have no order.
        return sorted(found, key=lambda group: _natural(str(group)))


def _natural(group: Any) -> Any:
    """Key that puts numbers within texts in the order of their size."""
    if not isinstance(group, str):
        return group
    parts = re.split("([0-9]+)", group)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], group
