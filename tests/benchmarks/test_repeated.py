"""Repeated fits beside one fit: every row is compared with one, and has a bar."""

import pytest

from benchmarks import repeated


def test_rows_are_of_one_fit_and_have_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "SMALL", (60, 8))
    monkeypatch.setattr(repeated, "TALL", (60, 6))
    rows = list(repeated.rows(full=False))
    assert [row.ours for row in rows] == [repeated.CV, repeated.BOOTSTRAP] * 2
    assert [row.bar for row in rows] == [3.0, 30.0] * 2
    assert {row.other for row in rows} == {repeated.ONE}
    assert all(row.ratio is not None and row.ratio.median > 0.5 for row in rows)
