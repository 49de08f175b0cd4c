"""Choosing k: the path, the robust criterion and robust cross-validation."""

from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.algorithm.gradients import MedianOfMeans, Trimmed
from robustsparse.algorithm.losses import Logistic, Squared
from robustsparse.algorithm.problem import Settings
from robustsparse.algorithm.sparsity import k_grid, largest_k
from robustsparse.regression.family import Binomial, Gaussian
from robustsparse.regression.fit.k_paths import (
    choose_by,
    choose_by_cv,
    path,
    penalty,
    robust_criterion,
)
from robustsparse.regression.fit.standardized import Standardized, standardized

SETTINGS = Settings("auto", None, 50, 1e-8)
# Criteria of the same fit by ways that round differently.
ROUNDING = 1e-6


def prepared(sim: rs.simulate.Simulation, **arguments: Any) -> Standardized:
    return standardized(sim.X, sim.y, Squared(), family=Gaussian(), how="mad", **arguments)


@pytest.mark.parametrize("n", [5, 10, 38, 100, 1000])
@pytest.mark.parametrize("free", [1, 2, 5, 3000])
def test_the_grid_ascends_from_one_within_its_limits(n: int, free: int) -> None:
    ks = k_grid(n, free)
    assert ks[0] == 1
    assert list(ks) == sorted(set(ks))
    assert ks[-1] <= largest_k(n, free) <= min(free, n)


def test_more_rows_allow_a_longer_path() -> None:
    assert largest_k(1000, 1000) > largest_k(100, 1000) >= largest_k(100, 100_000)


def test_a_price_grows_with_terms_rows_and_candidates() -> None:
    assert penalty(100, 50, 0) == 0
    assert penalty(100, 50, 2) == 2 * penalty(100, 50, 1)
    assert penalty(200, 50, 1) > penalty(100, 50, 1)
    assert penalty(100, 500, 1) > penalty(100, 50, 1)


def test_a_path_holds_a_fit_of_each_size_in_order() -> None:
    data = prepared(rs.simulate.linear(n=100, d=40, k=3, rng=0))
    fits = path(data, data.problem(Trimmed(0.2)), [4, 1, 2], SETTINGS)
    assert list(fits) == [1, 2, 4]
    assert [len(fit.support) for fit in fits.values()] == [1, 2, 4]
    assert set(fits[1].support) <= set(fits[4].support)


def test_the_criterion_finds_k_on_corrupted_rows() -> None:
    found = []
    for seed in range(10):
        data = prepared(rs.simulate.linear(n=120, d=60, k=3, rng=seed))
        fits = path(data, data.problem(Trimmed(0.2)), range(1, 8), SETTINGS)
        found.append(choose_by(robust_criterion, data, fits).k)
    assert np.mean(np.array(found) == 3) >= 0.8


def test_the_criterion_does_not_follow_a_few_wild_rows() -> None:
    sim = rs.simulate.linear(n=120, d=20, k=3, attack=None, rng=0)
    wild = sim.y.copy()
    wild[:5] = 1e8
    values = []
    for y in (sim.y, wild):
        # The same units, or the responses would differ in their scale as well.
        data = standardized(sim.X, y, Squared(), family=Gaussian(), how="mad")
        fit = path(data, data.problem(Trimmed(0.2)), [3], SETTINGS)[3]
        values.append(robust_criterion(data, fit) + 2 * data.n * np.log(data.unit))
    # Five of 120 rows less to learn from, not a term of log 1e8.
    assert abs(values[0] - values[1]) < 0.25 * data.n


def test_an_offset_of_the_criterion_is_part_of_the_prediction() -> None:
    sim = rs.simulate.linear(n=100, d=20, k=3, rng=0)
    shift = np.linspace(-4, 4, len(sim.y))
    plain = prepared(sim)
    moved = standardized(
        sim.X, sim.y + shift, Squared(), family=Gaussian(), how="mad", offset=shift
    )
    criteria = [
        choose_by(
            robust_criterion, data, path(data, data.problem(Trimmed(0.2)), [2, 3], SETTINGS)
        ).table["value"]
        for data in (plain, moved)
    ]
    np.testing.assert_allclose(criteria[0], criteria[1], rtol=ROUNDING)


def test_the_criterion_of_classes_prefers_the_true_predictors() -> None:
    sim = rs.simulate.logistic(n=400, d=30, k=3, attack=None, rng=1)
    data = standardized(sim.X, sim.y, Logistic(), family=Binomial(), how="winsor")
    settings = Settings("auto", 10.0, 50, 1e-4)
    choice = choose_by(
        robust_criterion, data, path(data, data.problem(Trimmed(0.1)), [0, 1, 2, 3, 6, 9], settings)
    )
    assert choice.k == 3


def cross_validated(data: Standardized, estimator: Any = None, **arguments: Any) -> Any:
    arguments = {"trim": 0.1, "rng": np.random.default_rng(0)} | arguments
    return choose_by_cv(data, estimator or Trimmed(0.2), range(1, 7), SETTINGS, **arguments)


def test_cross_validation_takes_the_smallest_k_within_a_standard_error() -> None:
    data = prepared(rs.simulate.linear(n=120, d=40, k=3, rng=0))
    choice = cross_validated(data)
    table = choice.table
    best = table["value"].idxmin()
    bound = table["value"][best] + table["se"][best]
    assert table["value"][choice.k] <= bound
    assert (table["value"][: choice.k - 1] > bound).all()
    assert (table["se"] > 0).all()


def test_cross_validation_finds_k_on_corrupted_rows() -> None:
    data = [prepared(rs.simulate.linear(n=120, d=40, k=3, rng=seed)) for seed in range(6)]
    found = np.array([cross_validated(part).k for part in data])
    assert np.mean(np.abs(found - 3) <= 1) >= 0.8


def test_cross_validation_ignores_rows_of_weight_zero() -> None:
    sim = rs.simulate.linear(n=120, d=20, k=3, attack=None, rng=0)
    weights = np.ones(120)
    weights[:30] = 0.0
    y = sim.y.copy()
    y[:30] += np.random.default_rng(0).normal(size=30) * 20
    data = prepared(sim, weights=weights)
    wild = standardized(sim.X, y, Squared(), family=Gaussian(), how="mad", weights=weights)
    # More wild rows than are trimmed: only their weight can keep them out.
    ratio = cross_validated(wild).table["value"] * wild.unit**2
    clean = cross_validated(data).table["value"] * data.unit**2
    assert (ratio[2:] < 3 * clean[2:]).all()


def test_cross_validation_is_the_same_for_any_number_of_threads() -> None:
    data = prepared(rs.simulate.linear(n=60, d=20, k=2, rng=0))
    tables = [
        cross_validated(data, MedianOfMeans(rng=np.random.default_rng(5)), n_jobs=jobs).table
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*tables)


def test_only_a_shared_generator_is_replaced() -> None:
    rng = np.random.default_rng(0)
    shared, seeded, trimmed = MedianOfMeans(rng=rng), MedianOfMeans(rng=3), Trimmed()
    child = np.random.default_rng(1)
    assert shared.with_rng(child).rng is child
    assert seeded.with_rng(child) is seeded
    assert trimmed.with_rng(child) is trimmed
