"""Memory that is freed and asked for again: whether the C library hands it back in between.

Dask starts its workers with `MALLOC_TRIM_THRESHOLD_`, so that they give back what they free. With it glibc no longer
learns which sizes a program uses: every array of more than 128 KB is mapped anew, page by page, and a task that makes
many of them takes twice as long.
"""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

# Numbers of glibc's `mallopt`.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Smaller arrays are cut from memory that stays, the largest size that glibc allows; and so much of it may lie idle.
_CUT, _IDLE = 32 << 20, 256 << 20
# What glibc maps if nobody says otherwise.
_MAPPED = 128 << 10


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() else default


class _Thresholds:
    """Thresholds of the whole process: raised by the first user, as they were after the last."""

    def __init__(self) -> None:
        self.users, self.lock = 0, Lock()

    def enter(self, library: Any) -> None:
        """Count a user in."""
        with self.lock:
            if self.users == 0:
                _set(library, _IDLE, _CUT)
            self.users += 1

    def leave(self, library: Any) -> None:
        """Count a user out."""
        with self.lock:
            self.users -= 1
            if self.users == 0:
                trimmed = _number("MALLOC_TRIM_THRESHOLD_", _MAPPED)
                _set(library, trimmed, _number("MALLOC_MMAP_THRESHOLD_", _MAPPED))


def _set(library: Any, idle: int, cut: int) -> None:
    library.mallopt(_TRIM_THRESHOLD, idle)
    library.mallopt(_MMAP_THRESHOLD, cut)


_thresholds = _Thresholds()


@contextmanager
def memory_stays() -> Iterator[None]:
    """Have what is freed stay with the process meanwhile, if it was started to give it back; else all stays as it is.

    Examples
    --------
    >>> with memory_stays():
    ...     sum(len(bytes(1 << 20)) for _ in range(3))
    3145728
    """
    told = "MALLOC_TRIM_THRESHOLD_" in os.environ and sys.platform == "linux"
    library = ctypes.CDLL(None) if told else None
    if library is None or not hasattr(library, "mallopt"):
        yield
        return
    _thresholds.enter(library)
    try:
        yield
    finally:
        _thresholds.leave(library)
