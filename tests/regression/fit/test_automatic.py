"""The automatic fit: starts, rejection, choice of k and refit in standardized units."""

from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.algorithm.gradients import Mean, MedianOfMeans, Trimmed
from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.problem import Settings
from robustsparse.algorithm.solver import solve
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.fit.as_printed import as_thresholded
from robustsparse.regression.fit.automatic import automatic_fit, refit_all_rows
from robustsparse.regression.fit.criteria import criteria, ebic_price
from robustsparse.regression.fit.k_paths import choice_of, path
from robustsparse.regression.fit.options import make_options
from robustsparse.regression.fit.rows import leverage, rejected
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.fit.starts import best_start, concentrate
from robustsparse.regression.gaussian import Gaussian
from robustsparse.robust.mm import Refit

SETTINGS = Settings("auto", None, 100, 1e-10)
# Two ways to the same numbers that round differently.
ROUNDING = 1e-8


def prepared(sim: rs.simulate.Simulation, **arguments: Any) -> Standardized:
    return standardized(sim.X, sim.y, Squared(), family=Gaussian(), how="mad", **arguments)


def automatic(data: Standardized, ks: Any = range(1, 7)) -> Any:
    options = make_options(Arguments(estimator=Trimmed(0.2), rng=0))
    return automatic_fit(data, options, ks)


def ended_with(resid: np.ndarray, scale: float) -> Refit:
    """A refit that left these residuals."""
    return Refit(np.zeros(0), scale, np.ones(len(resid)), np.zeros((0, 0)), resid, True, 1)


def nonzero(sim: rs.simulate.Simulation) -> set[int]:
    return set(np.flatnonzero(sim.beta).tolist())


@pytest.mark.parametrize("attack", ["paper", "leverage", "leverage_false", "flip_y", "equal_far"])
def test_attacks_do_not_hide_the_predictors(attack: str) -> None:
    found = []
    for seed in range(5):
        sim = rs.simulate.linear(n=150, d=80, k=3, attack=attack, rng=seed)
        fitted = automatic(prepared(sim))
        found.append(set(fitted.solution.support.tolist()) == nonzero(sim))
    # One seed of five may add or miss a term.
    assert np.mean(found) >= 0.8


def test_parts_of_the_fit_agree() -> None:
    sim = rs.simulate.linear(n=120, d=40, k=3, rng=0)
    data = prepared(sim)
    fitted = automatic(data)
    model = fitted.model
    eta = data.predictor(model.full(len(data.XT)))
    np.testing.assert_allclose(model.eta, eta, atol=ROUNDING)
    np.testing.assert_allclose(model.resid, data.y - eta, atol=ROUNDING)
    assert set(fitted.solution.support) | set(data.keep) == set(model.active)
    assert model.cov.shape == (len(model.active),) * 2
    assert fitted.choice.k in fitted.path
    assert list(fitted.models) == list(fitted.path)
    assert ((model.weights >= 0) & (model.weights <= 1)).all()


def test_concentration_leaves_rows_out_without_a_copy() -> None:
    sim = rs.simulate.linear(n=120, d=40, k=3, attack="shift_y", rng=0)
    data = prepared(sim)
    fit = concentrate(data, np.zeros(len(data.XT)), 3, SETTINGS)
    assert set(fit.support.tolist()) == nonzero(sim)
    # What it ends with is the plain fit to the best rows alone.
    size = np.abs(data.y - data.predictor(fit.coef))
    best = np.sort(np.argsort(size)[: int(0.75 * data.n)])
    alone = solve(data.rows(best).problem(Mean()), 3, keep=data.keep, settings=SETTINGS)
    np.testing.assert_allclose(alone.coef, fit.coef, atol=0.05)


def test_the_best_start_survives_more_than_one_trim_would() -> None:
    hits = []
    for seed in range(5):
        sim = rs.simulate.linear(n=150, d=80, k=3, epsilon=0.2, attack="equal_far", rng=seed)
        data = prepared(sim)
        start = best_start(data, Trimmed(0.2), 6, SETTINGS, leverage(data).flags, 1)
        hits.append(nonzero(sim) <= set(start.support.tolist()))
    assert np.mean(hits) >= 0.8


def test_rounding_errors_are_not_beyond_scale() -> None:
    sim = rs.simulate.linear(n=50, d=5, k=2, sigma=0.0, attack=None, rng=0)
    data = prepared(sim)
    resid = np.random.default_rng(0).normal(size=50) * 1e-15
    assert not rejected(data, ended_with(resid, 0.0)).any()
    resid[7] = 1e-3
    assert np.flatnonzero(rejected(data, ended_with(resid, 1e-16))).tolist() == [7]


def test_three_scales_are_the_limit() -> None:
    data = prepared(rs.simulate.linear(n=50, d=5, k=2, rng=0))
    resid = np.array([2.9, -2.9, 3.1, -3.1])
    assert rejected(data, ended_with(resid, 1.0)).tolist() == [False, False, True, True]


def test_never_more_than_half_of_the_rows_are_rejected() -> None:
    data = prepared(rs.simulate.linear(n=50, d=5, k=2, rng=0))
    resid = np.array([0.1, 4.0, 5.0, 6.0])
    assert rejected(data, ended_with(resid, 1.0)).tolist() == [False, False, True, True]


def test_least_squares_choice_weighs_the_rows() -> None:
    sim = rs.simulate.linear(n=120, d=20, k=3, attack=None, rng=0)
    weights = np.ones(120)
    weights[:20] = 0.0
    y = sim.y.copy()
    y[:20] += 100.0
    data = standardized(sim.X, y, Squared(), family=Gaussian(), how="mad", weights=weights)
    fits = path(data, data.problem(Mean()), range(1, 7), SETTINGS)
    assert choice_of(criteria(data, fits, ebic_price, trusted=True)).k == 3


def test_the_lighter_estimator_is_of_the_same_kind() -> None:
    assert Trimmed(0.2).lighter() == Trimmed(0.02)
    assert Trimmed(0.0).lighter() == Trimmed(0.0)
    blocks = MedianOfMeans(blocks=9)
    assert blocks.lighter() is blocks


def test_leverage_is_judged_on_all_predictors() -> None:
    for d in (5, 200):
        sim = rs.simulate.linear(n=100, d=d, k=3, attack=None, rng=0)
        X = sim.X.copy()
        X[4] += 15.0
        found = leverage(standardized(X, sim.y, Squared(), family=Gaussian(), how="mad"))
        assert found.flags[4]
        assert found.flags.mean() <= 0.05
        assert found.distances.shape == (100,)


def test_a_plain_fit_keeps_the_thresholded_estimate() -> None:
    data = prepared(rs.simulate.linear(n=100, d=30, k=3, rng=0))
    solution = solve(data.problem(Trimmed(0.2)), 3, keep=data.keep, settings=SETTINGS)
    fitted = as_thresholded(data, solution, None, {3: solution.coef})
    np.testing.assert_array_equal(fitted.model.full(len(data.XT)), solution.coef)
    assert fitted.model.cov is None
    refitted = refit_all_rows(data, solution, np.random.default_rng(0))
    assert set(refitted.model.active) == {*solution.support, *data.keep}
    assert refitted.model.scale < fitted.model.scale * 1.1


@pytest.mark.parametrize("attack", ["paper", "leverage"])
def test_far_rows_have_no_say_in_which_predictors_tell_classes_apart(attack: str) -> None:
    found = []
    for seed in range(3):
        sim = rs.simulate.logistic(n=200, d=80, k=2, epsilon=0.1, attack=attack, rng=seed)
        fit = rs.rht_fit(sim.X, sim.y, family="binomial")
        found.append(set(fit.support()) == set(sim.support()))
        assert (fit.row_weights[sim.outlier] == 0).mean() > 0.9
        assert (fit.row_weights[~sim.outlier] == 0).mean() < 0.05
    assert np.mean(found) >= 2 / 3


def test_of_very_many_rows_some_are_enough_for_a_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit itself sees all of them: it is the same as with starts that do."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 12))
    y = X[:, :3].sum(axis=1) + rng.normal(size=3000)
    y[:300] += 20.0
    whole = rs.rht_fit(X, y, n_jobs=1)
    monkeypatch.setattr("robustsparse.regression.fit.starts._MOST_ROWS", 500)
    monkeypatch.setattr("robustsparse.regression.fit.starts._ROWS_A_COLUMN", 1)
    some = rs.rht_fit(X, y, n_jobs=1)
    assert some.support() == whole.support()
    assert some.outliers() == whole.outliers()
    np.testing.assert_allclose(some.params, whole.params, atol=1e-8)
