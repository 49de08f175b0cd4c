"""`GraphResult`: its graphs, its numbers by hand, and what it says of wrong input."""

from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import robustsparse as rs
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.graph.path import graph_from_path
from robustsparse.graph.result import GraphResult

mpl.use("Agg")

# Inverting the true covariance and solving the neighborhoods each lose a few digits.
EXACT = 1e-10
NODES = ["age", "bmi", "chol", "dose"]
# Pairs by the step at which they enter: age-bmi, then bmi-chol and (weaker) age-chol.
FIRST = np.zeros((4, 4))
FIRST[0, 1] = FIRST[1, 0] = 0.4
SECOND = FIRST.copy()
SECOND[1, 2] = SECOND[2, 1] = -0.3
SECOND[0, 2] = SECOND[2, 0] = 0.1
S = np.array([[1, 0.5, 0.3, 0], [0.5, 1, -0.4, 0], [0.3, -0.4, 2, 0], [0, 0, 0, 1.0]])


@pytest.fixture
def graph() -> GraphResult:
    path = [np.zeros((4, 4)), FIRST, SECOND]
    return graph_from_path(
        NODES, path, [0.5, 0.25, 0.1], S, method="example", nobs=100, value=0.1, rule="or"
    )


def test_edges_are_listed_strongest_first(graph: GraphResult) -> None:
    edges = graph.edges()
    assert list(edges.columns) == ["node1", "node2", "weight", "partial_corr"]
    assert list(zip(edges["node1"], edges["node2"], strict=True)) == [
        ("age", "bmi"),
        ("bmi", "chol"),
        ("age", "chol"),
    ]
    assert (np.diff(edges["weight"]) < 0).all()
    omega = np.linalg.inv(S[:3, :3])
    by_hand = -omega[0, 1] / np.sqrt(omega[0, 0] * omega[1, 1])
    assert edges["partial_corr"][0] == pytest.approx(by_hand, rel=1e-12)
    pd.testing.assert_frame_equal(edges, graph.support())
    pd.testing.assert_frame_equal(edges, graph.tidy())


def test_stability_is_a_column_where_it_is_known(graph: GraphResult) -> None:
    share = sparse.csr_array(np.where(SECOND != 0, 0.9, 0.2) * (1 - np.eye(4)))
    assert replace(graph, stability=share).edges()["stability"].tolist() == [0.9, 0.9, 0.9]


def test_counts_degrees_and_neighbors(graph: GraphResult) -> None:
    assert graph.n_edges == 3
    assert graph.degrees.to_dict() == {"age": 2, "bmi": 2, "chol": 2, "dose": 0}
    assert graph.neighbors("chol") == ["bmi", "age"]
    assert graph.neighbors("dose") == []
    assert graph.isolated() == ["dose"]
    assert graph.weights.nnz == 6
    assert graph.at(n_edges=1).weights.nnz == 2


def test_nodes_are_addressed_by_labels_that_are_numbers(graph: GraphResult) -> None:
    numbered = replace(graph, nodes=("10", "11", "12", "13"))
    assert numbered.neighbors(12) == numbered.neighbors("12") == ["11", "10"]
    groups = {10: "u", 11: "u", 12: "v", 13: "v"}
    expected = graph.group_summary(["u", "u", "v", "v"])
    pd.testing.assert_series_equal(numbered.group_summary(groups), expected)
    labels = range(10, 14)
    truth = pd.DataFrame(SECOND != 0, labels, labels).iloc[::-1, ::-1]
    assert numbered.roc(truth).auc == 1.0
    names = [text.get_text() for text in numbered.plot(labels=[12]).artists[0].texts]
    assert names == ["12"]
    with pytest.raises(ParameterError, match="99 is no node of this graph"):
        numbered.neighbors(99)


@pytest.mark.parametrize("name", ["", "  ", "\u200b"])
def test_a_name_that_shows_nothing_can_be_drawn(graph: GraphResult, name: str) -> None:
    nameless = replace(graph, nodes=("age", name, "chol", "dose"))
    ax = nameless.plot(groups=["u", name, "u", "u"])
    assert len(ax.artists[0].texts) == 4


def test_matrices_have_the_zeros_of_the_graph(graph: GraphResult) -> None:
    smaller = graph.at(n_edges=2)
    for matrix in (smaller.precision(), smaller.partial_corr()):
        assert list(matrix.index) == list(matrix.columns) == NODES
        assert matrix.loc["age", "chol"] == 0.0
        assert matrix.loc["age", "bmi"] != 0.0
        np.testing.assert_array_equal(matrix, matrix.T)


def test_the_truth_gives_the_true_precision() -> None:
    sim = rs.simulate.graph(5, 40, v=0.6, epsilon=0, rng=0)
    assert sim.precision is not None
    names = [f"x{i}" for i in range(40)]
    truth = np.where(sim.adjacency, sim.precision, 0.0)
    covariance = np.linalg.inv(sim.precision)
    graph = graph_from_path(names, [truth], [1.0], covariance, method="truth", nobs=9, value=1.0)
    np.testing.assert_allclose(graph.precision(), sim.precision, atol=EXACT)


def test_roc_by_hand(graph: GraphResult) -> None:
    # Ranking: age-bmi, bmi-chol, age-chol, then three pairs of dose that tie at zero.
    truth = np.zeros((4, 4), bool)
    for i, j in [(0, 1), (0, 2), (2, 3)]:
        truth[i, j] = truth[j, i] = True
    curve = graph.roc(truth)
    np.testing.assert_allclose(curve.fpr, [0, 0, 1 / 3, 1 / 3, 1])
    np.testing.assert_allclose(curve.tpr, [0, 1 / 3, 1 / 3, 2 / 3, 1])
    # The curve is of the ranking and does not depend on which graph was cut from it.
    assert graph.at(n_edges=1).roc(truth).auc == curve.auc
    named = pd.DataFrame(truth, NODES, NODES).loc[NODES[::-1], NODES[::-1]]
    assert graph.roc(named).auc == curve.auc
    assert graph.roc(sparse.csc_array(truth)).auc == curve.auc


def test_graphs_at_steps_and_sizes(graph: GraphResult) -> None:
    assert [graph.at(value=v).n_edges for v in (0.5, 0.25, 0.1)] == [0, 1, 3]
    assert [graph.at(n_edges=n).n_edges for n in range(4)] == [0, 1, 2, 3]
    assert graph.at(n_edges=2).chosen == "2 strongest edges"
    assert graph.at(n_edges=1).chosen == "the strongest edge"
    assert graph.at(n_edges=0).chosen == "no edges"
    assert graph.at(value=0.25).chosen == "lambda = 0.25"
    assert graph.at(n_edges=0).at(value=0.1).n_edges == 3


@pytest.mark.parametrize("where", [{"n_edges": 1}, {"value": 0.25}])
def test_another_graph_shares_no_table_with_this_one(graph: GraphResult, where: Any) -> None:
    graph = replace(
        graph, row_weights=pd.Series([1.0, 1.0]), cuts=pd.DataFrame({"criterion": [0.0]})
    )
    other = graph.at(**where)
    assert graph.row_weights is not None
    assert graph.cuts is not None
    assert other.row_weights is not None
    assert other.cuts is not None
    other.row_weights.iloc[0] = 0.0
    other.path.iloc[0, 0] = 99
    other.cuts.iloc[0, 0] = 99
    other.adjacency.data[:] = False
    assert graph.row_weights.tolist() == [1.0, 1.0]
    assert graph.path["n_edges"].tolist() == [0, 1, 3]
    assert graph.cuts["criterion"].tolist() == [0.0]
    assert [step.sum() // 2 for step in graph.steps] == [0, 1, 3]


def test_k_of_a_path_over_k() -> None:
    path = [FIRST, SECOND]
    graph = graph_from_path(
        NODES, path, [1, 2], S, method="example", nobs=100, parameter="k", value=1
    )
    assert graph.k == 1
    assert graph.at(k=2).k == 2
    assert graph.at(k=2).n_edges == 3
    assert graph.at(n_edges=2).k is None
    with pytest.raises(ParameterError, match=r"k=5 is not on the path; near it are 1, 2"):
        graph.at(k=5)


WRONG: dict[str, tuple[Any, str]] = {
    "node": (lambda g: g.neighbors("agee"), "'agee' is no node of this graph; did you mean age"),
    "foreign node": (lambda g: g.neighbors("zzz"), "'zzz' is no node of this graph"),
    "k": (lambda g: g.at(k=2), "this path is over lambda, not k; use value= or n_edges="),
    "value": (lambda g: g.at(value=0.3), "lambda=0.3 is not on the path; near it are 0.1, 0.25"),
    "text": (lambda g: g.at(value="x"), "lambda='x' must be a number"),
    "nan": (lambda g: g.at(value=np.nan), "lambda=nan is not on the path"),
    "many": (lambda g: g.at(n_edges=4), "n_edges=4 is more than the 3 pairs"),
    "part": (lambda g: g.at(n_edges=1.5), "n_edges=1.5 must be a whole number"),
    "negative": (lambda g: g.at(n_edges=-1), "n_edges=-1 must be a whole number of at least 0"),
    "nothing": (lambda g: g.at(), "at\\(\\) needs one of"),
    "two": (lambda g: g.at(n_edges=1, value=0.1), "at\\(\\) needs one of"),
    "truth's shape": (lambda g: g.roc(np.eye(3)), r"true_adjacency has shape \(3, 3\)"),
    "truth's halves": (lambda g: g.roc(np.triu(SECOND)), "'age' and 'bmi' are tied in one"),
    "groups": (lambda g: g.group_summary(["u", "v"]), "groups has 2 values; there are 4 nodes"),
    "groups drawn": (lambda g: g.plot(["u", "v"]), "groups has 2 values; there are 4 nodes"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_named(graph: GraphResult, case: str) -> None:
    call, message = WRONG[case]
    with pytest.raises((ParameterError, DataError), match=message):
        call(graph)


def test_a_graph_without_path_says_so(graph: GraphResult) -> None:
    bare = replace(graph, steps=(), path=graph.path.iloc[:0])
    assert bare.at(n_edges=1).n_edges == 1
    with pytest.raises(ParameterError, match="has no path"):
        bare.at(value=0.1)
    with pytest.raises(ParameterError, match="no path to draw"):
        bare.plot_path()


def test_parts_that_do_not_fit_are_refused(graph: GraphResult) -> None:
    with pytest.raises(DataError, match="node 'age' stands twice"):
        replace(graph, nodes=("age", "age", "chol", "dose"))
    with pytest.raises(DataError, match=r"covariance has shape \(3, 3\)"):
        replace(graph, covariance=np.eye(3))
    with pytest.raises(DataError, match="3 steps do not fit a path of 2 rows"):
        replace(graph, path=graph.path.iloc[:2])


def test_group_summary(graph: GraphResult) -> None:
    table = graph.group_summary({"age": "u", "bmi": "u", "chol": "v", "dose": "v"})
    assert list(table.index) == ["purity", "vote_accuracy", "isolated", "modularity"]
    assert table["purity"] == pytest.approx(1 / 3)
    assert table["isolated"] == 1
    # age: u, v tie, its heavier edge leads to bmi (right); bmi likewise; chol: u, u (wrong).
    assert table["vote_accuracy"] == pytest.approx(2 / 3)
    assert table["modularity"] == pytest.approx(1 / 3 - (4 / 6) ** 2 - (2 / 6) ** 2)


def test_plots_mark_what_was_chosen(graph: GraphResult) -> None:
    on_path = graph.at(value=0.25).plot_path()
    assert "lambda = 0.25" in [text.get_text() for text in on_path.texts]
    cut = graph.at(n_edges=2).plot_path()
    assert "2 edges" in [text.get_text() for text in cut.texts]
    assert graph.plot({"age": "u", "bmi": "v"}).get_legend() is not None


def test_repr_says_what_it_is(graph: GraphResult) -> None:
    assert repr(graph) == "<GraphResult: example, 4 nodes, 3 edges (lambda = 0.1)>"


def test_notebooks_show_the_summary(graph: GraphResult) -> None:
    assert graph._repr_html_() == graph.summary()._repr_html_()
    assert "<table" in graph._repr_html_()


def test_nothing_given_is_changed() -> None:
    matrices, covariance = [FIRST.copy(), SECOND.copy()], S.copy()
    graph = graph_from_path(NODES, matrices, [2.0, 1.0], covariance, method="example", nobs=100)
    graph.at(n_edges=2).edges()
    np.testing.assert_array_equal(matrices[1], SECOND)
    np.testing.assert_array_equal(covariance, S)
    covariance[0, 0] = 99.0
    assert graph.covariance[0, 0] == 1.0
