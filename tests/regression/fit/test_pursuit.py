"""Hard thresholding by least squares: finds what there is, among collinear columns too, and never goes uphill."""

from dataclasses import replace

import numpy as np
import pytest

from robustsparse.algorithm.losses import Squared
from robustsparse.base.types import Array
from robustsparse.regression.fit.pursuit import pursue, pursuing, together
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian


def problem(
    seed: int, n: int = 200, d: int = 60, k: int = 5, rho: float = 0.5
) -> tuple[Standardized, set[int]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    true = rng.choice(d, k, replace=False)
    y = X[:, true].sum(axis=1) + 0.3 * rng.normal(size=n)
    return standardized(X, y, Squared(), family=Gaussian(), how="mad"), set(true.tolist())


def squares(one: Standardized, coef: Array) -> float:
    weights = np.ones(one.n) if one.weights is None else one.weights
    return float(weights @ (one.y - one.predictor(coef)) ** 2)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_it_finds_the_terms(rho: float) -> None:
    found = []
    for seed in range(12):
        one, true = problem(seed, rho=rho)
        fit = pursue(one, np.zeros(len(one.XT)), 5)
        found.append(true == set(fit.support.tolist()))
    assert np.mean(found) > 0.8


def test_it_ends_at_least_squares_on_its_support() -> None:
    one, _ = problem(1)
    weights = np.random.default_rng(0).uniform(0.0, 2.0, size=one.n)
    one = replace(one, weights=weights, offset=np.linspace(-1.0, 1.0, one.n))
    fit = pursue(one, np.zeros(len(one.XT)), 8)
    columns = np.append(np.sort(fit.support), len(one.XT) - 1)
    root = np.sqrt(weights)
    expected = np.linalg.lstsq(
        root[:, None] * one.columns(columns), root * (one.y - one.offset), rcond=None
    )[0]
    np.testing.assert_allclose(fit.coef[columns], expected, atol=1e-8)
    assert np.count_nonzero(fit.coef) == 9


def test_it_never_ends_above_its_start() -> None:
    for seed in range(10):
        one, _ = problem(seed, rho=0.95)
        rng = np.random.default_rng(seed)
        start = np.zeros(len(one.XT))
        start[rng.choice(60, 6, replace=False)] = rng.normal(size=6)
        assert squares(one, pursue(one, start, 6).coef) <= squares(one, start)


def test_rows_of_no_weight_have_no_say() -> None:
    one, true = problem(3)
    wild = one.y.copy()
    wild[:40] = 1e6
    weights = np.ones(one.n)
    weights[:40] = 0.0
    quiet = pursue(replace(one, weights=weights), np.zeros(len(one.XT)), 5)
    loud = pursue(replace(one, y=wild, weights=weights), np.zeros(len(one.XT)), 5)
    np.testing.assert_array_equal(quiet.coef, loud.coef)
    assert set(loud.support.tolist()) == true


def test_copies_and_absurd_values_do_no_harm() -> None:
    one, true = problem(2)
    XT = one.XT.copy()
    XT[7] = XT[min(true)]
    XT[9, 0] = 1e300
    fit = pursue(replace(one, XT=XT), np.zeros(len(XT)), 6)
    assert np.isfinite(fit.coef).all()
    assert len(fit.support) == 6


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_runs_that_share_their_passes_end_as_alone(precision: type[np.floating]) -> None:
    one, _ = problem(3)
    one = replace(one, XT=one.XT.astype(precision))
    rng = np.random.default_rng(0)
    parts = [replace(one, weights=rng.uniform(size=one.n)) for _ in range(3)]
    nothing = np.zeros(len(one.XT))
    found = together(
        one, [pursuing(part, nothing, k) for part, k in zip(parts, (2, 5, 7), strict=True)]
    )
    for part, k, fit in zip(parts, (2, 5, 7), found, strict=True):
        alone = pursue(part, nothing, k)
        np.testing.assert_array_equal(fit.support, alone.support)
        np.testing.assert_allclose(fit.coef, alone.coef, atol=1e-10)
    assert together(one, []) == []
