"""Graphs along a path: how many edges, and what the graph was chosen by."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array
from robustsparse.report.plots.style import (
    BLUE,
    GREY,
    SMALL,
    THIN,
    TINY,
    VERMILLION,
    axes_for,
    mark_k,
    name_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# What a graph can be chosen by, columns of its path.
_MEASURES = ("criterion", "instability")


def graph_path_frame(path: pd.DataFrame) -> pd.DataFrame:
    """Steps of a path that `plot_graph_path` draws, sparsest first.

    Parameters
    ----------
    path : DataFrame
        By the parameter: `n_edges`, and `criterion` or `instability` where known.

    Returns
    -------
    DataFrame
        `n_edges`, `by` (the criterion, else the instability; missing if there is neither) and `best` (where the
        criterion is smallest).

    Examples
    --------
    >>> path = pd.DataFrame({"n_edges": [0, 3], "criterion": [5.0, 2.0]}, index=[0.5, 0.1])
    >>> graph_path_frame(path)
         n_edges   by   best
    0.5        0  5.0  False
    0.1        3  2.0   True
    """
    if not len(path):
        raise ParameterError("this graph has no path to draw.")
    name = _measure(path)
    by = path[name].to_numpy(dtype=float) if name else np.full(len(path), np.nan)
    by = np.where(np.isfinite(by), by, np.nan)
    best = by == np.nanmin(by) if name == "criterion" and np.isfinite(by).any() else by != by
    frame = pd.DataFrame({"n_edges": path["n_edges"], "by": by, "best": best}, index=path.index)
    order = np.argsort(frame.index.to_numpy(dtype=float), kind="stable")
    return frame.iloc[order if frame.index.name == "k" else order[::-1]]


def _measure(path: pd.DataFrame) -> str | None:
    return next((name for name in _MEASURES if name in path), None)


def plot_graph_path(
    path: pd.DataFrame,
    value: float | None = None,
    n_edges: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the number of edges along a path, and what the graph was chosen by on an axis at the right.

    Parameters
    ----------
    path : DataFrame
        By the parameter (the index's name): `n_edges`, and `criterion` or `instability` where known.
    value : float, optional
        Where on the path the chosen graph is; it is marked.
    n_edges : int, optional
        Number of edges of the chosen graph, marked if it is not on the path.
    ax : Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        The axes of the number of edges.

    Examples
    --------
    >>> path = pd.DataFrame({"n_edges": [0, 3, 9]}, index=pd.Index([1, 2, 3], name="k"))
    >>> plot_graph_path(path, value=2).get_ylabel()
    'number of edges'
    """
    from matplotlib.ticker import MaxNLocator

    frame = graph_path_frame(path)
    name = str(frame.index.name)
    ax = axes_for(ax, (4.5, 3.0))
    name_axes(ax, "neighbors kept for each node, k" if name == "k" else name, "number of edges")
    at = frame.index.to_numpy(dtype=float)
    _draw(ax, at, frame["n_edges"].to_numpy(dtype=float), BLUE, "o")
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    if name == "k":
        ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    else:
        _from_sparse(ax, at)
    if frame["by"].notna().any():
        _draw_measure(ax, frame, str(_measure(path)))
    if value is not None:
        chosen = int(np.argmin(np.abs(at - value)))
        ax.plot(value, frame["n_edges"].iloc[chosen], "o", color=BLUE, markersize=6, zorder=4)
        mark_k(ax, value, f"{name} = {value:.4g}")
    elif n_edges is not None:
        _mark_edges(ax, n_edges)
    return ax


def plot_graph_cuts(
    cuts: pd.DataFrame, n_edges: int | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the criterion of graphs of the strongest edges against their number, the instability at the right.

    Parameters
    ----------
    cuts : DataFrame
        By `n_edges`: `criterion`, and `instability` where known.
    n_edges : int, optional
        Number of edges of the chosen graph; it is marked.
    ax : Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        The axes of the criterion.

    Examples
    --------
    >>> cuts = pd.DataFrame({"criterion": [0.0, -9.0, 4.0]}, index=pd.Index([0, 5, 20], name="n_edges"))
    >>> plot_graph_cuts(cuts, 5).get_xlabel()
    'number of edges'
    """
    if not len(cuts):
        raise ParameterError("this graph has no edges to cut.")
    ax = axes_for(ax, (4.5, 3.0))
    name_axes(ax, "number of edges", "extended BIC")
    at, criterion = cuts.index.to_numpy(dtype=float), cuts["criterion"].to_numpy(dtype=float)
    finite = np.isfinite(criterion)
    _draw(ax, at[finite], criterion[finite], BLUE, "o")
    # Sizes are spread evenly on a logarithmic scale, which has no place for the empty graph.
    ax.set_xscale("symlog", linthresh=1.0)
    ax.set_xlim(left=0.0)
    _whole_numbers(ax)
    # Far too many edges cost so much that the rest would be a flat line.
    depth = max(-float(criterion[finite].min(initial=0.0)), 1.0)
    ax.set_ylim(-1.15 * depth, 1.3 * depth)
    if "instability" in cuts:
        frame = pd.DataFrame({"by": cuts["instability"]}, index=cuts.index)
        _draw_measure(ax, frame, "instability")
    if n_edges is not None:
        mark_k(ax, n_edges, f"{n_edges:,} edges")
    return ax


def _whole_numbers(ax: "Axes") -> None:
    """Powers of ten written out."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())


def _draw(ax: "Axes", x: Array, y: Array, color: str, marker: str) -> None:
    ax.plot(x, y, color=color, linewidth=THIN, zorder=2)
    ax.plot(x, y, marker, color=color, markersize=3.5, zorder=3)


def _from_sparse(ax: "Axes", at: Array) -> None:
    """Penalties: on a logarithmic axis if they can be, large values and sparse graphs at the left."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    if at.min() > 0 and at.max() > 2 * at.min():
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=8))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.invert_xaxis()


def _draw_measure(ax: "Axes", frame: pd.DataFrame, name: str) -> None:
    """Criterion or instability against an axis of its own color at the right."""
    ax.yaxis.label.set_color(BLUE)
    right = ax.twinx()
    right.spines[["top", "left", "bottom"]].set_visible(False)
    right.spines["right"].set_linewidth(THIN)
    right.tick_params(labelsize=SMALL, width=THIN, length=3, colors=VERMILLION)
    right.set_ylabel(name, fontsize=SMALL, color=VERMILLION)
    at = frame.index.to_numpy(dtype=float)
    _draw(right, at, frame["by"].to_numpy(dtype=float), VERMILLION, "s")
    right.margins(y=0.15)


def _mark_edges(ax: "Axes", n_edges: int) -> None:
    """Dotted line at a number of edges that no step of the path has."""
    ax.axhline(n_edges, color=GREY, linestyle=":", linewidth=1, zorder=0.5)
    ax.annotate(
        f"{n_edges:,} edges",
        (0, n_edges),
        xycoords=("axes fraction", "data"),
        xytext=(3, 2),
        textcoords="offset points",
        fontsize=TINY,
    )
