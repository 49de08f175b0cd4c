"""README, CONTRIBUTING and vignettes are run: their code works and prints what they say."""

import doctest
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_documents_say_what_the_code_prints(name: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=OPTIONS)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("path", sorted((ROOT / "vignettes").glob("*.py")), ids=lambda p: p.stem)
def test_vignettes_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runpy.run_path(str(path), run_name="__main__")
