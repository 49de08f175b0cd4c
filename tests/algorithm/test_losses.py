"""Losses: values, derivatives, curvature that majorizes, and no overflow."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustsparse.algorithm.losses import (
    Array,
    Huber,
    Logistic,
    Loss,
    Squared,
    as_loss,
)
from robustsparse.base.errors import ParameterError
from robustsparse.robust.scales import HUBER_EFFICIENCY

# Central differences with h = 1e-5 are good to about h² = 1e-10 where the loss is smooth.
STEP, DIFFERENCE = 1e-5, 1e-8
# Rounding of differences of losses of size up to about 1e3.
ROUNDING = 1e-10

RNG = np.random.default_rng(5)
ETA = np.concatenate([RNG.normal(scale=3.0, size=200), [0.0]])
NUMBERS = RNG.normal(scale=2.0, size=201)
LABELS = RNG.integers(0, 2, 201).astype(float)
CASES: list[tuple[Loss, Array]] = [
    (Squared(), NUMBERS),
    (Huber(1.3), NUMBERS),
    (Logistic(), LABELS),
]


def test_values_by_hand() -> None:
    y, eta = np.array([0.0, 0.0, 1.0]), np.array([1.0, 3.0, 0.0])
    assert Squared().value(y, eta).tolist() == [0.5, 4.5, 0.5]
    assert Huber(2.0).value(y, eta).tolist() == [0.5, 4.0, 0.5]
    expected = [np.log1p(np.e), np.log1p(np.exp(3.0)), np.log(2.0)]
    np.testing.assert_allclose(Logistic().value(y, eta), expected, rtol=1e-15)


@pytest.mark.parametrize(("loss", "y"), CASES)
def test_score_is_the_derivative_of_the_value(loss: Loss, y: Array) -> None:
    slope = (loss.value(y, ETA + STEP) - loss.value(y, ETA - STEP)) / (2 * STEP)
    # Huber's kink in the second derivative adds an error of the step itself at rows beside it.
    beside = np.abs(np.abs(ETA - y) - 1.3) < STEP
    np.testing.assert_allclose(slope[~beside], loss.score(y, ETA)[~beside], atol=DIFFERENCE)


@pytest.mark.parametrize(("loss", "y"), CASES)
def test_curvature_majorizes_and_touches(loss: Loss, y: Array) -> None:
    at, slope, bend = loss.value(y, ETA), loss.score(y, ETA), loss.curvature(y, ETA)
    for other in np.linspace(-30, 30, 601):
        move = other - ETA
        above = at + slope * move + 0.5 * bend * move**2
        assert np.all(loss.value(y, np.full_like(ETA, other)) <= above + ROUNDING)


@given(st.floats(-700, 700), st.sampled_from([0.0, 1.0]))
def test_logistic_bound_is_tight(eta: float, label: float) -> None:
    """The quadratic touches the loss a second time, at -eta: no smaller curvature would do."""
    loss, y, here = Logistic(), np.array([label]), np.array([eta])
    bend = loss.curvature(y, here)
    again = loss.value(y, here) - 2 * eta * loss.score(y, here) + 2 * bend * eta**2
    np.testing.assert_allclose(again, loss.value(y, -here), atol=1e-9 * (1 + abs(eta)))
    assert 0 < bend[0] <= 0.25


def test_no_overflow_at_any_predictor() -> None:
    eta = np.array([1e308, -1e308, 800.0, -800.0, 0.0])
    for label in (0.0, 1.0):
        y = np.full(5, label)
        assert np.isfinite(Logistic().value(y, eta)).all()
        assert (Logistic().value(y, eta) >= 0).all()
        assert np.isfinite(Logistic().score(y, eta)).all()
        assert (Logistic().curvature(y, eta) > 0).all()
    y = np.zeros(5)
    for loss in (Huber(1.0), Huber()):
        assert np.isfinite(loss.score(y, eta)).all()
        assert np.isfinite(loss.curvature(y, eta)).all()
    assert Huber(2.0).value(y, np.full(5, 1e307)).tolist() == [2e307] * 5


def test_huber_is_squared_within_delta_and_linear_beyond() -> None:
    eta = np.linspace(-4, 4, 81)
    y = np.zeros_like(eta)
    inside = np.abs(eta) <= 1.0
    huber = Huber(1.0).value(y, eta)
    np.testing.assert_allclose(huber[inside], Squared().value(y, eta)[inside], rtol=1e-15)
    np.testing.assert_allclose(huber[~inside], np.abs(eta[~inside]) - 0.5, rtol=1e-14)


class TestHuberFollowing:
    y = RNG.normal(size=501)

    def test_delta_is_the_mad_of_the_residuals(self) -> None:
        mad = np.median(np.abs(self.y - np.median(self.y)))
        delta = HUBER_EFFICIENCY * 1.482602218505602 * mad
        score = Huber().score(self.y, np.zeros(501))
        assert np.abs(score).max() == pytest.approx(delta, rel=1e-14)

    @pytest.mark.parametrize("factor", [1e-200, 0.1, 1e7, 1e150])
    def test_scales_with_the_response(self, factor: float) -> None:
        eta = np.zeros(501)
        scaled = Huber().score(factor * self.y, eta)
        np.testing.assert_allclose(scaled, factor * Huber().score(self.y, eta), rtol=1e-13)
        bent = Huber().curvature(factor * self.y, eta)
        np.testing.assert_allclose(bent, Huber().curvature(self.y, eta), rtol=1e-13)

    def test_outliers_do_not_move_delta_far(self) -> None:
        bad = self.y.copy()
        bad[:100] = 1e12
        clean = np.abs(Huber().score(self.y, np.zeros(501))).max()
        assert np.abs(Huber().score(bad, np.zeros(501))).max() < 2 * clean

    def test_more_than_half_of_the_residuals_equal(self) -> None:
        y = np.zeros(10)
        y[:3] = [3.0, -3.0, 6.0]
        score = Huber().score(y, np.zeros(10))
        assert np.isfinite(score).all()
        assert np.abs(score).max() == pytest.approx(HUBER_EFFICIENCY * 1.2)

    def test_all_residuals_zero(self) -> None:
        y = np.zeros(4)
        assert Huber().value(y, y).tolist() == [0.0] * 4
        assert Huber().curvature(y, y).tolist() == [1.0] * 4


def test_which_losses_scale_with_the_response() -> None:
    """What `scales_with_response` claims: value(c·y, c·eta) is proportional to value(y, eta)."""
    y, eta = NUMBERS, ETA
    for loss, claimed in [(Squared(), True), (Huber(), True), (Huber(1.0), False)]:
        assert loss.scales_with_response is claimed
        ratio = loss.value(3 * y, 3 * eta) / loss.value(y, eta)
        assert np.allclose(ratio, 9.0) is claimed


class PseudoHuber:
    """A user's loss: smooth, between squared and absolute."""

    def value(self, y: Array, eta: Array) -> Array:
        return np.hypot(1.0, eta - y) - 1.0

    def score(self, y: Array, eta: Array) -> Array:
        return (eta - y) / np.hypot(1.0, eta - y)

    def curvature(self, y: Array, eta: Array) -> Array:
        return 1.0 / np.hypot(1.0, eta - y)


class TestAsLoss:
    @pytest.mark.parametrize(
        ("name", "kind"), [("squared", Squared), ("huber", Huber), ("logistic", Logistic)]
    )
    def test_names(self, name: str, kind: type) -> None:
        assert isinstance(as_loss(name), kind)

    def test_a_users_object_is_a_loss(self) -> None:
        mine = PseudoHuber()
        assert isinstance(mine, Loss)
        assert as_loss(mine) is mine

    @pytest.mark.parametrize("bad", ["quantile", 3, None, object(), Huber, PseudoHuber])
    def test_all_else_is_named(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="loss="):
            as_loss(bad)

    @pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "1", True, [1.0]])
    def test_bad_delta(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="delta="):
            Huber(bad)
