"""The comparison with a sorting loop, and that it would see a difference."""

import numpy as np
import pytest

from benchmarks import exactness


def test_fits_are_those_of_a_loop_that_sorts() -> None:
    (row,) = exactness.rows(30)
    assert row.problems == 30
    assert row.largest <= row.bar


def test_another_answer_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = exactness.sorting_loop

    def off(*arguments: object) -> object:
        coef = loop(*arguments)  # type: ignore[arg-type]
        return np.where(coef != 0, coef + 1e-9, 0.0)

    monkeypatch.setattr(exactness, "sorting_loop", off)
    (row,) = exactness.rows(15)
    assert row.largest > row.bar


@pytest.mark.parametrize("kind", exactness.DESIGNS)
def test_designs_are_what_they_are_called(kind: str) -> None:
    XT = exactness._design(kind, 60, 50, np.random.default_rng(0))
    assert XT.shape == (60, 50)
    assert (kind == "zero columns") == bool((XT == 0).all(axis=1).any())
    assert (kind == "duplicate columns") == (len(np.unique(XT, axis=0)) <= 20)
    assert (kind == "ties") == (len(np.unique(XT)) == 5)
    assert (kind == "cauchy") == (np.abs(XT).max() > 50)
