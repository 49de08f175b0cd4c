"""One line a term: coefficients with their intervals, selection frequencies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.base.types import Array
from robustsparse.report.plots.style import (
    BLUE,
    GREY,
    LIGHT,
    LINE,
    SMALL,
    THIN,
    TINY,
    axes_for,
    name_axes,
    name_length,
    points_high,
    squeeze,
    text_height,
    text_width,
)
from robustsparse.report.summary.words import printable, shorten_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Names take at most this share of the width of the plot, and no more characters than this.
_NAME_SHARE = 0.45
_NAME_LENGTH = 32
# A new figure, in inches: its height for each term and for the rest, its width beside the names.
_ROW = 0.2
_FRAME = 0.75
_WIDTH = 3.2
# An estimate this many times the median one makes the axis logarithmic for large values.
_FAR = 100.0


def plot_coefficients(table: pd.DataFrame, ax: "Axes | None" = None, max_terms: int = 40) -> "Axes":
    """Draw estimates with their intervals, the largest first.

    Parameters
    ----------
    table : DataFrame
        One row a term, columns `estimate`, `low` and `high` (which may be missing).
    ax : Axes, optional
        Where to draw; a new figure if None.
    max_terms : int
        Largest number of terms; the rest are counted in the label of the axis.

    Returns
    -------
    Axes
        The axes drawn on. Intervals that cover zero are grey.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [0.5, -2.0], "low": [-0.1, -2.3], "high": [1.1, -1.7]},
    ...                      index=["age", "dose"])
    >>> ax = plot_coefficients(table)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['dose', 'age']
    """
    order = np.argsort(-table["estimate"].abs().to_numpy(dtype=float), kind="stable")
    rows, ax, rest = named_rows(table.iloc[order], ax, max_terms)
    name_axes(ax, with_rest("coefficient", rest), "")
    ax.axvline(0, color=LIGHT, linewidth=THIN, zorder=0)
    low, high = (
        rows.get(name, pd.Series(np.nan, rows.index)).to_numpy(float) for name in ("low", "high")
    )
    colors = [GREY if a <= 0 <= b else BLUE for a, b in zip(low, high, strict=True)]
    y = np.arange(len(rows))
    ax.hlines(y, low, high, color=colors, linewidth=LINE, zorder=1)
    ax.scatter(rows["estimate"], y, s=18, color=colors, zorder=2)
    squeeze_if_far(ax, np.concatenate([rows["estimate"], low, high]))
    return ax


def squeeze_if_far(ax: "Axes", values: Array) -> None:
    """Few round ticks; a logarithmic axis for large values if the other terms would be one spot."""
    known = values[np.isfinite(values) & (values != 0)]
    median = float(np.median(np.abs(known))) if len(known) else 0.0
    if len(known) and np.abs(known).max() > _FAR * median:
        squeeze(ax, "x", 2 * median, known)
    else:
        ax.locator_params(axis="x", nbins=5)


def plot_stability(
    frequencies: "pd.Series[float]",
    threshold: float | None = None,
    ax: "Axes | None" = None,
    max_terms: int = 30,
) -> "Axes":
    """Draw how often each term was selected, the most frequent first.

    Parameters
    ----------
    frequencies : Series
        Share of the resamples, 0 to 1, in which a term was selected; terms never selected are left
        out.
    threshold : float, optional
        Frequency from which a term counts as stable; terms below are grey.
    ax : Axes, optional
        Where to draw; a new figure if None.
    max_terms : int
        Largest number of terms; the rest are counted in the label of the axis.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> ax = plot_stability(pd.Series({"age": 0.4, "dose": 0.98}), threshold=0.6)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['dose', 'age']
    """
    table = (
        frequencies[frequencies > 0].sort_values(ascending=False, kind="stable").to_frame("share")
    )
    rows, ax, rest = named_rows(table, ax, max_terms)
    name_axes(ax, with_rest("selection frequency", rest), "")
    share = rows["share"].to_numpy(dtype=float)
    colors = [BLUE if threshold is None or value >= threshold else GREY for value in share]
    y = np.arange(len(rows))
    ax.hlines(y, 0, share, color=colors, linewidth=LINE, zorder=1)
    ax.scatter(share, y, s=18, color=colors, zorder=2, clip_on=False)
    ax.set_xlim(0, 1.02)
    if threshold is not None:
        ax.axvline(threshold, color=GREY, linestyle="--", linewidth=0.8, zorder=0)
    return ax


def with_rest(label: str, rest: int) -> str:
    """The label of an axis, with the number of terms that have no room."""
    return f"{label}\n({rest} more not shown)" if rest else label


def named_rows(
    table: pd.DataFrame, ax: "Axes | None", max_terms: int, lines: float = 1.0
) -> tuple[pd.DataFrame, "Axes", int]:
    """Axes with a named row, of so many lines, for each term that fits, and the number of those that do not."""
    shown = min(len(table), max_terms)
    names = [printable(name) for name in table.index[:shown]]
    if ax is not None:
        shown = min(shown, max(int(points_high(ax) // (lines * text_height(TINY))), 1))
    ax = axes_for(ax, _size(names, lines))
    _name_rows(ax, names[:shown])
    return table.iloc[:shown], ax, len(table) - shown


def _size(names: Sequence[str], lines: float) -> tuple[float, float]:
    """Figure that has room for the names and for what is drawn beside them."""
    wide = max((text_width(name[:_NAME_LENGTH], SMALL) for name in names), default=0)
    return _WIDTH + wide / 72, _FRAME + _ROW * lines * max(len(names), 3)


def _name_rows(ax: "Axes", names: Sequence[str]) -> None:
    crowded = len(names) * text_height(SMALL) > points_high(ax)
    short = shorten_all(names, name_length(ax, _NAME_SHARE, _NAME_LENGTH))
    ax.set_yticks(range(len(names)), short, fontsize=TINY if crowded else SMALL)
    for label in ax.get_yticklabels():
        # Matplotlib would take a dollar sign in a name for the start of a formula.
        label.set_parse_math(False)
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if not names:
        ax.text(0.5, 0.5, "no term selected", transform=ax.transAxes, ha="center", fontsize=TINY)
