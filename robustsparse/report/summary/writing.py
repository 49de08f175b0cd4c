"""Text for the user or for a file."""

import html
import os

from robustsparse.base.atomic import written_whole

Path = str | os.PathLike[str]


def handed_over(text: str, path: Path | None) -> str | None:
    """The text, or nothing once it is in a file, whole or not at all.

    Examples
    --------
    >>> handed_over("text", None)
    'text'
    """
    if path is None:
        return text
    with written_whole(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return None


def as_page(title: str, body: str) -> str:
    """A fragment of HTML as a page of its own."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(title)}</title></head>\n'
        f'<body style="font-family:sans-serif">\n{body}\n</body>\n</html>\n'
    )
