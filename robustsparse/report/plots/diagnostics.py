"""Four views of the rows: residuals, their quantiles, the outlier map, the weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array, Mask
from robustsparse.report.plots.qq import model_qq_frame, qq_frame
from robustsparse.report.plots.style import (
    BLUE,
    GREY,
    LIGHT,
    PURPLE,
    THIN,
    TINY,
    VERMILLION,
    name_axes,
    name_length,
    points_high,
    polish,
    squeeze,
    text_height,
)
from robustsparse.report.summary.words import printable, shorten_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text


@dataclass(frozen=True)
class Drawn:
    """What residuals are called, and what is known of them.

    Attributes
    ----------
    name, standardized : str
        What they are, and what they are called when divided by their scale.
    fitted : str
        What the fitted values are.
    bounds : pair of float or None
        Smallest and largest fitted value there can be; without bounds, far ones are drawn at the edge.
    sample : callable or None
        Draws standardized residuals (n,) with a random generator as the model would have them, for the QQ plot; None
        compares with normal ones.
    """

    name: str = "residual"
    standardized: str = "standardized residual"
    fitted: str = "fitted value"
    bounds: tuple[float, float] | None = None
    sample: Callable[[np.random.Generator], Array] | None = None


class _Look(NamedTuple):
    color: str
    marker: str


# Color and shape both tell the kind of a row.
LOOKS = {
    "": _Look(GREY, "o"),
    "leverage": _Look(BLUE, "s"),
    "response": _Look(VERMILLION, "^"),
    "both": _Look(PURPLE, "D"),
}
INK = "0.25"
# Values beyond this many cutoffs turn an axis logarithmic outside of the cutoffs.
_FAR = 8.0
# Fitted values beyond the quartiles by this many interquartile ranges are drawn at the edge.
_EDGE = 6.0
_LABEL_LENGTH = 20
# From this many rows on, points become pixels in vector graphics.
_MANY = 3000


def outlier_map_frame(frame: pd.DataFrame, cutoff: float = 3.0) -> pd.DataFrame:
    """Place of each row in the outlier map.

    Parameters
    ----------
    frame : DataFrame
        By row label, with columns `std_resid`, `distance` and `distance_cutoff`.
    cutoff : float
        Standardized residuals beyond it, to both sides, are outlying.

    Returns
    -------
    DataFrame
        Columns `distance`, `std_resid` and `place`: "regular", "vertical outlier", "good leverage"
        or "bad leverage".

    Examples
    --------
    >>> frame = pd.DataFrame({"std_resid": [0.1, 9.0, 0.2, -7.0], "distance": [1, 1, 8, 9],
    ...                       "distance_cutoff": 3.0}, index=list("abcd"))
    >>> outlier_map_frame(frame)["place"].tolist()
    ['regular', 'vertical outlier', 'good leverage', 'bad leverage']
    """
    outlying = frame["std_resid"].abs().to_numpy(dtype=float) > cutoff
    far = (frame["distance"] > frame["distance_cutoff"]).to_numpy()
    places = np.select(
        [outlying & far, outlying, far],
        ["bad leverage", "vertical outlier", "good leverage"],
        "regular",
    )
    return frame[["distance", "std_resid"]].assign(place=places)


def plot_diagnostics(
    frame: pd.DataFrame,
    scale: float,
    axes: Any = None,
    label: int = 3,
    *,
    kind: "str | Drawn" = "residual",
    cutoff: float = 3.0,
    rng: "int | np.random.Generator | None" = None,
) -> "NDArray[Any]":
    """Draw residuals against fitted values, a QQ plot, the outlier map and the weights.

    Parameters
    ----------
    frame : DataFrame
        One row for each row of the data, labelled by it, with columns `fitted`, `resid`,
        `std_resid`, `weight` (0 to 1), `distance` (of the row in the predictors),
        `distance_cutoff` and `flag` ("", "response", "leverage" or "both").
    scale : float
        Robust scale of the residuals.
    axes : array of four Axes, optional
        Where to draw; a new figure if None.
    label : int
        Number of rows to label in each panel, the most extreme ones.
    kind : str or Drawn
        What the residuals are, for instance "deviance residual".
    cutoff : float
        Number of scales beyond which a residual is outlying.
    rng : int, Generator or None
        Random numbers of the envelope; None for a fixed seed.

    Returns
    -------
    array of Axes
        In the shape given, (2, 2) by default. Axes on which a few rows are very far out are linear
        up to the cutoff and logarithmic beyond.

    Examples
    --------
    >>> frame = pd.DataFrame({"fitted": [1.0, 2.0, 3.0], "resid": [0.1, -0.2, 9.0], "weight": [1, 1, 0],
    ...                       "std_resid": [0.5, -1.0, 45.0], "distance": [1.0, 1.2, 0.8],
    ...                       "distance_cutoff": 3.0, "flag": ["", "", "response"]})
    >>> plot_diagnostics(frame, scale=0.2).shape
    (2, 2)
    """
    panels = _four(axes)
    drawn = Drawn(kind, f"standardized {kind}") if isinstance(kind, str) else kind
    clean = frame.replace([np.inf, -np.inf], np.nan)
    first, second, third, fourth = panels.flat
    for ax in panels.flat:
        polish(ax)
    _draw_residuals(first, clean, cutoff * scale, label, drawn)
    _draw_quantiles(second, clean, cutoff, label, drawn, rng)
    _draw_map(third, clean, cutoff, label, drawn)
    _draw_weights(fourth, clean, label)
    return panels


def _four(axes: Any) -> "NDArray[Any]":
    if axes is None:
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(2, 2, figsize=(7.0, 5.8), layout="constrained")
    array = np.asarray(axes, dtype=object)
    if array.size != 4:
        raise ParameterError(f"axes holds {array.size} Axes; the diagnostics need four.")
    return array


def _draw_residuals(ax: "Axes", frame: pd.DataFrame, bound: float, label: int, kind: Drawn) -> None:
    name_axes(ax, kind.fitted, kind.name, "Residuals")
    x, beyond = _clipped(frame["fitted"].to_numpy(dtype=float), kind.bounds)
    y = frame["resid"].to_numpy(dtype=float)
    _squeeze(ax, "y", y, bound)
    _lines(ax, [0], [-bound, bound])
    _scatter(ax, x, y, frame["flag"])
    if beyond.any():
        ax.scatter(x[beyond], y[beyond], s=30, facecolors="none", edgecolors=INK, linewidths=THIN)
        ax.set_xlabel(f"{kind.fitted}\n(circled: off the axis)")
    _label(ax, x, y, frame.index, _largest(np.abs(y), label))


def _draw_quantiles(
    ax: "Axes",
    frame: pd.DataFrame,
    cutoff: float,
    label: int,
    kind: Drawn,
    rng: "int | np.random.Generator | None",
) -> None:
    if kind.sample is None:
        name_axes(ax, "normal quantile", kind.standardized, "Normal QQ")
    else:
        name_axes(ax, "model quantile", kind.standardized, "Model QQ")
    order = np.argsort(frame["std_resid"].to_numpy(dtype=float), kind="stable")
    rows = frame.iloc[order][frame["std_resid"].notna().to_numpy()[order]]
    qq = (
        qq_frame(rows["std_resid"], rng=rng)
        if kind.sample is None
        else model_qq_frame(rows["std_resid"], kind.sample, rng=rng)
    )
    if kind.sample is not None:
        # Residuals have the unit one here: where all are next to zero, they are to look so.
        ax.update_datalim([(-1, -1), (1, 1)])
    x, y = qq["theoretical"].to_numpy(), qq["sample"].to_numpy()
    _squeeze(ax, "y", y, cutoff)
    ax.fill_between(x, qq["low"], qq["high"], color=LIGHT, alpha=0.6, linewidth=0, zorder=0)
    ax.plot(x, qq["line"], color=GREY, linewidth=0.8, zorder=1)
    _scatter(ax, x, y, rows["flag"])
    _label(ax, x, y, rows.index, _largest(np.abs(y), label))


def _draw_map(ax: "Axes", frame: pd.DataFrame, cutoff: float, label: int, kind: Drawn) -> None:
    name_axes(ax, "robust distance", kind.standardized, "Outlier map")
    x, y = (frame[name].to_numpy(dtype=float) for name in ("distance", "std_resid"))
    bound = frame["distance_cutoff"].to_numpy(dtype=float)
    if not (np.isfinite(x) & np.isfinite(y) & np.isfinite(bound)).any():
        ax.text(0.5, 0.5, "no robust distances", transform=ax.transAxes, ha="center", fontsize=TINY)
        return
    limit = float(np.nanmax(bound))
    _squeeze(ax, "y", y, cutoff)
    _squeeze(ax, "x", x, limit)
    _lines(ax, [], [-cutoff, cutoff])
    ax.axvline(limit, color=GREY, linestyle="--", linewidth=0.8, zorder=0)
    # Room for the lines, and above and below the points for the names of the quadrants.
    ax.update_datalim([(0, -1.3 * cutoff), (1.5 * limit, 1.3 * cutoff)])
    ax.margins(y=2 * text_height(TINY) / points_high(ax))
    _scatter(ax, x, y, frame["flag"])
    ax.set_xlim(left=0)
    names = _name_quadrants(ax, cutoff)
    extreme = [*_largest(np.abs(y), label), *_largest(x, label)]
    _label(ax, x, y, frame.index, list(dict.fromkeys(extreme)), names)


def _draw_weights(ax: "Axes", frame: pd.DataFrame, label: int) -> None:
    name_axes(ax, "row number", "weight", "Weights")
    y = frame["weight"].to_numpy(dtype=float)
    x = np.arange(1, len(y) + 1, dtype=float)
    _scatter(ax, x, y, frame["flag"])
    ax.set_ylim(-0.06, 1.06)
    # Rows that keep most of their weight need no name; of those without any, the farthest first.
    order = np.lexsort([-frame["std_resid"].abs().to_numpy(dtype=float), y])
    _label(ax, x, y, frame.index, [int(i) for i in order[:label] if y[i] < 0.5])


def _clipped(values: Array, bounds: tuple[float, float] | None) -> tuple[Array, Mask]:
    """Values moved to the edge where they are so far out that the rest would be one spot."""
    known = values[np.isfinite(values)]
    if bounds is not None or len(known) == 0:
        return values, np.zeros(len(values), bool)
    below, above = np.quantile(known, [0.25, 0.75])
    reach = _EDGE * (above - below) if above > below else np.inf
    near = known[(known >= below - reach) & (known <= above + reach)]
    margin = 0.05 * np.ptp(near)
    far = (values < below - reach) | (values > above + reach)
    return np.where(far, np.clip(values, near.min() - margin, near.max() + margin), values), far


def _squeeze(ax: "Axes", axis: Literal["x", "y"], values: Array, bound: float) -> None:
    """Make an axis logarithmic beyond the bound if some values are far beyond it."""
    known = values[np.isfinite(values)]
    if bound > 0 and np.max(np.abs(known), initial=0.0) > _FAR * bound:
        squeeze(ax, axis, bound, known)


def _lines(ax: "Axes", solid: Sequence[float], dashed: Sequence[float]) -> None:
    for y in solid:
        ax.axhline(y, color=LIGHT, linewidth=THIN, zorder=0)
    for y in dashed:
        ax.axhline(y, color=GREY, linestyle="--", linewidth=0.8, zorder=0)


def _scatter(ax: "Axes", x: Array, y: Array, flag: "pd.Series[str]") -> None:
    """Points in the look of their flag, the regular ones first and below."""
    flags = flag.fillna("").to_numpy()
    size = 14.0 if len(x) <= 100 else 8.0 if len(x) <= 1000 else 3.0
    for order, (name, look) in enumerate(LOOKS.items()):
        own = (flags == name) if name else ~np.isin(flags, list(LOOKS)[1:])
        if own.any():
            ax.scatter(
                x[own],
                y[own],
                s=size if not name else 1.3 * size,
                marker=look.marker,
                color=look.color,
                alpha=0.7,
                linewidths=0,
                zorder=2 + 0.1 * order,
                label=name or "regular",
                rasterized=len(x) > _MANY,
            )


def _largest(values: Array, count: int) -> list[int]:
    """Positions of the largest values, largest first, missing ones never."""
    order = np.argsort(-values, kind="stable")[:count]
    return [int(i) for i in order if np.isfinite(values[i])]


def _label(
    ax: "Axes",
    x: Array,
    y: Array,
    index: "pd.Index[Any]",
    rows: Sequence[int],
    avoid: Sequence["Text"] = (),
) -> None:
    from robustsparse.report.plots.artists import PointLabels

    points = np.column_stack([x, y])
    length = max(name_length(ax, 0.45, _LABEL_LENGTH), 10)
    names = shorten_all([printable(index[i]) for i in rows], length)
    anchors = points[list(rows)]
    ax.add_artist(PointLabels(anchors, names, INK, points[np.isfinite(points).all(1)], avoid))


def _name_quadrants(ax: "Axes", cutoff: float) -> list["Text"]:
    """Names in the colors of the rows that belong there, in corners where few points are."""
    places: list[tuple[float, float, str, Any, Any, str]] = [
        (0.01, 1, "vertical outliers", "left", "top", VERMILLION),
        (1, 0.01, "bad leverage", "right", "bottom", PURPLE),
    ]
    names = [
        ax.text(x, y, name, ha=ha, va=va, color=color, transform=ax.transAxes)
        for x, y, name, ha, va, color in places
    ]
    inside = ax.get_yaxis_transform()
    names.append(
        ax.text(
            1, 0.95 * cutoff, "good leverage", ha="right", va="top", color=BLUE, transform=inside
        )
    )
    for name in names:
        name.set(fontsize=TINY, alpha=0.8)
    return names
