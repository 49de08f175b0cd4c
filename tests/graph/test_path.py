"""From a path of matrices to a graph: which is chosen."""

import numpy as np
import pytest
from scipy import sparse

import robustsparse as rs
from robustsparse.base.errors import DataError, DataWarning, ParameterError
from robustsparse.graph.path import graph_from_path
from robustsparse.report.roc import edge_confusion


def thresholded(n: int, d: int, seed: int) -> tuple[rs.simulate.Simulation, dict[str, object]]:
    """Partial correlations of a band graph's data, cut at a path of thresholds."""
    sim = rs.simulate.graph(n, d, kind="band", v=0.6, epsilon=0, rng=seed)
    S = np.corrcoef(sim.X.T)
    omega = np.linalg.inv(S)
    root = np.sqrt(np.diag(omega))
    partial = -omega / np.outer(root, root)
    cuts = np.geomspace(0.5, 0.02, 15)
    matrices = [np.where(np.abs(partial) > cut, partial, 0.0) for cut in cuts]
    names = [f"x{i}" for i in range(d)]
    return sim, {
        "nodes": names,
        "matrices": matrices,
        "values": cuts,
        "covariance": S,
        "method": "thresholds",
        "nobs": n,
    }


def test_the_extended_bic_finds_a_clear_graph() -> None:
    found = []
    for seed in range(6):
        sim, path = thresholded(600, 25, seed)
        graph = graph_from_path(**path)  # type: ignore[arg-type]
        assert graph.path["criterion"].idxmin() == pytest.approx(
            graph.path.index[graph_place(graph)]
        )
        found.append(edge_confusion(graph.adjacency, sim.adjacency).f1)
    # The margin is for seeds where a neighbor of a neighbor comes in.
    assert np.mean(found) > 0.95


def graph_place(graph: rs.GraphResult) -> int:
    return next(i for i, s in enumerate(graph.steps) if not (s != graph.adjacency).nnz)


def test_a_number_of_edges_or_a_value_need_no_criterion() -> None:
    _, path = thresholded(100, 12, 0)
    most = graph_from_path(**path, max_edges=7)  # type: ignore[arg-type]
    assert most.n_edges == 7
    assert list(most.path.columns) == ["n_edges"]
    assert most.path.index.name == "lambda"
    given = graph_from_path(**path, value=0.5)  # type: ignore[arg-type]
    assert given.n_edges == given.path["n_edges"].iloc[0]
    assert given.chosen == "lambda = 0.5"


def test_fewer_edges_than_asked_for_are_told() -> None:
    _, path = thresholded(100, 12, 0)
    with pytest.warns(DataWarning, match="max_edges=10,000 is more than the pairs") as record:
        every = graph_from_path(**path, max_edges=10_000)  # type: ignore[arg-type]
    assert every.n_edges == every.ranking.nnz // 2
    assert str(record[0].message).endswith(f"all of them: {every.n_edges}.")
    assert record[0].filename == __file__
    # As many as there are is no reason to warn; warnings are errors here.
    assert every.up_to(every.n_edges).n_edges == every.n_edges
    with pytest.raises(ParameterError, match=r"max_edges=2.5 must be a whole number"):
        graph_from_path(**path, max_edges=2.5)  # type: ignore[arg-type]


def test_ranking_of_nested_steps_agrees_with_every_step() -> None:
    _, path = thresholded(100, 12, 1)
    graph = graph_from_path(**path, max_edges=1)  # type: ignore[arg-type]
    for step in graph.steps:
        n = step.nnz // 2
        assert not (graph.at(n_edges=n).adjacency != step).nnz


def test_sparse_matrices_and_a_given_criterion() -> None:
    _, path = thresholded(100, 12, 2)
    path["matrices"] = [sparse.csc_matrix(m) for m in path["matrices"]]  # type: ignore[attr-defined]
    criterion = np.arange(15.0)[::-1]
    criterion[0] = np.nan
    graph = graph_from_path(**path, columns={"criterion": criterion})  # type: ignore[arg-type]
    assert graph_place(graph) == 14


def test_a_bound_on_the_compared_graphs() -> None:
    _, path = thresholded(100, 12, 2)
    columns = {"criterion": -np.arange(15.0)}
    n_edges = graph_from_path(**path, columns=columns).path["n_edges"].to_numpy()  # type: ignore[arg-type]
    for place in (9, 14):
        most = int(n_edges[place])
        bounded = graph_from_path(**path, columns=columns, compare_up_to=most)  # type: ignore[arg-type]
        assert bounded.n_edges == most
    # Where only the empty graph would be left, the bound says nothing.
    path["matrices"] = [np.eye(12), np.ones((12, 12))]
    path["values"] = [0.5, 0.1]
    columns = {"criterion": np.array([0.0, -5.0])}
    full = graph_from_path(**path, columns=columns, compare_up_to=10)  # type: ignore[arg-type]
    assert full.n_edges == 66


def test_what_does_not_fit_is_refused() -> None:
    _, path = thresholded(50, 6, 0)
    with pytest.raises(ParameterError, match="max_edges= or value=, not both"):
        graph_from_path(**path, max_edges=3, value=0.5)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="15 matrices do not fit 1 values of lambda"):
        graph_from_path(**{**path, "values": [1.0]})  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"ranking has shape \(6, 6\); 5 nodes need"):
        graph_from_path(**{**path, "nodes": list("abcde")})  # type: ignore[arg-type]
