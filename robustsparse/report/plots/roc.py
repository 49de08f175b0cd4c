"""Receiver operating characteristics."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.text import shown
from robustsparse.report.plots.style import (
    LIGHT,
    LINE,
    SMALL,
    THIN,
    TINY,
    add_legend,
    axes_for,
    line_styles,
    name_axes,
    name_length,
    points_wide,
    text_width,
)
from robustsparse.report.summary.words import shorten_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Share of the width that the names of curves may take.
_ROOM = 0.6


class Curve(Protocol):
    """What is drawn: rates of false and of true positives, and the area below."""

    @property
    def fpr(self) -> ArrayLike:
        """Rates of false positives, ascending."""

    @property
    def tpr(self) -> ArrayLike:
        """Rates of true positives."""

    @property
    def auc(self) -> float:
        """Area under the curve."""


def plot_roc(curves: "Curve | Mapping[str, Curve]", ax: "Axes | None" = None) -> "Axes":
    """Draw one or several ROC curves with their areas.

    Parameters
    ----------
    curves : ROC or mapping from name to ROC
        Objects with the attributes `fpr`, `tpr` and `auc`.
    ax : Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> curve = SimpleNamespace(fpr=[0, 0, 1], tpr=[0, 1, 1], auc=1.0)
    >>> ax = plot_roc({"robust": curve})
    >>> ax.get_legend().get_texts()[0].get_text()
    '1.000  robust'
    """
    named = dict(curves) if isinstance(curves, Mapping) else {"": curves}
    if not named:
        raise ParameterError(
            "there are no curves to draw; give a ROC curve, or a mapping from names to curves."
        )
    for curve in named.values():
        if not hasattr(curve, "auc"):
            raise DataError(
                f"plot_roc takes ROC curves, or names of curves; {shown(curve)} is none."
            )
    ax = axes_for(ax, (3.6, 3.6))
    name_axes(ax, "false positive rate", "true positive rate")
    ax.plot([0, 1], [0, 1], color=LIGHT, linewidth=THIN, zorder=0)
    labels = _labels(list(named), [curve.auc for curve in named.values()], ax)
    for label, curve, (dashes, color) in zip(labels, named.values(), line_styles(), strict=False):
        x, y = np.asarray(curve.fpr, float), np.asarray(curve.tpr, float)
        ax.plot(x, y, dashes, color=color, linewidth=LINE, label=label, clip_on=False)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    if named:
        size = SMALL if len(named) <= 4 and points_wide(ax) > 200 else TINY
        title = "AUC" if isinstance(curves, Mapping) else None
        add_legend(ax, size, "lower right", title)
    return ax


def _labels(names: Sequence[str], areas: Sequence[float], ax: "Axes") -> list[str]:
    numbers = ["–" if np.isnan(area) else f"{area:.3f}" for area in areas]
    short = [str(name) for name in names]
    if max((text_width(name, TINY) for name in short), default=0.0) > _ROOM * points_wide(ax):
        short = shorten_all(short, name_length(ax, _ROOM, 28))
    return [
        f"{number}  {name}" if name else f"AUC {number}"
        for name, number in zip(short, numbers, strict=True)
    ]
