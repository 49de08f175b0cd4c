"""Graphs as sparse matrices: what is accepted, and how pairs are ranked and cut."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from robustsparse.base.errors import DataError
from robustsparse.base.matrices import canonical, upper
from robustsparse.design.networks import as_adjacency, as_groups
from robustsparse.graph.adjacency import entry_ranking, sizes, strongest

NODES = ["a", "b", "c", "d"]
SQUARE = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])


@pytest.mark.parametrize(
    "form",
    [
        SQUARE,
        SQUARE.tolist(),
        SQUARE * -0.5 + 7 * np.eye(4),
        sparse.csc_matrix(SQUARE),
        sparse.coo_array(SQUARE),
        pd.DataFrame(SQUARE),
        pd.DataFrame(SQUARE, NODES, NODES),
        pd.DataFrame(SQUARE, NODES, NODES).loc[list("cabd"), list("dbca")],
    ],
)
def test_every_form_of_a_graph_is_read_alike(form: Any) -> None:
    graph = as_adjacency(form, NODES)
    assert graph.dtype == bool
    np.testing.assert_array_equal(graph.toarray(), SQUARE.astype(bool))


def test_stored_zeros_are_no_edges() -> None:
    stored = sparse.csr_array((np.array([0.0, 0.0]), ([0, 1], [1, 0])), (4, 4))
    assert as_adjacency(stored, NODES).nnz == 0


def test_wrong_graphs_are_named() -> None:
    with pytest.raises(DataError, match=r"shape \(3, 3\); 4 nodes need \(4, 4\)"):
        as_adjacency(np.eye(3), NODES)
    with pytest.raises(DataError, match="'a' and 'b' are tied in one direction only"):
        as_adjacency(np.triu(SQUARE), NODES)
    with pytest.raises(DataError, match="'e' is in one of them only"):
        as_adjacency(pd.DataFrame(SQUARE, [*NODES[:3], "e"], [*NODES[:3], "e"]), [*NODES[:3], "z"])


@pytest.mark.parametrize(
    "groups",
    [
        ["u", None, "v", "u"],
        np.array(["u", None, "v", "u"], dtype=object),
        {"d": "u", "c": "v", "a": "u"},
        pd.Series(["u", "v", "u", "w"], index=["a", "c", "d", "stranger"]),
        pd.Series(["u", None, "v", "u"]),
        pd.Categorical(["u", None, "v", "u"]),
    ],
)
def test_every_form_of_groups_is_read_alike(groups: Any) -> None:
    known = as_groups(groups, NODES)
    assert list(known.index) == NODES
    assert known.cat.codes.tolist() == [0, -1, 1, 0]
    assert list(known.cat.categories) == ["u", "v"]


def test_categories_keep_their_order_and_numbers_theirs() -> None:
    ordered = pd.Series(pd.Categorical(["low", "high", "low", "high"], ["low", "high"]), NODES)
    assert list(as_groups(ordered, NODES).cat.categories) == ["low", "high"]
    assert list(as_groups([10, 9, 10, 2], NODES).cat.categories) == [2, 9, 10]
    assert list(as_groups([10, "x", 10, 2], NODES).cat.categories) == [2, 10, "x"]


def test_numbers_within_names_of_groups_are_sorted_by_size() -> None:
    groups = ["g10", "g2", "g1", "a"]
    for form in (groups, pd.Categorical(groups), dict(zip(NODES, groups, strict=True))):
        assert list(as_groups(form, NODES).cat.categories) == ["a", "g1", "g2", "g10"]
    # An order that was given stays, be it one that sorting would give.
    ordered = pd.Categorical(groups, sorted(groups), ordered=True)
    assert list(as_groups(ordered, NODES).cat.categories) == ["a", "g1", "g10", "g2"]


NUMBERS = ["10", "2", "0"]


@pytest.mark.parametrize(
    "groups",
    [
        {10: "u", 2: "v", 0: "w"},
        {"10": "u", 2: "v", 0: "w"},
        pd.Series(["w", "v", "u"], index=[0, 2, 10]),
        # The plain count, though one of its numbers is also a node.
        pd.Series(["u", "v", "w"]),
        ["u", "v", "w"],
    ],
)
def test_groups_go_by_labels_that_are_numbers(groups: Any) -> None:
    assert as_groups(groups, NUMBERS).tolist() == ["u", "v", "w"]


def test_a_plain_count_goes_by_name_where_the_nodes_are_called_so() -> None:
    assert as_groups(pd.Series(["u", "v", "w"]), ["2", "0", "1"]).tolist() == ["w", "u", "v"]
    square = pd.DataFrame([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert np.argwhere(as_adjacency(square, ["2", "0", "1"]).toarray()).tolist() == [[1, 2], [2, 1]]


def test_graphs_go_by_labels_that_are_numbers() -> None:
    labels = [2, 0, 10]
    square = pd.DataFrame([[0, 1, 0], [1, 0, 0], [0, 0, 0]], labels, labels)
    assert np.argwhere(as_adjacency(square, NUMBERS).toarray()).tolist() == [[1, 2], [2, 1]]
    # Names on one side hold for the other.
    for half in (square.reset_index(drop=True), square.T.reset_index(drop=True).T):
        assert not (as_adjacency(half, NUMBERS) != as_adjacency(square, NUMBERS)).nnz
    with pytest.raises(DataError, match="'10' is in one of them only"):
        as_adjacency(square.rename(columns={10: 11}), NUMBERS)
    with pytest.raises(DataError, match="has node '2' twice"):
        as_adjacency(square.iloc[[0, 1, 2, 0]], NUMBERS)


@pytest.mark.parametrize(
    "groups",
    [{"u", "v"}, (group for group in "uuvv"), "uuvv", b"uuvv", 5, np.ones((4, 2)), pd.DataFrame({"g": list("uuvv")})],
    ids=["set", "generator", "text", "bytes", "number", "matrix", "frame"],
)  # fmt: skip
def test_what_is_no_sequence_of_groups_is_named(groups: Any) -> None:
    with pytest.raises(DataError, match=f"groups is a {type(groups).__name__}; give the group"):
        as_groups(groups, NODES)


def test_groups_that_cannot_be_told_apart_are_named() -> None:
    with pytest.raises(DataError, match=r"groups has \['u'\] for a group"):
        as_groups([["u"], ["u"], ["v"], ["v"]], NODES)


def test_wrong_groups_are_named() -> None:
    with pytest.raises(DataError, match="groups has 3 values; there are 4 nodes"):
        as_groups(["u", "v", "u"], NODES)
    with pytest.raises(DataError, match="none of the nodes; its first is 'A'"):
        as_groups({"A": 1, "B": 2}, NODES)
    with pytest.raises(DataError, match="node 'a' twice"):
        as_groups(pd.Series([1, 2], index=["a", "a"]), NODES)


@given(st.integers(0, 28), st.integers(0, 10_000))
def test_the_strongest_pairs_are_the_largest_entries(n: int, seed: int) -> None:
    values = np.triu(np.random.default_rng(seed).integers(0, 6, (8, 8)).astype(float), 1)
    graph = strongest(sparse.csr_array(values + values.T), n)
    chosen = np.triu(graph.toarray(), 1)
    positive = values[values > 0]
    assert chosen.sum() == min(n, len(positive))
    assert not (chosen & (values == 0)).any()
    if 0 < n < len(positive):
        left_out = values[(values > 0) & ~chosen]
        assert values[chosen].min() >= left_out.max()
    assert not (graph != graph.T).nnz


def test_ties_go_to_the_pair_that_comes_first() -> None:
    rows, columns, _ = upper(strongest(sparse.csr_array(np.ones((4, 4))), 2))
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == [(0, 1), (0, 2)]


def test_an_earlier_step_outranks_every_later_size() -> None:
    tiny, huge = np.zeros((4, 4)), np.zeros((4, 4))
    tiny[0, 1] = tiny[1, 0] = 1e-300
    tiny[1, 3] = tiny[3, 1] = 1.0
    huge[0, 1] = huge[1, 0] = 1e-300
    huge[2, 3] = huge[3, 2] = 1e300
    huge[0, 2] = huge[2, 0] = 1.0
    ranking = entry_ranking([sizes(tiny), sizes(huge)]).toarray()
    assert ranking[1, 3] > ranking[0, 1] > ranking[2, 3] > ranking[0, 2] > 0
    assert ranking[1, 2] == 0
    np.testing.assert_array_equal(ranking, ranking.T)


def test_a_pair_keeps_the_rank_of_its_first_entry_though_it_leaves() -> None:
    one, two = np.zeros((3, 3)), np.zeros((3, 3))
    one[0, 1] = one[1, 0] = 1.0
    two[1, 2] = two[2, 1] = 1.0
    ranking = entry_ranking([sizes(one), sizes(two), sizes(one)]).toarray()
    assert ranking[0, 1] == 1.0
    assert 1 / 3 < ranking[1, 2] <= 2 / 3


def test_rounding_in_one_half_is_allowed_and_asymmetry_is_not() -> None:
    matrix = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 1e-13], [0.0, 0.0, 1.0]])
    # An entry that is in one half only, by rounding, counts for both.
    assert sizes(matrix).nnz == 4
    with pytest.raises(DataError, match="not symmetric"):
        sizes(np.triu(SQUARE))
    with pytest.raises(DataError, match="missing or infinite"):
        sizes(np.array([[0, np.nan], [np.nan, 0]]))


def test_dense_and_sparse_matrices_have_one_form() -> None:
    matrix = np.array([[0.0, 2.0, 0.0], [-1.0, 0.0, 3.0]])
    dense, compressed = canonical(matrix), canonical(sparse.coo_array(matrix))
    assert dense.shape == compressed.shape
    for part in ("data", "indices", "indptr"):
        ours, theirs = getattr(dense, part), getattr(compressed, part)
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


def test_canonical_form_is_one_for_each_matrix() -> None:
    messy = sparse.csr_array((np.array([1.0, 2.0, 0.0]), np.array([2, 0, 1]), np.array([0, 3])))
    clean = canonical(messy)
    assert clean.indices.tolist() == [0, 2]
    assert clean.data.tolist() == [2.0, 1.0]
