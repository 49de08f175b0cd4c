"""Drawings as bytes, for pages that hold their pictures themselves."""

import io
from typing import Any

import numpy as np

# Dots of an inch in the picture, sharp on screens of double density, and on the page.
_DPI, _SHOWN = 192, 96
# Where a PNG tells its width.
_WIDTH = slice(16, 20)


def as_png(axes: Any) -> tuple[bytes, int]:
    """The figure of some axes as a PNG, and the width in dots at which its letters have their size; it is closed."""
    import matplotlib.pyplot as plt

    figure = np.ravel(np.asarray(axes, dtype=object))[0].figure
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=_DPI, bbox_inches="tight")
    plt.close(figure)
    data = out.getvalue()
    return data, int.from_bytes(data[_WIDTH], "big") * _SHOWN // _DPI
