"""The paper's regression models: sizes, laws, truth and options."""

import numpy as np
import pytest
from scipy.special import expit

from robustsparse import simulate
from robustsparse.base.errors import ParameterError
from robustsparse.simulate import Simulation

ROUNDING = 1e-10  # sums of a few products of numbers of order one


def clean(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    return sim.X[~sim.outlier], sim.y[~sim.outlier]


def test_linear_defaults_are_the_papers() -> None:
    sim = simulate.linear(rng=0)
    assert sim.X.shape == (333, 1000)
    assert sim.X.flags.f_contiguous
    assert sim.outlier.sum() == 33
    assert sorted(np.abs(sim.beta[sim.beta != 0])) == [1.0] * 5
    bad = sim.X[sim.outlier]
    assert set(np.unique(bad)) == {-1.0, 1.0}
    np.testing.assert_allclose(sim.y[sim.outlier], -bad @ sim.beta, atol=ROUNDING)


def test_noise_is_what_is_left_of_the_clean_rows() -> None:
    X, y = clean(simulate.linear(n=20_000, d=5, k=3, sigma=2.0, rng=1))
    sim = simulate.linear(n=20_000, d=5, k=3, sigma=2.0, rng=1)
    assert (y - X @ sim.beta).std() == pytest.approx(2.0, rel=0.03)
    X, y = clean(simulate.linear(n=50, d=5, k=3, sigma=0.0, rng=1))
    np.testing.assert_allclose(y, X @ sim.beta, atol=ROUNDING)


@pytest.mark.parametrize("design", ["gaussian", "lognormal", "t3"])
@pytest.mark.parametrize("noise", ["gaussian", "lognormal", "t3", "cauchy"])
def test_every_design_and_noise(design: str, noise: str) -> None:
    sim = simulate.linear(n=60, d=30, design=design, noise=noise, rng=2)
    assert np.isfinite(sim.X).all()
    assert np.isfinite(sim.y).all()


def test_heavy_designs_have_heavier_tails_than_gaussian() -> None:
    extremes = {
        design: np.abs(simulate.linear(n=200, d=200, design=design, attack=None, rng=3).X).max()
        for design in ("gaussian", "t3", "lognormal")
    }
    # The largest of 40,000 entries: about 4.2 for a Gaussian, tens for the other two.
    assert extremes["gaussian"] < 6 < 10 < min(extremes["t3"], extremes["lognormal"])


def test_same_seed_same_data_other_seed_other_data() -> None:
    first, again, other = (simulate.linear(n=30, d=20, rng=s) for s in (7, 7, 8))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)
    generator = np.random.default_rng(7)
    np.testing.assert_array_equal(simulate.linear(n=30, d=20, rng=generator).X, first.X)
    assert not np.array_equal(simulate.linear(n=30, d=20, rng=generator).X, first.X)


def test_attacks_share_the_authentic_rows_of_a_seed() -> None:
    paper = simulate.linear(n=60, d=20, attack="paper", rng=7)
    shift = simulate.linear(n=60, d=20, attack="shift_y", rng=7)
    both = ~paper.outlier & ~shift.outlier
    assert both.sum() > 30
    np.testing.assert_array_equal(paper.X[both], shift.X[both])


def test_no_attack_or_no_epsilon_gives_clean_rows() -> None:
    for sim in (simulate.linear(n=40, d=10, attack=None), simulate.linear(n=40, d=10, epsilon=0)):
        assert sim.X.shape == (40, 10)
        assert not sim.outlier.any()


def test_shuffle_false_puts_bad_rows_last() -> None:
    ordered = simulate.linear(n=90, d=10, shuffle=False, rng=4)
    np.testing.assert_array_equal(np.flatnonzero(ordered.outlier), np.arange(90, 100))
    mixed = simulate.linear(n=90, d=10, shuffle=True, rng=4)
    assert mixed.outlier[:90].any()
    np.testing.assert_array_equal(ordered.X[:90], mixed.X[~mixed.outlier])
    np.testing.assert_array_equal(ordered.y[:90], mixed.y[~mixed.outlier])


def test_mixed_scales_keep_the_truth_on_the_datas_own_scale() -> None:
    sim = simulate.linear(n=80, d=200, sigma=0.0, scales="mixed", rng=5)
    X, y = clean(sim)
    np.testing.assert_allclose(y, X @ sim.beta + sim.intercept, atol=1e-8)
    assert 0.1 <= sim.column_scale.min() < 0.2 < 5 < sim.column_scale.max() <= 10
    np.testing.assert_allclose(sorted(np.abs((sim.beta * sim.column_scale)[sim.beta != 0])), 1.0)
    plain = simulate.linear(n=80, d=200, sigma=0.0, rng=5)
    np.testing.assert_array_equal(sim.outlier, plain.outlier)
    np.testing.assert_allclose(np.std(X, axis=0), sim.column_scale * np.std(clean(plain)[0], 0))
    assert sim.X.flags.f_contiguous


def test_given_coefficients_and_their_support() -> None:
    sim = simulate.linear(n=20, d=4, beta=[0, -3, 0, 0.5], scales="mixed", rng=0)
    assert sim.support() == ["x2", "x4"]
    np.testing.assert_allclose(sim.beta * sim.column_scale, [0, -3, 0, 0.5])
    with pytest.raises(ParameterError, match=r"\(3,\).*d=4"):
        simulate.linear(n=20, d=4, beta=[1, 2, 3])


def test_given_coefficients_are_not_shared() -> None:
    mine = np.array([1.0, 0.0])
    sim = simulate.linear(n=20, d=2, beta=mine, rng=0)
    sim.beta[0] = 9.0
    assert mine[0] == 1.0


def test_own_attack_may_add_rows() -> None:
    def add_zeros(X, y, beta, count, rng):
        mask = np.r_[np.zeros(len(y), bool), np.ones(count, bool)]
        return np.vstack([X, np.zeros((count, X.shape[1]))]), np.r_[y, np.zeros(count)], mask

    sim = simulate.linear(n=90, d=5, attack=add_zeros, rng=0)
    assert sim.X.shape == (110, 5)
    assert not sim.X[sim.outlier].any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"attack": "nuke"}, "'nuke'.*'paper'"),
        ({"attack": lambda X, y, beta, count, rng: (X[:, 1:], y, y > 0)}, "attack returned X"),
        ({"attack": lambda X, y, beta, count, rng: (X, y, y)}, "boolean mask"),
        ({"design": "uniform"}, "design='uniform'"),
        ({"noise": "none"}, "noise='none'"),
        ({"scales": "odd"}, "scales='odd'"),
        ({"correlation": 1.0}, "correlation=1.0"),
        ({"epsilon": 1.5}, "epsilon=1.5"),
        ({"sigma": -1.0}, "sigma=-1.0"),
        ({"n": 0}, "n=0"),
        ({"k": 11}, "k=11"),
    ],
)
def test_bad_arguments_are_named(arguments: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        simulate.linear(**{"n": 20, "d": 10, "rng": 0, **arguments})


def test_misspecified_is_the_cubic() -> None:
    sim = simulate.misspecified(n=80, d=30, k=3, epsilon=0.2, rng=1)
    X, y = clean(sim)
    assert sim.outlier.sum() == 20
    np.testing.assert_allclose(y, X**3 @ sim.beta, atol=ROUNDING)
    bad = sim.X[sim.outlier]
    np.testing.assert_allclose(sim.y[sim.outlier], -bad @ sim.beta, atol=ROUNDING)


def test_misspecified_noise() -> None:
    sim = simulate.misspecified(n=20_000, d=3, k=1, sigma=0.7, attack=None, rng=1)
    assert (sim.y - sim.X**3 @ sim.beta).std() == pytest.approx(0.7, rel=0.03)


def test_logistic_defaults_are_the_papers() -> None:
    sim = simulate.logistic(rng=0)
    assert sim.X.shape == (333, 1000)
    assert set(np.unique(sim.y)) == {0.0, 1.0}
    np.testing.assert_allclose(np.abs(sim.beta[sim.beta != 0]), 2 / np.sqrt(5))
    assert set(np.unique(sim.X[sim.outlier])) == {-3.0, 3.0}


def test_logistic_class_means_are_one_plus_minus_v() -> None:
    sim = simulate.logistic(n=40_000, d=4, k=2, attack=None, rng=1)
    v = sim.beta / 2
    for label, sign in ((1.0, 1), (0.0, -1)):
        rows = sim.X[sim.y == label]
        np.testing.assert_allclose(rows.mean(0), 1 + sign * v, atol=0.04)
        np.testing.assert_allclose(np.cov(rows.T), np.eye(4), atol=0.06)


def test_logistic_truth_is_calibrated() -> None:
    sim = simulate.logistic(n=40_000, d=4, k=2, attack=None, rng=2)
    probability = expit(sim.X @ sim.beta + sim.intercept)
    for low in np.arange(0, 1, 0.2):
        inside = (probability >= low) & (probability < low + 0.2)
        # About 5,000 rows in a bin: four standard errors of the frequency are 0.03.
        assert sim.y[inside].mean() == pytest.approx(probability[inside].mean(), abs=0.03)


def test_logistic_outliers_follow_the_opposite_law() -> None:
    sim = simulate.logistic(n=4_000, d=6, k=3, epsilon=0.5, rng=3)
    margin = sim.X[sim.outlier] @ sim.beta
    surprising = sim.y[sim.outlier] == (margin < 0)
    # |margin| is at least 2 sqrt(3): the opposite label comes with probability at least 0.97.
    assert surprising.mean() > 0.95


def test_logistic_rejects_an_attack_that_leaves_zero_one() -> None:
    with pytest.raises(ParameterError, match="0 or 1"):
        simulate.logistic(n=50, d=10, attack=simulate.attacks["shift_y"], rng=0)
    with pytest.raises(ParameterError, match="'edge'"):
        simulate.logistic(n=50, d=10, attack="edge", rng=0)
