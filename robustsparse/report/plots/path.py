"""Coefficients against k."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array, Places
from robustsparse.report.plots.style import (
    GREY,
    LIGHT,
    LINE,
    THIN,
    TINY,
    axes_for,
    line_styles,
    mark_k,
    name_axes,
    name_length,
    points_wide,
    text_width,
)
from robustsparse.report.summary.words import printable, shorten_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Labels take at most this share of the width, and no more characters than this.
_LABEL_SHARE = 0.4
_LABEL_LENGTH = 28
# Points between the end of a line and its label.
_LABEL_GAP = 8.0


def path_frame(path: pd.DataFrame, k: int | None = None) -> pd.DataFrame:
    """Terms that a path plot draws, those that matter most first.

    Parameters
    ----------
    path : DataFrame
        Coefficients, terms by k; the columns are the values of k.
    k : int, optional
        The chosen k; the largest if None.

    Returns
    -------
    DataFrame
        For each term that is ever selected: `at_k`, `at_end` (its coefficients at the chosen and at
        the largest k) and `selected` (at the chosen k). Selected terms come first, then by size.

    Examples
    --------
    >>> path = pd.DataFrame({1: [2.0, 0.0, 0.0], 2: [1.9, 0.4, 0.0]}, index=["a", "b", "c"])
    >>> path_frame(path, k=1)
       at_k  at_end  selected
    a   2.0     1.9      True
    b   0.0     0.4     False
    """
    values = np.nan_to_num(path.to_numpy(dtype=float))
    chosen = values[:, _position(path, k)]
    table = {"at_k": chosen, "at_end": values[:, -1], "selected": chosen != 0}
    return pd.DataFrame(table, index=path.index).iloc[_ranked(values, chosen)]


def _position(path: pd.DataFrame, k: int | None) -> int:
    """Number of the column of the chosen k."""
    ks: list[Any] = list(path.columns)
    if not ks:
        raise ParameterError("path has no columns; it needs one for each value of k.")
    if k is not None and k not in ks:
        raise ParameterError(
            f"k={k!r} is not on the path, which has k = {', '.join(map(str, ks))}."
        )
    return len(ks) - 1 if k is None else ks.index(k)


def _ranked(values: Array, chosen: Array) -> Places:
    """Rows with any coefficient: the selected ones first, each group by size, first at k."""
    ever = np.flatnonzero((values != 0).any(axis=1))
    keys = np.abs([values[:, -1], chosen, chosen != 0])[:, ever]
    return ever[np.lexsort(-keys)]


def plot_path(
    path: pd.DataFrame,
    k: int | None = None,
    ax: "Axes | None" = None,
    max_labels: int = 12,
    label: str = "standardized coefficient",
) -> "Axes":
    """Draw the coefficients against k, each line labelled at its end.

    Parameters
    ----------
    path : DataFrame
        Coefficients on a standardized scale, terms by k; the columns are the values of k, ascending.
    k : int, optional
        The chosen k: it is marked, the terms selected there are in color and the others grey.
    ax : Axes, optional
        Where to draw; a new figure if None.
    max_labels : int
        Number of terms to label, those selected at k and large at the end first.
    label : str
        Name of the axis of the coefficients.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> path = pd.DataFrame({1: [2.0, 0.0], 2: [1.9, 0.4]}, index=["a", "b"])
    >>> plot_path(path, k=1).get_xlabel()
    'number of terms k'
    """
    drawn = path_frame(path, k)
    values = np.nan_to_num(path.to_numpy(dtype=float))
    values = values[_ranked(values, values[:, _position(path, k)])]
    ks = np.asarray(path.columns, float)
    ax = axes_for(ax, (5.0, 3.4))
    name_axes(ax, "number of terms k", label)
    ax.plot(ks[[0, -1]], [0, 0], color=LIGHT, linewidth=THIN, zorder=0)
    colors = _draw_lines(ax, ks, _from_entry(values), drawn["selected"].to_numpy())
    names = [printable(name) for name in drawn.index[:max_labels]]
    _label_ends(ax, ks, drawn["at_end"].to_numpy()[:max_labels], names, colors[:max_labels])
    if drawn.empty:
        ax.set_ylim(-1, 1)
        ax.text(0.5, 0.6, "no term selected", transform=ax.transAxes, ha="center", fontsize=TINY)
    if k is not None:
        mark_k(ax, k)
    return ax


def _from_entry(values: Array) -> Array:
    """Lines without their stretches at zero, where they would only cover each other."""
    zero = values == 0
    before = np.pad(zero[:, :-1], ((0, 0), (1, 0)), constant_values=True)
    after = np.pad(zero[:, 1:], ((0, 0), (0, 1)), constant_values=True)
    return np.where(zero & before & after, np.nan, values)


def _draw_lines(ax: "Axes", ks: Array, values: Array, selected: Array) -> list[str]:
    """Draw one line a term, the least important first; return their colors."""
    styles = [style for style, _ in zip(line_styles(), selected, strict=False)]
    marker = "o" if len(ks) == 1 else ""
    looks = [
        (*style, LINE, 3) if own else ("-", GREY, THIN, 2)
        for style, own in zip(styles, selected, strict=True)
    ]
    for row, (dashes, color, width, order) in reversed(list(zip(values, looks, strict=True))):
        ax.plot(
            ks, row, dashes, color=color, linewidth=width, zorder=order, marker=marker, markersize=4
        )
    return [color for _, color, _, _ in looks]


def _label_ends(
    ax: "Axes", ks: Array, ends: Array, names: Sequence[str], colors: Sequence[str]
) -> None:
    """Labels to the right of the last k, in room that the axis leaves for them."""
    from robustsparse.report.plots.artists import EndLabels

    wide = points_wide(ax)
    short = shorten_all(names, name_length(ax, _LABEL_SHARE, _LABEL_LENGTH))
    room = _LABEL_GAP + max((text_width(name, TINY) for name in short), default=0) + 2
    share = min(room / wide, 0.6)
    span = max(ks[-1] - ks[0], 1.0)
    # The name of the axis belongs below the data, not below the labels.
    ax.set_xlabel(ax.get_xlabel(), x=(1 - share) / 2)
    ax.set_xlim(ks[0] - 0.03 * span, ks[-1] + 1.03 * span * share / (1 - share))
    ax.set_xticks(_ticks(ks))
    # The axis ends with the data: below the labels there is nothing to read off.
    ax.spines["bottom"].set_bounds(float(ks[0] - 0.03 * span), float(ks[-1]))
    ax.add_artist(EndLabels(float(ks[-1]), ends, short, colors, _LABEL_GAP))


def _ticks(ks: Array) -> Array:
    """All values of k if few, else round ones."""
    from matplotlib.ticker import MaxNLocator

    if len(ks) <= 8:
        return ks
    ticks = np.asarray(MaxNLocator(nbins=6, integer=True).tick_values(ks[0], ks[-1]))
    return np.asarray(ticks[(ticks >= ks[0]) & (ticks <= ks[-1])], float)
