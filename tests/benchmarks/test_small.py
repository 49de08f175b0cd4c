"""Small data beside a cross-validated lasso: what is compared, and that every row has a bar."""

import numpy as np
import pytest

from benchmarks import small


def test_columns_are_as_collinear_as_the_name_says() -> None:
    X, y = small.simulated(900, 30, 5, 0.95)
    neighbors = [np.corrcoef(X[:, j], X[:, j + 1])[0, 1] for j in range(29)]
    assert np.mean(neighbors) == pytest.approx(0.95, abs=0.02)
    explained = np.linalg.lstsq(np.column_stack([np.ones(900), X]), y, rcond=None)[1]
    assert np.sqrt(explained[0] / 900) == pytest.approx(0.5, rel=0.1)


def test_every_tenth_response_is_corrupted_in_a_copy() -> None:
    X, y = small.simulated(60, 10, 2, 0.5)
    before = y.copy()
    same, wrong = small.corrupted(X, y)
    assert same is X
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(np.flatnonzero(wrong != y), np.arange(0, 60, 10))


def test_all_data_are_small_and_finite() -> None:
    names = []
    for name, X, y in small.problems():
        names.append(name)
        assert len(X) < 1000
        assert X.shape[1] < 100
        assert len(X) == len(y)
        assert np.isfinite(X).all()
        assert np.isfinite(y).all()
    assert len(set(names)) == len(names) > 2 * len(small.SIMULATED)


def test_a_row_has_a_ratio_and_a_bar() -> None:
    row = small.row("some", *small.simulated(60, 10, 2, 0.5), rounds=2)
    assert (row.section, row.problem, row.bar) == (small.SECTION, "some", small.BAR)
    assert row.ratio is not None
    assert row.ratio.rounds == 2
    assert row.ratio.median > 0


def test_rows_to_predict_say_so() -> None:
    row = small.row("some", *small.simulated(60, 10, 2, 0.5), rounds=1, goal="predict")
    assert row.ours == f"{small.OURS}, to predict"
