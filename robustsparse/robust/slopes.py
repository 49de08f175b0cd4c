"""How well the middle of single columns goes with a response, whatever the rest of them is."""

import numpy as np

from robustsparse import kernels
from robustsparse.base.types import Array

# Values beyond this many scales are not in the middle of a column.
_MIDDLE = 2.0
# Entries of the design that are brought to double precision at a time.
_BLOCK = 1 << 18


def middle_slopes(XT: Array, y: Array) -> Array:
    """Sizes (d,) of the slopes of a centered response on the middle of each column (d, n), in units of its length.

    Examples
    --------
    >>> XT = np.array([[-1.0, 0.0, 1.0, 90.0], [1.0, -1.0, 1.0, -1.0]])
    >>> middle_slopes(XT, np.array([-2.0, 0.0, 2.0, 0.0])).round(2).tolist()
    [2.83, 0.0]
    """
    d, n = XT.shape
    slopes = np.zeros(d)
    width = max(1, _BLOCK // n)
    for first in range(0, d, width):
        part = slice(first, first + width)
        block = np.asarray(XT[part], dtype=np.float64)
        kernels.bisquare_slopes(block, y, _MIDDLE, slopes[part])
    return slopes
