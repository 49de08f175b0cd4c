"""Words in messages: lists, hints and short names."""

import difflib
from collections.abc import Iterable
from typing import Any

# Items that a message lists before the rest is only counted.
_SHOWN = 5


def listed(items: Iterable[Any], quote: bool = True, most: int = _SHOWN) -> str:
    """Write the first few items, and how many more there are.

    Examples
    --------
    >>> listed(range(8))
    '0, 1, 2, 3, 4 and 3 more'
    """
    items = list(items)
    shown = ", ".join(repr(item) if quote else str(item) for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Write a hint with the nearest names, or nothing.

    Examples
    --------
    >>> did_you_mean("hieght", ["height", "weight", "age"])
    '; did you mean height or weight?'
    """
    near = difflib.get_close_matches(name, list(candidates), n=3, cutoff=0.6)
    quoted = [match if match.isidentifier() else f"`{match}`" for match in near]
    return f"; did you mean {' or '.join(quoted)}?" if near else ""


def describe(thing: Any) -> str:
    """Short text for an object: its `label` if it has one, the name of a function, or what it looks like.

    Examples
    --------
    >>> import numpy as np
    >>> describe(np.median), describe(lambda X, score: score)
    ('median', 'user function')
    """
    if isinstance(thing, str):
        return _short(thing)
    words = getattr(thing, "label", None)
    if isinstance(words, str):
        return words
    # The text of a function holds its place in memory, which says nothing.
    name = getattr(thing, "__name__", None)
    if name is None:
        return _short(repr(thing))
    return "user function" if name == "<lambda>" else _short(str(name))


def _short(text: str) -> str:
    return text.removesuffix("()") if len(text) <= 60 else text[:57] + "..."
