"""Coefficients of several models, term by term."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.base.types import Array
from robustsparse.report.plots.style import LIGHT, LINE, PALETTE, THIN, add_legend, name_axes
from robustsparse.report.plots.terms import named_rows, squeeze_if_far, with_rest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Share of the height of a term that its models take together, and the shapes that tell them apart without colors.
_TOGETHER = 0.6
_SHAPES = ("o", "s", "^", "D", "v", "P")


def plot_models(
    models: Mapping[str, pd.DataFrame], ax: "Axes | None" = None, rest: int = 0
) -> "Axes":
    """Draw estimates of several models with their intervals, the models of a term close together.

    Parameters
    ----------
    models : dict from str to DataFrame
        For each model the same terms as rows; columns `estimate`, and if they are known `low` and `high`. A term that a
        model has not is missing.
    ax : Axes, optional
        Where to draw; a new figure if None.
    rest : int
        Number of terms that are not drawn, for the label of the axis.

    Examples
    --------
    >>> one = pd.DataFrame({"estimate": [0.5, -2.0], "low": [0.1, -2.3], "high": [0.9, -1.7]}, index=["age", "dose"])
    >>> other = pd.DataFrame({"estimate": [np.nan, -1.0]}, index=["age", "dose"])
    >>> ax = plot_models({"robust": one, "lasso": other})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['robust', 'lasso']
    """
    first = next(iter(models.values()))
    rows, ax, hidden = named_rows(first, ax, len(first), lines=0.4 + 0.6 * len(models))
    name_axes(ax, with_rest("coefficient", rest + hidden), "")
    ax.axvline(0, color=LIGHT, linewidth=THIN, zorder=0)
    shifts = _TOGETHER * (np.arange(len(models)) - (len(models) - 1) / 2) / max(len(models), 2)
    drawn = []
    for i, (name, table) in enumerate(models.items()):
        part = table.iloc[: len(rows)]
        drawn.append(_draw(ax, part, shifts[i], i, name))
    if len(models) > 1:
        add_legend(ax)
    squeeze_if_far(ax, np.concatenate(drawn))
    return ax


def _draw(ax: "Axes", table: pd.DataFrame, shift: float, place: int, name: str) -> Array:
    """One model; returns what was drawn, ends of intervals included."""
    y = np.arange(len(table)) + shift
    color = PALETTE[place % len(PALETTE)]
    nothing = pd.Series(np.nan, table.index)
    low, high = (table.get(end, nothing).to_numpy(dtype=np.float64) for end in ("low", "high"))
    estimate = table["estimate"].to_numpy(dtype=np.float64)
    ax.hlines(y, low, high, color=color, linewidth=LINE, zorder=1)
    shape = _SHAPES[place % len(_SHAPES)]
    ax.scatter(estimate, y, s=18, color=color, marker=shape, zorder=2, label=name)
    return np.concatenate([estimate, low, high])
