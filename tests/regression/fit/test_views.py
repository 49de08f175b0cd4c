"""Rows that mislead one start are seen from another, and clusters of rows count like one."""

from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.algorithm.losses import Squared
from robustsparse.base.types import Array
from robustsparse.regression.fit.rows import leverage
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian

SEEDS = range(5)
# Of five data sets one may have a false term.
MOST_SUPPORTS = 0.94


def f1(fit: Any, support: Array) -> float:
    true = {f"x{j + 1}" for j in support}
    found = set(fit.support())
    return 2 * len(found & true) / max(1, len(found) + len(true))


def with_cluster(seed: int, spread: float, share: float, binary: bool = False) -> Any:
    """Data of which a share of the rows lies around one row with a response shifted by four of its scales."""
    rng = np.random.default_rng(seed)
    X = (rng.random((200, 80)) < 0.3).astype(float) if binary else rng.normal(size=(200, 80))
    support = np.sort(rng.choice(80, 4, replace=False))
    y = X[:, support].sum(axis=1) / X[:, support].std() + 0.5 * rng.normal(size=200)
    count = int(share * 200)
    fresh = X[:count].copy()
    if binary:
        X[:count] = np.where(rng.random(fresh.shape) < spread, fresh, X[0])
    else:
        X[:count] = X[0] + spread * fresh
    y[:count] = y[0] + 4 * y.std() + 0.1 * rng.normal(size=count)
    return X, y, support, set(range(count))


@pytest.mark.parametrize(("spread", "share"), [(0.0, 0.1), (0.3, 0.2), (0.6, 0.2)])
@pytest.mark.parametrize("binary", [False, True])
def test_clusters_of_bad_rows_do_no_harm(spread: float, share: float, binary: bool) -> None:
    spread = spread / 3 if binary else spread
    score = []
    for seed in SEEDS:
        X, y, support, bad = with_cluster(seed, spread, share, binary)
        fit = rs.rht_fit(X, y, epsilon=0.25, n_jobs=1)
        score.append(f1(fit, support))
        assert bad <= set(fit.outliers("response"))
    assert np.mean(score) >= MOST_SUPPORTS


def test_good_rows_of_a_cluster_keep_their_weight() -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 30))
        X[:25] = X[0]
        y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=120)
        fit = rs.rht_fit(X, y, n_jobs=1)
        assert set(fit.support()) >= {"x1", "x2"}
        assert fit.row_weights[:25].mean() > 0.7
        assert len(fit.outliers()) <= 6


@pytest.mark.parametrize("attack", ["equal_near", "delete_cancel", "greedy"])
def test_attacks_that_mislead_the_first_start(attack: str) -> None:
    score = []
    for seed in SEEDS:
        sim = rs.simulate.linear(
            n=200, d=300, k=5, sigma=0.5, epsilon=0.1, attack=attack, scales="mixed", rng=seed
        )
        fit = rs.rht_fit(sim.X, sim.y, n_jobs=1)
        score.append(f1(fit, np.flatnonzero(sim.beta)))
    assert np.mean(score) >= MOST_SUPPORTS


def rare(seed: int, d: int) -> Any:
    rng = np.random.default_rng(seed)
    X = (rng.random((100, d)) < 0.06).astype(float)
    X[:5, 0] = X[5:10, 1] = 1.0
    return X, 3.0 * (X[:, 0] + X[:, 1]) + 0.5 * rng.normal(size=100)


@pytest.mark.parametrize("d", [4, 12, 14])
def test_rare_levels_are_no_leverage(d: int) -> None:
    for seed in SEEDS:
        X, y = rare(seed, d)
        fit = rs.rht_fit(X, y, n_jobs=1)
        assert set(fit.support()) >= {"x1", "x2"}
        assert not fit.outliers("leverage")


def test_a_wrong_value_among_rare_levels_is_leverage() -> None:
    X, y = rare(0, 14)
    X[50, 3:] = 999.0
    problem = standardized(X, y, Squared(), family=Gaussian(), how="mad")
    assert np.flatnonzero(leverage(problem).flags).tolist() == [50]
