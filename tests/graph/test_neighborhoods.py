"""Precision matrices and partial correlations from regressions on neighbors."""

import numpy as np
import pytest
from scipy import sparse

import robustsparse as rs
from robustsparse.graph.adjacency import strongest
from robustsparse.graph.neighborhoods import (
    graph_criterion,
    partial_correlations,
    precision_of_graph,
)

# Inverting the true covariance and solving the neighborhoods each lose a few digits.
EXACT = 1e-10


@pytest.mark.parametrize("kind", ["cluster", "hub", "band", "random", "scale-free"])
def test_the_true_covariance_and_graph_give_the_true_precision(kind: str) -> None:
    sim = rs.simulate.graph(5, 60, kind=kind, v=0.6, epsilon=0, rng=2)
    assert sim.precision is not None
    covariance = np.linalg.inv(sim.precision)
    graph = sparse.csr_array(sim.adjacency)
    omega = precision_of_graph(covariance, graph)
    np.testing.assert_allclose(omega, sim.precision, atol=EXACT)
    # A graph with more edges than the truth gives zeros at those.
    wider = sparse.csr_array(np.asarray(sim.adjacency) | ~np.eye(60, dtype=bool))
    np.testing.assert_allclose(precision_of_graph(covariance, wider), sim.precision, atol=EXACT)


def test_one_edge_is_the_correlation() -> None:
    S = np.array([[4.0, 1.2, 0.3], [1.2, 1.0, 0.1], [0.3, 0.1, 2.0]])
    graph = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool))
    omega = precision_of_graph(S, graph)
    np.testing.assert_allclose(omega[:2, :2], np.linalg.inv(S[:2, :2]), rtol=1e-12)
    np.testing.assert_allclose(omega[2], [0, 0, 0.5])
    assert partial_correlations(omega)[0, 1] == pytest.approx(1.2 / 2.0)


def test_units_change_no_partial_correlation() -> None:
    sim = rs.simulate.graph(80, 20, epsilon=0, rng=0)
    graph = strongest(sparse.csr_array(np.abs(np.corrcoef(sim.X.T))), 30)
    scale = np.geomspace(1e-6, 1e6, 20)
    one = partial_correlations(precision_of_graph(np.cov(sim.X.T), graph))
    two = partial_correlations(precision_of_graph(np.cov((sim.X * scale).T), graph))
    np.testing.assert_allclose(one, two, atol=1e-8)


def test_copies_and_constants_give_finite_numbers() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 5))
    X[:, 1] = X[:, 0]
    X[:, 4] = 3.0
    graph = sparse.csr_array(~np.eye(5, dtype=bool))
    partial = partial_correlations(precision_of_graph(np.cov(X.T), graph))
    assert np.isfinite(partial).all()
    assert (np.abs(partial) <= 1).all()
    assert partial[0, 1] > 0.99
    np.testing.assert_array_equal(np.diag(partial), 1.0)


def test_a_covariance_that_is_not_positive_definite_is_used_as_far_as_it_goes() -> None:
    S = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    assert np.linalg.eigvalsh(S)[0] < 0
    graph = sparse.csr_array(~np.eye(3, dtype=bool))
    omega = precision_of_graph(S, graph)
    assert np.isfinite(omega).all()
    assert (np.diag(omega) > 0).all()


def test_criterion_by_hand() -> None:
    S = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])
    empty = sparse.csr_array((3, 3), dtype=bool)
    edge = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool))
    assert graph_criterion(S, empty, 100) == 0.0
    # n/2 · (two regressions that leave 0.64), plus log n + 2 log d for the edge.
    by_hand = 100 * np.log(0.64) + np.log(100) + 2 * np.log(3)
    assert graph_criterion(S, edge, 100) == pytest.approx(by_hand, rel=1e-12)
    assert graph_criterion(S, edge, 100, gamma=0.0) == pytest.approx(
        by_hand - 2 * np.log(3), rel=1e-12
    )


def test_what_is_explained_to_the_last_digit_counts_no_more_than_rows_can_tell() -> None:
    # Two copies: the variance that is left is a matter of rounding, not of how well an edge explains.
    edge = sparse.csr_array(np.array([[False, True], [True, False]]))
    by_hand = 50 * np.log(1 / 50) + np.log(50) + 2 * np.log(2)
    for left in (1e-4, 1e-9, 0.0):
        S = np.array([[1.0, 1.0 - left], [1.0 - left, 1.0]])
        assert graph_criterion(S, edge, 50) == pytest.approx(by_hand, rel=1e-12)


def test_criterion_prefers_the_truth_to_fewer_and_to_more_edges() -> None:
    better = 0
    for seed in range(6):
        sim = rs.simulate.graph(600, 30, kind="band", v=0.6, epsilon=0, rng=seed)
        S = np.corrcoef(sim.X.T)
        truth = sparse.csr_array(sim.adjacency)
        rng = np.random.default_rng(seed)
        extra = np.triu(rng.random((30, 30)) < 0.03, 1)
        more = sparse.csr_array(np.asarray(sim.adjacency) | extra | extra.T)
        fewer = strongest(truth.astype(float), 20)
        value = graph_criterion(S, truth, 600)
        better += value < min(graph_criterion(S, more, 600), graph_criterion(S, fewer, 600))
    assert better == 6


def test_neighborhoods_as_large_as_half_the_rows_are_not_judged() -> None:
    X = np.random.default_rng(0).standard_normal((10, 8))
    graph = sparse.csr_array(~np.eye(8, dtype=bool))
    assert graph_criterion(np.corrcoef(X.T), graph, 10) == np.inf
