"""Run the examples of a page and write what they print into it: `python docs/readme.py` for the README.

`python docs/readme.py docs/site/pages/start.md ...` does the same for other pages.
"""

import contextlib
import doctest
import io
import sys
from pathlib import Path
from typing import Any

README = Path(__file__).parents[1] / "README.md"


def output(source: str, names: dict[str, Any]) -> str:
    """What a console would print for some lines of code."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "README", "single"), names)
    return printed.getvalue()


def prompted(source: str) -> str:
    """Code with its prompts."""
    first, *rest = source.rstrip("\n").split("\n")
    return "\n".join([f">>> {first}", *(f"... {line}" for line in rest)]) + "\n"


def renew(page: Path) -> None:
    """Write what the examples of a page print in place of what it says."""
    names: dict[str, Any] = {"__name__": "__main__"}
    text = ""
    for piece in doctest.DocTestParser().parse(page.read_text(encoding="utf-8")):
        if isinstance(piece, str):
            text += piece
        else:
            text += prompted(piece.source) + output(piece.source, names)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for page in [Path(name) for name in sys.argv[1:]] or [README]:
        renew(page)
