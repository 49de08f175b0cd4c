"""What a printed summary says of a graph."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.sparse import csgraph

from robustsparse.base.matrices import canonical
from robustsparse.base.text import listed
from robustsparse.report.summary.report import Summary
from robustsparse.report.summary.words import printable

if TYPE_CHECKING:
    from robustsparse.graph.result import GraphResult

# Edges in the table, and nodes or rows named in a note.
_SHOWN = 10


def summarize_graph(graph: "GraphResult") -> Summary:
    """Summary of a graph: how it was made, its shape, the strongest edges, and notes in plain words."""
    empty = "no edges"
    return Summary(
        "Graph of conditional dependence", _head(graph), _table(graph), _notes(graph), empty
    )


def _head(graph: "GraphResult") -> tuple[tuple[str, str], ...]:
    d, n_edges = len(graph.nodes), graph.n_edges
    degrees = graph.degrees.to_numpy()
    pairs = d * (d - 1) // 2
    head = [
        ("Method", graph.method),
        ("Graph", graph.chosen),
        ("Rows", f"{graph.nobs:,}"),
        ("Rejected rows", "not screened" if graph.row_weights is None else _rejected(graph)),
        ("Nodes", f"{d:,}"),
        ("Edges", f"{n_edges:,} of {pairs:,} pairs"),
        ("Density", f"{n_edges / max(pairs, 1):.3g}"),
        ("Mean degree", f"{degrees.mean() if d else 0:.3g}"),
        ("Largest degree", str(degrees.max(initial=0))),
        ("Isolated nodes", str(int((degrees == 0).sum()))),
        ("Components", _components(graph)),
    ]
    if graph.rule is not None:
        head.append(("Rule", _RULES.get(graph.rule, graph.rule)))
    return tuple(head)


_RULES = {"and": "and (both directions)", "or": "or (either direction)"}


def _rejected(graph: "GraphResult") -> str:
    assert graph.row_weights is not None
    return str(int((graph.row_weights == 0).sum()))


def _components(graph: "GraphResult") -> str:
    """Number of components with edges, and the size of the largest."""
    label = csgraph.connected_components(canonical(graph.adjacency), directed=False)[1]
    sizes = np.bincount(label)
    tied = sizes[sizes > 1]
    return f"{len(tied)}, largest {tied.max()} nodes" if len(tied) else "none with edges"


def _table(graph: "GraphResult") -> pd.DataFrame:
    """Strongest edges, one a row."""
    edges = graph.edges().head(_SHOWN)
    names = [
        f"{printable(one)} – {printable(two)}"
        for one, two in zip(edges["node1"], edges["node2"], strict=True)
    ]
    table = {
        "Strength": edges["weight"].to_numpy(),
        "Partial corr.": edges["partial_corr"].to_numpy(),
    }
    if "stability" in edges:
        table["Stable share"] = edges["stability"].to_numpy()
    return pd.DataFrame(table, index=names)


def _notes(graph: "GraphResult") -> tuple[str, ...]:
    notes = []
    if graph.n_edges > _SHOWN:
        notes.append(f"The {_SHOWN} strongest of {graph.n_edges:,} edges; edges() has all of them.")
    if graph.n_edges:
        notes.append(
            "Partial correlations come from regressions of each node on its neighbors in this graph, on the covariance "
            "matrix that the method rests on."
        )
        notes.append(f"Most neighbors: {_hubs(graph.degrees)}.")
    alone = graph.isolated()
    if alone:
        notes.append(
            f"Without neighbors: {listed(map(printable, alone), quote=False, most=_SHOWN)}."
        )
    if graph.row_weights is not None and (graph.row_weights == 0).any():
        rows = list(graph.row_weights.index[graph.row_weights == 0])
        notes.append(
            f"Rejected rows, to be checked: {listed(map(printable, rows), quote=False, most=_SHOWN)}."
        )
    return (*notes, *(_sentence(note) for note in graph.notes))


def _sentence(note: str) -> str:
    """A note with a capital letter and a full stop."""
    return f"{note[:1].upper()}{note[1:].removesuffix('.')}."


def _hubs(degrees: "pd.Series[int]") -> str:
    most = degrees[degrees > 0].sort_values(ascending=False, kind="stable").head(5)
    return ", ".join(f"{printable(name)} ({count})" for name, count in most.items())
