"""Words in messages: lists, hints and short names."""

import difflib
from collections.abc import Iterable
from datetime import datetime, time
from typing import Any

import numpy as np

# Characters of a value that a message shows.
_LONGEST = 100
# Characters of a formula that a summary shows.
FEW_LINES = 400
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
    words = ", ".join(shown(item) if quote else plain(item) for item in items[:most])
    return words if len(items) <= most else f"{words} and {len(items) - most} more"


def plain(item: Any) -> str:
    """A label as people write it: a date without the hour, if that is midnight.

    Examples
    --------
    >>> plain(datetime(2020, 1, 31)), plain(datetime(2020, 1, 31, 9, 30)), plain("a")
    ('2020-01-31', '2020-01-31 09:30:00', 'a')
    """
    midnight = isinstance(item, datetime) and item == item and item.time() == time()
    return item.date().isoformat() if midnight else str(item)


def beginning(text: str, most: int = _LONGEST) -> str:
    """A text, or as many of its words as there is room for.

    Examples
    --------
    >>> beginning("y ~ a + b", 20), beginning("y ~ a + b + c + d", 12)
    ('y ~ a + b', 'y ~ a + b +…')
    """
    if len(text) <= most:
        return text
    words = text[: most + 1].rsplit(" ", 1)[0]
    return f"{words[:most]}…"


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Write a hint with the nearest names, or nothing; of names that differ in their capitals alone, these.

    Examples
    --------
    >>> did_you_mean("hieght", ["height", "weight", "age"]), did_you_mean("Y", ["x", "y"])
    ('; did you mean height or weight?', '; did you mean y?')
    """
    known = list(candidates)
    same = [one for one in known if one.casefold() == name.casefold()][:3]
    near = same or difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    quoted = [match if match.isidentifier() else f"`{match}`" for match in near]
    return f"; did you mean {' or '.join(quoted)}?" if near else ""


def shown(value: Any) -> str:
    """A value as a message shows it: what it looks like, but no longer than a line.

    Examples
    --------
    >>> shown("a"), shown(10**9999)
    ("'a'", '<int>')
    """
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except Exception:
        # Python writes no number of thousands of digits, and an object of the user's may fail as it likes.
        return f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


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
