"""Vignettes run, small; their pages are those of the scripts as they are, and the renderer does what it says."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).parents[1] / "vignettes"
SCRIPTS = sorted(FOLDER.glob("[0-9][0-9]-*.py"))
# Larger pictures make the repository slow to clone.
MOST_BYTES = 150_000


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up, and scripts import each other.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


claims = load_script("claims")
render = load_script("render")
notebooks = load_script("notebooks")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_vignettes_run_small(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBUSTSPARSE_QUICK", "1")
    page = render.run(path)
    assert page.text.startswith("# ")
    assert page.figures


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_pages_show_the_code_of_their_script(path: Path) -> None:
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    for cell in render.cells(path.read_text(encoding="utf-8")):
        assert cell.source.strip("\n") in page


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_figures_of_pages_are_there_and_small(path: Path) -> None:
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    named = set(re.findall(r"\(figures/([^)]+)\)", page))
    stored = {file.name for file in (FOLDER / "figures").glob(f"{path.stem}-*.png")}
    assert named
    assert named == stored
    assert max((FOLDER / "figures" / name).stat().st_size for name in named) < MOST_BYTES


def test_index_lists_every_page() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"({path.stem}.md)" in text for path in SCRIPTS)


def test_index_is_what_the_renderer_writes() -> None:
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == render.index()


def test_every_result_of_the_paper_has_a_claim() -> None:
    places = " ".join(f"{claim.where};" for claim in claims.CLAIMS)
    missing = [
        name for name in claims.RESULTS if not re.search(rf"{re.escape(name)}(?!\d)", places)
    ]
    assert not missing


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda c: f"{c.where} {c.claim[:20]}")
def test_claims_name_pages_and_figures_that_exist(claim: Any) -> None:
    assert claim.claim
    assert claim.verdict
    assert claim.basis
    named = re.findall(r"\(([^)]+\.(?:md|png))\)", claim.links())
    assert len(named) == bool(claim.page) + len(claim.figures)
    assert all((FOLDER / name).is_file() for name in named)


SCRIPT = """# %% [markdown]
# # Title
#
# Some text.

# %%
import warnings

print("said")
warnings.warn("careful", stacklevel=1)
1 + 1

# %%
import matplotlib.pyplot as plt

plt.plot([0, 1])
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "99-small.py"
    path.write_text(SCRIPT)
    return path


@pytest.mark.filterwarnings("always::UserWarning")
def test_page_has_text_code_output_value_and_figure_in_order(script: Path) -> None:
    page = render.run(script)
    pieces = [
        "# Title\n\nSome text.",
        '```python\nimport warnings\n\nprint("said")',
        "```text\nsaid\nUserWarning: careful\n```",
        "```text\n2\n```",
        "plt.plot([0, 1])\n```",
        "![Figure 1](figures/99-small-1.png)",
    ]
    places = [page.text.index(piece) for piece in pieces]
    assert places == sorted(places)
    assert "Line2D" not in page.text
    assert page.figures["99-small-1.png"].startswith(b"\x89PNG")
    assert not script.with_suffix(".md").exists()


def test_old_figures_go_when_a_page_is_written(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "HERE", tmp_path)
    render.write(render.Page("one", {"99-small-1.png": b"a", "99-small-2.png": b"b"}), script)
    render.write(render.Page("two", {"99-small-1.png": b"c"}), script)
    assert (tmp_path / "99-small.md").read_text() == "two"
    assert [file.name for file in (tmp_path / "figures").iterdir()] == ["99-small-1.png"]


def test_errors_name_the_line_of_the_script(tmp_path: Path) -> None:
    path = tmp_path / "98-broken.py"
    path.write_text("# %%\na = 1\n\n# %%\n\n\nb = a / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        render.run(path)
    assert caught.traceback[-1].lineno + 1 == 7


def test_code_before_the_first_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1"):
        render.cells("import os\n# %%\n")


def test_tables_keep_an_index_that_means_something() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b|c": [0.123456, np.nan]})
    assert render.table(frame).splitlines() == [
        "| a | b\\|c |",
        "|---|---|",
        "| 1 | 0.1235 |",
        "| 2 |  |",
    ]
    named = frame.set_index(pd.Index(["u", "v"], name="row"))
    assert render.table(named).splitlines()[2] == "| u | 1 | 0.1235 |"


def test_columns_in_levels_are_joined() -> None:
    frame = pd.DataFrame({("trim", "mean"): [1.0], ("trim", "sd"): [2.0]}, index=["x"])
    assert render.table(frame).splitlines()[0] == "|  | trim, mean | trim, sd |"


def test_unknown_numbers_are_refused() -> None:
    with pytest.raises(SystemExit, match="00"):
        render.vignettes(["00"])


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: p.stem)
def test_notebooks_have_the_cells_of_their_script(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="notebooks are checked with the extra test")
    script = path.read_text(encoding="utf-8")
    book = nbformat.reads(notebooks.notebook(script), as_version=4)
    nbformat.validate(book)
    wanted = [(cell.kind, cell.source.strip("\n")) for cell in render.cells(script)]
    assert [(cell.cell_type, cell.source) for cell in book.cells] == wanted


# What the kernel's own libraries warn of is not ours.
@pytest.mark.filterwarnings("default")
def test_a_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="notebooks run with the extra test")
    pytest.importorskip("ipykernel", reason="notebooks run with the extra test")
    import nbformat

    monkeypatch.setenv("ROBUSTSPARSE_QUICK", "1")
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parent))
    script = (FOLDER / "01-getting-started.py").read_text(encoding="utf-8")
    book = nbformat.reads(notebooks.notebook(script), as_version=4)
    nbclient.NotebookClient(book, resources={"metadata": {"path": str(FOLDER)}}).execute()
    said = "".join(out.get("text", "") for cell in book.cells for out in cell.get("outputs", []))
    assert "terms right: True" in said
