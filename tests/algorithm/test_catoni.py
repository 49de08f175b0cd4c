"""Catoni's mean against a root finder, one coordinate at a time, and what it must not depend on."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import robustsparse as rs
from robustsparse.algorithm.catoni import influence
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array

RELATIVE = 1e-9
RNG = np.random.default_rng(12)


def slow(values: Array, epsilon: float, delta: float) -> float:
    """The definition, by bisection on the sum of influences of one coordinate."""
    n = len(values)
    center = np.median(values)
    level = min(max(1 - min(2 * epsilon, 0.45), 0.5), 0.9)
    place = max(int(np.ceil(level * n)) - 1, 0)
    scale = np.sort(np.abs(values - center))[place] / norm.ppf(0.5 + level / 2)
    if scale == 0:
        return float(center)
    reach = scale / sqrt(epsilon + 2 * log(1 / delta) / n)

    def total(theta: float) -> float:
        # The Gudermannian function in another of its forms.
        return float(sum(np.arcsin(np.tanh((x - theta) / reach)) for x in values))

    return float(brentq(total, values.min() - 1e-9, values.max() + 1e-9, xtol=1e-14 * reach))


DRAWS = {
    "normal": lambda n: RNG.normal(1.0, 1.0, (n, 4)),
    "t2": lambda n: RNG.standard_t(2, (n, 4)),
    "log-normal": lambda n: np.exp(1.5 * RNG.normal(size=(n, 4))),
    "outliers": lambda n: np.where(RNG.random((n, 4)) < 0.15, 1e4, RNG.normal(size=(n, 4))),
    "mostly equal": lambda n: np.where(RNG.random((n, 4)) < 0.7, 0.5, RNG.normal(size=(n, 4))),
    "constant": lambda n: np.full((n, 4), 3.0),
}


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("n", [2, 9, 100])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3])
def test_equals_a_root_finder(kind: str, n: int, epsilon: float) -> None:
    X = DRAWS[kind](n)
    found = rs.Catoni(epsilon)(X, np.ones(n))
    expected = [slow(X[:, j], epsilon, 0.01) for j in range(4)]
    np.testing.assert_allclose(found, expected, rtol=RELATIVE, atol=RELATIVE)


def test_influence_lies_between_catonis_bounds() -> None:
    u = np.linspace(-8.0, 8.0, 1001)
    assert (influence(u) <= np.log(1 + u + u**2 / 2) + 1e-12).all()
    assert (influence(u) >= -np.log(1 - u + u**2 / 2) - 1e-12).all()


def test_far_values_count_for_no_more_than_near_ones_can() -> None:
    X = RNG.normal(size=(200, 3))
    far, farther = X.copy(), X.copy()
    far[:20], farther[:20] = 1e3, 1e200
    estimator = rs.Catoni(0.1)
    np.testing.assert_allclose(estimator(far, np.ones(200)), estimator(farther, np.ones(200)))
    assert np.abs(estimator(far, np.ones(200)) - estimator(X, np.ones(200))).max() < 1.0


def test_blocks_of_columns_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X, score = RNG.normal(size=(60, 50)), RNG.normal(size=60)
    whole = rs.Catoni()(X, score)
    monkeypatch.setattr("robustsparse.algorithm.catoni._TOGETHER", 60 * 7)
    assert np.array_equal(rs.Catoni()(X, score), whole)


def test_without_bad_rows_it_is_better_than_the_mean_on_heavy_tails() -> None:
    """Largest of 50 errors, over seeds: Catoni's promise is about the worst coordinate."""
    mean, ours = [], []
    for seed in range(30):
        X = np.random.default_rng(seed).standard_t(2.1, (300, 50))
        mean.append(np.abs(X.mean(axis=0)).max())
        ours.append(np.abs(rs.Catoni(0.0)(X, np.ones(300))).max())
    assert np.median(ours) < 0.75 * np.median(mean)


@pytest.mark.parametrize("bad", [-0.1, 0.6, np.nan, "0.1", None, True])
def test_bad_epsilon(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon="):
        rs.Catoni(bad)


@pytest.mark.parametrize("bad", [0.0, 1.0, 2, np.nan, "0.1"])
def test_bad_delta(bad: Any) -> None:
    with pytest.raises(ParameterError, match="delta="):
        rs.Catoni(delta=bad)


def test_missing_cells_are_named() -> None:
    X = np.ones((9, 3))
    X[5, 2] = np.inf
    with pytest.raises(DataError, match=r"inf in row 5, column 2; .*na_action"):
        rs.Catoni()(X, np.ones(9))
