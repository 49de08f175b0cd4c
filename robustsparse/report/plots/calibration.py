"""Calibration: whether events are as frequent as a model says."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from robustsparse.base.checks import check_count, check_number
from robustsparse.base.errors import DataError
from robustsparse.base.types import Array, Mask
from robustsparse.report.plots.style import (
    BLUE,
    GREY,
    LIGHT,
    SMALL,
    THIN,
    TINY,
    VERMILLION,
    axes_for,
    name_axes,
    name_length,
    points_wide,
    text_width,
)
from robustsparse.report.summary.words import shorten_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Unless told otherwise there are this many bins at most, with about this many rows at least.
_MOST_BINS, _FEWEST_ROWS = 10, 10
# Height of the marks of single rows, as a part of the axes.
_MARK = 0.025
# From this many rows on, marks become pixels in vector graphics.
_MANY = 3000


def calibration_frame(
    probability: "pd.Series[float]",
    observed: "pd.Series[float]",
    bins: int | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Predicted probability beside the observed share of events, in bins of equal counts.

    Parameters
    ----------
    probability : Series
        Predicted probability of the event.
    observed : Series
        1 where the event came, 0 where it did not, in the same order.
    bins : int, optional
        Number of bins; ten by default, fewer if there are less than ten rows for each. Equal predictions are never
        parted, so that there may be fewer.
    level : float
        Level of Wilson's intervals for the shares.

    Returns
    -------
    DataFrame
        A row for each bin: `n`, `predicted` (mean), `observed` (share), and the interval `low`, `high`.

    Examples
    --------
    >>> p = pd.Series([0.1, 0.1, 0.2, 0.8, 0.9, 0.9])
    >>> y = pd.Series([0, 0, 1, 1, 1, 1])
    >>> calibration_frame(p, y, bins=2).round(2).to_dict("list")
    {'n': [3, 3], 'predicted': [0.13, 0.87], 'observed': [0.33, 1.0], 'low': [0.06, 0.44], 'high': [0.79, 1.0]}
    """
    p, y = np.asarray(probability, dtype=np.float64), np.asarray(observed, dtype=np.float64)
    if len(p) != len(y) or not len(p):
        raise DataError(
            f"{len(p)} probabilities and {len(y)} responses: there must be as many, and some."
        )
    level = check_number("level", level, 0.5, 0.9999)
    most = max(min(_MOST_BINS, len(p) // _FEWEST_ROWS), 1)
    count = most if bins is None else check_count("bins", bins, 1, len(p))
    # Rows with equal predictions go where the middle one of them does.
    ranks = pd.Series(p).rank(method="average").to_numpy() - 0.5
    parts = pd.DataFrame({"p": p, "y": y}).groupby((ranks * count / len(p)).astype(int))
    table = parts.agg(n=("y", "size"), predicted=("p", "mean"), observed=("y", "mean"))
    low, high = _wilson(table["observed"].to_numpy(), table["n"].to_numpy(dtype=float), level)
    return table.assign(low=low, high=high).reset_index(drop=True)


def _wilson(share: Array, n: Array, level: float) -> tuple[Array, Array]:
    """Wilson's interval for a probability, from the share of events among n."""
    z = ndtri(0.5 + 0.5 * level)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # At shares of none and all an end is exact, but for rounding.
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)


def plot_calibration(
    probability: "pd.Series[float]",
    observed: "pd.Series[float]",
    ax: "Axes | None" = None,
    *,
    bins: int | None = None,
    level: float = 0.95,
    event: str = "the event",
    source: str = "",
) -> "Axes":
    """Draw observed shares against predicted probabilities, with intervals and a mark for every row.

    Parameters
    ----------
    probability, observed, bins, level
        As in `calibration_frame`.
    ax : Axes, optional
        Where to draw; a new figure if None.
    event : str
        What is predicted.
    source : str
        Where the probabilities come from, for instance "10-fold cross-validation".

    Returns
    -------
    Axes
        The axes drawn on. Marks at the top are events, marks at the bottom are not.

    Examples
    --------
    >>> p = pd.Series(np.linspace(0.05, 0.95, 40))
    >>> ax = plot_calibration(p, (p > 0.5).astype(float))
    >>> ax.get_xlabel()
    'predicted probability of the event'
    """
    table = calibration_frame(probability, observed, bins, level)
    ax = axes_for(ax, (3.6, 3.6))
    name_axes(ax, _label(ax, event), "observed share")
    ax.plot([0, 1], [0, 1], color=LIGHT, linewidth=THIN, zorder=0)
    _mark_rows(ax, np.asarray(probability, float), np.asarray(observed, float) == 1)
    x, y = table["predicted"].to_numpy(), table["observed"].to_numpy()
    lengths = np.abs(table[["low", "high"]].to_numpy().T - y)
    ax.errorbar(
        x, y, lengths, fmt="o", color=BLUE, markersize=4.5, elinewidth=1.0, capsize=2.5,
        capthick=1.0, clip_on=False, zorder=3,
    )  # fmt: skip
    ticks = [0, 0.25, 0.5, 0.75, 1]
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.05, 1.05), aspect="equal", xticks=ticks, yticks=ticks)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    _say(ax, table, source, level)
    return ax


def _label(ax: "Axes", event: str) -> str:
    """Label of the probabilities, on two lines if one is too short."""
    (short,) = shorten_all([event], name_length(ax, 0.7, 40))
    one = f"predicted probability of {short}"
    return one if text_width(one, SMALL) < points_wide(ax) else one.replace(" of ", "\nof ", 1)


def _mark_rows(ax: "Axes", probability: Array, event: Mask) -> None:
    """A mark for every row: events at the top, the others at the bottom."""
    rows = ax.get_xaxis_transform()
    for own, bottom, color in ((event, 1.0 - _MARK, VERMILLION), (~event, 0.0, GREY)):
        ax.vlines(
            probability[own], bottom, bottom + _MARK, color=color, linewidth=THIN, alpha=0.6,
            transform=rows, zorder=1, rasterized=len(probability) > _MANY,
        )  # fmt: skip


def _say(ax: "Axes", table: pd.DataFrame, source: str, level: float) -> None:
    """How many rows, where the probabilities come from and what the bars are, below the diagonal."""
    fewest, most = int(table["n"].min()), int(table["n"].max())
    each = f"{fewest}" if fewest == most else f"{fewest}–{most}"
    lines = [
        *([source] if source else []),
        f"n = {int(table['n'].sum()):,}, {each} a point",
        f"{100 * level:g}% intervals",
    ]
    ax.text(
        0.98, 0.06, "\n".join(lines), transform=ax.transAxes, ha="right", va="bottom",
        fontsize=TINY, linespacing=1.4,
        bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5},
    )  # fmt: skip
