"""`GraphResult`: an estimated graph, and what can be asked of it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_count
from robustsparse.base.errors import DataError, DataWarning, ParameterError, warn_user
from robustsparse.base.matrices import at_pairs, canonical, upper
from robustsparse.base.text import did_you_mean
from robustsparse.base.types import Array
from robustsparse.graph.adjacency import place_on_path, strongest
from robustsparse.graph.exporting import Exporting
from robustsparse.graph.files import read_graph
from robustsparse.graph.measuring import Measuring
from robustsparse.graph.pictures import Pictures
from robustsparse.graph.summary import summarize_graph
from robustsparse.report.summary.report import Summary

_FEW = {0: "no edges", 1: "the strongest edge"}


@dataclass(frozen=True, eq=False, repr=False)
class GraphResult(Measuring, Pictures, Exporting):
    """An estimated graph: which variables depend on each other given all the others.

    Attributes
    ----------
    nodes : tuple of str
        Names of the d variables.
    ranking : csr_array of float, shape (d, d)
        Evidence for each pair, symmetric, never negative; larger means an earlier edge, zero never an edge.
    adjacency : csr_array of bool, shape (d, d)
        The chosen graph, symmetric, without loops.
    covariance : ndarray of shape (d, d)
        Covariance or correlation matrix on the scale that the method works on (of normal scores for `robust_ns`, of
        standardized variables for most others); partial correlations of every graph rest on it.
    steps : tuple of csr_array of bool, each of shape (d, d)
        Graphs along the path.
    path : DataFrame
        One row a step, by the parameter (`k` or `lambda`): `n_edges`, and `criterion` or `instability` where known.
    k : int or None
        Neighbors kept for each node; None for a graph that was cut from the ranking or has no k.
    rule : {"and", "or"} or None
        How the two directions of a pair were combined.
    method, chosen : str
        What made the graphs, and how this one was chosen, in words.
    nobs : int
        Number of rows used.
    row_weights : Series or None
        By row label; 0 = rejected.
    stability : csr_array of float, shape (d, d), or None
        Share of subsamples that select each pair.
    cuts : DataFrame or None
        Graphs of the strongest edges of the ranking, by `n_edges`: `criterion`, and `instability` where known.
    notes : tuple of str
        What else the summary should say.

    Examples
    --------
    >>> from robustsparse.graph.path import graph_from_path
    >>> S = np.linalg.inv(np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 2]]))
    >>> paths = [np.zeros((3, 3)), np.array([[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]])]
    >>> graph = graph_from_path(["a", "b", "c"], paths, [0.5, 0.1], S, method="example", nobs=50)
    >>> graph
    <GraphResult: example, 3 nodes, 2 edges (lambda = 0.1 by the extended BIC)>
    >>> graph.edges()
      node1 node2  weight  partial_corr
    0     a     b   0.500           0.5
    1     b     c   0.375           0.5
    """

    nodes: tuple[str, ...]
    ranking: Any
    adjacency: Any
    covariance: Array
    steps: tuple[Any, ...]
    path: pd.DataFrame
    k: int | None
    rule: str | None
    method: str
    nobs: int
    chosen: str
    row_weights: "pd.Series[float] | None" = None
    stability: Any = None
    cuts: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        d = len(self.nodes)
        if len(set(self.nodes)) != d:
            twice = next(name for name in self.nodes if self.nodes.count(name) > 1)
            raise DataError(f"node {twice!r} stands twice; names of nodes must differ.")
        matrices = {"ranking": self.ranking, "adjacency": self.adjacency}
        for name, matrix in {**matrices, "covariance": self.covariance}.items():
            if matrix.shape != (d, d):
                raise DataError(f"{name} has shape {matrix.shape}; {d} nodes need ({d}, {d}).")
        if len(self.steps) != len(self.path):
            raise DataError(f"{len(self.steps)} steps do not fit a path of {len(self.path)} rows.")

    # ------------------------------------------------------------------------------- the graph

    @property
    def n_edges(self) -> int:
        """Number of edges, each pair once."""
        return len(upper(self.adjacency)[0])

    @property
    def weights(self) -> Any:
        """Ranking of the edges of the graph, sparse (d, d), zero elsewhere."""
        return canonical(self.ranking * self.adjacency)

    @property
    def degrees(self) -> "pd.Series[int]":
        """Number of neighbors of every node."""
        counts = np.diff(canonical(self.adjacency).indptr).astype(np.int64)
        return pd.Series(counts, index=list(self.nodes), name="degree")

    def edges(self) -> pd.DataFrame:
        """Edges, strongest first: node1, node2, weight, partial_corr, and stability where it is known.

        Returns
        -------
        DataFrame
            `node1`, `node2`, `weight`, `partial_corr`, and `stability` where it is known.

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> graph.edges().columns.tolist()
        ['node1', 'node2', 'weight', 'partial_corr', 'stability']
        """
        rows, columns, _ = upper(self.adjacency)
        names = np.array(self.nodes, dtype=object)
        table = {
            "node1": names[rows],
            "node2": names[columns],
            "weight": at_pairs(self.ranking, rows, columns),
            "partial_corr": self._partial()[rows, columns],
        }
        if self.stability is not None:
            table["stability"] = at_pairs(self.stability, rows, columns)
        order = np.lexsort((-np.abs(table["partial_corr"]), -table["weight"]))
        frame = pd.DataFrame(table).iloc[order].reset_index(drop=True)
        return frame.astype({"node1": str, "node2": str})

    def support(self) -> pd.DataFrame:
        """Edges, strongest first; the same as `edges`.

        Returns
        -------
        DataFrame
            See `edges`.

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> graph.support().equals(graph.edges())
        True
        """
        return self.edges()

    def tidy(self) -> pd.DataFrame:
        """Edges as a data frame, one row an edge; the same as `edges`.

        Returns
        -------
        DataFrame
            See `edges`.

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> len(graph.tidy())
        8
        """
        return self.edges()

    def neighbors(self, node: Any) -> list[str]:
        """Names of the nodes tied to a node, strongest first.

        Parameters
        ----------
        node : str or other label of a column
            Name of the node, as text or as it was in the data.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> all("x1" in graph.neighbors(other) for other in graph.neighbors("x1"))
        True
        """
        j = self._place(node)
        near = canonical(self.adjacency)[[j]].indices
        weight = at_pairs(self.ranking, np.full(len(near), j), near)
        return [self.nodes[i] for i in near[np.argsort(-weight, kind="stable")]]

    def _place(self, node: Any) -> int:
        name = str(node)
        if name not in self.nodes:
            hint = did_you_mean(name, self.nodes)
            raise ParameterError(f"{node!r} is no node of this graph{hint or '; see nodes.'}")
        return self.nodes.index(name)

    def at(
        self, *, k: int | None = None, n_edges: int | None = None, value: float | None = None
    ) -> "GraphResult":
        """Another graph of the same path or ranking; give one of the three.

        Parameters
        ----------
        k : int
            The graph at this k of the path.
        n_edges : int
            The graph of the strongest pairs of the ranking.
        value : float
            The graph at this value of the path's parameter, lambda say.

        Returns
        -------
        GraphResult

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> graph.at(n_edges=3).n_edges
        3
        """
        if sum(part is not None for part in (k, n_edges, value)) != 1:
            raise ParameterError("at() needs one of k=, n_edges= and value=.")
        if n_edges is not None:
            return self._cut(n_edges)
        if k is not None and self.path.index.name != "k":
            raise ParameterError(
                f"this path is over {self.path.index.name}, not k; use value= or n_edges=."
            )
        return self._step(k if value is None else value)

    def up_to(self, max_edges: int) -> "GraphResult":
        """The graph of the strongest pairs of the ranking: so many, or with a warning all that there are.

        Parameters
        ----------
        max_edges : int
            Largest number of edges.

        Returns
        -------
        GraphResult

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> graph.up_to(5).n_edges
        5
        """
        most, ranked = check_count("max_edges", max_edges, 0), self._ranked()
        if most > ranked:
            warn_user(
                f"max_edges={most:,} is more than the pairs that come up on the path; the graph has all of them: "
                f"{ranked:,}.",
                DataWarning,
            )
        return self.at(n_edges=min(most, ranked))

    def _ranked(self) -> int:
        """Number of pairs that could be edges."""
        return len(upper(self.ranking)[0])

    def _cut(self, n_edges: int) -> "GraphResult":
        count, ranked = check_count("n_edges", n_edges, 0), self._ranked()
        if count > ranked:
            raise ParameterError(
                f"n_edges={n_edges} is more than the {ranked:,} pairs that ever come up on the path; "
                "ask for fewer, or fit with a longer path."
            )
        chosen = _FEW.get(count, f"{count:,} strongest edges")
        return self._other(strongest(self.ranking, count), chosen)

    def _step(self, value: Any) -> "GraphResult":
        name = str(self.path.index.name)
        known = self.path.index.to_numpy(dtype=np.float64)
        place = place_on_path(name, value, known)
        at = known[place]
        k = int(at) if name == "k" else None
        return self._other(self.steps[place].copy(), f"{name} = {at:.4g}", k)

    def _other(self, adjacency: Any, chosen: str, k: int | None = None) -> "GraphResult":
        """Another graph of the same fit, whose tables can be changed without changing these."""
        tables: dict[str, Any] = {
            name: None if (table := getattr(self, name)) is None else table.copy()
            for name in ("path", "cuts", "row_weights")
        }
        return replace(self, adjacency=adjacency, chosen=chosen, k=k, **tables)

    # ------------------------------------------------------------------------------- reporting

    def summary(self) -> Summary:
        """The graph in words and numbers, to print or to export as HTML or LaTeX.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> dict(graph.summary().head)["Nodes"]
        '10'
        """
        return summarize_graph(self)

    def _repr_html_(self) -> str:
        """Rich display in notebooks: the summary."""
        return self.summary()._repr_html_()

    def __repr__(self) -> str:
        return (
            f"<GraphResult: {self.method}, {len(self.nodes):,} nodes, {self.n_edges:,} "
            f"edge{'' if self.n_edges == 1 else 's'} ({self.chosen})>"
        )


def load_graph(path: str | Path, *, trusted: bool = False) -> GraphResult:
    """Read a graph that `GraphResult.save` wrote; nothing in the file can run.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : bool
        Whether to unpack it however large it becomes.
    """
    return GraphResult(**read_graph(path, trusted=trusted))
