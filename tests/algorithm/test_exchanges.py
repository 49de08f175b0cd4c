"""Sets of columns by inner products: compiled moves against tableaus, and both against least squares."""

import numpy as np
import pytest

from robustsparse.algorithm.exchanges import LOWER, InnerProducts, Tableau
from robustsparse.algorithm.sets_by_size import SetsBySize
from robustsparse.base.types import Array, Indices

ROUNDING = 1e-9
# The same for columns of which others leave a millionth.
NEAR_ROUNDING = 1e-7


def products(seed: int, n: int = 60, w: int = 12, rho: float = 0.6) -> tuple[InnerProducts, Array]:
    rng = np.random.default_rng(seed)
    X = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, w))
    y = X[:, :4] @ rng.normal(size=4) + rng.normal(size=n)
    data = np.column_stack([X, y])
    return of(data), data


def of(data: Array) -> InnerProducts:
    """Inner products of columns, of which the last one is the target."""
    gram = data.T @ data
    own = np.ascontiguousarray(gram[:-1, :-1])
    return InnerProducts(own, gram[:-1, -1].copy(), np.diag(own).copy(), float(gram[-1, -1]))


def rss(data: Array, chosen: Indices) -> float:
    A, y = data[:, chosen], data[:, -1]
    return float(np.sum((y - A @ np.linalg.lstsq(A, y, rcond=None)[0]) ** 2))


def reached(products: InnerProducts, start: Indices) -> tuple[Indices, float]:
    """What compiled exchanges make of a set."""
    sets = SetsBySize(products)
    sets.offer([start])
    return sets[len(start)]


def best_exchange(products: InnerProducts, chosen: Indices) -> tuple[float, int, int]:
    """By how much the squares fall by the best exchange, the column that enters and the place of the other."""
    gram, at = products.gram, np.ix_(chosen, chosen)
    table = Tableau.of(
        gram[:, chosen], products.cross, products.squares, gram[at], products.cross[chosen]
    )
    falls = table.exchanges(products.squares)
    falls[chosen] = 0.0
    enters, leaves = np.unravel_index(int(np.argmax(falls)), falls.shape)
    return float(falls[enters, leaves]), int(enters), int(leaves)


def by_tableaus(products: InnerProducts, data: Array, chosen: Indices) -> tuple[Indices, float]:
    """The set after the best exchanges."""
    chosen = chosen.copy()
    while True:
        left, (fall, enters, leaves) = rss(data, chosen), best_exchange(products, chosen)
        if fall <= LOWER * left:
            return np.sort(chosen), left
        chosen[leaves] = enters


def test_exchanges_are_those_of_tableaus() -> None:
    for seed in range(30):
        sets, data = products(seed)
        start = np.random.default_rng(seed).choice(12, 1 + seed % 6, replace=False)
        chosen, left = reached(sets, start)
        by_tableau, expected = by_tableaus(sets, data, start)
        assert chosen.tolist() == by_tableau.tolist()
        assert left == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize("near", [1.0, 0.05])
def test_many_exchanges_from_a_bad_start_are_those_of_tableaus(near: float) -> None:
    for seed in range(10):
        _, data = products(seed, n=150, w=60)
        # Every third column close to the one before it, which calls for more care.
        data[:, 2:60:3] = data[:, 1:60:3] + near * data[:, 2:60:3]
        sets = of(data)
        start = np.arange(59, 44, -1)
        chosen, left = reached(sets, start)
        by_tableau, expected = by_tableaus(sets, data, start)
        assert len(np.setdiff1d(chosen, start)) > 2
        assert chosen.tolist() == by_tableau.tolist()
        assert left == pytest.approx(expected, rel=ROUNDING)


def test_no_exchange_of_one_column_is_better_in_the_end() -> None:
    for seed in range(10):
        sets, data = products(seed)
        chosen, left = reached(sets, np.arange(8, 12))
        others = np.setdiff1d(np.arange(12), chosen)
        better = [rss(data, np.append(np.delete(chosen, i), j)) for i in range(4) for j in others]
        assert min(better) >= left * (1.0 - ROUNDING)


def sizes(products: InnerProducts, starts: list[Indices], most: int) -> SetsBySize:
    """Sets that growing and shrinking come to."""
    sets = SetsBySize(products)
    sets.offer(starts)
    while sets.grow(0, most) | sets.shrink(most):
        pass
    return sets


def test_no_set_is_better_by_one_column_more_or_less_than_those_next_to_it() -> None:
    for seed in range(5):
        given, data = products(seed, n=150, w=40)
        sets = sizes(given, [np.array([30, 3, 17, 8]), np.arange(20)], 20)
        for size in range(1, 20):
            chosen, left = sets[size]
            assert len(set(chosen.tolist())) == size
            assert left == pytest.approx(rss(data, chosen), rel=ROUNDING)
            more = [np.append(chosen, j) for j in np.setdiff1d(np.arange(40), chosen)]
            less = [np.delete(chosen, i) for i in range(size)]
            assert sets[size + 1][1] <= min(rss(data, one) for one in more) * (1.0 + ROUNDING)
            assert sets[size - 1][1] <= min(rss(data, one) for one in less) * (1.0 + ROUNDING)


def test_larger_sets_are_forgotten_and_found_again() -> None:
    given, _ = products(3, n=150, w=40)
    sets = sizes(given, [], 20)
    before = [sets[size][1] for size in range(21)]
    sets.forget(10)
    assert 10 in sets
    assert 11 not in sets
    assert not sets.shrink(20)
    assert sets.grow(10, 20)
    assert [sets[size][1] for size in range(11)] == before[:11]
    np.testing.assert_allclose([sets[size][1] for size in range(11, 21)], before[11:], rtol=0.05)


def test_near_copies_leave_what_least_squares_leaves() -> None:
    rng = np.random.default_rng(0)
    for seed in range(5):
        _, data = products(seed, n=150, w=30)
        data[:, 1:30:2] = data[:, :30:2] + 1e-3 * rng.normal(size=(150, 15))
        found = sizes(of(data), [np.arange(10)], 25)
        for size in range(1, 26):
            chosen, left = found[size]
            assert left == pytest.approx(rss(data, chosen), rel=NEAR_ROUNDING)


def test_nothing_grows_from_no_set_by_columns_of_no_use() -> None:
    sets = SetsBySize(InnerProducts(np.eye(3), np.zeros(3), np.ones(3), 1.0))
    assert not sets.grow(0, 2)
    assert not sets.shrink(2)
    chosen, left = sets[0]
    assert (len(chosen), left) == (0, 1.0)
    assert 1 not in sets


def test_copies_are_never_taken_twice() -> None:
    _, data = products(0)
    data[:, 5] = data[:, 2]
    for start in ([2, 5, 7], [7, 5, 2]):
        found = SetsBySize(of(data))
        found.offer([np.array(start)])
        assert 2 in found
        assert 3 not in found
        found.grow(0, 12)
        assert 11 in found
        assert 12 not in found
