"""Sets of columns by inner products: compiled exchanges against tableaus, and both against least squares."""

from itertools import combinations

import numpy as np
import pytest

from robustsparse.algorithm.exchanges import InnerProducts
from robustsparse.base.types import Array, Indices

ROUNDING = 1e-9


def products(seed: int, n: int = 60, w: int = 12, rho: float = 0.6) -> tuple[InnerProducts, Array]:
    rng = np.random.default_rng(seed)
    X = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, w))
    y = X[:, :4] @ rng.normal(size=4) + rng.normal(size=n)
    data = np.column_stack([X, y])
    gram = X.T @ X
    return InnerProducts(gram, X.T @ y, np.diag(gram).copy(), float(y @ y)), data


def rss(data: Array, chosen: Indices) -> float:
    A, y = data[:, chosen], data[:, -1]
    return float(np.sum((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2))


def test_exchanges_are_those_of_tableaus() -> None:
    for seed in range(30):
        sets, data = products(seed)
        start = np.random.default_rng(seed).choice(12, 1 + seed % 6, replace=False)
        chosen, left = sets.exchanged(start)
        by_tableau, expected = sets._exchanged(start.copy(), 100)
        assert chosen.tolist() == by_tableau.tolist()
        np.testing.assert_allclose([left, expected], rss(data, chosen), rtol=ROUNDING)


@pytest.mark.parametrize("near", [1.0, 0.05])
def test_many_exchanges_from_a_bad_start_are_those_of_tableaus(near: float) -> None:
    for seed in range(10):
        sets, data = products(seed, n=150, w=60)
        # Every third column close to the one before it, which calls for more care.
        X = data[:, :60]
        X[:, 2::3] = X[:, 1::3] + near * X[:, 2::3]
        gram, y = X.T @ X, data[:, -1]
        sets = InnerProducts(gram, X.T @ y, np.diag(gram).copy(), float(y @ y))
        start = np.arange(59, 44, -1)
        chosen, left = sets.exchanged(start)
        by_tableau, expected = sets._exchanged(start.copy(), 100)
        assert len(np.setdiff1d(chosen, start)) > 2
        assert chosen.tolist() == by_tableau.tolist()
        np.testing.assert_allclose([left, expected], rss(data, chosen), rtol=ROUNDING)


def test_no_exchange_of_one_column_is_better_in_the_end() -> None:
    for seed in range(10):
        sets, data = products(seed)
        chosen, left = sets.exchanged(np.arange(8, 12))
        others = np.setdiff1d(np.arange(12), chosen)
        better = [rss(data, np.append(np.delete(chosen, i), j)) for i in range(4) for j in others]
        assert min(better) >= left * (1.0 - ROUNDING)


def test_sets_grow_and_shrink_by_the_best_column() -> None:
    for seed in range(10):
        sets, data = products(seed)
        for start in (np.array([3, 7]), sets.exchanged(np.array([3, 7, 9]))[0]):
            grown, shrunk = sets.grown(start), sets.shrunk(start)
            assert grown is not None
            more = [np.append(start, j) for j in np.setdiff1d(np.arange(12), start)]
            less = [np.array(some) for some in combinations(start, len(start) - 1)]
            assert rss(data, grown) <= min(rss(data, some) for some in more) * (1.0 + ROUNDING)
            assert rss(data, shrunk) <= min(rss(data, some) for some in less) * (1.0 + ROUNDING)


def test_nothing_grows_from_no_set_by_columns_of_no_use() -> None:
    sets = InnerProducts(np.eye(3), np.zeros(3), np.ones(3), 1.0)
    nothing = np.zeros(0, dtype=np.int64)
    assert sets.grown(nothing) is None
    chosen, left = sets.exchanged(nothing)
    assert (len(chosen), left) == (0, 1.0)


def test_copies_are_left_to_the_pseudo_inverse() -> None:
    sets, data = products(0)
    gram = sets.gram.copy()
    gram[5], gram[:, 5] = gram[2], gram[:, 2]
    cross, squares = sets.cross.copy(), sets.squares.copy()
    cross[5], squares[5] = cross[2], squares[2]
    twice = InnerProducts(gram, cross, squares, sets.total)
    assert twice.independent(np.array([2, 5, 7])).tolist() == [2, 7]
    chosen, left = twice.exchanged(np.array([2, 5]))
    assert len(set(chosen.tolist())) == 2
    assert left <= rss(data, np.array([2])) * (1.0 + ROUNDING)
