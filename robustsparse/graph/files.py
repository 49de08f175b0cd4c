"""Graphs on disk: our own archive of plain arrays and JSON, GraphML, and networkx."""

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from robustsparse.base.archive import (
    frame_from_json,
    frame_to_json,
    from_json,
    series_from_json,
    series_to_json,
    to_json,
)
from robustsparse.base.atomic import written_whole
from robustsparse.base.errors import DataError, MissingDependencyError
from robustsparse.base.matrices import canonical
from robustsparse.base.tables import to_csv as write_csv
from robustsparse.base.zipped import Archive, damage_named, opened_archive, write_archive
from robustsparse.design.networks import as_groups
from robustsparse.report.explorer.page import network_page
from robustsparse.report.summary.words import printable

if TYPE_CHECKING:
    from robustsparse.graph.result import GraphResult

GRAPH_FORMAT = "robustsparse.GraphResult"
GRAPH_VERSION = 1
_PLAIN = ("nodes", "k", "rule", "method", "nobs", "chosen", "notes")
_TEXT = "result.json"
# How our text begins, whoever wrote it anew; the format comes first.
_HEAD = 200
_FORMAT_FIRST = re.compile(rb'\s*\{\s*"format"\s*:\s*"' + re.escape(GRAPH_FORMAT.encode()) + rb'"')
# A text that XML gives back as it is: without control characters but tab and line feed, and without halves of pairs.
_FIT_FOR_XML = re.compile("[\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


# ------------------------------------------------------------------------------------ our own files


def save_graph(graph: "GraphResult", path: str | Path) -> None:
    """Write a graph to a file that `read_graph` reads."""
    meta = {name: to_json(getattr(graph, name)) for name in _PLAIN}
    meta["path"], meta["cuts"] = frame_to_json(graph.path), frame_to_json(graph.cuts)
    meta["row_weights"] = None if graph.row_weights is None else series_to_json(graph.row_weights)
    meta["steps"] = len(graph.steps)
    arrays = {"covariance": graph.covariance}
    for name, matrix in _matrices(graph).items():
        arrays |= {f"{name}.{part}": array for part, array in _parts(matrix).items()}
    text = {"format": GRAPH_FORMAT, "version": GRAPH_VERSION, "result": meta}
    members = {f"{name}.npy": _bytes(array) for name, array in arrays.items()}
    write_archive(path, {_TEXT: json.dumps(text, allow_nan=False), **members})


def _matrices(graph: "GraphResult") -> dict[str, Any]:
    """Sparse matrices of a graph by the name they have in the file."""
    named = {"ranking": graph.ranking, "adjacency": graph.adjacency}
    if graph.stability is not None:
        named["stability"] = graph.stability
    return named | {f"step{i}": step for i, step in enumerate(graph.steps)}


def _parts(matrix: Any) -> dict[str, NDArray[Any]]:
    rows = canonical(matrix)
    return {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}


def _bytes(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def is_graph_file(path: str | Path) -> bool:
    """Whether a file holds a graph that `GraphResult.save` wrote, of any version."""
    try:
        with opened_archive(path, "graph", trusted=True) as archive:
            return _FORMAT_FIRST.match(archive.begins(_TEXT, _HEAD)) is not None
    except DataError:
        return False


def read_graph(path: str | Path, *, trusted: bool = False) -> dict[str, Any]:
    """Fields of a graph from a file; nothing in it can run.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : bool
        Whether to unpack it however large it becomes.
    """
    with opened_archive(path, "graph", trusted=trusted) as archive:
        stored = archive.json(_TEXT)
        if not isinstance(stored, dict) or stored.get("format") != GRAPH_FORMAT:
            raise DataError(f"{str(path)!r} is not a graph that robustsparse saved.")
        _check_version(stored.get("version"), path)
        with damage_named(path):
            return _fields(stored["result"], archive)


def _check_version(version: Any, path: str | Path) -> None:
    if version != GRAPH_VERSION:
        raise DataError(
            f"{str(path)!r} has format version {str(version)[:20]} and this package reads {GRAPH_VERSION}; "
            "install the package that wrote it, or fit again."
        )


def _fields(meta: dict[str, Any], archive: Archive) -> dict[str, Any]:
    out = {name: from_json(meta[name]) for name in _PLAIN}
    out["nodes"], out["notes"] = tuple(out["nodes"]), tuple(out["notes"])
    out["path"], out["cuts"] = frame_from_json(meta["path"]), frame_from_json(meta["cuts"])
    weights = meta["row_weights"]
    out["row_weights"] = None if weights is None else series_from_json(weights)
    d = len(out["nodes"])
    out["covariance"] = archive.array("covariance.npy")
    if out["covariance"].shape != (d, d):
        raise DataError(f"covariance has shape {out['covariance'].shape} for {d} nodes")
    out["ranking"] = _sparse(archive, "ranking", d)
    out["adjacency"] = _sparse(archive, "adjacency", d)
    out["steps"] = tuple(_sparse(archive, f"step{i}", d) for i in range(meta["steps"]))
    known = "stability.data.npy" in archive.names
    out["stability"] = _sparse(archive, "stability", d) if known else None
    return out


def _sparse(archive: Archive, name: str, d: int) -> Any:
    parts = tuple(archive.array(f"{name}.{part}.npy") for part in ("data", "indices", "indptr"))
    matrix = sparse.csr_array(parts, shape=(d, d))
    matrix.check_format(full_check=True)
    return matrix


# -------------------------------------------------------------------------------------- other forms


def to_graphml(graph: "GraphResult", path: str | Path, groups: Any = None) -> None:
    """Write a graph as GraphML, which Cytoscape, Gephi, igraph and networkx read.

    Nodes are called n0, n1, ... and have their name as attribute `label`: names need not differ once they are written.
    """
    nx = _networkx("to_graphml")
    out = to_networkx(graph, groups)
    for node, values in out.nodes(data=True):
        values |= {name: _for_xml(value) for name, value in values.items()}
        values["label"] = _for_xml(node)
    call = {name: f"n{i}" for i, name in enumerate(graph.nodes)}
    with written_whole(path) as partial:
        nx.write_graphml_xml(nx.relabel_nodes(out, call), partial)


def to_csv(graph: "GraphResult", path: str | Path) -> None:
    """Write the table of edges, one a line; names that a spreadsheet would evaluate begin with an apostrophe."""
    with written_whole(path) as partial:
        write_csv(graph.edges(), partial)


def to_html(graph: "GraphResult", path: str | Path, groups: Any = None) -> None:
    """Write a graph as a page to touch, in one file that needs nothing else."""
    known = None if groups is None else as_groups(groups, graph.nodes)
    title = f"Robust graph of {len(graph.nodes):,} variables"
    about = f"{graph.method}, {graph.chosen}, {graph.nobs:,} rows"
    text = network_page(graph.adjacency, graph.nodes, graph.edges(), known, title, about)
    with written_whole(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table as dictionaries, without what is missing."""
    rows = table.to_dict("records")
    return [{str(k): v for k, v in row.items() if not pd.isna(v)} for row in rows]


def _for_xml(value: Any) -> Any:
    """Text without characters that XML cannot hold; numbers as they are."""
    fit = not isinstance(value, str) or _FIT_FOR_XML.fullmatch(value)
    return value if fit else printable(value)


def _node_table(graph: "GraphResult", groups: Any) -> pd.DataFrame:
    """What is known of each node: its degree, and its group if there are any."""
    table = graph.degrees.to_frame()
    if groups is None:
        return table
    known = as_groups(groups, graph.nodes).astype(object)
    return table.assign(group=known.map(str, na_action="ignore"))


def to_networkx(graph: "GraphResult", groups: Any = None) -> Any:
    """Graph of networkx, with the columns of the edges and the groups of the nodes as attributes."""
    nx = _networkx("to_networkx")
    out = nx.Graph(method=graph.method, chosen=graph.chosen)
    nodes = _node_table(graph, groups)
    for node, values in zip(nodes.index, _records(nodes), strict=True):
        out.add_node(node, **values)
    for values in _records(graph.edges()):
        out.add_edge(values.pop("node1"), values.pop("node2"), **values)
    return out


def _networkx(who: str) -> Any:
    """The library, an extra."""
    try:
        import networkx
    except ImportError as error:
        raise MissingDependencyError(
            f"{who} needs networkx; install it with: pip install robustsparse[graph]"
        ) from error
    return networkx
