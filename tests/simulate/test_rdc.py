"""The Robust Descent Condition: its pieces by hand, and what it says of the estimators over seeds."""

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import toeplitz

import robustsparse as rs
from robustsparse.base.errors import ParameterError
from robustsparse.simulate import rdc
from robustsparse.simulate.rdc import bounding_line, toeplitz_times

SMALL = {"n": 200, "d": 60, "k": 3, "repeats": 4, "points": 5}
ROUNDING = 1e-10
# A linear program meets its constraints to this.
LP_TOLERANCE = 1e-6


def test_covariance_times_vector_is_that_of_the_full_matrix() -> None:
    vector = np.random.default_rng(1).normal(size=30)
    full = toeplitz(0.4 ** np.arange(30)) @ vector
    np.testing.assert_allclose(toeplitz_times(vector, 0.4), full, atol=ROUNDING)


@pytest.mark.parametrize("unit", [1.0, 1e9, 1e-9])
def test_line_lies_above_all_points_and_touches_some(unit: float) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 3, 40)
    y = unit * (0.5 * x + 1 + rng.uniform(-0.3, 0, 40))
    slope, level = bounding_line(x, y)
    gaps = (slope * x + level - y) / unit
    assert gaps.min() > -LP_TOLERANCE
    assert np.sort(gaps)[1] < LP_TOLERANCE
    # No line above the points has a smaller mean: the true one is above them too.
    assert np.mean(slope * x + level) <= unit * np.mean(0.5 * x + 1) * (1 + LP_TOLERANCE)


def test_falling_errors_give_a_level_line() -> None:
    assert bounding_line(np.array([0.0, 1.0]), np.array([2.0, 1.0])) == (0.0, 2.0)


def test_errors_are_those_of_the_best_sparse_direction() -> None:
    """With the whole space as directions the error is the l2 norm of a gradient that is off by one number."""
    d = 20

    def off(X: np.ndarray, score: np.ndarray) -> np.ndarray:
        return rs.Mean()(X, score) + 1e6

    for sparsity in (1, 5, d):
        result = rdc(off, n=50, d=d, k=2, sparsity=sparsity, attack=None, points=2, repeats=2)
        np.testing.assert_allclose(result.data["error"], 1e6 * np.sqrt(sparsity), rtol=1e-4)


def test_population_gradient_is_met_by_the_mean_of_many_rows() -> None:
    """The law of large numbers: with twenty thousand rows all errors are near zero at every distance."""
    for design in ("gaussian", "t3"):
        size = {"n": 20_000, "d": 8, "k": 2, "sigma": 0.5, "attack": None}
        result = rdc("mean", **size, design=design, sparsity=8, points=3, repeats=2, rng=3)
        # Standard errors are 0.01 a coordinate and unit of distance; t3 designs have no fourth moment.
        assert result.data["error"].max() < (0.15 if design == "gaussian" else 1.0)


def test_result_holds_what_was_asked() -> None:
    result = rdc("trim", **SMALL, radius=2.0, sparsity=7, rng=0)
    assert result.sparsity == 7
    assert list(result.data.columns) == ["repeat", "distance", "error"]
    assert len(result.data) == SMALL["repeats"] * SMALL["points"]
    assert result.data["distance"].unique().tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert len(result.at_truth()) == SMALL["repeats"]
    line = result.alpha * result.data["distance"] + result.psi
    assert (result.data["error"] <= line * (1 + LP_TOLERANCE)).all()
    assert result.limit == pytest.approx((1 - np.exp(-1)) / (1 + np.exp(-1)) / 32)
    assert repr(result).startswith("RDC(Trimmed(alpha=0.2), alpha=")


def test_same_seed_same_measurement() -> None:
    for estimator in ("trim", "mom"):
        first, again = (rdc(estimator, **SMALL, rng=5) for _ in range(2))
        pd.testing.assert_frame_equal(first.data, again.data)
    assert not first.data.equals(rdc("mom", **SMALL, rng=6).data)


def test_errors_grow_with_the_entries_of_a_direction_and_at_most_like_their_root() -> None:
    few, many = (rdc("mean", **SMALL, sparsity=s, attack=None, rng=7).at_truth() for s in (3, 12))
    assert (few < many).all()
    assert (many < 2 * few).all()


def test_leverage_breaks_the_mean_and_not_the_trimmed_mean() -> None:
    for seed in range(3):
        mean, trim = (rdc(e, **SMALL, attack="leverage", rng=seed) for e in ("mean", "trim"))
        assert mean.psi > 1000 * trim.psi


def test_error_at_the_truth_is_proportional_to_the_noise() -> None:
    """Without outliers the gradient at the truth is x times noise, for every equivariant estimator."""
    for estimator in ("mean", "trim"):
        one, ten = (rdc(estimator, **SMALL, attack=None, sigma=s, rng=9) for s in (0.1, 1.0))
        np.testing.assert_allclose(10 * one.at_truth(), ten.at_truth(), rtol=1e-8)


def test_plot_draws_points_and_line() -> None:
    result = rdc("trim", **SMALL, rng=0)
    ax = result.plot(label="trimmed")
    (line,) = ax.lines
    assert len(ax.collections[0].get_offsets()) == len(result.data)
    np.testing.assert_allclose(line.get_ydata()[0], result.psi)
    assert "trimmed" in ax.get_legend().get_texts()[0].get_text()
    assert result.plot(ax) is ax


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"noise": "cauchy"}, "noise='cauchy'"),
        ({"points": 1}, "points=1"),
        ({"sparsity": 61}, "sparsity=61"),
        ({"radius": 0}, "radius=0"),
        ({"estimator": lambda X, score: np.zeros(3)}, r"shape \(3,\)"),
    ],
)
def test_wrong_arguments_are_named(wrong: dict[str, object], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        rdc(**{**SMALL, **wrong})
