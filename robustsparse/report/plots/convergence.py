"""The course of the iterations."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.report.plots.style import (
    BLUE,
    GREY,
    LINE,
    VERMILLION,
    add_legend,
    axes_for,
    name_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# With more iterations than this, only those with something to say get a marker.
_MARK_ALL = 60


def convergence_frame(history: pd.DataFrame) -> pd.DataFrame:
    """Relative change of each iteration, as a logarithmic axis can show it.

    Parameters
    ----------
    history : DataFrame
        One row an iteration, with columns `iteration`, `change`, `entered` and `left`.

    Returns
    -------
    DataFrame
        Columns `iteration`; `change`, where zero became a tenth of the smallest other change;
        `still`, whether it was zero; `moved`, whether terms entered or left the support.

    Examples
    --------
    >>> history = pd.DataFrame({"iteration": [1, 2], "change": [0.5, 0.0], "entered": [3, 0],
    ...                         "left": [0, 0]})
    >>> convergence_frame(history)
       iteration  change  still  moved
    0          1    0.50  False   True
    1          2    0.05   True  False
    """
    change = history["change"].to_numpy(dtype=float)
    positive = change[np.isfinite(change) & (change > 0)]
    floor = positive.min() / 10 if len(positive) else np.finfo(float).eps
    # A tenth of the smallest positive float is zero, which has no place on a logarithmic axis.
    floor = max(floor, np.finfo(float).tiny)
    still = change == 0
    return pd.DataFrame(
        {
            "iteration": history["iteration"].to_numpy(),
            "change": np.where(still, floor, np.where(np.isfinite(change), change, np.nan)),
            "still": still,
            "moved": (history["entered"] + history["left"]).to_numpy() > 0,
        }
    )


def plot_convergence(
    history: pd.DataFrame, ax: "Axes | None" = None, tol: float | None = None
) -> "Axes":
    """Draw the relative change of the estimate against the iteration, on a logarithmic scale.

    Parameters
    ----------
    history : DataFrame
        One row an iteration, with columns `iteration`, `change`, `entered` and `left`.
    ax : Axes, optional
        Where to draw; a new figure if None.
    tol : float, optional
        The tolerance, drawn as a line.

    Returns
    -------
    Axes
        The axes drawn on. Filled points are iterations in which the support changed; a triangle
        stands for a change of exactly zero.

    Examples
    --------
    >>> history = pd.DataFrame({"iteration": [1, 2], "change": [0.5, 0.01], "entered": [3, 0],
    ...                         "left": [0, 0]})
    >>> plot_convergence(history).get_yscale()
    'log'
    """
    from matplotlib.ticker import MaxNLocator

    frame = convergence_frame(history)
    ax = axes_for(ax, (4.5, 3.0))
    name_axes(ax, "iteration", "relative change")
    ax.set_yscale("log")
    x, y = frame["iteration"], frame["change"]
    ax.plot(x, y, color=BLUE, linewidth=LINE, zorder=2)
    moved, still = frame["moved"], frame["still"]
    if len(frame) <= _MARK_ALL:
        _mark(ax, frame[~moved & ~still], "o", "white", BLUE, "support unchanged")
    _mark(ax, frame[moved & ~still], "o", VERMILLION, VERMILLION, "support changed")
    _mark(ax, frame[still], "v", "white", BLUE, "change exactly 0")
    if tol is not None and tol > 0:
        ax.axhline(tol, color=GREY, linestyle=":", linewidth=1, zorder=1, label="tolerance")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    if len(frame) == 1:
        ax.set_xlim(x.iloc[0] - 1, x.iloc[0] + 1)
        ax.margins(y=0.3)
    if ax.get_legend_handles_labels()[0]:
        add_legend(ax)
    return ax


def _mark(ax: "Axes", frame: pd.DataFrame, marker: str, face: str, edge: str, label: str) -> None:
    """Small points, unless there are none (an empty legend entry)."""
    if len(frame):
        size = 4 if len(frame) <= _MARK_ALL else 2.5
        ax.plot(
            frame["iteration"],
            frame["change"],
            linestyle="",
            marker=marker,
            markersize=size,
            markerfacecolor=face,
            markeredgecolor=edge,
            markeredgewidth=0.8,
            zorder=3,
            label=label,
        )
