"""What mkdocs cannot find by itself: the pages of the repository, the reference, and the files that pages link to.

Pages keep the paths that they have in the repository, so that their links hold here as they do there.
"""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "vignettes")]

import names  # noqa: E402
import notebooks  # noqa: E402
import render  # noqa: E402

import robustsparse  # noqa: E402

# How our pages link to files of the repository: pictures and scripts.
_LINK = re.compile(r"\]\(([^)#:\s]+)\)")


# ------------------------------------------------------------------------------------- navigation


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put what is found in the repository into the places that the navigation keeps for it."""
    places = {
        "VIGNETTES": [{"Overview": "vignettes/README.md"}, *map(_entry, _vignettes())],
        "MEASURED": [_entry(page) for page in _measured()],
        "REFERENCE": [{"All names": "reference/index.md"}, *_reference_entries()],
    }
    config.nav = [_filled(entry, places) for entry in config.nav or []]
    return config


def _filled(entry: Any, places: dict[str, Any]) -> Any:
    if isinstance(entry, dict):
        return {title: places.get(str(value), value) for title, value in entry.items()}
    return entry


def _vignettes() -> list[Path]:
    return [path.with_suffix(".md") for path in render.vignettes()]


def _measured() -> list[Path]:
    pages = sorted((ROOT / "docs").glob("*.md"), key=lambda page: page.stem != "how-it-works")
    return [*pages, ROOT / "benchmarks/README.md"]


def _entry(page: Path) -> dict[str, str]:
    return {_title(page): page.relative_to(ROOT).as_posix()}


def _title(page: Path) -> str:
    """The heading of a page up to its colon, which is enough in a list."""
    first = next(line for line in page.read_text(encoding="utf-8").splitlines() if line[:2] == "# ")
    return first[2:].split(":")[0].strip()


def _reference_entries() -> list[dict[str, Any]]:
    return [
        {section.heading: [{name: f"reference/{name}.md"} for name in mine]}
        for section, mine in names.by_section().items()
    ]


# ------------------------------------------------------------------------------------------ files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, the notebooks and what they link to."""
    pages = [*_measured(), *_vignettes(), ROOT / "vignettes/README.md", ROOT / "CHANGELOG.md"]
    linked = {link for page in pages for link in _linked(page, page.parent)}
    for file in files.documentation_pages():
        linked |= {*_linked(Path(str(file.abs_src_path)), (ROOT / file.src_uri).parent)}
    for path in sorted({*pages, *linked}):
        uri = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for script in render.vignettes():
        text = notebooks.notebook(script.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"vignettes/{script.stem}.ipynb", content=text))
    for uri, text in _reference().items():
        files.append(File.generated(config, uri, content=text))
    return files


def _linked(page: Path, place: Path) -> list[Path]:
    """Files of the repository, other than pages, that a page in some place shows or links to."""
    found = [(place / link).resolve() for link in _LINK.findall(page.read_text("utf-8"))]
    return [path for path in found if path.is_file() and path.suffix != ".md"]


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Offer the notebook of a vignette at its top, below the heading."""
    place = ROOT / page.file.src_uri
    if place.with_suffix(".py") not in render.vignettes():
        return markdown
    head, rest = markdown.split("\n", 1)
    return f"{head}\n\n[Notebook]({place.stem}.ipynb){{ .md-button }}\n{rest}"


# -------------------------------------------------------------------------------------- reference


def _reference() -> dict[str, str]:
    """Pages of the reference by their place: one for each name, and a list of all."""
    sections = names.by_section()
    pages = {
        f"reference/{name}.md": _page(name, section)
        for section, mine in sections.items()
        for name in mine
    }
    listed = "\n\n".join(_list(section, mine) for section, mine in sections.items())
    pages["reference/index.md"] = f"# All public names\n\n{listed}\n"
    return pages


def _page(name: str, section: names.Section) -> str:
    guide = f"*When to use it: [{_guide(section)}](../guides/{section.guide}.md).*"
    return f"# {name}\n\n{guide}\n\n::: robustsparse.{name}\n"


def _guide(section: names.Section) -> str:
    return _title(HERE / "pages/guides" / f"{section.guide}.md").lower()


def _list(section: names.Section, mine: list[str]) -> str:
    head = f"## {section.heading}\n\n| name | what it is |\n|---|---|\n"
    return head + "\n".join(f"| [`{name}`]({name}.md) | {_first_line(name)} |" for name in mine)


def _first_line(name: str) -> str:
    value: Any = robustsparse
    for part in name.split("."):
        value = getattr(value, part)
    text = inspect.getdoc(value) if callable(value) else ""
    return (text or "Named values.").splitlines()[0].replace("|", "\\|")
