"""Words in columns: how wide they print, wrapping, and shortening that keeps names apart."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

ELLIPSIS = "…"


def printable(text: Any) -> str:
    r"""Text on one line: control characters and odd spaces become escapes that can be seen.

    Examples
    --------
    >>> print(printable("dose\t(mg)"))
    dose\t(mg)
    """
    line: str = str(text)
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def one_line(text: Any) -> str:
    """Text without line breaks or runs of spaces."""
    return printable(" ".join(str(text).split()))


def measure(text: str) -> int:
    """Columns that a text takes in a terminal: wide East Asian characters take two, accents none.

    Examples
    --------
    >>> measure("age"), measure("年齢")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(_width(c) for c in text)


def _width(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def take(text: str, width: int) -> str:
    """Longest beginning of a text that takes at most `width` columns."""
    total = 0
    for i, c in enumerate(text):
        total += _width(c)
        if total > width:
            return text[:i]
    return text


def _take_end(text: str, width: int) -> str:
    return take(text[::-1], width)[::-1]


def left(text: str, width: int) -> str:
    """Text at the left of a column."""
    return text + " " * (width - measure(text))


def right(text: str, width: int) -> str:
    """Text at the right of a column."""
    return " " * (width - measure(text)) + text


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns; a word that is longer is broken.

    Examples
    --------
    >>> wrap("one two three", 8)
    ['one two', 'three']
    """
    lines = [""]
    for word in _breakable(one_line(text), width):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if measure(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _breakable(text: str, width: int) -> Iterable[str]:
    for word in text.split(" "):
        rest = word
        while measure(rest) > width:
            piece = take(rest, width)
            yield piece
            rest = rest[len(piece) :]
        yield rest


def shorten(text: str, width: int, before: int | None = None) -> str:
    """Text of at most `width` columns, an ellipsis in place of its middle.

    Parameters
    ----------
    text : str
        What to shorten; returned unchanged if it fits.
    width : int
        Columns it may take.
    before : int, optional
        Columns that stay in front of the ellipsis; half of them by default.

    Examples
    --------
    >>> shorten("AFFX-HUMISGF3A/M97935_MA_at", 16)
    'AFFX-HUM…5_MA_at'
    """
    if measure(text) <= width:
        return text
    before = width // 2 if before is None else before
    return take(text, before) + ELLIPSIS + _take_end(text, width - 1 - before)


def shorten_all(texts: Sequence[str], width: int) -> list[str]:
    """Shorten each of many names so that different names stay different.

    Names that begin and end alike keep the part where they first differ; if that is not enough to
    tell them apart, they are numbered.

    Parameters
    ----------
    texts : sequence of str
        The names; those that fit are kept.
    width : int
        Columns each may take.

    Returns
    -------
    list of str
        One for each name, in order.

    Examples
    --------
    >>> shorten_all(["expression_of_gene_1_on_day_0", "expression_of_gene_2_on_day_0"], 16)
    ['expr…e_1_on_day…', 'expr…e_2_on_day…']
    """
    alike: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        alike.setdefault(shorten(text, width), []).append(text)
    taken = {text for text in texts if measure(text) <= width}
    chosen = {text: text for text in taken}
    for group in alike.values():
        for text in group:
            if text not in chosen:
                short = shorten(text, width) if len(group) == 1 else _focus(text, group, width)
                chosen[text] = _number(short, width, taken)
                taken.add(chosen[text])
    return [chosen[text] for text in texts]


def _focus(text: str, group: Sequence[str], width: int) -> str:
    """Beginning of a name, then what follows from where the names of its group first differ."""
    head = take(text, width // 4)
    # Begin two characters before the difference: the part is easier to recognize with something familiar.
    start = max(_common_start(group) - 2, len(head))
    room = width - measure(head) - 1
    # The names differ near their beginning, so the room goes to it and not to their ends.
    return head + ELLIPSIS + shorten(text[start:], room, before=room - 1)


def _common_start(texts: Sequence[str]) -> int:
    """Number of characters with which all texts begin."""
    # All that lies between the first and the last in order shares what these two share.
    first, last = min(texts), max(texts)
    pairs = enumerate(zip(first, last, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(last)))


def _number(short: str, width: int, taken: set[str]) -> str:
    candidate, number = short, 1
    while candidate in taken:
        number += 1
        candidate = f"{take(short, width - len(str(number)) - 1)}~{number}"
    return candidate
