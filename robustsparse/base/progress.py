"""A line on the standard error that says how far a long run is."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_WIDTH = 30
# Seconds between two updates, so that a log file does not fill up.
_EVERY = 0.5


def progress(items: Iterable[T], total: int, label: str, show: bool) -> Iterator[T]:
    """Pass items on, with a bar of how many of the total have come.

    Parameters
    ----------
    items : iterable
        What to pass on.
    total : int
        How many there will be.
    label : str
        What they are.
    show : bool
        Whether to draw the bar.

    Examples
    --------
    >>> list(progress(range(3), 3, "folds", show=False))
    [0, 1, 2]
    """
    if not show:
        yield from items
        return
    begun = shown = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - shown >= _EVERY or done == total:
            _draw(done, total, label, now - begun)
            shown = now
    sys.stderr.write("\n")


def _draw(done: int, total: int, label: str, seconds: float) -> None:
    filled = _WIDTH * done // total
    left = seconds * (total - done) / done
    bar = "#" * filled + "." * (_WIDTH - filled)
    sys.stderr.write(
        f"\r{label} [{bar}] {done}/{total}, {seconds:.0f} s gone, about {left:.0f} s left "
    )
    sys.stderr.flush()
