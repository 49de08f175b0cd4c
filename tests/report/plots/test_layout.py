"""Where nodes go: apart from each other, components apart, always the same."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial.distance import pdist

import robustsparse as rs
from robustsparse.report.plots.layout import CLOSEST, lay_out

# Pushing apart stops after a number of rounds, a little short of the goal in dense parts.
ALMOST = 0.9

KINDS = ["cluster", "hub", "band", "random", "scale-free"]


def simulated(kind: str, d: int = 60) -> sparse.csr_array:
    prob = 0.02 if kind == "random" else None
    return sparse.csr_array(rs.simulate.graph(5, d, kind=kind, prob=prob, rng=0).adjacency)


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_nodes_overlap(kind: str) -> None:
    assert pdist(lay_out(simulated(kind))).min() > ALMOST * CLOSEST


def test_dense_graphs_do_not_collapse() -> None:
    at = lay_out(sparse.csr_array(~np.eye(40, dtype=bool)))
    assert pdist(at).min() > ALMOST * CLOSEST
    assert np.ptp(at, axis=0).max() < 20


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("kind", ["cluster", "hub", "random"])
def test_boxes_of_components_do_not_overlap(kind: str, aspect: float) -> None:
    graph = simulated(kind)
    at = lay_out(graph, aspect)
    count, label = csgraph.connected_components(graph, directed=False)
    boxes = [(at[label == c].min(axis=0), at[label == c].max(axis=0)) for c in range(count)]
    for (low, high), (start, end) in combinations(boxes, 2):
        assert (high < start).any() or (end < low).any()


def test_wide_places_get_wide_layouts() -> None:
    graph = simulated("hub", 100)
    shapes = {aspect: np.ptp(lay_out(graph, aspect), axis=0) for aspect in (0.4, 2.5)}
    assert shapes[0.4][0] < shapes[0.4][1]
    assert shapes[2.5][0] > shapes[2.5][1]


def test_neighbors_are_nearer_than_others() -> None:
    # A ring: what is near in the graph is near in the plane.
    n = 30
    ring = np.roll(np.eye(n, dtype=bool), 1, axis=1)
    at = lay_out(sparse.csr_array(ring | ring.T))
    gaps = np.linalg.norm(at - np.roll(at, 1, axis=0), axis=1)
    across = np.linalg.norm(at - np.roll(at, n // 2, axis=0), axis=1)
    assert gaps.max() < 0.5 * across.min()


def test_two_dense_groups_part() -> None:
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1], 30)
    chance = np.where(label[:, None] == label, 0.4, 0.01)
    upper = np.triu(rng.random((60, 60)) < chance, 1)
    at = lay_out(sparse.csr_array(upper | upper.T))
    middles = np.array([at[label == g].mean(axis=0) for g in (0, 1)])
    nearest = np.linalg.norm(at[:, None] - middles, axis=2).argmin(axis=1)
    assert (nearest == label).mean() == 1.0


def test_the_layout_is_the_same_at_every_call() -> None:
    graph = simulated("cluster")
    np.random.seed(1)  # noqa: NPY002 - the global state must not matter
    one = lay_out(graph)
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(one, lay_out(graph))


def test_isolated_nodes_stand_in_rows_below() -> None:
    graph = np.zeros((40, 40), bool)
    graph[:5, :5] = ~np.eye(5, dtype=bool)
    at = lay_out(sparse.csr_array(graph))
    assert at[5:, 1].max() < at[:5, 1].min() - 1
    assert len(np.unique(at[5:, 1].round(6))) <= 6
    assert pdist(at[5:]).min() > CLOSEST


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_tiny_and_empty_graphs(d: int) -> None:
    empty = lay_out(sparse.csr_array((d, d), dtype=bool))
    assert empty.shape == (d, 2)
    assert np.isfinite(empty).all()
    full = lay_out(sparse.csr_array(~np.eye(d, dtype=bool)))
    assert np.isfinite(full).all()
    assert d == 1 or pdist(full).min() > ALMOST * CLOSEST
    assert lay_out(sparse.csr_array((0, 0), dtype=bool)).shape == (0, 2)


def test_large_graphs_use_samples_and_still_part() -> None:
    # More nodes than repel in one step.
    d = 900
    graph = sparse.csr_array(rs.simulate.graph(5, d, kind="band", rng=0).adjacency)
    at = lay_out(graph)
    gaps = np.linalg.norm(np.diff(at, axis=0), axis=1)
    assert np.isfinite(at).all()
    assert np.median(gaps) < 0.1 * np.ptp(at, axis=0).max()
