"""Noise with one long tail: how far from the middle values may lie on either side."""

from typing import NamedTuple

import numpy as np

from robustsparse.base.types import Array
from robustsparse.robust.scales import MAD_TO_SD, median

# The logarithm of the ratio of both sides' median distances from the middle has this standard deviation for normal
# values, times the root of their number; so many of them are more than chance.
_DEVIATION, _CHANCE = 2.33, 3.0
# Rows of a longer tail come back, which makes it longer still.
_ROUNDS = 3


class SideLimits(NamedTuple):
    """How far below and above zero values may lie, in the units that they have."""

    below: float
    above: float


def side_limits(values: Array, limit: float) -> SideLimits:
    """A limit for each side: the same for both, unless one tail is clearly longer.

    The typical distance from the middle is measured on each side, of values within the limits only, so that outliers,
    all on one side or not, are no tail. On the longer side the limit is as many of its own scales away from the middle.

    Parameters
    ----------
    values : array (n,)
        Residuals in units of their scale.
    limit : float
        The limit of symmetric ones.

    Examples
    --------
    >>> even = np.linspace(-3.0, 3.0, 400)
    >>> side_limits(even, 3.0)
    SideLimits(below=3.0, above=3.0)
    >>> skewed = (-np.log(np.linspace(1.0, 0.001, 400)) - 0.7) / 0.7
    >>> below, above = side_limits(skewed, 3.0)
    >>> below, round(above, 1)
    (3.0, 4.0)
    """
    limits = SideLimits(limit, limit)
    for _ in range(_ROUNDS):
        kept = values[(values >= -limits.below) & (values <= limits.above)]
        middle = median(kept) if len(kept) else 0.0
        below, above = _typical(middle - kept), _typical(kept - middle)
        if below == 0.0 or above == 0.0:
            return limits
        if abs(np.log(above / below)) <= _CHANCE * _DEVIATION / np.sqrt(len(kept)):
            return limits
        limits = SideLimits(
            max(limit, limit * MAD_TO_SD * below - middle) if below > above else limit,
            max(limit, limit * MAD_TO_SD * above + middle) if above > below else limit,
        )
    return limits


def _typical(distances: Array) -> float:
    """Median of the positive ones."""
    positive = distances[distances > 0]
    return median(positive) if len(positive) else 0.0
