"""Fits of other kinds: what is compared, and that every row has a bar."""

import numpy as np
import pytest

from benchmarks import kinds
from benchmarks.small import simulated


def test_classes_are_even_and_follow_the_predictor() -> None:
    _, eta = simulated(400, 20, 4, 0.5)
    y = kinds.labels(eta)
    assert set(y) == {0.0, 1.0}
    assert 0.4 < y.mean() < 0.6
    assert np.corrcoef(y, eta)[0, 1] > 0.5


def test_every_row_has_a_ratio_and_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "SMALL", (80, 24))
    monkeypatch.setattr(kinds, "LARGE", (80, 40))
    rows = [*kinds.cells(full=False), kinds.products(full=False)]
    assert [row.bar for row in rows] == [kinds.CELLS_BAR] * 2 + [kinds.PRODUCTS_BAR]
    assert {row.section for row in rows} == {kinds.SECTION}
    assert all(row.ratio is not None and row.ratio.median > 0.5 for row in rows)


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "SMALL", (80, 24))
    monkeypatch.setattr(kinds, "find_spec", lambda name: None)
    rows = [*kinds.classes(full=False), kinds.groups(full=False)]
    assert [row.note for row in rows] == ["not installed"] * 2
    assert all(row.ratio is None for row in rows)
