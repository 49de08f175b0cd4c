"""How many edges: sizes refined around the best, and the better of two orders."""

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.graph.adjacency import strongest
from robustsparse.graph.cuts import better_order, compared_cuts, refined
from robustsparse.graph.neighborhoods import graph_criterion
from robustsparse.graph.ranking import Ranking


@pytest.mark.parametrize("best", [0, 1, 2, 49, 777, 5000])
def test_the_smallest_value_of_a_valley_is_found(best):
    asked = []

    def value(size):
        asked.append(size)
        return abs(size - best)

    found = refined(value, 5000)
    assert min(found, key=found.get) == best
    assert list(found) == sorted(found)
    assert len(asked) == len(set(asked)) <= 70


def test_ties_go_to_the_fewest_edges():
    found = refined(lambda size: 0.0, 40)
    assert min(found, key=found.get) == 0


def test_cuts_have_the_criterion_of_their_graphs():
    sim = rs.simulate.graph(150, 20, kind="band", v=0.6, epsilon=0.0, rng=0)
    graph = rs.robust_ns(sim.X, n_jobs=1)
    cuts = compared_cuts(graph.ranking, None, graph.covariance, 150)
    for size in (0, graph.n_edges):
        cut = strongest(graph.ranking, size)
        assert cuts.loc[size, "criterion"] == pytest.approx(
            graph_criterion(graph.covariance, cut, 150)
        )
    assert cuts["criterion"].idxmin() == graph.n_edges


def test_the_order_with_the_smaller_criterion_is_taken():
    """A true order beside one that is upside down."""
    sim = rs.simulate.graph(400, 15, kind="band", v=0.6, epsilon=0.0, rng=0)
    S = np.corrcoef(sim.X.T)
    right, wrong = np.abs(S) - np.eye(15), 1.0 - np.abs(S)
    for scores, stronger in ((right, wrong), (wrong, right)):
        ranking = Ranking(scores, None, np.zeros((1, 0)), stronger)
        assert np.array_equal(better_order(ranking, S, 400).scores, right)


def test_chains_have_all_their_edges_and_no_others():
    """Thirty sizes that grow geometrically took 51 edges where there are 49."""
    exact = [
        rs.robust_ns(sim.X, n_jobs=1).n_edges == 49
        for seed in range(5)
        if (sim := rs.simulate.graph(200, 50, kind="band", v=0.6, rng=seed)) is not None
    ]
    assert sum(exact) >= 4


def test_hubs_have_their_neighbors():
    """The average of both directions hides edges of hubs: F1 is 0.92 with it, and 0.97 with the stronger one."""
    found = []
    for seed in range(6):
        sim = rs.simulate.graph(200, 50, kind="hub", clusters=5, epsilon=0.0, rng=seed)
        edges = rs.robust_ns(sim.X, n_jobs=1).adjacency.toarray()
        found.append(2 * (edges & sim.adjacency).sum() / (edges.sum() + sim.adjacency.sum()))
    assert np.mean(found) > 0.945
