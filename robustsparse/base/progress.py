"""A bar that says how far a long run is: on the standard error, or in the notebook."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

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
        return iter(items)
    # Imported where it is used: a silent fit need not wait for it. A notebook gets a bar of its own kind.
    from tqdm.auto import tqdm

    return iter(tqdm(items, desc=label, total=total, mininterval=_EVERY))
