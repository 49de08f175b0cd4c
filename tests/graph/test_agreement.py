"""Agreement of a graph with groups, by hand and against networkx."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from robustsparse.design.networks import as_adjacency, as_groups
from robustsparse.graph.agreement import modularity, purity, vote_accuracy

# Two triangles joined by an edge, and a node alone.
NODES = list("abcdefg")
EDGES = ["ab", "bc", "ac", "de", "ef", "df", "cd"]


def graph(edges: list[str]) -> sparse.csr_array:
    matrix = np.zeros((7, 7))
    for one, two in edges:
        i, j = NODES.index(one), NODES.index(two)
        matrix[i, j] = matrix[j, i] = 1.0
    return as_adjacency(matrix, NODES)


def test_two_triangles_by_hand() -> None:
    A = graph(EDGES)
    groups = as_groups(list("uuuvvvv"), NODES)
    assert purity(A, groups) == pytest.approx(6 / 7)
    assert vote_accuracy(A, 1.0 * A, groups) == 1.0
    # Half of the 14 ends of edges lie in each group.
    assert modularity(A, groups) == pytest.approx(6 / 7 - 2 * 0.5**2)


def test_a_wrong_group_is_outvoted() -> None:
    A = graph(EDGES)
    groups = as_groups(list("vuuvvvv"), NODES)
    # Neighbors of a: u, u (wrong); of b: v, u (a tie); of c: v, u, v (wrong); of d, e, f mostly v (right).
    assert vote_accuracy(A, 1.0 * A, groups) == pytest.approx((0 + 0.5 + 0 + 1 + 1 + 1) / 6)


def test_ties_of_the_vote_go_to_the_heavier_edges() -> None:
    A = graph(["ab", "ac"])
    groups = as_groups(list("uuvuuuu"), NODES)
    heavy_right, heavy_wrong = (1.0 * A).tolil(), (1.0 * A).tolil()
    heavy_right[0, 1] = heavy_right[1, 0] = 2.0
    heavy_wrong[0, 2] = heavy_wrong[2, 0] = 2.0
    # Voters are a (a tie), b (right) and c (wrong).
    assert vote_accuracy(A, heavy_right.tocsr(), groups) == pytest.approx(2 / 3)
    assert vote_accuracy(A, heavy_wrong.tocsr(), groups) == pytest.approx(1 / 3)
    assert vote_accuracy(A, 1.0 * A, groups) == pytest.approx(1.5 / 3)


def test_weights_decide_nothing_but_ties() -> None:
    A = graph(["ab", "ac", "ad"])
    heavy = (1.0 * A).tolil()
    heavy[0, 3] = heavy[3, 0] = 9.0
    # a is u and has neighbors u, u and, by far the heaviest, v; b and c see a (right), d sees a (wrong).
    groups = as_groups(list("uuuvuuu"), NODES)
    assert vote_accuracy(A, heavy.tocsr(), groups) == pytest.approx(3 / 4)


def test_nodes_without_a_group_do_not_count() -> None:
    A = graph(EDGES)
    groups = as_groups({"a": "u", "b": "u", "e": "v"}, NODES)
    # Of the edges only a-b has two groups; e's neighbors have none.
    assert purity(A, groups) == 1.0
    assert vote_accuracy(A, 1.0 * A, groups) == 1.0
    assert modularity(A, groups) == 0.0


def test_an_empty_graph_agrees_with_nothing() -> None:
    A, groups = graph([]), as_groups(list("uuuvvvv"), NODES)
    assert np.isnan(purity(A, groups))
    assert np.isnan(vote_accuracy(A, 1.0 * A, groups))
    assert np.isnan(modularity(A, groups))


@pytest.mark.parametrize("seed", range(5))
def test_modularity_is_that_of_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((40, 40)) < 0.1, 1)
    label = rng.integers(0, 5, 40)
    nodes = [f"x{i}" for i in range(40)]
    groups = [set(np.flatnonzero(label == g)) for g in range(5)]
    expected = nx.community.modularity(nx.from_numpy_array(upper | upper.T), groups)
    found = modularity(as_adjacency(upper | upper.T, nodes), as_groups(label, nodes))
    assert found == pytest.approx(expected, abs=1e-12)
