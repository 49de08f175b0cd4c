"""What the package says of itself agrees wherever it says it."""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import robustsparse as rs

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_that_of_the_citation() -> None:
    assert f"version: {rs.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {rs.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    # Read from the package itself when it is built.
    assert PROJECT["dynamic"] == ["version"]


def test_the_command_is_there() -> None:
    module, function = PROJECT["scripts"]["robustsparse"].split(":")
    assert callable(getattr(import_module(module), function))


@pytest.mark.parametrize("extra", ["sklearn", "graph", "parquet", "polars"])
def test_what_an_extra_asks_for_is_tested_at_the_same_version(extra: str) -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras[extra]) <= set(extras["test"])
