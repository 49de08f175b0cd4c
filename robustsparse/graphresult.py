"""`GraphResult`: an estimated graph, and what can be asked of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from robustsparse.adjacency import (
    as_adjacency,
    as_groups,
    canonical,
    entry_ranking,
    sizes,
    strongest,
    upper,
)
from robustsparse.checks import check_count
from robustsparse.errors import DataError, ParameterError
from robustsparse.frames import did_you_mean, listed
from robustsparse.graph_metrics import modularity, purity, vote_accuracy
from robustsparse.neighborhoods import graph_criterion, partial_correlations, precision_of_graph
from robustsparse.plots import plot_graph_path, plot_network
from robustsparse.roc import ROC, roc_from_scores

Array = NDArray[np.float64]

# A value of the path may be given as it was printed.
_PRINTED = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class GraphResult:
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
        Robust covariance or correlation matrix; partial correlations of every graph rest on it.
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
    notes : tuple of str
        What else the summary should say.

    Examples
    --------
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
        """Edges, strongest first: node1, node2, weight, partial_corr, and stability where it is known."""
        rows, columns, _ = upper(self.adjacency)
        names = np.array(self.nodes, dtype=object)
        table = {
            "node1": names[rows],
            "node2": names[columns],
            "weight": _entries(self.ranking, rows, columns),
            "partial_corr": self._partial()[rows, columns],
        }
        if self.stability is not None:
            table["stability"] = _entries(self.stability, rows, columns)
        order = np.lexsort((-np.abs(table["partial_corr"]), -table["weight"]))
        frame = pd.DataFrame(table).iloc[order].reset_index(drop=True)
        return frame.astype({"node1": str, "node2": str})

    def support(self) -> pd.DataFrame:
        """Edges, strongest first; the same as `edges`."""
        return self.edges()

    def tidy(self) -> pd.DataFrame:
        """Edges as a data frame, one row an edge; the same as `edges`."""
        return self.edges()

    def neighbors(self, node: str) -> list[str]:
        """Names of the nodes tied to a node, strongest first.

        Parameters
        ----------
        node : str
            Name of the node.
        """
        j = self._place(node)
        near = canonical(self.adjacency)[[j]].indices
        weight = _entries(self.ranking, np.full(len(near), j), near)
        return [self.nodes[i] for i in near[np.argsort(-weight, kind="stable")]]

    def _place(self, node: str) -> int:
        if node not in self.nodes:
            raise ParameterError(f"{node!r} is no node{did_you_mean(str(node), self.nodes)}")
        return self.nodes.index(node)

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

    def _cut(self, n_edges: int) -> "GraphResult":
        ranked = len(upper(self.ranking)[0])
        check_count("n_edges", n_edges, 0)
        if n_edges > ranked:
            raise ParameterError(
                f"n_edges={n_edges} is more than the {ranked:,} pairs that ever come up on the path; "
                "ask for fewer, or fit with a longer path."
            )
        graph = strongest(self.ranking, int(n_edges))
        return replace(self, adjacency=graph, k=None, chosen=f"{int(n_edges):,} strongest edges")

    def _step(self, value: Any) -> "GraphResult":
        name = str(self.path.index.name)
        known = self.path.index.to_numpy(dtype=np.float64)
        place = _position(name, value, known)
        at = known[place]
        k = int(at) if name == "k" else None
        return replace(self, adjacency=self.steps[place], k=k, chosen=f"{name} = {at:.6g}")

    # --------------------------------------------------------------------------------- numbers

    def precision(self) -> pd.DataFrame:
        """Precision matrix (d by d) with the zeros of the graph, from regressions of each node on its neighbors."""
        omega = precision_of_graph(self.covariance, canonical(self.adjacency))
        return pd.DataFrame(omega, index=list(self.nodes), columns=list(self.nodes))

    def partial_corr(self) -> pd.DataFrame:
        """Partial correlations (d by d), zero where there is no edge, ones on the diagonal."""
        return pd.DataFrame(self._partial(), index=list(self.nodes), columns=list(self.nodes))

    def _partial(self) -> Array:
        omega = precision_of_graph(self.covariance, canonical(self.adjacency))
        return partial_correlations(omega)

    def roc(self, true_adjacency: Any) -> ROC:
        """ROC curve of the ranking of all pairs against the true graph; pairs that never came up tie at the end.

        Parameters
        ----------
        true_adjacency : array, sparse matrix or DataFrame of shape (d, d)
            Symmetric; what is not zero is an edge.
        """
        truth = as_adjacency(true_adjacency, self.nodes, "true_adjacency")
        pairs = np.triu_indices(len(self.nodes), k=1)
        return roc_from_scores(self.ranking.toarray()[pairs], truth.toarray()[pairs])

    def isolated(self) -> list[str]:
        """Names of the nodes without neighbors."""
        degrees = self.degrees
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
        """
        known = as_groups(groups, self.nodes)
        return pd.Series(
            {
                "purity": purity(self.adjacency, known),
                "vote_accuracy": vote_accuracy(self.adjacency, self.weights, known),
                "isolated": float(len(self.isolated())),
                "modularity": modularity(self.adjacency, known),
            }
        )

    # ------------------------------------------------------------------------------- reporting

    def plot(self, groups: Any = None, ax: Any = None, *, labels: Any = "auto") -> Any:
        """Draw the graph as a network, its nodes colored by group; returns the Axes.

        Parameters
        ----------
        groups : mapping, Series or sequence, optional
            Group of each node, by name (nodes may be missing) or in the order of `nodes`.
        ax : Axes, optional
            Where to draw; a new figure if None.
        labels : {"auto"}, bool, int or sequence of str
            Which nodes to name: up to 30 all, else none; all or none; so many, of the largest degree; these.
        """
        return plot_network(self.adjacency, self.nodes, groups, ax, labels=labels)

    def plot_path(self, ax: Any = None) -> Any:
        """Draw the number of edges along the path, and what the graph was chosen by; returns the Axes."""
        place = self._chosen_step()
        value = None if place is None else float(self.path.index.to_numpy()[place])
        return plot_graph_path(self.path, value, self.n_edges, ax)

    def _chosen_step(self) -> int | None:
        """The first step of the path that is the chosen graph."""
        graph = canonical(self.adjacency)
        same = (i for i, step in enumerate(self.steps) if not (step != graph).nnz)
        return next(same, None)

    def __repr__(self) -> str:
        return (
            f"<GraphResult: {self.method}, {len(self.nodes):,} nodes, {self.n_edges:,} "
            f"edge{'' if self.n_edges == 1 else 's'} ({self.chosen})>"
        )


def graph_from_path(
    nodes: Sequence[str],
    matrices: Sequence[Any],
    values: Sequence[float],
    covariance: Any,
    *,
    method: str,
    nobs: int,
    parameter: str = "lambda",
    max_edges: int | None = None,
    value: float | None = None,
    chosen: str | None = None,
    gamma: float = 0.5,
    zero: float = 0.0,
    columns: Mapping[str, Sequence[float]] | None = None,
    rule: str | None = None,
    row_weights: "pd.Series[float] | None" = None,
    notes: Sequence[str] = (),
) -> GraphResult:
    """Graph of a method that gives one matrix for each value of a parameter.

    Pairs are ranked by the step at which they enter, then by their size there. The graph is the one of the strongest
    `max_edges` pairs, or at `value`, or the one with the smallest extended BIC (`neighborhoods.graph_criterion`).

    Parameters
    ----------
    nodes : sequence of str
        Names of the d nodes.
    matrices : sequence of arrays or sparse matrices of shape (d, d)
        Symmetric, one for each value, sparsest first; what is not zero off the diagonal is an edge, and larger is
        stronger.
    values : sequence of float
        Values of the parameter.
    covariance : array of shape (d, d)
        What the method rests on.
    method : str
        What made the graphs, in words.
    nobs : int
        Number of rows used.
    parameter : str
        Name of the parameter.
    max_edges : int, optional
        Number of edges of the graph, fewer if fewer ever enter.
    value : float, optional
        Value of the parameter to take the graph at.
    chosen : str, optional
        How the graph was chosen, in words; written from the other arguments if None.
    gamma : float
        Constant of the extended BIC.
    zero : float
        Entries up to this size are zero, for solvers that leave rounding errors.
    columns : mapping of str to sequence of float, optional
        More columns of the path, by name.
    rule : {"and", "or"}, optional
        How two directions were combined.
    row_weights : Series, optional
        By row label; 0 = rejected.
    notes : sequence of str
        For the summary.

    Returns
    -------
    GraphResult

    Examples
    --------
    >>> S = np.array([[1.0, 0.6, 0.2], [0.6, 1.0, 0.3], [0.2, 0.3, 1.0]])
    >>> matrices = [np.where(np.abs(S) > cut, S, 0.0) for cut in (0.5, 0.25, 0.1)]
    >>> graph = graph_from_path(list("abc"), matrices, [0.5, 0.25, 0.1], S, method="cuts", nobs=80, max_edges=2)
    >>> graph.edges()["weight"].round(2).tolist()
    [1.0, 0.67]
    """
    if max_edges is not None and value is not None:
        raise ParameterError("give max_edges= or value=, not both.")
    if len(matrices) != len(values) or not len(values):
        raise DataError(f"{len(matrices)} matrices do not fit {len(values)} values of {parameter}.")
    S = np.array(covariance, dtype=np.float64)
    entries = [sizes(matrix, zero) for matrix in matrices]
    steps = tuple(canonical(entry > 0) for entry in entries)
    table: dict[str, Any] = {"n_edges": [step.nnz // 2 for step in steps], **(columns or {})}
    if max_edges is None and value is None and "criterion" not in table:
        table["criterion"] = [graph_criterion(S, step, nobs, gamma) for step in steps]
    graph = GraphResult(
        nodes=tuple(str(node) for node in nodes),
        ranking=entry_ranking(entries),
        adjacency=steps[-1],
        covariance=S,
        steps=steps,
        path=pd.DataFrame(table, index=pd.Index(values, name=parameter)),
        k=None,
        rule=rule,
        method=method,
        nobs=nobs,
        chosen="",
        row_weights=row_weights,
        notes=tuple(notes),
    )
    graph = _choose(graph, max_edges, value)
    return graph if chosen is None else replace(graph, chosen=chosen)


def _choose(graph: GraphResult, max_edges: int | None, value: float | None) -> GraphResult:
    """The graph that was asked for, or the one with the smallest criterion."""
    if max_edges is not None:
        most = check_count("max_edges", max_edges, 0)
        return graph.at(n_edges=min(most, len(upper(graph.ranking)[0])))
    if value is not None:
        return graph.at(value=value)
    place = int(np.nanargmin(graph.path["criterion"].to_numpy(dtype=np.float64)))
    best = graph.at(value=float(graph.path.index.to_numpy()[place]))
    return replace(best, chosen=f"{best.chosen} by the extended BIC")


def _entries(matrix: Any, rows: Any, columns: Any) -> Array:
    """Values (m,) of a sparse matrix at pairs."""
    if not len(rows):
        return np.zeros(0)
    found = sparse.csr_array(matrix)[rows, columns]
    found = found.toarray() if sparse.issparse(found) else found
    return np.asarray(found, dtype=np.float64).ravel()


def _position(name: str, value: Any, known: Array) -> int:
    """Place of a value on the path."""
    if not len(known):
        raise ParameterError("this graph has no path; use n_edges=.")
    try:
        distance = np.abs(known - float(value))
    except (TypeError, ValueError):
        raise ParameterError(f"{name}={value!r} must be a number.") from None
    nearest = int(np.argmin(distance))
    if not distance[nearest] <= _PRINTED * abs(known[nearest]):
        near = np.sort(known[np.argsort(distance, kind="stable")[:5]])
        raise ParameterError(
            f"{name}={value!r} is not on the path; near it are "
            f"{listed((f'{v:.6g}' for v in near), quote=False)}. All are in path.index."
        )
    return nearest
