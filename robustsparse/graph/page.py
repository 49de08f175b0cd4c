"""A graph as one page of HTML: summary, pictures and edges."""

from typing import Any

from robustsparse.graph.result import GraphResult
from robustsparse.report.page import Section, page, picture, rows_table

# Edges of the table before the rest is only counted.
_EDGES = 500


def graph_page(graph: GraphResult, groups: Any = None, about: str = "") -> str:
    """A graph as a page.

    Parameters
    ----------
    graph : GraphResult
        The graph.
    groups : mapping, Series or sequence, optional
        Group of each node, which colors it.
    about : str
        How it was made, in a line.
    """
    edges = graph.edges()
    sections = [Section("Summary", graph.summary()._repr_html_())]
    if len(edges):
        sections.append(Section("Network", picture(graph.plot(groups), "The graph as a network")))
    sections.append(Section("Choice of edges", picture(graph.plot_path(), "What was chosen by")))
    if groups is not None:
        agreement = graph.group_summary(groups).to_frame("value")
        sections.append(Section("Agreement with the groups", rows_table(agreement, "measure")))
    more = len(edges) - _EDGES
    rest = f"<p>{more:,} weaker edges are not shown.</p>" if more > 0 else ""
    table = rows_table(edges.head(_EDGES).set_index("node1"), "node1")
    sections.append(Section("Edges", table + rest if len(edges) else "<p>None.</p>"))
    if graph.row_weights is not None:
        low = graph.row_weights[graph.row_weights < 1].sort_values().head(_EDGES)
        rows = rows_table(low.to_frame()) if len(low) else "<p>None.</p>"
        sections.append(Section("Rows that count for less", rows))
    return page(f"Robust graph of {len(graph.nodes):,} variables", about, sections)
