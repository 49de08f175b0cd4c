"""Choosing k: the path, the robust criterion and robust cross-validation."""

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.algorithm.gradients import MedianOfMeans, Trimmed
from robustsparse.algorithm.losses import Logistic, Squared
from robustsparse.algorithm.problem import Settings
from robustsparse.algorithm.solver import solve
from robustsparse.algorithm.sparsity import k_grid, largest_k
from robustsparse.base.types import Array
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.binomial import Binomial
from robustsparse.regression.fit.as_printed import thresholded_fit
from robustsparse.regression.fit.criteria import (
    PRICES,
    cost,
    criteria,
    ebic_price,
    gic_price,
    ric_price,
    robust_criterion,
)
from robustsparse.regression.fit.k_paths import choice_of, choose_by_cv, path
from robustsparse.regression.fit.options import make_options
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian

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
    assert ebic_price(100, 50, 0) == 0
    assert ebic_price(100, 50, 2) == 2 * ebic_price(100, 50, 1)
    assert ebic_price(200, 50, 1) > ebic_price(100, 50, 1)
    assert ebic_price(100, 500, 1) > ebic_price(100, 50, 1)


def test_a_price_is_that_of_bic_and_twice_that_of_the_choice() -> None:
    assert ebic_price(100, 50, 3) == pytest.approx(3 * (np.log(100) + 2 * np.log(50)))
    # A single candidate is not free of charge: it costs what one of two does.
    assert (
        ebic_price(100, 1, 1) == ebic_price(100, 2, 1) == pytest.approx(np.log(100) + 2 * np.log(2))
    )


def test_a_term_beside_weak_ones_is_cheaper() -> None:
    """From the price of the extended BIC down to little more than that of the choice, the first term left alone."""
    n, d = 10_000, 500
    prices = [ric_price(n, d, 4, strength) for strength in (1.0, 30.0, 300.0, 1e9)]
    assert prices == sorted(prices)
    assert prices[-1] == pytest.approx(ebic_price(n, d, 4), rel=1e-3)
    assert prices[0] >= 4 * 2 * np.log(d)
    assert ric_price(n, d, 1, 5.0) == pytest.approx(ebic_price(n, d, 1), rel=1e-3)
    assert ric_price(n, d, 0, 5.0) == 0.0
    # Noise fits few rows better, where their variance is estimated.
    few = prepared(rs.simulate.linear(n=40, d=60, k=3, attack=None, rng=0))
    assert cost(few, ric_price, 4, 4, 1e9) > 1.1 * cost(few, ebic_price, 4, 4, 1e9)


def test_prices_have_their_order() -> None:
    assert set(PRICES) == {"ric", "ebic", "gic"}
    assert gic_price(300, 200, 3) < ric_price(300, 200, 3, 30.0) < ebic_price(300, 200, 3)


def test_a_path_holds_a_fit_of_each_size_in_order() -> None:
    data = prepared(rs.simulate.linear(n=100, d=40, k=3, rng=0))
    fits = path(data, data.problem(Trimmed(0.2)), [4, 1, 2], SETTINGS)
    assert list(fits) == [1, 2, 4]
    assert [len(fit.support) for fit in fits.values()] == [1, 2, 4]
    assert set(fits[1].support) <= set(fits[4].support)


@pytest.mark.parametrize("given", [False, True])
def test_a_path_goes_down_from_fit_to_fit(given: bool) -> None:
    """Correlated columns and a coarse tolerance, so that where a run starts shows in where it ends."""
    sim = rs.simulate.linear(n=60, d=80, k=6, correlation=0.8, sigma=1.0, rng=0)
    data = prepared(sim, keep=np.array([11]))
    bound, settings = data.problem(Trimmed(0.2)), replace(SETTINGS, tol=0.05)
    start = np.linspace(-1.0, 1.0, len(data.XT)) if given else None
    fits = path(data, bound, [2, 9, 5], settings, start)
    for k in (9, 5, 2):
        alone = solve(bound, k, keep=data.keep, settings=settings, start=start, warn=False)
        np.testing.assert_allclose(fits[k].coef, alone.coef, atol=ROUNDING)
        start = alone.coef
    assert all(fit.coef[11] != 0 for fit in fits.values())


def test_a_path_is_solved_no_further_than_a_comparison_needs() -> None:
    data = prepared(rs.simulate.linear(n=80, d=30, k=3, rng=0))
    bound = data.problem(Trimmed(0.2))

    def fit(*settings: Any) -> Any:
        return path(data, bound, [3], Settings(*settings))[3]

    # Steps this short get nowhere.
    assert fit(1e-3, None, 100, 1e-8).n_iter == 30
    assert fit(1e-3, None, 7, 1e-8).n_iter == 7
    assert fit(1e-3, None, 7, 1e-8).step == 1e-3
    assert np.linalg.norm(fit("auto", 0.2, 50, 1e-8).coef[:-1]) == pytest.approx(0.2)
    own, loose = fit(1.5, None, 50, 1e-12), fit(1.5, None, 50, 1e-2)
    assert 1e-12 < own.history[-1].change <= Gaussian.path_tol < own.history[-2].change
    assert Gaussian.path_tol < loose.history[-1].change <= 1e-2 < loose.history[-2].change


def test_a_bad_start_of_classes_is_given_up() -> None:
    """A start that separates the classes for the wrong reason must not cost the path its way."""
    sim = rs.simulate.logistic(n=100, d=30, k=3, attack=None, rng=0)
    data = standardized(sim.X, sim.y, Logistic(), family=Binomial(), how="winsor")
    settings = Settings("auto", 10.0, 1, 1e-4)
    bound = data.problem(Trimmed(0.1))
    wrong = -50.0 * np.append(sim.beta, 0.0)
    for start in (wrong, None):
        for k, fit in path(data, bound, [2, 3], settings, start).items():
            fresh = solve(bound, k, keep=data.keep, settings=settings, warn=False)
            assert fit.loss <= fresh.loss
            assert fit.loss < bound.robust_loss(data.predictor(wrong))


def test_progress_is_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    data = prepared(rs.simulate.linear(n=60, d=20, k=2, rng=0))
    bound = data.problem(Trimmed(0.2))
    path(data, bound, [1, 2], SETTINGS)
    choose(data, n_jobs=1)
    assert capsys.readouterr() == ("", "")
    path(data, bound, [1, 2], SETTINGS, verbose=True)
    assert "path: 100%" in capsys.readouterr().err
    choose(data, n_jobs=1, verbose=True)
    assert "folds: 100%" in capsys.readouterr().err


def test_the_smallest_criterion_is_chosen() -> None:
    values = {1: 3.0, 2: 1.0, 4: 2.0}
    choice = choice_of(values)
    assert choice.k == 2
    assert choice.table["value"].to_dict() == values
    assert choice.table["se"].isna().all()
    assert choice.table.index.name == "k"


def by_criterion(data: Standardized, ks: Any, estimator: Any, settings: Settings = SETTINGS) -> Any:
    fits = path(data, data.problem(estimator), ks, settings)
    return choice_of(criteria(data, fits, ebic_price, trusted=False))


def test_the_criterion_finds_k_on_corrupted_rows() -> None:
    found = []
    for seed in range(10):
        data = prepared(rs.simulate.linear(n=120, d=60, k=3, rng=seed))
        found.append(by_criterion(data, range(1, 8), Trimmed(0.2)).k)
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
    values = [by_criterion(data, [2, 3], Trimmed(0.2)).table["value"] for data in (plain, moved)]
    np.testing.assert_allclose(values[0], values[1], rtol=ROUNDING)


def test_the_criterion_of_classes_prefers_the_true_predictors() -> None:
    sim = rs.simulate.logistic(n=400, d=30, k=3, attack=None, rng=1)
    data = standardized(sim.X, sim.y, Logistic(), family=Binomial(), how="winsor")
    settings = Settings("auto", 10.0, 50, 1e-4)
    assert by_criterion(data, [0, 1, 2, 3, 6, 9], Trimmed(0.1), settings).k == 3


def choose(data: Standardized, estimator: Any = None, **arguments: Any) -> Any:
    arguments = {"trim": 0.1, "rng": np.random.default_rng(0), "ks": range(1, 7)} | arguments
    ks = arguments["ks"]

    def models(rows: Standardized, rng: np.random.Generator) -> Any:
        own = (estimator or Trimmed(0.2)).with_rng(rng)
        return path(rows, rows.problem(own), ks, SETTINGS)

    return choose_by_cv(data, models, **arguments)


def by_hand(data: Standardized, ks: list[int], kept: int) -> tuple[Array, Array]:
    """Mean of the smallest losses of rows left out for each k, and standard error of what it loses to the best k."""
    fold = np.random.default_rng(0).permutation(data.n) % 5
    weights = np.ones(data.n) if data.weights is None else data.weights
    losses = np.empty((data.n, len(ks)))
    for out in (fold == f for f in range(5)):
        part = data.rows(~out)
        fits = path(part, part.problem(Trimmed(0.2)), ks, SETTINGS)
        for place, k in enumerate(ks):
            resid = data.y - data.predictor(fits[k].coef)
            losses[out, place] = (0.5 * weights * resid**2)[out]
    value = np.sort(losses, axis=0)[:kept].mean(axis=0)
    best = losses[:, int(np.argmin(value))]
    rows = np.argsort(best, kind="stable")[:kept]
    excess = losses[rows] - best[rows, None]
    return value, excess.std(axis=0) / np.sqrt(kept)


@pytest.mark.parametrize(("trim", "kept"), [(0.0, 57), (0.1, 49), (0.2, 40), (0.3, 35), (0.45, 35)])
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_of_cross_validation_are_trimmed_half_as_much_again_as_gradients(
    trim: float, kept: int, weighted: bool
) -> None:
    sim = rs.simulate.linear(n=57, d=20, k=3, attack=None, rng=0)
    sim.y[:5] += 30.0
    rows = {"weights": np.linspace(0.5, 1.5, 57), "offset": np.linspace(-2, 2, 57)}
    data = prepared(sim, **rows if weighted else {})
    table = choose(data, trim=trim, ks=[3, 1, 2]).table
    value, se = by_hand(data, [1, 2, 3], kept)
    assert table.index.tolist() == [1, 2, 3]
    assert table.index.name == "k"
    np.testing.assert_allclose(table["value"], value, rtol=ROUNDING)
    np.testing.assert_allclose(table["se"], se, rtol=ROUNDING)


def test_cross_validation_takes_the_smallest_k_within_a_standard_error() -> None:
    fewer = 0
    for seed in range(8):
        data = prepared(rs.simulate.linear(n=60, d=40, k=3, sigma=1.5, rng=seed))
        choice = choose(data)
        value, se = choice.table["value"], choice.table["se"]
        best = value.idxmin()
        within = value.index[value <= value[best] + se]
        assert choice.k == within[0] <= best
        assert (se.drop(best) > 0).all()
        fewer += choice.k < best
    # The rule makes a difference.
    assert fewer >= 2


def test_cross_validation_of_a_fit_follows_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    data = prepared(rs.simulate.linear(n=60, d=20, k=2, rng=0))
    threads = set()

    def mean(X: Array, score: Array) -> Array:
        threads.add(threading.get_ident())
        return X.T @ score / len(score)

    asked = Arguments(
        estimator=mean, epsilon=0.3, max_iter=4, n_jobs=1, verbose=True, select="cv", refit=False
    )
    fitted = thresholded_fit(data, make_options(asked), [1, 2, 3], True)
    assert "folds: 100%" in capsys.readouterr().err
    assert threads == {threading.get_ident()}
    assert fitted.choice is not None
    assert fitted.choice.table.index.tolist() == [1, 2, 3]
    assert fitted.choice.k == fitted.model.size


def test_cross_validation_finds_k_on_corrupted_rows() -> None:
    data = [prepared(rs.simulate.linear(n=120, d=40, k=3, rng=seed)) for seed in range(6)]
    found = np.array([choose(part).k for part in data])
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
    ratio = choose(wild).table["value"] * wild.unit**2
    clean = choose(data).table["value"] * data.unit**2
    assert (ratio[2:] < 3 * clean[2:]).all()


def test_cross_validation_is_the_same_for_any_number_of_threads() -> None:
    data = prepared(rs.simulate.linear(n=60, d=20, k=2, rng=0))
    tables = [
        choose(data, MedianOfMeans(rng=np.random.default_rng(5)), n_jobs=jobs).table
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
