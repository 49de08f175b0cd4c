"""The look that all plots share. Sizes of text are relative, so that the user's settings hold."""

from collections.abc import Iterator
from itertools import cycle, product
from typing import TYPE_CHECKING

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
    """Width of a text in points, without a renderer."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(size=size)
    path = TextPath((0, 0), text or " ", size=font.get_size_in_points(), prop=font)
    return float(path.get_extents().width)


def text_height(size: str) -> float:
    """Height of a line of text in points, with a little air."""
    from matplotlib.font_manager import FontProperties

    return 1.25 * FontProperties(size=size).get_size_in_points()


def line_styles() -> Iterator[tuple[str, str]]:
    """Pairs of dashes and colors: all colors solid, then all dashed, then dotted, and again."""
    return cycle(product(("-", "--", ":"), PALETTE))


def add_legend(ax: "Axes", size: str = TINY, loc: str = "best", title: str | None = None) -> None:
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


def mark_k(ax: "Axes", k: int) -> None:
    """Dotted line at the chosen k, its label in room made above the data."""
    low, high = ax.get_ylim()
    head = 1.6 * text_height(TINY) / points_high(ax)
    if ax.get_yscale() == "log":
        ax.set_ylim(low, high * (high / low) ** head)
    else:
        ax.set_ylim(low, high + head * (high - low))
    ax.axvline(k, color=GREY, linestyle=":", linewidth=1, zorder=0.5)
    ax.annotate(
        f"k = {k}",
        (k, 1),
        xycoords=("data", "axes fraction"),
        xytext=(3, -1),
        textcoords="offset points",
        ha="left",
        va="top",
        fontsize=TINY,
    )
