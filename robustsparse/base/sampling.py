"""Some of very many rows."""

import numpy as np

from robustsparse.base.types import Places


def some_rows(n: int, most: int) -> Places | None:
    """Places of some of n rows, ascending and always the same ones; None if there are no more than `most`.

    They are drawn, since rows may come in turns.

    Examples
    --------
    >>> some_rows(5, 10) is None
    True
    >>> len(some_rows(1000, 10))
    10
    """
    if n <= most:
        return None
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))
