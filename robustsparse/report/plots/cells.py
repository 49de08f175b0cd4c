"""The cell map: which cells of which rows were missing or wrong, and beside them the residuals.

It is drawn in the manner of Rousseeuw and Van den Bossche (2018, Technometrics 60, 135-145).
"""

from collections.abc import Hashable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Indices
from robustsparse.report.plots.diagnostics import INK, LOOKS
from robustsparse.report.plots.style import (
    BLUE,
    GREY,
    TINY,
    VERMILLION,
    axes_for,
    points_high,
    points_wide,
    text_height,
    text_width,
)
from robustsparse.report.summary.words import printable, shorten_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 40
# From this many standard errors on, a color is full.
_FULL = 10.0
_SOUND = "0.92"
# The share of the full color at the cutoff.
_PALEST = 0.3
_MISSING: dict[str, Any] = {
    "facecolor": "white",
    "edgecolor": GREY,
    "hatch": "/////",
    "linewidth": 0,
}
_FLAGGED = {
    "leverage": "row flagged: leverage",
    "response": "row flagged: response",
    "both": "row flagged: both",
}
_NAME_LENGTH = 20
# Between the terms and the residuals, and from there to the marks, in columns.
_GAP = 0.5
_MARK = 0.6
# A new figure, in inches: a cell; air around; height and width that the legend needs.
_CELL = 0.17
_AIR = 0.35
_LEGEND_HIGH, _LEGEND_WIDE = 2.2, 1.75
# Points: text below this is not read, and some names are left out instead.
_LEAST_TEXT = 4.0


class CellMap(NamedTuple):
    """What a cell map draws.

    Attributes
    ----------
    cells : DataFrame
        By row label and column: by how many standard errors a wrong cell was too high (too low, if negative), zero for
        a cell that was left as it is, not a number for a missing one.
    rows : DataFrame
        By row label: `std_resid`, `flag` and the `count` of the rows that have this label.
    rest_rows, rest_columns : int
        Affected rows, and columns, for which there was no room.
    """

    cells: pd.DataFrame
    rows: pd.DataFrame
    rest_rows: int
    rest_columns: int


def cell_map(
    cells: pd.DataFrame,
    rows: pd.DataFrame,
    columns: Sequence[str],
    shown: Sequence[Hashable] | None = None,
    *,
    cutoff: float = 3.0,
    most: int = MOST,
) -> CellMap:
    """What a cell map shows of cells that were mended, and of rows.

    Parameters
    ----------
    cells : DataFrame
        One row a cell, labelled by its row, with columns `column`, `reason` ("missing" or "wrong"), `old`, `new` and
        `error`.
    rows : DataFrame
        One row for each row of the data, labelled by it, with columns `std_resid` and `flag`. Rows that share a label
        cannot be told apart in `cells`; they are one row of the map, which shows the worst of each.
    columns : sequence of str
        Columns to show, the most important first.
    shown : sequence, optional
        Labels of the rows to show, in this order. If None, those that are flagged or have a mended cell in one of the
        columns, in the order of the data.
    cutoff : float
        Standardized residuals beyond it are outlying.
    most : int
        Largest number of columns, and of rows unless they are given: those with the most mended cells, a flag counted
        as one; among equals those farther out, then the first.

    Examples
    --------
    >>> cells = pd.DataFrame({"column": ["a", "b"], "reason": ["wrong", "missing"], "old": [9.0, np.nan],
    ...                       "new": [1.0, 0.0], "error": [2.0, 1.0]}, index=["u", "v"])
    >>> rows = pd.DataFrame({"std_resid": [0.1, 0.2, 8.0, 0.0], "flag": ["", "", "response", ""]}, index=list("uvwx"))
    >>> cell_map(cells, rows, ["b", "a"]).cells
         b    a
    u  0.0  4.0
    v  NaN  0.0
    w  0.0  0.0
    """
    names = list(columns)[:most]
    labels = rows.index.unique()
    found = cells[cells["column"].isin(names)]
    at, place = (
        labels.get_indexer(found.index),
        pd.Index(names).get_indexer(pd.Index(found["column"])),
    )
    missing = (found["reason"] == "missing").to_numpy()
    size = _deviation(found)
    values, mended = np.zeros((len(labels), len(names))), np.zeros((len(labels), len(names)), bool)
    # The worst last: of cells that share a place it stays.
    for i in np.lexsort([np.abs(size), ~missing]):
        values[at[i], place[i]] = np.nan if missing[i] else size[i]
        mended[at[i], place[i]] = True
    lines = _lines(rows, labels)
    if shown is None:
        flagged = (lines["flag"] != "").to_numpy()
        resid = np.abs(np.nan_to_num(lines["std_resid"].to_numpy(dtype=float)))
        far = _capped(values).sum(axis=1) + np.where(resid > cutoff, np.minimum(resid, _FULL), 0.0)
        order = _most_affected(mended.sum(axis=1) + flagged, far)
    else:
        order = _asked(labels, shown)
    kept = np.sort(order[:most]) if shown is None else order
    return CellMap(
        pd.DataFrame(values[kept], labels[kept], names),
        lines.iloc[kept],
        len(order) - len(kept),
        len(columns) - len(names),
    )


def _deviation(cells: pd.DataFrame) -> Array:
    """By how many standard errors the cells were too high."""
    old, new, error = (cells[name].to_numpy(dtype=float) for name in ("old", "new", "error"))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nan_to_num((old - new) / error, nan=0.0))


def _capped(values: Array) -> Array:
    return np.minimum(np.abs(np.nan_to_num(values)), _FULL)


def _lines(rows: pd.DataFrame, labels: "pd.Index[Any]") -> pd.DataFrame:
    """One row a label: its largest residual, all that it is flagged for, and how many rows have it."""
    at = labels.get_indexer(rows.index)
    resid, flag = rows["std_resid"].to_numpy(dtype=float), rows["flag"].to_numpy()
    # The largest last: it stays.
    order = np.argsort(np.nan_to_num(np.abs(resid), nan=-1.0), kind="stable")
    largest = np.zeros(len(labels))
    largest[at[order]] = resid[order]
    response, far = np.zeros(len(labels), bool), np.zeros(len(labels), bool)
    response[at[np.isin(flag, ["response", "both"])]] = True
    far[at[np.isin(flag, ["leverage", "both"])]] = True
    told = np.select([response & far, response, far], ["both", "response", "leverage"], "")
    return pd.DataFrame(
        {
            "std_resid": largest,
            "flag": told.astype(object),
            "count": np.bincount(at, minlength=len(labels)),
        },
        index=labels,
    )


def _most_affected(count: Indices, far: Array) -> Indices:
    """Positions of rows of which there is something to tell, those with the most first."""
    order = np.lexsort([-far, -count])
    return np.asarray(order[count[order] > 0], dtype=np.intp)


def _asked(labels: "pd.Index[Any]", shown: Sequence[Hashable]) -> Indices:
    if isinstance(shown, str):
        raise ParameterError(f"rows={shown!r} must be a list of row labels; use [{shown!r}].")
    wanted = list(dict.fromkeys(shown))
    known = set(labels)
    unknown = [label for label in wanted if label not in known]
    if unknown:
        raise ParameterError(f"rows: the fit has no row labelled {listed(unknown)}.")
    return np.array([labels.get_loc(label) for label in wanted], dtype=np.intp)


def plot_cells(
    drawn: CellMap,
    ax: "Axes | None" = None,
    *,
    residual: str = "standardized residual",
    cutoff: float = 3.0,
) -> "Axes":
    """Draw a cell map: one line a row, one column a term, and a little apart the residuals.

    Parameters
    ----------
    drawn : CellMap
        What to draw, see `cell_map`.
    ax : Axes, optional
        Where to draw; a new figure with room for all names if None. The legend stands at the right of the axes.
    residual : str
        What the residuals are called.
    cutoff : float
        Residuals within it, to both sides, are drawn as sound.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> cells = pd.DataFrame({"a": [4.0, 0.0], "b": [0.0, np.nan]}, index=["u", "v"])
    >>> rows = pd.DataFrame({"std_resid": [0.1, 8.0], "flag": ["", "response"], "count": 1}, index=["u", "v"])
    >>> ax = plot_cells(CellMap(cells, rows, 0, 0))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['u', 'v']
    """
    n, p = drawn.cells.shape
    if n == 0:
        raise ParameterError("There is no row to draw.")
    rows, columns = _row_names(drawn.rows), [printable(name) for name in drawn.cells.columns]
    rows, columns = (shorten_all(names, _NAME_LENGTH) for names in (rows, columns))
    ax = axes_for(ax, _size(rows, [*columns, residual]))
    start = p + _GAP if p else 0.0
    if p:
        _draw(ax, 0.0, drawn.cells.to_numpy(dtype=float), cutoff, wrong=True)
    _draw(ax, start, drawn.rows[["std_resid"]].to_numpy(dtype=float), cutoff, wrong=False)
    _mark(ax, start + 1 + _MARK, drawn.rows["flag"])
    ax.set(xlim=(0, start + 1 + 2 * _MARK), ylim=(n, 0))
    _name(ax, rows, [*columns, residual], [*(np.arange(p) + 0.5), start + 0.5])
    ax.set_xlabel(_rest(drawn), fontsize=TINY, color=INK)
    _explain(ax, drawn, cutoff)
    return ax


def _row_names(rows: pd.DataFrame) -> list[str]:
    return [
        printable(label) + (f" (\N{MULTIPLICATION SIGN}{count})" if count > 1 else "")
        for label, count in zip(rows.index, rows["count"], strict=True)
    ]


def _size(rows: Sequence[str], columns: Sequence[str]) -> tuple[float, float]:
    """Figure in which cells are squares, beside names and legend."""
    left, top = (max(text_width(name, TINY) for name in names) / 72 for names in (rows, columns))
    wide = _CELL * (len(columns) + _GAP + 2 * _MARK)
    high = max(_CELL * len(rows), _LEGEND_HIGH)
    return left + wide + _LEGEND_WIDE + _AIR, top + high + _AIR


def _draw(ax: "Axes", start: float, values: Array, cutoff: float, *, wrong: bool) -> None:
    """Cells from a position on; of wrong ones, all that are not zero have a color."""
    n, p = values.shape
    x, y = start + np.arange(p + 1), np.arange(n + 1)
    ax.pcolormesh(x, y, _colors(values, cutoff, wrong=wrong), edgecolors="white", linewidth=0.5)
    if wrong:
        from matplotlib.patches import Rectangle

        for i, j in np.argwhere(np.isnan(values)):
            ax.add_patch(Rectangle((start + j + 0.06, i + 0.06), 0.88, 0.88, **_MISSING))


def _colors(values: Array, cutoff: float, *, wrong: bool) -> Array:
    """Red to blue by sign and size: (n, p, 4)."""
    from matplotlib.colors import to_rgba

    known = np.nan_to_num(values)
    share = np.clip((np.abs(known) - cutoff) / (_FULL - cutoff), 0, 1)
    strength = (_PALEST + (1 - _PALEST) * share)[..., None]
    full = np.where(known[..., None] > 0, to_rgba(VERMILLION), to_rgba(BLUE))
    colored = known != 0 if wrong else np.abs(known) > cutoff
    mixed = strength * full + (1 - strength) * np.ones(4)
    return np.where(colored[..., None], mixed, to_rgba(_SOUND))


def _mark(ax: "Axes", x: float, flag: "pd.Series[str]") -> None:
    """The kind of a flagged row by a shape, as in the diagnostics; color tells another thing here."""
    flags = flag.to_numpy()
    size = min(14.0, (0.7 * points_high(ax) / len(flags)) ** 2)
    for kind, look in LOOKS.items():
        own = np.flatnonzero(flags == kind)
        if kind and len(own):
            at = np.full(len(own), x)
            ax.scatter(
                at, own + 0.5, s=size, marker=look.marker, color=INK, linewidths=0, label=kind
            )


def _name(ax: "Axes", rows: Sequence[str], columns: Sequence[str], x: Sequence[float]) -> None:
    """Names of rows at the left, of columns on top, as large as there is room."""
    left, right = ax.get_xlim()
    for axis, names, at, room in (
        ("y", rows, list(np.arange(len(rows)) + 0.5), points_high(ax) / len(rows)),
        ("x", columns, list(x), points_wide(ax) / (right - left)),
    ):
        size, step = _text(room)
        which = ax.yaxis if axis == "y" else ax.xaxis
        # The last one of the columns is the residual, which is always named.
        kept = [i for i in range(len(names)) if i % step == 0]
        if axis == "x":
            kept = [i for i in kept if i < len(names) - step] + [len(names) - 1]
        which.set_ticks([at[i] for i in kept], [names[i] for i in kept], fontsize=size)
        for label in which.get_ticklabels():
            label.set_parse_math(False)
    ax.xaxis.tick_top()
    ax.tick_params(axis="x", rotation=90)
    ax.tick_params(length=0, pad=2)
    ax.spines[:].set_visible(False)


def _text(room: float) -> tuple[float, int]:
    """Size of names that have so many points each, and of how many one is written."""
    from matplotlib.font_manager import FontProperties

    usual = FontProperties(size=TINY).get_size_in_points()
    line = text_height(TINY) / usual
    size = max(min(usual, room / line), min(_LEAST_TEXT, usual))
    return size, max(ceil(size * line / room - 1e-9), 1)


def _rest(drawn: CellMap) -> str:
    told = [
        f"{count} more {word}{'' if count == 1 else 's'}"
        for count, word in ((drawn.rest_rows, "row"), (drawn.rest_columns, "term"))
        if count
    ]
    return f"({' and '.join(told)} not shown)" if told else ""


def _explain(ax: "Axes", drawn: CellMap, cutoff: float) -> None:
    """Legend at the right."""
    from matplotlib.patches import Patch

    ends = {
        f"{_FULL:g} or more too high": _FULL,
        f"{cutoff:.2g} too high": 1.001 * cutoff,
        "sound": 0.0,
        f"{cutoff:.2g} too low": -1.001 * cutoff,
        f"{_FULL:g} or more too low": -_FULL,
    }
    colors = _colors(np.array([list(ends.values())]), cutoff, wrong=False)[0]
    handles: list[Any] = [
        Patch(facecolor=tuple(color), label=name) for name, color in zip(ends, colors, strict=True)
    ]
    if drawn.cells.isna().to_numpy().any():
        handles.append(Patch(label="missing, imputed", **_MISSING))
    marks, kinds = ax.get_legend_handles_labels()
    names = [_FLAGGED[kind] for kind in kinds]
    legend = ax.legend(
        [*handles, *marks],
        [*(handle.get_label() for handle in handles), *names],
        title="in standard errors",
        fontsize=TINY,
        title_fontsize=TINY,
        loc="upper left",
        bbox_to_anchor=(1, 1),
        borderaxespad=0,
        borderpad=0.2,
        alignment="left",
        frameon=False,
        handlelength=1.0,
        handleheight=1.0,
        handletextpad=0.6,
    )
    legend.get_title().set_color(INK)
