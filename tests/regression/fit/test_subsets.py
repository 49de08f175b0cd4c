"""Best subsets on trusted rows: against all subsets, and what the path promises."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from math import log
from typing import Any

import numpy as np
import pytest

from robustsparse.algorithm.losses import Squared
from robustsparse.regression.fit import subsets
from robustsparse.regression.fit.column_sets import ColumnRows
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.fit.subsets import set_rows, subset_path
from robustsparse.regression.gaussian import Gaussian

ROUNDING = 1e-8


def problem(
    seed: int, n: int = 60, d: int = 10, k: int = 3, rho: float = 0.0, **arguments: Any
) -> Standardized:
    rng = np.random.default_rng(seed)
    X = np.sqrt(1 - rho) * rng.normal(size=(n, d)) + np.sqrt(rho) * rng.normal(size=(n, 1))
    y = X[:, :k].sum(axis=1) + rng.normal(size=n)
    return standardized(X, y, Squared(), family=Gaussian(), how="mad", **arguments)


def price(n: int, d: int) -> Callable[[int, float, int], float]:
    return lambda size, rss, freedom: n * log(max(rss, 1e-20)) + size * (log(n) + 2 * log(d))


def everything(size: int, rss: float, freedom: int) -> float:
    """A criterion that never turns."""
    return -size


def rss(data: Standardized, columns: Any) -> float:
    root = np.ones(data.n) if data.weights is None else np.sqrt(data.weights)
    target = data.y if data.offset is None else data.y - data.offset
    A = root[:, None] * data.columns(np.concatenate([np.array(columns, dtype=int), data.keep]))
    return float(np.linalg.lstsq(A, root * target, rcond=None)[1].sum())


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_sets_are_the_best_of_all_subsets(rho: float) -> None:
    best = []
    for seed in range(8):
        data = problem(seed, rho=rho)
        path = subset_path(set_rows(data), [], 5, everything)
        for size in range(1, 6):
            truth = min(rss(data, chosen) for chosen in combinations(range(10), size))
            best.append(path[size].rss <= truth * (1 + ROUNDING))
    # Exchanges of single columns need not end at the best set, but do nearly always.
    assert np.mean(best) >= 0.97


def test_residuals_are_those_of_least_squares_with_weights_offset_and_kept_columns() -> None:
    rng = np.random.default_rng(5)
    weights, offset = rng.uniform(0.2, 2.0, 60), rng.normal(size=60)
    data = problem(1, keep=np.array([7]), weights=weights, offset=offset)
    for size, subset in subset_path(set_rows(data), [], 4, everything).items():
        assert 7 not in subset.columns
        assert len(subset.columns) == size
        assert subset.rss == pytest.approx(rss(data, subset.columns), rel=ROUNDING)


def test_more_columns_never_leave_more() -> None:
    path = subset_path(set_rows(problem(2, n=80, d=40)), [], 12, everything)
    left = [path[size].rss for size in sorted(path)]
    assert list(path) == list(range(13))
    assert (np.diff(left) < 0).all()


def test_the_path_ends_beyond_the_minimum_of_the_criterion() -> None:
    data = problem(3, n=150, d=60)
    path = subset_path(set_rows(data), [], 60, price(150, 60))
    assert 3 + subsets._PATIENCE <= max(path) < 30
    assert set(path[3].columns.tolist()) == {0, 1, 2}


def test_larger_sets_do_not_change_those_before() -> None:
    data = problem(4, n=150, d=60)
    path = subset_path(set_rows(data), [], 60, price(150, 60))
    longer = path.continued(40)
    assert max(longer) == 40
    for size in path:
        np.testing.assert_array_equal(longer[size].columns, path[size].columns)


def test_columns_outside_the_first_working_set_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 400))
    # Alone the second column explains nothing: the first hides what it does.
    X[:, 1] = X[:, 0] + 0.3 * rng.normal(size=200)
    y = X[:, 0] - X[:, 1] + 0.05 * rng.normal(size=200)
    data = standardized(X, y, Squared(), family=Gaussian(), how="mad")
    monkeypatch.setattr(subsets, "_WORKING", 5)
    small = subset_path(set_rows(data), [], 60, price(200, 400))
    monkeypatch.setattr(subsets, "_WORKING", 400)
    whole = subset_path(set_rows(data), [], 60, price(200, 400))
    np.testing.assert_array_equal(small[2].columns, [0, 1])
    np.testing.assert_array_equal(whole[2].columns, [0, 1])


def test_repeated_and_constant_columns_are_never_taken_twice() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X = np.column_stack([X, X, np.ones(50)])
    data = standardized(X, X[:, 0] + X[:, 1], Squared(), family=Gaussian(), how="mad")
    path = subset_path(set_rows(data), [], 7, everything)
    assert max(path) == 3
    assert all(np.isfinite(subset.rss) for subset in path.values())


def test_seeds_are_never_made_worse() -> None:
    data = problem(6, n=80, d=40, rho=0.8)
    seed = np.array([0, 1, 2, 11, 17])
    path = subset_path(set_rows(data), [seed], 12, partial(everything))
    assert path[5].rss <= rss(data, seed) * (1 + ROUNDING)


@pytest.mark.parametrize("small", [False, True])
def test_rows_are_left_out_where_they_are(small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Standardized, "small", small)
    rng = np.random.default_rng(0)
    for seed in range(5):
        data = problem(seed, n=90, d=60, weights=rng.uniform(0.2, 2.0, 90))
        kept = rng.random(90) < 0.8
        # What does not count may be of any size.
        data.XT[:-1, ~kept] = 1e200
        criterion = price(int(kept.sum()), 60)
        found = subset_path(set_rows(data.seeing(kept)), [], 10, criterion)
        expected = subset_path(set_rows(data.rows(kept)), [], 10, criterion)
        assert found.keys() == expected.keys()
        for size, one in found.items():
            np.testing.assert_array_equal(one.columns, expected[size].columns)
            assert one.rss == pytest.approx(expected[size].rss, rel=ROUNDING)


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_what_is_known_of_the_rows_is_what_would_be_found_anew(
    small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robustsparse.regression.fit.standardized._SMALL", small)
    data = problem(3, n=80, d=40, rho=0.5)
    known = set_rows(data)
    assert isinstance(known, ColumnRows)
    for columns in (np.arange(0, 20), np.array([1, 5, 30, 33]), np.arange(2, 40, 3)):
        block = known.columns(columns)
        np.testing.assert_allclose(known.among(columns), block @ block.T, rtol=ROUNDING, atol=1e-9)
        raw = data.XT @ block.T
        np.testing.assert_allclose(known.against(columns), raw, rtol=ROUNDING, atol=1e-9)
    for seeds in ([], [np.array([20, 21, 22])], []):
        again = subset_path(known, seeds, 8, everything)
        anew = subset_path(set_rows(data), seeds, 8, everything)
        assert {k: one.columns.tolist() for k, one in again.items()} == {
            k: one.columns.tolist() for k, one in anew.items()
        }
