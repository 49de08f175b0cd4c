"""The page: its parts from the files beside this one, its graph as JSON that no name can break out of."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.report.plots.looks import Look, legend_looks, looks_of
from robustsparse.report.plots.network import network_layout
from robustsparse.report.plots.style import BLUE
from robustsparse.report.summary.words import printable

# Width of the place for the network divided by its height, on a screen beside the panel.
_ASPECT = 1.3
_DIGITS = 4
_MARK = re.compile(r"\{\{([a-z-]+)\}\}")
# What could end the element that holds the data, or start another.
_HARMLESS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def network_page(
    adjacency: Any, nodes: Sequence[str], edges: pd.DataFrame, groups: Any, title: str, about: str
) -> str:
    """A graph as a page that is zoomed, searched and thinned out by who reads it.

    Nodes lie where `plot_network` puts them. The page runs the script that it was made with and no other, and fetches
    nothing: its security policy forbids both.

    Parameters
    ----------
    adjacency : sparse matrix of shape (d, d)
        The graph.
    nodes : sequence of str
        Names of the nodes.
    edges : DataFrame
        Strongest first: `node1`, `node2`, `weight`, `partial_corr`, and `stability` where it is known.
    groups : Series of categories by node, or None
        Group of each node, as `as_groups` gives it.
    title, about : str
        What it is of; a line below.

    Examples
    --------
    >>> chain = np.array([[0, 1], [1, 0]])
    >>> edges = pd.DataFrame({"node1": ["a"], "node2": ["b"], "weight": [1.0], "partial_corr": [0.5]})
    >>> text = network_page(chain, ["a", "b"], edges, None, "Two nodes", "an example")
    >>> text.startswith("<!DOCTYPE html>"), "http:" in text, "https:" in text
    (True, False, False)
    """
    places = network_layout(adjacency, nodes, groups, aspect=_ASPECT)
    style, script = _part("graph.css"), _part("graph.js")
    graph = _places(places, nodes) | _looks(groups, len(nodes)) | {"edges": _edges(edges, nodes)}
    parts = {
        "title": html.escape(title),
        "about": html.escape(about),
        "style": style,
        "style-hash": _hash(style),
        "script": script,
        "script-hash": _hash(script),
        "graph": json.dumps(graph, separators=(",", ":"), allow_nan=False).translate(_HARMLESS),
    }
    return _MARK.sub(lambda mark: parts[mark[1]], _part("page.html"))


def _part(name: str) -> str:
    return files("robustsparse.report.explorer").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _places(places: pd.DataFrame, nodes: Sequence[str]) -> dict[str, Any]:
    at = places[["x", "y"]].round(3)
    return {"nodes": [printable(node) for node in nodes], "x": list(at["x"]), "y": list(at["y"])}


def _looks(groups: "pd.Series[Any] | None", d: int) -> dict[str, Any]:
    """The legend, which of its entries each node has, and what stands above it (nothing without groups)."""
    if groups is None:
        return {"looks": [_shown(Look("", BLUE, "o"))], "look": [0] * d, "grouped": None}
    legend, look = legend_looks(groups), looks_of(groups)
    head = "Groups" if groups.name is None else printable(groups.name)
    return {
        "looks": [_shown(entry) for entry in legend],
        "look": [legend.index(look[code]) for code in groups.cat.codes],
        "grouped": head or "Groups",
    }


def _shown(look: Look) -> dict[str, str]:
    """A look in the words of a page, which does not know matplotlib's shares of white."""
    color = look.color
    if not color.startswith("#"):
        color = "#" + 3 * f"{round(255 * float(color)):02x}"
    return {"name": look.name, "color": color, "marker": look.marker}


def _edges(edges: pd.DataFrame, nodes: Sequence[str]) -> list[list[Any]]:
    """One list an edge: the numbers of its nodes, partial correlation, weight, and stability where it is known."""
    number = {str(node): i for i, node in enumerate(nodes)}
    known = [name for name in ("partial_corr", "weight", "stability") if name in edges]
    values = edges[known].to_numpy(dtype=np.float64)
    return [
        [number[one], number[two], *map(_rounded, row)]
        for one, two, row in zip(edges["node1"], edges["node2"], values, strict=True)
    ]


def _rounded(value: float) -> float | None:
    """Few digits, and nothing for what is no number: JSON has no word for it."""
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None
