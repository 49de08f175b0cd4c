"""The look that all plots share. Sizes of text are relative, so that the user's settings hold."""

import math
from collections.abc import Iterator
from itertools import cycle, product
from typing import TYPE_CHECKING, Literal

import numpy as np

from robustsparse.base.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The colors of Okabe and Ito, told apart with every kind of color vision; without their yellow,
# which is too pale for lines, and black, which is the color of text.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = PALETTE
GREY = "0.6"
LIGHT = "0.8"
# Widths in points.
LINE = 1.3
THIN = 0.6
# Sizes of text, relative to the user's font size.
SMALL = "small"
TINY = "x-small"


def axes_for(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    """Axes to draw on, in a new figure of `size` inches if there are none, with light spines."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    polish(ax)
    return ax


def polish(ax: "Axes") -> None:
    """Thin spines on two sides, small ticks."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_linewidth(THIN)
    ax.tick_params(labelsize=SMALL, width=THIN, length=3)


def name_axes(ax: "Axes", x: str, y: str, title: str = "") -> None:
    """Axis labels, and a title at the left."""
    ax.set_xlabel(x, fontsize=SMALL)
    ax.set_ylabel(y, fontsize=SMALL)
    if title:
        ax.set_title(title, fontsize=SMALL, loc="left")


def points_wide(ax: "Axes") -> float:
    """Width of the axes in points, as they are now."""
    return float(ax.get_window_extent().width * 72 / ax.figure.dpi)


def points_high(ax: "Axes") -> float:
    """Height of the axes in points, as they are now."""
    return float(ax.get_window_extent().height * 72 / ax.figure.dpi)


def text_width(text: str, size: str) -> float:
    """Width of a text in points, without a renderer; 0 for nothing but spaces."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size)
    # A dollar sign would start a formula; an S, which is as wide, is measured in its place.
    vertices, codes = text_to_path.get_text_path(font, text.replace("$", "S"))
    if not len(vertices):
        return 0.0
    scale = font.get_size_in_points() / text_to_path.FONT_SCALE
    return float(scale * Path(vertices, codes).get_extents().width)


def name_length(ax: "Axes", share: float, most: int) -> int:
    """Characters of small text that take at most a share of the width of the axes, 8 to `most`."""
    # Names are set in wider letters than n on average.
    letter = 1.1 * text_width("nnnnnnnnnn", TINY) / 10
    return min(max(int(share * points_wide(ax) / letter), 8), most)


def text_height(size: str) -> float:
    """Height of a line of text in points, with a little air."""
    from matplotlib.font_manager import FontProperties

    return 1.25 * FontProperties(size=size).get_size_in_points()


def line_styles() -> Iterator[tuple[str, str]]:
    """Pairs of dashes and colors: all colors solid, then all dashed, then dotted, and again."""
    return cycle(product(("-", "--", ":"), PALETTE))


def squeeze(ax: "Axes", axis: Literal["x", "y"], bound: float, values: Array) -> None:
    """Make an axis linear up to `bound` to both sides of zero and logarithmic beyond."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    which = ax.xaxis if axis == "x" else ax.yaxis
    (ax.set_xscale if axis == "x" else ax.set_yscale)("symlog", linthresh=bound, linscale=1.5)
    low, high = np.nanmin(values), np.nanmax(values)
    sides = 2 if low < -bound and high > bound else 1
    # A tick label and its air take some 35 points across, 18 up; zero and the linear part take one.
    room = points_wide(ax) / 35 if axis == "x" else points_high(ax) / 18
    ticks = squeezed_ticks(bound, float(max(-low, high)), max(int((room - 1) / sides), 1))
    which.set_major_locator(FixedLocator(ticks))
    which.set_major_formatter(FuncFormatter(_power))
    which.set_minor_locator(NullLocator())


def _power(tick: float, _: object = None) -> str:
    if abs(tick) < 1e4:
        return f"{tick:g}".replace("-", "\N{MINUS SIGN}")
    sign = "-" if tick < 0 else ""
    digit, power = f"{abs(tick):.0e}".split("e")
    times = "" if digit == "1" else rf"{digit}\times "
    return f"${sign}{times}10^{{{int(power)}}}$"


def squeezed_ticks(bound: float, largest: float, count: int = 3) -> list[float]:
    """Zero, and at most `count` powers of ten beyond the bound to each side, the largest included.

    Examples
    --------
    >>> squeezed_ticks(3.0, 2e6)
    [-1000000.0, -10000.0, -100.0, 0.0, 100.0, 10000.0, 1000000.0]
    """
    first, last = math.ceil(math.log10(1.5 * bound)), math.floor(math.log10(largest))
    step = max((last - first) // count + 1, 1)
    powers = [10.0**n for n in range(last, first - 1, -step)]
    outer = powers[::-1] or [float(f"{largest:.0e}")]
    return [*(-tick for tick in reversed(outer)), 0.0, *outer]


def add_legend(
    ax: "Axes",
    size: str = TINY,
    loc: Literal["best", "upper right", "lower right"] = "best",
    title: str | None = None,
) -> None:
    """Legend without a frame, pale behind so that it can be read over lines."""
    ax.legend(
        fontsize=size,
        title=title,
        title_fontsize=size,
        loc=loc,
        alignment="left",
        handletextpad=0.5,
        edgecolor="none",
        framealpha=0.8,
        borderpad=0.2,
    )


def mark_k(ax: "Axes", k: float, label: str | None = None) -> None:
    """Dotted line at the chosen k, its label in room made above the data."""
    low, high = ax.get_ylim()
    head = 1.6 * text_height(TINY) / points_high(ax)
    if ax.get_yscale() == "log":
        ax.set_ylim(low, high * (high / low) ** head)
    else:
        ax.set_ylim(low, high + head * (high - low))
    ax.axvline(k, color=GREY, linestyle=":", linewidth=1, zorder=0.5)
    ax.annotate(
        f"k = {k}" if label is None else label,
        (k, 1),
        xycoords=("data", "axes fraction"),
        xytext=(3, -1),
        textcoords="offset points",
        ha="left",
        va="top",
        fontsize=TINY,
    )
