"""README, CONTRIBUTING and a page of the docs are run: their code works and prints what they say."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/trusted-rows.md"])
def test_documents_say_what_the_code_prints(name: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=OPTIONS)
    assert tried > 0
    assert failed == 0
