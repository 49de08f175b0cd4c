"""Some columns of a large array moved together in its own memory, so that no second copy is needed."""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.types import Mask

# Entries moved at a time.
_BLOCK = 1 << 18


@contextmanager
def packed(XT: NDArray[Any], kept: Mask) -> Iterator[NDArray[Any]]:
    """The kept columns of a C-contiguous array (d, n) as an array (d, m) of the same kind, for a while.

    They take the front of the array's memory and the others the rest; at the end all go back. Until then the array
    itself holds them in disorder.

    Examples
    --------
    >>> XT = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> with packed(XT, np.array([True, False, True])) as part:
    ...     print(part.tolist())
    [[1.0, 3.0], [4.0, 6.0]]
    >>> XT.tolist()
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    """
    d, n = XT.shape
    front, back = np.flatnonzero(kept), np.flatnonzero(~kept)
    blocks = list(pairwise([*range(0, d, max(1, _BLOCK // n)), d]))
    flat = XT.reshape(-1)
    part = flat[: d * len(front)].reshape(d, len(front))
    rest = flat[d * len(front) :].reshape(d, len(back))
    others = _aside(rest)
    for a, b in blocks:
        others[a:b] = np.take(XT[a:b], back, axis=1)
    for a, b in blocks:
        # Its new place ends before the rows that are still to be moved.
        part[a:b] = np.take(XT[a:b], front, axis=1)
    rest[:] = others
    del others
    try:
        yield part
    finally:
        others = _aside(rest)
        others[:] = rest
        for a, b in reversed(blocks):
            moved = part[a:b].copy()
            XT[a:b, front] = moved
            XT[a:b, back] = others[a:b]


def _aside(like: NDArray[Any]) -> NDArray[Any]:
    """Memory for an array of the same kind, which the system gets back at once when it is let go."""
    if not like.size:
        return np.empty_like(like)
    # Freed in the ordinary way, it might stay with the process, beside what is allocated next.
    return np.frombuffer(mmap.mmap(-1, like.nbytes), dtype=like.dtype).reshape(like.shape)
