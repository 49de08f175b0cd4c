"""The share of bad rows: estimated with a bound, and a warning where it is more than a fit can bear."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import robustsparse as rs
from robustsparse.regression.fit.contamination import LARGEST, BadShare

SEEDS = 6


def draw(epsilon: float, attack: str, seed: int, **sizes: Any) -> rs.simulate.Simulation:
    sizes = {"n": 100, "d": 120, "k": 3, **sizes}
    return rs.simulate.linear(sigma=0.5, epsilon=epsilon, attack=attack, rng=300 + seed, **sizes)


def error(fit: rs.RHTResult, sim: rs.simulate.Simulation) -> float:
    return float(np.linalg.norm(fit.params.to_numpy()[1:] - sim.beta))


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    share = BadShare.of(7, 80, 0.9)
    assert share.share == 7 / 80
    # At the bound, so few bad rows or fewer are just as rare as the level allows.
    assert np.isclose(binom.cdf(7, 80, share.upper), 0.1)
    assert BadShare.of(5, 5).upper == 1.0
    assert BadShare.of(0, 50).share == 0.0


@pytest.mark.parametrize(
    ("attack", "epsilon"), [("paper", 0.05), ("paper", 0.1), ("leverage", 0.1), ("leverage", 0.2)]
)
def test_estimating_epsilon_is_as_good_as_knowing_it(attack: str, epsilon: float) -> None:
    ours, known, bounds = [], [], []
    for seed in range(SEEDS):
        sim = draw(epsilon, attack, seed)
        fit = rs.rht_fit(sim.X, sim.y, epsilon="auto")
        ours.append(error(fit, sim))
        known.append(error(rs.rht_fit(sim.X, sim.y, epsilon=epsilon), sim))
        assert fit.epsilon == pytest.approx(
            np.clip(fit.bad_share.upper, rs.Trimmed.least_epsilon, LARGEST)
        )
        bounds.append(fit.bad_share.upper >= sim.outlier.mean())
    # One of a few may take a doubtful term, with either share.
    assert (np.array(ours) > 1.1 * np.array(known)).sum() <= 1
    # A bound at 95% may fail now and then, but not twice in six.
    assert np.sum(bounds) >= SEEDS - 1


def test_clean_data_get_a_small_epsilon() -> None:
    fits = [rs.rht_fit(s.X, s.y, epsilon="auto") for s in (draw(0, "paper", i) for i in range(6))]
    # Of a hundred good rows one or two may lie beyond three scales.
    assert max(fit.epsilon for fit in fits) <= 0.07
    assert np.median([fit.epsilon for fit in fits]) == rs.Trimmed.least_epsilon


def test_the_fit_is_the_one_with_this_epsilon() -> None:
    sim = draw(0.1, "leverage", 0)
    for options in ({}, {"select": "cv"}, {"refit": False}, {"k": 3, "split": 4}):
        fit = rs.rht_fit(sim.X, sim.y, epsilon="auto", rng=2, **options)
        same = rs.rht_fit(sim.X, sim.y, epsilon=fit.epsilon, rng=2, **options)
        np.testing.assert_array_equal(fit.params, same.params)
        assert same.bad_share is None
        assert same.epsilon == fit.epsilon


def test_blocks_follow_from_epsilon() -> None:
    usual = rs.MedianOfMeans().count(300, 120)
    clean = draw(0, "paper", 1, n=300)
    fit = rs.rht_fit(clean.X, clean.y, estimator="mom", epsilon="auto", k=3)
    # None of three hundred rows: at most one in a hundred, for which three more blocks than usual would do.
    assert usual <= fit.estimator.blocks <= 27
    for seed in range(3):
        sim = draw(0.08, "leverage", seed, n=200, d=50)
        fit = rs.rht_fit(sim.X, sim.y, estimator="mom", epsilon="auto", k=3)
        assert fit.estimator.blocks == min(4 * np.ceil(fit.epsilon * fit.nobs) + 15, fit.nobs // 2)
        assert fit.estimator.blocks > 27
        assert set(fit.support()) == set(sim.support())


def test_heavy_tails_are_not_called_bad_by_the_median_of_means() -> None:
    sim = rs.simulate.linear(
        n=150, d=60, k=3, design="lognormal", noise="lognormal", sigma=0.5, attack=None, rng=1
    )
    fit = rs.rht_fit(sim.X, sim.y, estimator="mom", epsilon="auto", k=3)
    assert fit.bad_share.share < 0.5 * len(fit.outliers("response")) / fit.nobs
    assert "spoil a block" in str(fit.summary())


# Whether a path of nearly separated classes settles is not the subject here.
@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_two_classes() -> None:
    for seed in range(3):
        sim = rs.simulate.logistic(n=200, d=40, k=3, epsilon=0.05, attack="leverage", rng=seed)
        fit = rs.rht_fit(sim.X, sim.y, family="binomial", epsilon="auto")
        same = rs.rht_fit(sim.X, sim.y, family="binomial", epsilon=fit.epsilon)
        np.testing.assert_array_equal(fit.params, same.params)
        assert rs.Trimmed.least_epsilon <= fit.epsilon <= 0.15


def test_an_estimator_of_the_users_own_stays() -> None:
    sim = draw(0.1, "leverage", 0)
    fit = rs.rht_fit(sim.X, sim.y, estimator=rs.Trimmed(0.3), epsilon="auto")
    assert fit.estimator == rs.Trimmed(0.3)
    assert fit.bad_share.share >= 0.05


def test_the_estimate_is_printed_and_stored(tmp_path: Path) -> None:
    sim = draw(0.1, "leverage", 0)
    fit = rs.rht("y ~ .", sim.data, epsilon="auto")
    text = " ".join(str(fit.summary()).split())
    assert (
        f"Estimated share of bad rows {100 * fit.bad_share.share:.1f}%, at most "
        f"{100 * fit.bad_share.upper:.1f}% with 95% confidence" in text
    )
    fit.save(tmp_path / "fit")
    back = rs.load(tmp_path / "fit")
    assert back.bad_share == fit.bad_share
    assert back.epsilon == fit.epsilon
    assert str(back.summary()) == str(fit.summary())
    plain = rs.rht("y ~ .", sim.data)
    assert plain.bad_share is None
    assert plain.epsilon == 0.1
    assert "share of bad rows" not in str(plain.summary())


def test_other_words_are_refused() -> None:
    sim = draw(0.1, "leverage", 0)
    with pytest.raises(rs.ParameterError, match="epsilon"):
        rs.rht_fit(sim.X, sim.y, epsilon="some")


def test_resampling_takes_it_too() -> None:
    sim = draw(0.1, "leverage", 0, d=10)
    table = rs.inference.split("y ~ .", sim.data, epsilon="auto")
    assert set(sim.support()) <= set(table.index)
    stable = rs.stability("y ~ .", sim.data, resamples=4, epsilon="auto")
    assert set(stable.selected()) == set(sim.support())


def contaminated(epsilon: float, k: int, seed: int, attack: str | None = "paper") -> Any:
    return rs.simulate.linear(k=k, sigma=0.5, epsilon=epsilon, attack=attack, rng=1500 + seed)


@pytest.mark.filterwarnings("ignore:the model may be wrong")
@pytest.mark.parametrize(("epsilon", "k"), [(0.3, "auto"), (0.3, 21), (0.4, "auto"), (0.4, 21)])
def test_a_fit_that_breaks_down_says_so(epsilon: float, k: Any) -> None:
    for seed in range(2):
        sim = contaminated(epsilon, 21, seed)
        with pytest.warns(rs.ContaminationWarning, match="more rows.*smaller k"):
            fit = rs.rht_fit(sim.X, sim.y, epsilon=epsilon, k=k)
        # It did break down: the error is as large as that of no model at all.
        assert error(fit, sim) > 0.8 * np.linalg.norm(sim.beta)


@pytest.mark.parametrize("epsilon", [0.1, 0.2])
@pytest.mark.parametrize("attack", ["paper", "leverage", None])
def test_fits_that_work_do_not(epsilon: float, attack: str | None) -> None:
    # Any warning is an error here.
    for seed in range(2):
        sim = contaminated(epsilon, 5, seed, attack)
        fit = rs.rht_fit(sim.X, sim.y, epsilon=epsilon)
        assert set(sim.support()) <= set(fit.support())


def test_outliers_that_are_found_are_no_reason_to_warn() -> None:
    sim = contaminated(0.4, 21, 0, "leverage")
    fit = rs.rht_fit(sim.X, sim.y, epsilon=0.4, k=21)
    assert set(sim.support()) == set(fit.support())


def test_only_blocks_asked_for_by_name_do_without_a_least_share() -> None:
    sim = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.0, attack=None, rng=0)
    named = rs.rht_fit(sim.X, sim.y, estimator="mom", epsilon="auto", k=2)
    given = rs.rht_fit(sim.X, sim.y, estimator=rs.MedianOfMeans(rng=1), epsilon="auto", k=2)
    assert named.epsilon == pytest.approx(named.bad_share.upper)  # type: ignore[union-attr]
    assert given.epsilon == 0.05


def test_a_block_is_spoiled_by_three_scales_whatever_the_family() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (rng.random(300) < 1.0 / (1.0 + np.exp(-3.0 * X[:, 0]))).astype(float)
    X[:3], y[:3] = [3.4, 0.0, 0.0], 0.0
    fit = rs.rht_fit(X, y, family="binomial", estimator="mom", epsilon="auto", k=1)
    resid = fit.diagnostics["std_resid"].abs()
    rows = 300 / rs.MedianOfMeans().count(300, 3)
    # Labels are flagged beyond 9.95, and so many times the rows of a block would be beyond all of these.
    assert 3.0 * rows < resid[:3].min() < 9.95 * rows
    assert fit.bad_share is not None
    assert fit.bad_share.share == 3 / 300


def test_a_model_to_predict_is_not_held_to_the_theory_of_thresholded_ones() -> None:
    """Clean rows with many weak terms, of which little is found; warnings are errors here."""
    for seed in (1, 3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 800))
        y = 0.25 * X[:, :20].sum(axis=1) + rng.normal(size=80)
        fit = rs.rht_fit(X, y, goal="predict", n_jobs=1)
        assert max(fit.path.columns) > 50
