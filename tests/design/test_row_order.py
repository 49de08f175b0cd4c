"""The order of rows follows from what they hold."""

import numpy as np
import pytest
from scipy import sparse

from robustsparse.base.errors import DataWarning
from robustsparse.design.row_order import RowOrder, repetitions


def numbers(n: int = 50, d: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return np.round(rng.normal(size=(n, d)), 1), np.round(rng.normal(size=n), 1)


def test_shuffled_rows_stand_where_they_stood() -> None:
    X, y = numbers()
    turned = np.random.default_rng(1).permutation(len(y))
    first, second = (RowOrder.of(X, y, None).places, RowOrder.of(X[turned], y[turned], None).places)
    assert (X[first] == X[turned][second]).all()
    assert (y[first] == y[turned][second]).all()
    assert sorted(first) == list(range(len(y)))


@pytest.mark.parametrize("layout", [np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_the_layout_does_not_matter(layout: type) -> None:
    X, y = numbers()
    X[X < 0.5] = 0.0
    assert (RowOrder.of(layout(X), y, None).places == RowOrder.of(X, y, None).places).all()
    X[X == 0] = -0.0
    assert (RowOrder.of(layout(abs(X)), y, None).places == RowOrder.of(X, y, None).places).all()


def test_a_column_that_equals_the_response_orders_all_the_same() -> None:
    y = np.arange(40.0)
    assert len(set(np.diff(RowOrder.of(y[:, None], y, None).places))) > 5


def test_whole_numbers_repeat_and_others_multiply() -> None:
    X, y = numbers()
    weights = np.resize([0.0, 1.0, 3.0], len(y))
    rows = RowOrder.of(X, y, weights)
    assert rows.weights is None
    assert (np.bincount(rows.places, minlength=len(y)) == weights).all()
    halves = RowOrder.of(X, y, weights + 0.5)
    assert halves.weights is not None
    assert (halves.weights == (weights + 0.5)[halves.places]).all()
    assert sorted(halves.places) == list(range(len(y)))


def test_missing_values_do_not_disturb() -> None:
    X, y = numbers()
    X[3, 2] = X[9, 0] = np.nan
    turned = np.arange(len(y))[::-1]
    first, second = (RowOrder.of(X, y, None).places, RowOrder.of(X[turned], y[turned], None).places)
    np.testing.assert_array_equal(X[first], X[turned][second])


def test_a_great_many_repetitions_are_refused() -> None:
    few = np.array([1.0, 500.0, 400.0])
    assert repetitions(few) is not None
    with pytest.warns(DataWarning, match="add up to 5000"):
        assert repetitions(np.full(5, 1000.0)) is None
