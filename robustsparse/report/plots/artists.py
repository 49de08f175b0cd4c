"""Labels that find their places when drawn, so that they fit at every size of the figure.

This module imports matplotlib; it is imported only where something is drawn.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from robustsparse.base.types import Array
from robustsparse.report.plots.labels import place, spread
from robustsparse.report.plots.style import THIN, TINY


class _Labels(Artist):
    """Texts, with lines that may lead to them, placed in pixels each time they are drawn."""

    def __init__(self, texts: Sequence[str], colors: Sequence[str], va: str) -> None:
        super().__init__()
        # Labels keep within the axes, so the layout of the figure need not make room for them.
        self.set_in_layout(False)
        pixels = IdentityTransform()
        self.texts = [
            Text(0, 0, text, color=color, fontsize=TINY, va=va, transform=pixels)
            for text, color in zip(texts, colors, strict=True)
        ]
        self.leaders = [
            Line2D([], [], color=color, linewidth=THIN, transform=pixels) for color in colors
        ]
        # Matplotlib would take a dollar sign in a name for the start of a formula.
        for text in self.texts:
            text.set_parse_math(False)

    def get_children(self) -> list[Artist]:
        return [*self.leaders, *self.texts]

    def set_figure(self, fig: Any) -> None:
        super().set_figure(fig)
        for child in self.get_children():
            child.set_figure(fig)

    def draw(self, renderer: RendererBase) -> None:
        if self.get_visible():
            self._place(renderer)
            for child in self.get_children():
                child.draw(renderer)
        self.stale = False

    def _place(self, renderer: RendererBase) -> None:
        """Put the texts where they belong; each kind of labels has its own way."""
        raise NotImplementedError

    def _sizes(self, renderer: RendererBase) -> Array:
        """Width and height (m, 2) of the texts in pixels."""
        extents = [text.get_window_extent(renderer) for text in self.texts]
        return np.array([(box.width, box.height) for box in extents]).reshape(-1, 2)

    def _pixels(self, points: Array) -> Array:
        """Positions in pixels of points in the data's coordinates."""
        assert self.axes is not None
        return np.asarray(self.axes.transData.transform(points), float)


def _pixels_per_point(renderer: RendererBase) -> float:
    # Its type allows for an array of points, and so for an array in return.
    return float(renderer.points_to_pixels(1.0))  # type: ignore[arg-type]


class EndLabels(_Labels):
    """Labels at the right end of lines, moved apart vertically; the first ones matter most."""

    def __init__(
        self, x: float, y: Array, texts: Sequence[str], colors: Sequence[str], gap: float = 8.0
    ) -> None:
        super().__init__(texts, colors, "center")
        self.ends = np.column_stack([np.full(len(y), x), y]).astype(float)
        self.gap = gap

    def _place(self, renderer: RendererBase) -> None:
        for child in self.get_children():
            child.set_visible(True)
        if not self.texts:
            return
        assert self.axes is not None
        box = self.axes.get_window_extent(renderer)
        height = float(self._sizes(renderer)[:, 1].max())
        fitting = max(int(box.height // height), 1)
        ends = self._pixels(self.ends)
        shown = np.argsort(ends[:fitting, 1], kind="stable")
        at = spread(ends[shown, 1], height, box.y0 + height / 2, box.y1 - height / 2)
        for child in self.get_children():
            child.set_visible(False)
        point = _pixels_per_point(renderer)
        for i, y in zip(shown, at, strict=True):
            self._show(int(i), ends[i], float(y), point, moved=abs(y - ends[i, 1]) > height / 4)

    def _show(self, i: int, end: Array, y: float, point: float, *, moved: bool) -> None:
        x = end[0] + self.gap * point
        self.texts[i].set_position((x, y))
        self.texts[i].set_visible(True)
        self.leaders[i].set_data([end[0] + point, x - point], [end[1], y])
        self.leaders[i].set_visible(moved)


class PointLabels(_Labels):
    """Labels beside points; one that has no room is left out, the first ones are placed first."""

    def __init__(
        self,
        anchors: Array,
        texts: Sequence[str],
        color: str,
        points: Array,
        avoid: Sequence[Text] = (),
        gap: float = 4.0,
    ) -> None:
        super().__init__(texts, [color] * len(texts), "bottom")
        self.anchors, self.points, self.avoid, self.gap = anchors, points, avoid, gap

    def _place(self, renderer: RendererBase) -> None:
        for text in self.texts:
            text.set_visible(True)
        assert self.axes is not None
        extents = [text.get_window_extent(renderer) for text in self.avoid]
        boxes = np.array([box.extents for box in extents]).reshape(-1, 4)
        bounds = self.axes.get_window_extent(renderer).extents
        anchors, sizes = self._pixels(self.anchors), self._sizes(renderer)
        gap = self.gap * _pixels_per_point(renderer)
        corners = place(anchors, sizes, self._pixels(self.points), boxes, bounds, gap)
        for i, corner in enumerate(corners):
            self._show(i, anchors[i], corner, sizes[i], gap)

    def _show(self, i: int, anchor: Array, corner: Array, size: Array, gap: float) -> None:
        """Put a text in place, with a line to its point if it is not right beside it."""
        fits = bool(np.isfinite(corner).all())
        self.texts[i].set_visible(fits)
        self.texts[i].set_position((float(corner[0]), float(corner[1])))
        nearest = np.clip(anchor, corner, corner + size)
        away = float(np.hypot(*(nearest - anchor)))
        self.leaders[i].set_visible(fits and away > 2 * gap)
        self.leaders[i].set_data(*np.column_stack([anchor, nearest]))
