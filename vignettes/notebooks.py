"""The vignettes as notebooks: `python vignettes/notebooks.py` for all, `... 03 05` for some, beside their scripts.

A notebook has the cells of its script and no outputs; it runs where it is written, as it imports what lies there.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from render import Cell, cells, vignettes

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(script: str) -> str:
    """A script in percent format as a notebook, in the JSON of nbformat 4.5."""
    content = {
        "cells": [_cell(number, cell) for number, cell in enumerate(cells(script))],
        "metadata": {"kernelspec": _KERNEL, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, cell: Cell) -> dict[str, Any]:
    made: dict[str, Any] = {
        "cell_type": cell.kind,
        "id": f"cell{number}",
        "metadata": {},
        "source": cell.source.strip("\n").splitlines(keepends=True),
    }
    return made | ({"execution_count": None, "outputs": []} if cell.kind == "code" else {})


def write(path: Path) -> Path:
    """Store the notebook of a vignette beside its script."""
    place = path.with_suffix(".ipynb")
    place.write_text(notebook(path.read_text(encoding="utf-8")), encoding="utf-8")
    return place


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("numbers", nargs="*", help="two digits each; all vignettes without them")
    for path in vignettes(parser.parse_args().numbers):
        print(write(path).name)


if __name__ == "__main__":
    main()
