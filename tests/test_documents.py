"""README, CONTRIBUTING and the pages of the site are run: their code works and prints what they say."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


# Pages of the site that have examples, and the calls of other packages, which a test of the site runs.
GUIDES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "docs/site/pages").rglob("*.md")
    if ">>>" in path.read_text(encoding="utf-8") and path.parent.name != "from"
)


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "docs/overview.md", "docs/trusted-rows.md", *GUIDES]
)
def test_documents_say_what_the_code_prints(name: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=OPTIONS)
    assert tried > 0
    assert failed == 0
