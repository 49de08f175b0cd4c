"""Run the examples of the README and write what they print into it: `python docs/readme.py` from the root."""

import contextlib
import doctest
import io
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


def main() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    text = ""
    for piece in doctest.DocTestParser().parse(README.read_text()):
        if isinstance(piece, str):
            text += piece
        else:
            text += prompted(piece.source) + output(piece.source, names)
    README.write_text(text)


if __name__ == "__main__":
    main()
