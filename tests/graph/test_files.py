"""Graphs on disk: bit-identical when read back, readable elsewhere, harmless when damaged."""

import csv
import json
import sys
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from robustsparse.base.errors import DataError, MissingDependencyError
from robustsparse.graph.files import is_graph_file
from robustsparse.graph.path import graph_from_path
from robustsparse.graph.result import GraphResult, load_graph

NODES = ["age", 'a "b" <c> & d', "naïve", "x\ty", "alone"]


@pytest.fixture
def graph() -> GraphResult:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    S = np.corrcoef(X.T)
    matrices = [np.where(np.abs(S) > cut, S, 0.0) for cut in (0.3, 0.1, 0.03)]
    for matrix in matrices:
        matrix[4, :4] = matrix[:4, 4] = 0.0
    made = graph_from_path(NODES, matrices, [0.3, 0.1, 0.03], S, method="cuts", nobs=40, value=0.03)
    weights = pd.Series(rng.random(40), index=[f"row{i}" for i in range(40)], name="weight")
    return replace(made, row_weights=weights, stability=made.ranking * 0.7, notes=("a note",))


def same(one: Any, two: Any) -> bool:
    if sparse.issparse(one):
        parts = ("data", "indices", "indptr")
        return all(np.array_equal(getattr(one, p), getattr(two, p)) for p in parts) and (
            one.dtype == two.dtype
        )
    if isinstance(one, pd.DataFrame | pd.Series):
        return one.equals(two) and one.index.name == two.index.name
    if isinstance(one, np.ndarray):
        return np.array_equal(one, two) and one.dtype == two.dtype
    if isinstance(one, tuple) and one and sparse.issparse(one[0]):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two) and type(one) is type(two)


@pytest.mark.parametrize("bare", [False, True])
def test_what_is_saved_comes_back_to_the_last_bit(
    graph: GraphResult, tmp_path: Path, bare: bool
) -> None:
    if bare:
        graph = replace(
            graph, row_weights=None, stability=None, notes=(), steps=(), path=graph.path.iloc[:0]
        )
    graph.save(tmp_path / "graph.rs")
    assert is_graph_file(tmp_path / "graph.rs")
    back = load_graph(tmp_path / "graph.rs")
    for field in fields(GraphResult):
        assert same(getattr(graph, field.name), getattr(back, field.name)), field.name
    assert str(graph.summary()) == str(back.summary())


def test_a_file_without_pickles_only(graph: GraphResult, tmp_path: Path) -> None:
    graph.save(tmp_path / "graph.rs")
    with zipfile.ZipFile(tmp_path / "graph.rs") as archive:
        kinds = {Path(name).suffix for name in archive.namelist()}
        arrays = [archive.read(name) for name in archive.namelist() if name.endswith(".npy")]
    assert kinds == {".json", ".npy"}
    # A pickled array has the dtype of objects in its header.
    assert all(b"'|O'" not in array[:128] for array in arrays)


def rewritten(path: Path, change: Any) -> None:
    """Replace members of an archive: `change` maps the dictionary of its contents."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in change(contents).items():
            archive.writestr(name, content)


DAMAGE: dict[str, Any] = {
    "missing array": lambda c: {n: v for n, v in c.items() if n != "ranking.data.npy"},
    "cut array": lambda c: {**c, "covariance.npy": c["covariance.npy"][:-9]},
    "wrong indices": lambda c: {**c, "ranking.indices.npy": c["ranking.indptr.npy"]},
    "missing field": lambda c: {**c, "result.json": c["result.json"].replace(b'"nobs"', b'"x"')},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_reported(graph: GraphResult, tmp_path: Path, damage: str) -> None:
    graph.save(tmp_path / "graph.rs")
    rewritten(tmp_path / "graph.rs", DAMAGE[damage])
    with pytest.raises(DataError, match="damaged or was changed"):
        load_graph(tmp_path / "graph.rs")


def test_other_files_and_versions_are_refused(graph: GraphResult, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("no archive")
    assert not is_graph_file(other)
    with pytest.raises(DataError, match="not a graph that robustsparse saved"):
        load_graph(other)
    graph.save(tmp_path / "graph.rs")
    newer = json.dumps({"format": "robustsparse.GraphResult", "version": 99})
    rewritten(tmp_path / "graph.rs", lambda c: {**c, "result.json": newer})
    with pytest.raises(DataError, match="format version 99"):
        load_graph(tmp_path / "graph.rs")


GROUPS = {"age": "clinical", "naïve": "trait"}


def test_networkx_has_all_edges_and_attributes(graph: GraphResult) -> None:
    out = graph.to_networkx(GROUPS)
    assert list(out.nodes) == NODES
    assert out.number_of_edges() == graph.n_edges
    for row in graph.edges().to_dict("records"):
        found = out.edges[row["node1"], row["node2"]]
        assert found == {name: row[name] for name in ("weight", "partial_corr", "stability")}
    assert out.nodes["age"] == {"degree": graph.degrees["age"], "group": "clinical"}
    assert "group" not in out.nodes["alone"]
    np.testing.assert_array_equal(nx.to_numpy_array(out, weight=None), graph.adjacency.toarray())


def test_graphml_is_read_by_networkx(graph: GraphResult, tmp_path: Path) -> None:
    graph.to_graphml(tmp_path / "graph.graphml", GROUPS)
    found, expected = nx.read_graphml(tmp_path / "graph.graphml"), graph.to_networkx(GROUPS)
    assert not found.is_directed()
    assert list(found.nodes) == ["n0", "n1", "n2", "n3", "n4"]
    named = nx.relabel_nodes(found, {node: found.nodes[node].pop("label") for node in found})
    assert dict(named.nodes(data=True)) == dict(expected.nodes(data=True))
    assert nx.utils.edges_equal(named.edges(data=True), expected.edges(data=True))


def test_graphml_keeps_nodes_apart_whose_names_print_alike(
    graph: GraphResult, tmp_path: Path
) -> None:
    # Control characters cannot stand in XML, so that names which differ may be written alike.
    names = ("a\n", "a\\n", "b\x01", "b\\x01", "c")
    replace(graph, nodes=names).to_graphml(tmp_path / "graph.graphml")
    found = nx.read_graphml(tmp_path / "graph.graphml")
    written = ["a\n", "a\\n", "b\\x01", "b\\x01", "c"]
    assert list(nx.get_node_attributes(found, "label").values()) == written
    np.testing.assert_array_equal(nx.to_numpy_array(found, weight=None), graph.adjacency.toarray())


def test_graphml_labels_with_characters_xml_cannot_hold(graph: GraphResult, tmp_path: Path) -> None:
    names = ("\r", "\x00", "\ufffe", "\x85", "年齢😀")
    replace(graph, nodes=names).to_graphml(tmp_path / "graph.graphml")
    found = nx.read_graphml(tmp_path / "graph.graphml")
    written = ["\\r", "\\x00", "\\ufffe", "\x85", "年齢😀"]
    assert list(nx.get_node_attributes(found, "label").values()) == written


@pytest.mark.parametrize(
    "index",
    [
        pd.CategoricalIndex(list("abca") * 10, categories=list("cba"), ordered=True, name="batch"),
        pd.CategoricalIndex([2, 1] * 20),
        pd.CategoricalIndex(["u", None] * 20),
        pd.CategoricalIndex(pd.to_datetime(["2020-01-01", "2021-01-01"] * 20)),
    ],
    ids=["ordered", "numbers", "missing", "dates"],
)
def test_labels_of_rows_that_are_categories_come_back(
    graph: GraphResult, tmp_path: Path, index: Any
) -> None:
    assert graph.row_weights is not None
    weights = graph.row_weights.set_axis(index)
    replace(graph, row_weights=weights).save(tmp_path / "graph.rs")
    back = load_graph(tmp_path / "graph.rs").row_weights
    assert back is not None
    pd.testing.assert_series_equal(back, weights)


def test_csv_is_the_table_of_edges(graph: GraphResult, tmp_path: Path) -> None:
    graph.to_csv(tmp_path / "edges.csv")
    with (tmp_path / "edges.csv").open(newline="", encoding="utf-8") as file:
        names, *lines = csv.reader(file)
    edges = graph.edges()
    assert names == list(edges.columns)
    assert [line[:2] for line in lines] == edges[["node1", "node2"]].to_numpy().tolist()
    assert [list(map(float, line[2:])) for line in lines] == edges[names[2:]].to_numpy().tolist()


@pytest.mark.parametrize("name", ["=1+1", "+x", "-log10(p)", "@sum", "\tx", "\rx"])
def test_no_name_is_a_formula_of_a_spreadsheet(
    graph: GraphResult, tmp_path: Path, name: str
) -> None:
    replace(graph, nodes=(name, *NODES[1:])).to_csv(tmp_path / "edges.csv")
    with (tmp_path / "edges.csv").open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    ends = {end for line in lines for end in line[:2]}
    assert f"'{name}" in ends
    assert name not in ends
    # Numbers stay numbers, also below zero.
    assert any(line[3].startswith("-") for line in lines)


def test_networkx_is_named_where_it_is_missing(
    graph: GraphResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependencyError, match=r"pip install robustsparse\[graph\]"):
        graph.to_networkx()
