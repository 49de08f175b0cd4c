"""Best sets of groups: against all of them, and what must not matter."""

from itertools import combinations
from math import exp, log
from typing import Any

import numpy as np
import pytest

from robustsparse.algorithm.losses import Squared
from robustsparse.regression.fit import subsets
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.fit.subsets import set_rows, subset_path
from robustsparse.regression.gaussian import Gaussian

ROUNDING = 1e-6
SIZES = (3, 1, 2, 4, 1, 2, 3, 1)


def problem(seed: int, n: int = 80, sizes: Any = SIZES, **arguments: Any) -> Standardized:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(n, len(labels))) + 0.7 * rng.normal(size=(n, 1))
    y = X[:, labels == 0].sum(axis=1) + X[:, labels == 1].sum(axis=1) + rng.normal(size=n)
    change = arguments.pop("change", None)
    X = X if change is None else change(X, labels)
    arguments.setdefault("groups", labels)
    return standardized(X, y, Squared(), family=Gaussian(), how="mad", **arguments)


def everything(size: int, rss: float, freedom: int) -> float:
    """A criterion that never turns."""
    return -size


def priced(data: Standardized) -> Any:
    n, d = data.n, data.candidates
    return lambda size, rss, freedom: n * log(rss) + freedom * log(n) + 2 * size * log(d)


def worth(data: Standardized, columns: Any) -> float:
    used = np.concatenate([np.array(columns, dtype=int), data.keep])
    rss = float(np.linalg.lstsq(data.columns(used), data.y, rcond=None)[1].sum())
    return rss * exp(len(columns) * log(data.n) / data.n)


def test_sets_are_the_best_of_all_of_their_size_by_what_they_cost() -> None:
    best = []
    for seed in range(8):
        data = problem(seed)
        of = np.repeat(np.arange(len(SIZES)), SIZES)
        path = subset_path(set_rows(data), [], 4, everything)
        for size in range(1, 5):
            truth = min(
                worth(data, np.flatnonzero(np.isin(of, chosen)))
                for chosen in combinations(range(len(SIZES)), size)
            )
            best.append(worth(data, path[size].columns) <= truth * (1 + ROUNDING))
            assert path[size].freedom == len(path[size].columns)
    # Exchanges of single groups need not end at the best set, but do nearly always.
    assert np.mean(best) >= 0.97


def test_the_coding_of_a_group_does_not_matter() -> None:
    def mixed(X: Any, labels: Any) -> Any:
        X = X.copy()
        X[:, labels == 0] = X[:, labels == 0] @ np.random.default_rng(9).normal(size=(3, 3))
        return X

    for seed in range(4):
        plain, other = problem(seed), problem(seed, change=mixed)
        paths = [subset_path(set_rows(data), [], 5, everything) for data in (plain, other)]
        for size in range(6):
            assert paths[0][size].columns.tolist() == paths[1][size].columns.tolist()
            assert paths[0][size].rss == pytest.approx(paths[1][size].rss, rel=ROUNDING)


def test_columns_that_repeat_others_of_their_group_cost_nothing() -> None:
    def doubled(X: Any, labels: Any) -> Any:
        X = X.copy()
        X[:, 2] = X[:, 0] - X[:, 1]
        return X

    data = problem(1, change=doubled)
    path = subset_path(set_rows(data), [], 3, everything)
    chosen = next(one for one in path.values() if 0 in one.columns)
    assert {0, 1, 2} <= set(chosen.columns.tolist())
    assert chosen.freedom == len(chosen.columns) - 1


def test_groups_outside_the_working_set_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 300))
        # Two groups that only together explain something.
        X[:, 3] = X[:, 0] + 0.3 * rng.normal(size=150)
        y = 3 * (X[:, 0] - X[:, 3]) + X[:, 9] + 0.3 * rng.normal(size=150)
        data = standardized(
            X, y, Squared(), family=Gaussian(), how="mad", groups=np.repeat(np.arange(100), 3)
        )
        sets = []
        for working in (5, 400):
            monkeypatch.setattr(subsets, "_WORKING", working)
            sets.append(subset_path(set_rows(data), [], 30, priced(data)))
        best = min(sets[1], key=lambda size, whole=sets[1]: _value(data, whole, size))
        assert sets[0][best].columns.tolist() == sets[1][best].columns.tolist()


def _value(data: Standardized, path: Any, size: int) -> float:
    return float(priced(data)(size, path[size].rss, path[size].freedom))


def test_a_large_group_of_noise_does_not_win_by_its_size() -> None:
    right = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 31))
        y = 0.35 * X[:, 30] + rng.normal(size=100)
        labels = np.r_[np.zeros(30, dtype=int), 1]
        data = standardized(X, y, Squared(), family=Gaussian(), how="mad", groups=labels)
        right.append(subset_path(set_rows(data), [], 1, everything)[1].columns.tolist() == [30])
    assert np.mean(right) >= 0.9


def test_kept_columns_are_in_no_group() -> None:
    data = problem(2, keep=np.array([3]))
    for one in subset_path(set_rows(data), [], 4, everything).values():
        assert 3 not in one.columns
