"""docs/how-it-works.md: its links, its claims, and the script that measures and draws it, in a small form."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from robustsparse import simulate
from robustsparse.algorithm.gradients import TRIM_PER_EPSILON
from robustsparse.regression.gaussian import Gaussian

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "how-it-works.md").read_text()
# Large enough to be screened from the first fit on.
SMALL = {"n": 150, "d": 8000, "k": 3, "epsilon": 0.1, "attack": "leverage", "rng": 3}
# What rounding may do to a bound that was computed in another order.
SLACK = 1.0 + 1e-8


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("how_it_works", DOCS / "how_it_works.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Where dataclasses look for the annotations of their fields.
    sys.modules["how_it_works"] = module
    spec.loader.exec_module(module)
    return module


def shape(text: str) -> str:
    """A text with its numbers and its breaks of lines left out."""
    return re.sub(r"[\d.,]+", "#", " ".join(text.split()))


class TestPage:
    def test_links_lead_somewhere(self) -> None:
        links = re.findall(r"\]\(([^)]+)\)", PAGE)
        assert len(links) > 20
        assert [link for link in links if not (DOCS / link).exists()] == []

    def test_links_are_named_after_their_files(self) -> None:
        for name, link in re.findall(r"\[(\w+\.(?:py|md))\]\(([^)]+)\)", PAGE):
            assert Path(link).name == name

    def test_attacks_that_get_through_are_those_of_their_page(self) -> None:
        _, few, many = (DOCS / "attacks.md").read_text().split("## Heavy")[0].split("## ε")
        first, second = (set(re.findall(r"\*\*(\w+)\*\*", part)) for part in (few, many))
        claim = PAGE[PAGE.index("At 10% bad rows") : PAGE.index("None of them is")]
        own, also = (set(re.findall(r"`(\w+)`", part)) for part in claim.split("at 20%"))
        assert own == first
        assert own | also == second
        assert not second & set(simulate.gross_attacks)

    def test_words_for_constants(self) -> None:
        assert "twice ε" in PAGE
        assert TRIM_PER_EPSILON == 2.0
        assert "beyond three scales" in PAGE
        assert Gaussian.reject == 3.0

    def test_shares_add_up(self, script: ModuleType) -> None:
        rows = re.findall(
            r"\| (\d+) \| ([\d.]+)% \| ([\d.]+)% \| ([\d.]+)% \|",
            script.blocks(PAGE)["screening"],
        )
        table = np.array(rows, dtype=float)
        np.testing.assert_allclose(table[:, 1:].sum(axis=1), 100.0, atol=0.2)
        assert table[:-1, 0].sum() == table[-1, 0]


class TestScript:
    def test_screening(self, script: ModuleType) -> None:
        looks, same = script.watched_fit(SMALL)
        assert same
        assert len(looks) > 5
        for look in looks:
            outside = look.level != script.ACTIVE
            assert look.counts.sum() == outside.sum()
            low, high, truth = (v[outside] for v in (look.low, look.high, look.truth))
            assert (low <= truth * SLACK).all()
            assert (truth <= high * SLACK).all()
            # What was not evaluated is not among the k largest.
            excluded = look.truth[outside & (look.level != script.EXACT)]
            larger = np.sort(look.truth[look.level == script.EXACT])[::-1][: look.k]
            assert excluded.max(initial=0.0) <= max(look.bar, larger[-1] if len(larger) else 0.0)
        text = script.screening_block(looks, same, SMALL)
        assert shape(text)[:200] == shape(script.blocks(PAGE)["screening"])[:200]
        left, right = script.draw(looks).axes
        assert left.get_ylabel()
        assert right.get_xlabel()

    def test_a_fit_that_differs_is_not_reported(self, script: ModuleType) -> None:
        with pytest.raises(AssertionError, match="differs"):
            script.screening_block([], False, SMALL)

    def test_stages(self, script: ModuleType) -> None:
        text = script.stages_block(1, script.STAGES | {"n": 150, "d": 100})
        assert shape(text) == shape(script.blocks(PAGE)["stages"])

    def test_graphs(self, script: ModuleType) -> None:
        text = script.graphs_block(1, script.GRAPH | {"n": 60, "d": 20})
        assert shape(text) == shape(script.blocks(PAGE)["graphs"])

    def test_blocks_are_replaced(self, script: ModuleType) -> None:
        page = script.written(PAGE, "stages", "new\n\ntext")
        assert script.blocks(page) == script.blocks(PAGE) | {"stages": "new\n\ntext"}
        assert script.written(page, "stages", script.blocks(PAGE)["stages"]) == PAGE
