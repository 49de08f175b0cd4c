"""Figures of the results, in the look of the package's own plots."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from benchmarks import fits, graphs, growth, solver
from benchmarks.results import Results
from benchmarks.rows import FitRow, GrowthRow, TimeRow
from robustsparse.report.plots.style import (
    BLUE,
    GREY,
    LIGHT,
    LINE,
    PALETTE,
    THIN,
    TINY,
    VERMILLION,
    name_axes,
    polish,
)  # fmt: skip

_DPI = 130
_MARKERS = "osD^vP"
# A logarithmic axis that is longer shows powers of ten alone.
_DECADES = 2.5


def _plain(value: float, _: object = None) -> str:
    """A tick label: no powers of ten where digits are as short."""
    if value >= 1e4:
        return f"{value / 1000:,.0f}k"
    return f"{value:g}"


def _logarithmic(axis: Any) -> None:
    """Powers of ten in plain digits, with 2 and 5 between them if there is room."""
    low, high = np.log10(axis.get_view_interval())
    subs = (1.0,) if high - low > _DECADES else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(FuncFormatter(_plain))
    axis.set_minor_locator(NullLocator())


# -- Algorithm 1 against vanilla IHT


def _ratio_rows(results: Results) -> list[TimeRow]:
    pairs = {(solver.FIXED, solver.VANILLA), (graphs.OURS, graphs.VANILLA)}
    return [r for r in results.times if (r.ours, r.other) in pairs and r.ratio is not None]


def _label(r: TimeRow) -> str:
    return r.problem if r.threads == 1 else f"{r.problem}, {r.threads} threads"


def draw_ratios(results: Results) -> Figure:
    """A dot a problem: time over vanilla IHT's, with quartiles and the bar."""
    rows = _ratio_rows(results)
    figure = Figure(figsize=(6.4, 0.9 + 0.27 * len(rows)), layout="constrained")
    ax = figure.add_subplot()
    polish(ax)
    ax.axvline(1.0, color=LIGHT, linewidth=LINE, zorder=0)
    for y, r in enumerate(rows):
        assert r.ratio is not None
        kept = r.bar is None or r.ratio.median <= r.bar
        color = BLUE if kept else VERMILLION
        ax.plot([r.ratio.low, r.ratio.high], [y, y], color=color, linewidth=LINE)
        ax.plot(r.ratio.median, y, "o", color=color, markersize=5)
        if r.bar is not None:
            ax.plot(r.bar, y, "|", color="black", markersize=11, markeredgewidth=1.5)
    ax.set_xscale("log")
    ax.set_yticks(range(len(rows)), [_label(r) for r in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    _logarithmic(ax.xaxis)
    name_axes(ax, "time over that of vanilla IHT; | is the largest that is allowed", "")
    return figure


# -- whole fits


def _panels(rows: Sequence[FitRow]) -> dict[tuple[str, str], list[FitRow]]:
    """Rows of each problem; the threaded fit is the same point but for its time."""
    panels: dict[tuple[str, str], list[FitRow]] = {}
    for r in rows:
        if r.error is not None and r.method != fits.THREADED:
            panels.setdefault((r.problem, r.attack), []).append(r)
    return panels


def _styles(rows: Sequence[FitRow]) -> dict[str, tuple[str, str]]:
    """Color and marker of each method."""
    names = dict.fromkeys(r.method for r in rows if r.ratio is not None)
    others = [name for name in names if name not in (fits.OURS, fits.THREADED)]
    colors = [color for color in PALETTE if color != BLUE]
    return {fits.OURS: (BLUE, "*")} | {
        name: (colors[i % len(colors)], marker)
        for i, (name, marker) in enumerate(zip(others, cycle(_MARKERS), strict=False))
    }


def _fit_panel(ax: Axes, rows: Sequence[FitRow], styles: dict[str, tuple[str, str]]) -> None:
    polish(ax)
    for r in rows:
        assert r.error is not None
        median, low, high = r.error
        if r.method == fits.ORACLE:
            ax.axhline(median, color=GREY, linewidth=LINE, linestyle=":", zorder=0)
            continue
        time = 1.0 if r.ratio is None else 1.0 / r.ratio.median
        color, marker = styles[r.method]
        ax.plot([time, time], [low, high], color=color, linewidth=THIN)
        size, above = (13, 4) if r.method == fits.OURS else (7, 3)
        ax.plot(
            time,
            median,
            marker,
            color=color,
            markersize=size,
            markeredgecolor="white",
            zorder=above,
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.margins(0.1)


def draw_fits(results: Results) -> Figure:
    """A panel a problem: error against time; bars are quartiles over the data sets."""
    panels = _panels(results.fits)
    styles = _styles(results.fits)
    columns = min(3, len(panels))
    lines = ceil(len(panels) / columns)
    figure = Figure(figsize=(3.1 * columns, 2.6 * lines + 0.9), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for ax, ((problem, attack), rows) in zip(grid, panels.items(), strict=False):
        _fit_panel(ax, rows, styles)
        name_axes(ax, "time over that of rht_fit", "‖β̂ − β*‖", f"{problem}, {attack}")
        ax.tick_params(labelbottom=True, labelleft=True)
    for ax in grid[len(panels) :]:
        ax.set_visible(False)
    # The axes are shared, so their ends are known only now.
    _logarithmic(grid[0].xaxis)
    _logarithmic(grid[0].yaxis)
    _fit_legend(figure, styles)
    return figure


def _fit_legend(figure: Figure, styles: dict[str, tuple[str, str]]) -> None:
    handles = [
        Line2D(
            [], [], color=color, marker=marker, linestyle="", markersize=10 if marker == "*" else 6
        )
        for color, marker in styles.values()
    ]
    handles.append(Line2D([], [], color=GREY, linewidth=LINE, linestyle=":"))
    figure.legend(
        handles,
        [*styles, fits.ORACLE],
        fontsize=TINY,
        ncols=3,
        loc="outside lower center",
        frameon=False,
    )


# -- growth

_GROWTH_STYLES = {
    growth.FIXED: (BLUE, "o"), growth.WHOLE: (VERMILLION, "s"), growth.VANILLA: (GREY, "^"),
}  # fmt: skip
_AXES = {"n": "rows n", "d": "columns d", "k": "predictors k"}


def _growth_line(ax: Axes, r: GrowthRow) -> None:
    color, marker = _GROWTH_STYLES[r.method]
    label = f"{r.method}: {r.axis}$^{{{r.exponent:.2f}}}$"
    ax.plot(
        r.sizes, r.seconds, color=color, marker=marker, markersize=4, linewidth=LINE, label=label
    )


def draw_growth(results: Results) -> Figure:
    """Seconds against n, d and k on logarithmic axes; exponents in the legends."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    grid = figure.subplots(1, len(_AXES), sharey=True)
    for ax, (axis, words) in zip(grid, _AXES.items(), strict=True):
        polish(ax)
        rows = [r for r in results.growth if r.axis == axis]
        for r in rows:
            _growth_line(ax, r)
        ax.set_xscale("log")
        ax.set_yscale("log")
        name_axes(ax, words, "", rows[0].fixed if rows else "")
        if rows:
            _logarithmic(ax.xaxis)
            ax.legend(fontsize=TINY, loc="upper left", bbox_to_anchor=(0, -0.18), frameon=False)
    _logarithmic(grid[0].yaxis)
    name_axes(grid[0], _AXES["n"], "seconds", grid[0].get_title("left"))
    return figure


# -- files


@dataclass(frozen=True)
class FigureFile:
    """A figure, the section below whose table it stands, and what it shows."""

    file: str
    section: str
    words: str
    draw: Callable[[Results], Figure]


FIGURES = (
    FigureFile(
        "ratios.png", solver.SECTION, "Time over that of vanilla IHT, with the bars", draw_ratios
    ),
    FigureFile("fits.png", "Whole fits", "Error against time of whole fits", draw_fits),
    FigureFile("growth.png", "Growth", "Seconds against n, d and k on logarithmic axes", draw_growth),
)  # fmt: skip


def save(results: Results, folder: Path) -> None:
    """Write all figures."""
    folder.mkdir(exist_ok=True)
    for figure in FIGURES:
        figure.draw(results).savefig(
            folder / figure.file, dpi=_DPI, metadata={"Software": None}
        )  # fmt: skip
