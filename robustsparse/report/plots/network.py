"""Graphs as networks of points and lines, colored by group."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from robustsparse.base.checks import check_count
from robustsparse.base.errors import ParameterError
from robustsparse.base.matrices import upper
from robustsparse.base.text import did_you_mean
from robustsparse.base.types import Array
from robustsparse.design.networks import as_adjacency, as_groups
from robustsparse.report.plots.layout import CLOSEST, lay_out
from robustsparse.report.plots.looks import Look, legend_looks, looks_of
from robustsparse.report.plots.style import (
    BLUE,
    THIN,
    TINY,
    axes_for,
    name_length,
    points_high,
    points_wide,
    text_height,
    text_width,
)
from robustsparse.report.summary.words import printable, shorten_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Edges between groups, and of a graph without groups.
_EDGE = "0.55"
_TEXT = "0.15"
# All nodes are labeled in graphs of up to so many.
_LABELED = 30
# Characters of a name, and of a group.
_NAME_LENGTH = 24
_GROUP_LENGTH = 30
# Points: diameters of nodes, room around the network, marker and air of an entry of the legend.
_DIAMETERS = (1.6, 9.0)
_EDGE_WIDTHS = (0.25, 0.9)
_AIR = 5.0
_HANDLE = 20.0


def network_layout(
    adjacency: Any, nodes: Sequence[str], groups: Any = None, aspect: float = 1.0
) -> pd.DataFrame:
    """Positions and looks of the nodes as `plot_network` draws them.

    The layout depends on the edges alone, not on the groups: that nodes of a group lie together is a finding.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (d, d)
        Symmetric; what is not zero is an edge.
    nodes : sequence of str
        Names of the nodes.
    groups : mapping, Series or sequence, optional
        Group of each node, by name or in their order.
    aspect : float
        Width of the place to fill, divided by its height.

    Returns
    -------
    DataFrame
        By node: `x`, `y` (nearest nodes are about one unit apart), `degree`, `group`, `color`, `marker`.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> network_layout(chain, ["a", "b", "c"], groups=["u", "u", "v"])[["degree", "group", "color"]]
       degree group    color
    a       1     u  #0072B2
    b       2     u  #0072B2
    c       1     v  #D55E00
    """
    graph = as_adjacency(adjacency, nodes)
    at = lay_out(graph, aspect)
    frame = pd.DataFrame(
        {"x": at[:, 0], "y": at[:, 1], "degree": np.diff(graph.indptr)}, index=list(nodes)
    )
    if groups is None:
        return frame.assign(group=None, color=BLUE, marker="o")
    label = as_groups(groups, nodes)
    looks = looks_of(label)
    shown = [looks[code] for code in label.cat.codes]
    return frame.assign(
        group=label, color=[look.color for look in shown], marker=[look.marker for look in shown]
    )


def plot_network(
    adjacency: Any,
    nodes: Sequence[str],
    groups: Any = None,
    ax: "Axes | None" = None,
    *,
    labels: Any = "auto",
    legend: bool = True,
) -> "Axes":
    """Draw a graph, its nodes colored by group.

    Edges within a group have its color, those between groups are grey. The layout depends on the edges alone and is
    the same at every call; nodes without edges stand in rows at the bottom.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (d, d)
        Symmetric; what is not zero is an edge.
    nodes : sequence of str
        Names of the nodes.
    groups : mapping, Series or sequence, optional
        Group of each node, by name (nodes may be missing) or in their order. A series' name heads the legend. Beyond
        24 groups the smallest are grey.
    ax : Axes, optional
        Where to draw; a new figure if None. It loses its axis lines and ticks.
    labels : {"auto"}, bool, int or sequence of str
        Which nodes to name: up to 30 all of them, else none (`"auto"`); all or none; so many, of the largest degree;
        these. A name that has no room is left out.
    legend : bool
        Name the groups beside the network or below it. False leaves that to one legend for several networks:
        ``figure.legend(*ax.get_legend_handles_labels())``.

    Returns
    -------
    Axes
        The axes drawn on. What was drawn is in `network_layout`.

    Examples
    --------
    >>> chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> ax = plot_network(chain, ["a", "b", "c"], groups={"a": "u", "b": "u", "c": "v"})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['u', 'v']
    """
    ax = _bare_axes(ax)
    graph = as_adjacency(adjacency, nodes)
    named = _to_label(labels, [str(node) for node in nodes], np.diff(graph.indptr))
    names = _short_names([printable(nodes[i]) for i in named], ax)
    entries = [] if groups is None else legend_looks(as_groups(groups, nodes))
    _add_handles(ax, entries)
    title = getattr(groups, "name", None)
    room = _add_legend(ax, entries, title) if legend else (0.0, 0.0)
    inner = _network_box(ax, room, names)
    frame = network_layout(adjacency, nodes, groups, aspect=float(inner[2] / inner[3]))
    scale = _set_limits(ax, frame, inner)
    _draw_edges(ax, frame, graph, scale)
    diameter = _draw_nodes(ax, frame, scale)
    _note_isolated(ax, frame)
    _draw_labels(ax, frame, graph, named, names, diameter)
    return ax


def _bare_axes(ax: "Axes | None") -> "Axes":
    """Axes without lines and ticks, of their final size if a layout can tell it."""
    ax = axes_for(ax, (6.0, 4.5))
    ax.set_axis_off()
    # The figure that holds all others, if it is one of several within one.
    root: Any = ax.figure.figure
    if root.get_layout_engine() is not None:
        root.draw_without_rendering()
    return ax


# ---------------------------------------------------------------------------------------- the room


def _add_handles(ax: "Axes", entries: Sequence[Look]) -> None:
    """Points without a place, one for each group, that a legend of the axes or of their figure shows."""
    for look in entries:
        ax.plot([], [], look.marker, color=look.color, label=look.name, markersize=5, mew=0)


def _add_legend(ax: "Axes", entries: Sequence[Look], title: Any) -> tuple[float, float]:
    """Legend at the right if there is room, else below; points that it takes from width and height."""
    if not entries:
        return 0.0, 0.0
    wide, high = points_wide(ax), points_high(ax)
    names = shorten_all([entry.name for entry in entries], _GROUP_LENGTH)
    entry_wide = _entry_width(names)
    line = 1.1 * text_height(TINY)
    lines = len(entries) + (title is not None)
    if wide - entry_wide > 0.95 * high and lines * line < high:
        _draw_legend(ax, entries, names, "center right", 1, title)
        return entry_wide + 2 * _AIR, 0.0
    columns = int(wide / (entry_wide + _AIR))
    if columns < 2 and len(entries) > 2:
        # Two columns of shorter names leave more to the network.
        columns, names = 2, shorten_all(names, name_length(ax, 0.5 - _HANDLE / wide, _GROUP_LENGTH))
    columns = min(max(columns, 1), len(entries))
    _draw_legend(ax, entries, names, "lower center", columns, title)
    return 0.0, (math.ceil(len(entries) / columns) + (title is not None)) * line + _AIR


def _entry_width(names: Sequence[str]) -> float:
    return max(text_width(name, TINY) for name in names) + _HANDLE


def _draw_legend(
    ax: "Axes",
    entries: Sequence[Look],
    names: Sequence[str],
    loc: Literal["center right", "lower center"],
    columns: int,
    title: Any,
) -> None:
    legend = ax.legend(
        ax.lines[-len(entries) :],
        list(names),
        loc=loc,
        ncols=columns,
        title=None if title is None else printable(title),
        fontsize=TINY,
        title_fontsize=TINY,
        alignment="left",
        frameon=False,
        handletextpad=0.1,
        columnspacing=0.8,
        labelspacing=0.25,
        borderpad=0.0,
        borderaxespad=0.1,
    )
    for text in [*legend.get_texts(), legend.get_title()]:
        text.set_parse_math(False)


def _network_box(ax: "Axes", room: tuple[float, float], names: Sequence[str]) -> Array:
    """Left, bottom, width and height in points of the place for the network within the axes."""
    side = min(max((text_width(name, TINY) for name in names), default=0.0), 0.25 * points_wide(ax))
    line = text_height(TINY)
    left, low = _AIR + side, room[1] + _AIR + line
    wide = points_wide(ax) - room[0] - left - _AIR - side
    high = points_high(ax) - low - _AIR - (line if names else 0.0)
    return np.array([left, low, max(wide, 10.0), max(high, 10.0)])


def _set_limits(ax: "Axes", frame: pd.DataFrame, inner: Array) -> float:
    """Limits that put the network into its place; returns points per unit."""
    at = frame[["x", "y"]].to_numpy(dtype=float)
    low, high = at.min(axis=0), at.max(axis=0)
    scale = float(np.min(inner[2:] / np.maximum(high - low, 1.0)))
    start = 0.5 * (low + high) - (inner[:2] + 0.5 * inner[2:]) / scale
    end = start + np.array([points_wide(ax), points_high(ax)]) / scale
    ax.set(xlim=(start[0], end[0]), ylim=(start[1], end[1]))
    ax.set_aspect("equal", adjustable="datalim")
    return scale


# -------------------------------------------------------------------------------------- the artists


def _draw_edges(ax: "Axes", frame: pd.DataFrame, graph: Any, scale: float) -> None:
    """All edges as one collection, those between groups below the others."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    rows, columns, _ = upper(graph)
    at = frame[["x", "y"]].to_numpy(dtype=float)
    group = pd.factorize(frame["group"])[0]
    within = (group[rows] == group[columns]) & (group[rows] >= 0)
    order = np.argsort(within, kind="stable")
    color = np.where(within, frame["color"].to_numpy(dtype=object)[rows], _EDGE)
    # Many edges are thin and pale, so that their density shows.
    crowd = 1.0 / np.sqrt(max(len(rows), 1))
    rgba = to_rgba_array(list(color[order])) if len(rows) else np.zeros((0, 4))
    rgba[:, 3] = np.clip(14.0 * crowd, 0.25, 0.8) * np.where(within[order], 1.0, 0.8)
    width = float(np.clip(20.0 * crowd * min(scale / 8.0, 1.0), *_EDGE_WIDTHS))
    lines = np.stack([at[rows[order]], at[columns[order]]], axis=1)
    ax.add_collection(
        LineCollection(list(lines), colors=rgba, linewidths=width, zorder=1, capstyle="round"),
        autolim=False,
    )


def _draw_nodes(ax: "Axes", frame: pd.DataFrame, scale: float) -> float:
    """Nodes, one collection for each marker; returns their diameter in points."""
    diameter = float(np.clip(0.66 * CLOSEST * scale, *_DIAMETERS))
    for marker, part in frame.groupby("marker", sort=False):
        ax.scatter(
            part["x"],
            part["y"],
            # A square of the same width would look larger than a circle.
            s=diameter**2 * (1.0 if marker == "o" else 0.8),
            c=list(part["color"]),
            marker=str(marker),
            edgecolors="white",
            linewidths=min(0.1 * diameter, THIN),
            zorder=3,
        )
    return diameter


def _note_isolated(ax: "Axes", frame: pd.DataFrame) -> None:
    """Say how many nodes stand at the bottom because they have no edge."""
    alone = frame[frame["degree"] == 0]
    if alone.empty:
        return
    count = f"{len(alone):,} node{'' if len(alone) == 1 else 's'} without edges"
    middle = 0.5 * (alone["x"].min() + alone["x"].max())
    ax.annotate(
        count,
        (float(middle), float(alone["y"].min())),
        xytext=(0, -_AIR),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=TINY,
        color="0.35",
    )


# --------------------------------------------------------------------------------------- the labels


def _to_label(labels: Any, nodes: Sequence[str], degree: Any) -> list[int]:
    """Numbers of the nodes to name, those of largest degree first."""
    by_degree: list[int] = np.argsort(-degree, kind="stable").tolist()
    if isinstance(labels, str) and labels == "auto":
        return by_degree if len(nodes) <= _LABELED else []
    if isinstance(labels, bool | np.bool_):
        return by_degree if labels else []
    if isinstance(labels, int | float | np.number):
        return by_degree[: check_count("labels", labels, 0)]
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ParameterError(f"labels={labels!r} must be 'auto', a bool, a number or node names.")
    wanted = {str(label) for label in labels}
    for name in wanted - set(nodes):
        raise ParameterError(f"labels: {name!r} is no node{did_you_mean(str(name), nodes) or '.'}")
    return [i for i in by_degree if nodes[i] in wanted]


def _short_names(names: Sequence[str], ax: "Axes") -> list[str]:
    return shorten_all(names, name_length(ax, 0.4, _NAME_LENGTH)) if names else []


def _draw_labels(
    ax: "Axes",
    frame: pd.DataFrame,
    graph: Any,
    named: Sequence[int],
    names: Sequence[str],
    diameter: float,
) -> None:
    """Names beside their nodes, off other nodes and edges where possible."""
    from robustsparse.report.plots.artists import PointLabels

    if not named:
        return
    at = frame[["x", "y"]].to_numpy(dtype=float)
    rows, columns, _ = upper(graph)
    along = np.linspace(0.1, 0.9, 9)[:, None, None]
    edges = (at[rows] + along * (at[columns] - at[rows])).reshape(-1, 2)
    points = np.vstack([at, edges])
    texts = PointLabels(at[list(named)], names, _TEXT, points, (), 0.5 * diameter + 1.5)
    if len(frame) > _LABELED:
        # Among many edges a name needs a ground of its own.
        for text in texts.texts:
            text.set_bbox({"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.3})
    texts.set_zorder(4)
    ax.add_artist(texts)
