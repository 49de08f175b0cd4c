"""Tall data beside the lasso: a row for each size, with its bar, and data that are tall."""

import pytest

from benchmarks import growth, memory, tall


def test_rows_have_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setattr(tall, "SIZES", ((600, 10), (900, 10)))
    rows = list(tall.rows(full=True))
    assert [row.problem for row in rows] == ["600 × 10", "900 × 10"]
    assert len(list(tall.rows(full=False))) == 1
    assert all(row.bar == tall.BAR and row.ratio is not None for row in rows)


def test_growth_and_memory_are_measured_on_tall_data_too() -> None:
    assert max(growth.TALL_FULL.values) == 2_000_000
    assert growth.TALL_FULL.base.d == growth.TALL_QUICK.base.d == 20
    bars = {memory._bar(job) for job in memory.QUICK}
    assert bars == {memory.BAR, memory.TALL_BAR}
