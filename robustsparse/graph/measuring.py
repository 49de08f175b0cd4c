"""What a graph measures: partial correlations, and how well it agrees with a truth or with groups."""

from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.matrices import canonical
from robustsparse.base.types import Array
from robustsparse.design.networks import as_adjacency, as_groups
from robustsparse.graph.agreement import agreement
from robustsparse.graph.neighborhoods import partial_correlations, precision_of_graph
from robustsparse.graph.part import Part
from robustsparse.report.roc import ROC, roc_from_scores


class Measuring(Part):
    """Methods of `GraphResult` that measure."""

    def precision(self) -> pd.DataFrame:
        """Precision matrix (d by d) with the zeros of the graph, from regressions of each node on its neighbors.

        It is the inverse of `covariance` as far as the graph allows, on the scale that the method works on: mostly
        that of correlations, not of the data.

        Returns
        -------
        DataFrame of shape (d, d)

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> int((graph.precision().to_numpy() != 0).sum()) == 10 + 2 * graph.n_edges
        True
        """
        omega = precision_of_graph(self._graph.covariance, canonical(self._graph.adjacency))
        return pd.DataFrame(omega, index=list(self._graph.nodes), columns=list(self._graph.nodes))

    def partial_corr(self) -> pd.DataFrame:
        """Partial correlations (d by d), zero where there is no edge, ones on the diagonal.

        Returns
        -------
        DataFrame of shape (d, d)

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> bool(graph.partial_corr().abs().max().max() <= 1.0)
        True
        """
        return pd.DataFrame(
            self._graph._partial(), index=list(self._graph.nodes), columns=list(self._graph.nodes)
        )

    def _partial(self) -> Array:
        omega = precision_of_graph(self._graph.covariance, canonical(self._graph.adjacency))
        return partial_correlations(omega)

    def roc(self, true_adjacency: Any) -> ROC:
        """ROC curve of the ranking of all pairs against the true graph; pairs that never came up tie at the end.

        Parameters
        ----------
        true_adjacency : array, sparse matrix or DataFrame of shape (d, d)
            Symmetric; what is not zero is an edge.

        Returns
        -------
        ROC

        Examples
        --------
        >>> import robustsparse as rs
        >>> sim = rs.simulate.graph(n=200, d=10, rng=1)
        >>> rs.robust_ns(sim.data).roc(sim.adjacency).auc > 0.7
        True
        """
        truth = as_adjacency(true_adjacency, self._graph.nodes, "true_adjacency")
        pairs = np.triu_indices(len(self._graph.nodes), k=1)
        return roc_from_scores(self._graph.ranking.toarray()[pairs], truth.toarray()[pairs])

    def isolated(self) -> list[str]:
        """Names of the nodes without neighbors.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> graph.at(n_edges=0).isolated() == list(graph.nodes)
        True
        """
        degrees = self._graph.degrees
        return list(degrees.index[degrees == 0])

    def group_summary(self, groups: Any) -> "pd.Series[float]":
        """How well the graph agrees with groups that it was not told of.

        Parameters
        ----------
        groups : mapping, Series or sequence
            Group of each node, by name (nodes may be missing) or in the order of `nodes`.

        Returns
        -------
        Series
            `purity` (share of edges within a group), `vote_accuracy` (share of nodes whose group is the most frequent
            among their neighbors), `isolated` (number of nodes without neighbors) and Newman's `modularity`.

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> halves = ["first"] * 5 + ["second"] * 5
        >>> graph.group_summary(halves).index.tolist()
        ['purity', 'vote_accuracy', 'isolated', 'modularity']
        """
        return agreement(
            self._graph.adjacency, self._graph.weights, as_groups(groups, self._graph.nodes)
        )
