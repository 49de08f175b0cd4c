"""From the matrices of a path to a `GraphResult`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.matrices import canonical
from robustsparse.graph.adjacency import entry_ranking, sizes
from robustsparse.graph.neighborhoods import graph_criterion
from robustsparse.graph.result import GraphResult


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
    compare_up_to: int | None = None,
    columns: Mapping[str, Sequence[float]] | None = None,
    rule: str | None = None,
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
        Number of edges of the graph; fewer, with a warning, if fewer ever enter.
    value : float, optional
        Value of the parameter to take the graph at.
    compare_up_to : int, optional
        Largest number of edges of the graphs that the extended BIC compares, for a covariance that larger graphs
        explain too well; no bound if every step but the empty graph is beyond it.
    columns : mapping of str to sequence of float, optional
        More columns of the path, by name.
    rule : {"and", "or"}, optional
        How two directions were combined.
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
    entries = [sizes(matrix) for matrix in matrices]
    steps = tuple(canonical(entry > 0) for entry in entries)
    table: dict[str, Any] = {"n_edges": [step.nnz // 2 for step in steps], **(columns or {})}
    if max_edges is None and value is None and "criterion" not in table:
        table["criterion"] = [graph_criterion(S, step, nobs) for step in steps]
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
        notes=tuple(notes),
    )
    return _choose(graph, max_edges, value, compare_up_to)


def _choose(
    graph: GraphResult, max_edges: int | None, value: float | None, compare_up_to: int | None
) -> GraphResult:
    """The graph that was asked for, or the one with the smallest criterion."""
    if max_edges is not None:
        return graph.up_to(max_edges)
    if value is not None:
        return graph.at(value=value)
    place = best_step(graph.path, compare_up_to)
    best = graph.at(value=float(graph.path.index.to_numpy()[place]))
    return replace(best, chosen=f"{best.chosen} by the extended BIC")


def best_step(path: pd.DataFrame, up_to: int | None = None) -> int:
    """Step of a path with the smallest criterion, the first of several; what is missing does not count.

    Parameters
    ----------
    path : DataFrame
        Columns `n_edges` and `criterion`, one row a step.
    up_to : int, optional
        Largest number of edges; no bound if no step between it and the empty graph is left.

    Examples
    --------
    >>> path = pd.DataFrame({"n_edges": [0, 3, 9], "criterion": [0.0, -2.0, -5.0]})
    >>> best_step(path), best_step(path, up_to=5), best_step(path, up_to=2)
    (2, 1, 2)
    """
    n_edges = path["n_edges"].to_numpy()
    allowed = n_edges <= (np.inf if up_to is None else up_to)
    if not n_edges[allowed].any():
        allowed[:] = True
    return int(np.nanargmin(np.where(allowed, path["criterion"].to_numpy(np.float64), np.nan)))
