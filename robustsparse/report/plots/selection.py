"""The criterion by which k was chosen."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.report.plots.style import (
    BLUE,
    GREY,
    LINE,
    THIN,
    VERMILLION,
    add_legend,
    axes_for,
    mark_k,
    name_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Errors that differ by more than this factor are drawn on a logarithmic scale.
_LOG_FROM = 30.0


def selection_frame(table: pd.DataFrame) -> pd.DataFrame:
    """Criterion for each k with its error bars and the one-standard-error rule.

    Parameters
    ----------
    table : DataFrame
        Index k, columns `value` and `se` (its standard error, which may be missing).

    Returns
    -------
    DataFrame
        By ascending k: `value`, `low`, `high` (one standard error to each side), `best` (the
        smallest value) and `within` (at most one standard error of the best above it).

    Examples
    --------
    >>> table = pd.DataFrame({"value": [3.0, 1.1, 1.0], "se": [0.5, 0.2, 0.2]}, index=[1, 2, 3])
    >>> selection_frame(table)[["low", "high", "best", "within"]]
       low  high   best  within
    1  2.5   3.5  False   False
    2  0.9   1.3  False    True
    3  0.8   1.2   True    True
    """
    table = table.sort_index()
    value = table["value"].to_numpy(dtype=float)
    value = np.where(np.isfinite(value), value, np.nan)
    se = table["se"].to_numpy(dtype=float) if "se" in table else np.full(len(table), np.nan)
    known = np.isfinite(value)
    best = known & (value == (value[known].min() if known.any() else np.nan))
    bound = np.max(value[best] + np.nan_to_num(se[best]), initial=-np.inf)
    return pd.DataFrame(
        {
            "value": value,
            "low": value - se,
            "high": value + se,
            "best": best,
            "within": known & (value <= bound),
        },
        index=table.index,
    )


def plot_selection(
    table: pd.DataFrame,
    k: int | None = None,
    label: str = "robust criterion",
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the criterion of each k, with standard errors where there are any.

    Parameters
    ----------
    table : DataFrame
        Index k, columns `value` and `se` (its standard error, which may be missing).
    k : int, optional
        The chosen k, which is marked.
    label : str
        What the criterion is.
    ax : Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        The axes drawn on. With standard errors, a dashed line is one of them above the best value.

    Examples
    --------
    >>> table = pd.DataFrame({"value": [3.0, 1.1, 1.0], "se": [0.5, 0.2, 0.2]}, index=[1, 2, 3])
    >>> plot_selection(table, k=2, label="prediction error").get_ylabel()
    'prediction error'
    """
    from matplotlib.ticker import MaxNLocator

    frame = selection_frame(table)
    ax = axes_for(ax, (4.5, 3.0))
    name_axes(ax, "number of terms k", label)
    with_errors = frame[["low", "high"]].notna().all(axis=1)
    if with_errors.any() and _spans_orders(frame["value"].to_numpy()):
        ax.set_yscale("log")
    if with_errors.any():
        _draw_errors(ax, frame[with_errors])
    ax.plot(frame.index, frame["value"], color=BLUE, linewidth=THIN, zorder=2)
    ax.plot(frame.index, frame["value"], "o", color=BLUE, markersize=3.5, zorder=3)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    if k is not None:
        if k in frame.index:
            ax.plot(k, frame["value"][k], "o", color=VERMILLION, markersize=6, zorder=4)
        mark_k(ax, k)
    return ax


def _spans_orders(value: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> bool:
    known = value[np.isfinite(value)]
    return bool(known.min() > 0 and known.max() > _LOG_FROM * known.min())


def _draw_errors(ax: "Axes", frame: pd.DataFrame) -> None:
    """Error bars, and the bound of the one-standard-error rule with its name."""
    # A bar that reaches below zero cannot be drawn on a logarithmic scale; it ends near zero.
    low = frame["low"]
    if ax.get_yscale() == "log":
        low = low.clip(lower=0.1 * frame["value"].min())
    bars = ax.vlines(frame.index, low, frame["high"], color=BLUE, linewidth=LINE, alpha=0.4)
    bars.set(zorder=1, label="± 1 SE")
    if frame["best"].any():
        bound = float(frame.loc[frame["best"], "high"].max())
        line = ax.axhline(bound, color=GREY, linestyle="--", linewidth=0.8, zorder=0)
        line.set_label("best + 1 SE")
        add_legend(ax, loc="upper right")
