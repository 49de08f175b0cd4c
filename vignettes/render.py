"""Render the vignettes to Markdown pages: `python vignettes/render.py` for all, `... 03 05` for some.

A vignette is a script `NN-name.py` in percent format: `# %% [markdown]` starts text, `# %%` starts code. Its page
`NN-name.md` holds the text, the code, what the code printed, the value of a cell's last expression (tables as Markdown)
and the figures, stored as `figures/NN-name-<i>.png`. `--quick` runs everything small and writes nothing.
"""

import argparse
import ast
import contextlib
import io
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import claims
import pandas as pd

from robustsparse import SelectionWarning

HERE = Path(__file__).parent
FIGURES = "figures"
DPI = 150
COLORS = 256
SCRIPTS = "[0-9][0-9]-*.py"
CLAIMS = """# Vignettes

Every claim of the paper (Liu, Li and Caramanis, *High Dimensional Robust M-Estimation*), theorem by theorem and
figure by figure, with what was found here. "As printed" is the paper's algorithm and nothing else: a step of fixed
length, a trimmed share α = ε, no scaling, no intercept, no refit; a step at which iterates grow is halved, and what a
page adds beside, as a searched step, it names. Letters are the paper's, "data sets" are those of each point or line,
and "tuned" is what was chosen with which knowledge. With which probability a bound holds was measured nowhere.

"""
PAGES = """

## The pages

Each page is a script, `NN-name.py`, and what it printed and drew. `python vignettes/render.py 03` makes page 03 anew,
`python vignettes/render.py` all of them. Long runs are read from `results/`; the scripts in `experiments/` make those.

"""


@dataclass(frozen=True)
class Cell:
    """A piece of a vignette: text or code, and the line of the script where it starts."""

    kind: str
    source: str
    line: int


@dataclass(frozen=True)
class Page:
    """A rendered vignette: its Markdown, and its figures as PNG by file name."""

    text: str
    figures: dict[str, bytes]


def vignettes(numbers: list[str] | None = None) -> list[Path]:
    """The scripts of all vignettes, or of those with the numbers."""
    paths = sorted(HERE.glob(SCRIPTS))
    chosen = [path for path in paths if not numbers or path.name[:2] in numbers]
    missing = set(numbers or []) - {path.name[:2] for path in chosen}
    if missing:
        raise SystemExit(f"no vignette has the number {', '.join(sorted(missing))}")
    return chosen


def cells(script: str) -> list[Cell]:
    """Split a percent-format script into its cells."""
    found: list[tuple[str, int, list[str]]] = []
    for number, line in enumerate(script.splitlines(), start=1):
        if line.startswith("# %%"):
            found.append(("markdown" if "[markdown]" in line else "code", number + 1, []))
        elif found:
            found[-1][2].append(line)
        elif line.strip():
            raise ValueError(f"line {number} stands before the first cell mark '# %%'")
    return [Cell(kind, _source(kind, lines), line) for kind, line, lines in found]


def _source(kind: str, lines: list[str]) -> str:
    if kind == "markdown":
        lines = [re.sub(r"^# ?", "", line) for line in lines]
    # Blank lines at the end belong to the gap between cells; those at the start keep the line count.
    return "\n".join(lines).rstrip()


def execute(cell: Cell, path: Path, space: dict[str, Any]) -> Any:
    """Run a code cell and return the value of its last expression, None without one."""
    tree = ast.increment_lineno(ast.parse(cell.source), cell.line - 1)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, path, "exec"), space)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), path, "eval"), space)
    return None if cell.source.endswith(";") else value


@contextlib.contextmanager
def listening() -> Iterator[io.StringIO]:
    """Standard output in a buffer, warnings with it, without the path of the file they came from."""

    def note(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        print(f"{category.__name__}: {message}")

    with contextlib.redirect_stdout(io.StringIO()) as said, warnings.catch_warnings():
        warnings.showwarning = note
        # A page tells its readers when a model may be wrong, also where all other warnings are errors, as in the tests.
        warnings.simplefilter("default", SelectionWarning)
        yield said


def table(frame: pd.DataFrame | pd.Series) -> str:
    """A data frame as a Markdown table, four digits, its index as the first columns if it has a meaning."""
    frame = frame.to_frame() if isinstance(frame, pd.Series) else frame
    plain = isinstance(frame.index, pd.RangeIndex) and frame.index.name is None
    frame = frame if plain else frame.reset_index(names=_index_names(frame))
    lines = [_line(map(_heading, frame.columns)), "|" + "---|" * frame.shape[1]]
    lines += [_line(map(_entry, row)) for row in frame.itertuples(index=False, name=None)]
    return "\n".join(lines)


def _index_names(frame: pd.DataFrame) -> list[str]:
    return ["" if name is None else str(name) for name in frame.index.names]


def _heading(name: object) -> str:
    return (
        ", ".join(str(part) for part in name if part != "")
        if isinstance(name, tuple)
        else str(name)
    )


def _entry(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)


def _line(entries: Any) -> str:
    return "| " + " | ".join(str(entry).replace("|", "\\|") for entry in entries) + " |"


def shown(value: Any) -> str:
    """A cell's value as the page shows it: tables as Markdown, nothing for what matplotlib returns."""
    if value is None or _drawn(value):
        return ""
    if isinstance(value, pd.DataFrame | pd.Series):
        return table(value)
    return _fence(repr(value), "text")


def _drawn(value: Any) -> bool:
    if isinstance(value, list | tuple | dict) or type(value).__module__ == "numpy":
        items = list(getattr(value, "flat", value.values() if isinstance(value, dict) else value))
        return bool(items) and all(_drawn(item) for item in items)
    return any(kind.__module__.startswith("matplotlib") for kind in type(value).__mro__)


def _fence(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```"


def take_figures() -> list[bytes]:
    """All open figures as small PNG files, oldest first; they are closed."""
    import matplotlib.pyplot as plt

    pictures = []
    for number in plt.get_fignums():
        raw = io.BytesIO()
        plt.figure(number).savefig(raw, dpi=DPI, facecolor="white")
        pictures.append(_small(raw))
    plt.close("all")
    return pictures


def _small(png: io.BytesIO) -> bytes:
    from PIL import Image

    # A palette is a third of the size, and nobody sees the difference on lines and text.
    picture = Image.open(png).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    out = io.BytesIO()
    picture.save(out, format="png", optimize=True)
    return out.getvalue()


def run(path: Path) -> Page:
    """Run a vignette and return its page; nothing is written."""
    import matplotlib

    matplotlib.use("Agg")
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    parts: list[str] = []
    figures: dict[str, bytes] = {}
    with beside_vignettes():
        for cell in cells(path.read_text(encoding="utf-8")):
            parts += _cell_parts(cell, path, space, figures)
    parts.append(
        f"---\n*Made from [`{path.name}`]({path.name}) by `python vignettes/render.py {path.name[:2]}`.*"
    )
    return Page("\n\n".join(part for part in parts if part.strip()) + "\n", figures)


def _cell_parts(
    cell: Cell, path: Path, space: dict[str, Any], figures: dict[str, bytes]
) -> list[str]:
    if cell.kind == "markdown":
        return [cell.source.strip("\n")]
    with listening() as said:
        value = execute(cell, path, space)
    printed = said.getvalue().rstrip()
    parts = [_fence(cell.source.strip("\n"), "python")] if cell.source.strip() else []
    parts += [_fence(printed, "text") if printed else "", shown(value)]
    for picture in take_figures():
        name = f"{path.stem}-{len(figures) + 1}.png"
        figures[name] = picture
        parts.append(f"![Figure {len(figures)}]({FIGURES}/{name})")
    return parts


@contextlib.contextmanager
def beside_vignettes() -> Iterator[None]:
    """Let a vignette import its neighbors, as it can when it is run as a script."""
    sys.path.insert(0, str(HERE))
    try:
        yield
    finally:
        sys.path.remove(str(HERE))


def write(page: Page, path: Path) -> None:
    """Store a page beside its script, and its figures in place of the old ones."""
    folder = HERE / FIGURES
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"{path.stem}-*.png"):
        old.unlink()
    for name, picture in page.figures.items():
        (folder / name).write_bytes(picture)
    path.with_suffix(".md").write_text(page.text, encoding="utf-8")


def title(path: Path) -> str:
    """First heading of a vignette."""
    first = next(
        cell for cell in cells(path.read_text(encoding="utf-8")) if cell.kind == "markdown"
    )
    return first.source.strip().splitlines()[0].lstrip("# ")


def write_index() -> None:
    """Write README.md: the paper's claims, and all pages."""
    (HERE / "README.md").write_text(index(), encoding="utf-8")


def index() -> str:
    """Text of README.md."""
    lines = [f"- [{path.name[:2]}]({path.stem}.md) {title(path)}" for path in vignettes()]
    return CLAIMS + claims.table() + PAGES + "\n".join(lines) + "\n"


def main() -> None:
    """Render what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("numbers", nargs="*", help="two digits each; all vignettes without them")
    parser.add_argument("--quick", action="store_true", help="run small, write nothing")
    options = parser.parse_args()
    os.environ["ROBUSTSPARSE_QUICK"] = "1" if options.quick else ""
    for path in vignettes(options.numbers):
        begun = time.monotonic()
        page = run(path)
        if not options.quick:
            write(page, path)
        print(f"{path.stem}: {time.monotonic() - begun:.0f} s, {len(page.figures)} figures")
    if not options.quick:
        write_index()


if __name__ == "__main__":
    main()
