"""Ranks of the values of a column."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def column_ranks(X: Array) -> Array:
    """Ranks from 1 within each column (n, d); ties share the mean of theirs.

    pandas' ranks take longer, and scipy.stats takes long to import.

    Examples
    --------
    >>> column_ranks(np.array([[30.0], [10.0], [30.0], [20.0]])).ravel().tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    XT = np.ascontiguousarray(X.T)
    order = np.argsort(XT, axis=1)
    ordered = np.take_along_axis(XT, order, axis=1)
    places = np.arange(XT.shape[1])
    differs = ordered[:, 1:] != ordered[:, :-1]
    ranks = np.broadcast_to(places + 1.0, XT.shape)
    if not differs.all():
        # A run of ties begins and ends where values differ.
        begins = np.pad(differs, ((0, 0), (1, 0)), constant_values=True)
        ends = np.pad(differs, ((0, 0), (0, 1)), constant_values=True)
        first = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
        last = np.minimum.accumulate(np.where(ends, places, len(places))[:, ::-1], axis=1)[:, ::-1]
        ranks = 0.5 * (first + last) + 1.0
    out = np.empty(XT.shape)
    np.put_along_axis(out, order, ranks, axis=1)
    return out.T
