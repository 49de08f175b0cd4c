"""The Robust Descent Condition as it was measured."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.report.plots.style import BLUE, LINE, add_legend, axes_for, name_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_rdc(
    data: pd.DataFrame,
    alpha: float,
    psi: float,
    ax: "Axes | None" = None,
    label: str | None = None,
    color: str = BLUE,
) -> "Axes":
    """Errors of a gradient against the distance from the truth, and the line that bounds them.

    Parameters
    ----------
    data : DataFrame
        Columns `distance` and `error`.
    alpha, psi : float
        Slope and level of the line.
    ax : Axes, optional
        Where to draw; a new figure by default.
    label : str, optional
        Name of the estimator, for a legend.
    color : str
        Color of points and line.

    Examples
    --------
    >>> frame = pd.DataFrame({"distance": [0.0, 1.0], "error": [0.2, 0.5]})
    >>> plot_rdc(frame, 0.3, 0.2).get_xlabel()
    'distance ‖β − β*‖'
    """
    ax = axes_for(ax, (5.5, 3.6))
    ends = np.array([0.0, data["distance"].max()])
    bound = f"{alpha:.2g} · distance + {psi:.2g}"
    text = bound if label is None else f"{label}: {bound}"
    ax.scatter(data["distance"], data["error"], s=6, color=color, alpha=0.35, linewidths=0)
    ax.plot(ends, alpha * ends + psi, color=color, linewidth=LINE, label=text)
    ax.set_ylim(bottom=0)
    name_axes(ax, "distance ‖β − β*‖", "error of the gradient on sparse directions")
    add_legend(ax)
    return ax
