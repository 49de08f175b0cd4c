"""What the summary of a graph says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from robustsparse.graph.path import graph_from_path
from robustsparse.graph.result import GraphResult


def star(d: int) -> GraphResult:
    """A hub tied to all nodes but the last; a pair enters at each step."""
    names = [f"node_{i}" for i in range(d)]
    S = np.eye(d)
    S[0, 1:-1] = S[1:-1, 0] = 0.9 / np.sqrt(d) * np.linspace(1, 0.5, d - 2)
    matrices = [np.where(np.abs(S) >= cut, S, 0.0) for cut in np.sort(S[0, 1:-1])[::-1]]
    values = np.arange(len(matrices), 0, -1.0)
    return graph_from_path(
        names, matrices, values, S, method="robust neighborhoods", nobs=1234, value=1.0, rule="and"
    )


@pytest.fixture
def graph() -> GraphResult:
    weights = pd.Series(np.r_[np.zeros(12), np.ones(1222)])
    return replace(star(15), row_weights=weights, notes=("column z is constant",))


def test_shape_method_and_choice_are_in_the_head(graph: GraphResult) -> None:
    head = dict(graph.summary().head)
    assert head == {
        "Method": "robust neighborhoods",
        "Graph": "lambda = 1",
        "Rows": "1,234",
        "Rejected rows": "12",
        "Nodes": "15",
        "Edges": "13 of 105 pairs",
        "Density": "0.124",
        "Mean degree": "1.73",
        "Largest degree": "13",
        "Isolated nodes": "1",
        "Components": "1, largest 14 nodes",
        "Rule": "and (both directions)",
    }


def test_the_table_has_the_strongest_edges(graph: GraphResult) -> None:
    table = graph.summary().table
    assert len(table) == 10
    assert table.index[0] == "node_0 – node_1"
    assert table["Partial corr."].iloc[0] == graph.edges()["partial_corr"][0]
    assert "Stable share" not in table
    shares = replace(graph, stability=graph.ranking).summary().table["Stable share"]
    assert shares.tolist() == graph.edges()["weight"].head(10).tolist()


def test_notes_name_hubs_isolated_nodes_and_rejected_rows(graph: GraphResult) -> None:
    text = " ".join(graph.summary().notes)
    assert "The 10 strongest of 13 edges" in text
    assert "Most neighbors: node_0 (13), node_1 (1)" in text
    assert "Without neighbors: node_14." in text
    assert "Rejected rows, to be checked: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more." in text
    assert graph.summary().notes[-1] == "Column z is constant."


def test_a_graph_without_edges_has_a_summary(graph: GraphResult) -> None:
    text = str(graph.at(n_edges=0).summary())
    assert "no edges" in text
    assert "none with edges" in text
    assert "Most neighbors" not in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_text_keeps_to_the_page_with_long_names(graph: GraphResult, width: int) -> None:
    names = tuple(f"expression of gene number {i} at the first visit_$x^{i}$" for i in range(15))
    summary = replace(graph, nodes=names).summary()
    assert max(map(len, summary.text(width).splitlines())) <= width
    assert r"\$x\textasciicircum{}0\$" in summary.to_latex()
    assert "number 14 at" in summary._repr_html_()
