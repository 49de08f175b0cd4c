"""What the figures of the theory page share: medians with quartiles, and lines of the theory's slope."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.report.plots.style import GREY, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^v"


def quartiles(table: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Median and quartiles of y at each x."""
    found = table.groupby(x)[y].quantile([0.25, 0.5, 0.75]).unstack()
    return found.set_axis(["low", "median", "high"], axis=1)


def curves(
    ax: "Axes", table: pd.DataFrame, x: str, y: str, by: str, order: Sequence[str] = ()
) -> None:
    """One line of medians for each value of `by`, with bars from quartile to quartile.

    Colors and marks follow the place in `order`, so that they are alike in panels that lack some; without it the
    order of the table.
    """
    order = [*(order or table[by].unique())]
    for name, part in table.groupby(by, sort=False):
        found, number = quartiles(part, x, y), order.index(name)
        low, high = found["median"] - found["low"], found["high"] - found["median"]
        ax.errorbar(
            found.index, found["median"], yerr=[low, high], label=str(name), linewidth=1.2,
            color=PALETTE[number], marker=MARKERS[number % 5], markersize=4, elinewidth=0.8,
        )  # fmt: skip


def shares(ax: "Axes", table: pd.DataFrame, x: str, by: str) -> None:
    """One line of the share of right supports for each value of `by`, in the order of the table."""
    for number, (name, part) in enumerate(table.groupby(by, sort=False)):
        found = part.groupby(x)["right"].mean()
        ax.plot(
            found.index, found, label=str(name), color=PALETTE[number % 6], linewidth=1.2,
            marker=MARKERS[number % 5], markersize=4,
        )  # fmt: skip
    ax.set_ylim(-0.03, 1.03)


def guide(ax: "Axes", x: np.ndarray, at: float, power: float) -> None:
    """A dashed line of the theory's slope through `at` at the smallest x; its height means nothing."""
    ends = np.array([min(x), max(x)], dtype=float)
    ax.plot(ends, at * (ends / ends[0]) ** power, "--", color=GREY, linewidth=1.1, zorder=0)


def legend_above(ax: "Axes", title: str = "", columns: int = 1) -> None:
    """Legend above the axes, where it covers nothing."""
    ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize="x-small", ncols=columns,
        title=title or None, title_fontsize="x-small", alignment="left", borderaxespad=0.2,
    )  # fmt: skip


def half_way(share: pd.Series) -> float:
    """Where a falling (or rising) share of successes crosses one half, by linear interpolation; NaN if it does not."""
    x, y = share.index.to_numpy(dtype=float), share.to_numpy(dtype=float) - 0.5
    crossed = np.flatnonzero(y[:-1] * y[1:] <= 0)
    if not len(crossed):
        return float("nan")
    i = int(crossed[0])
    return float(x[i] + (x[i + 1] - x[i]) * y[i] / (y[i] - y[i + 1])) if y[i] != y[i + 1] else x[i]
