"""From raw arrays to a standardized problem and back."""

from typing import Any

import numpy as np
import pytest

from robustsparse.algorithm.losses import Huber, Logistic, Squared
from robustsparse.regression.binomial import Binomial
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian

ROUNDING = 1e-12


@pytest.fixture
def raw() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)) * [1, 10, 0.1, 3, 1] + [0, 5, 1, -2, 0]
    X[:, 4] = 2.0
    return X, X[:, :3] @ [1.0, 2.0, 3.0] + 7.0 + rng.normal(size=40)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("offset", [None, np.linspace(-3, 8, 40)])
def test_coefficients_in_both_units_predict_the_same(
    raw: Any, intercept: bool, offset: Any
) -> None:
    X, y = raw
    data = standardized(
        X, y, Squared(), family=Gaussian(), how="mad", intercept=intercept, offset=offset
    )
    coef = np.arange(1.0, len(data.XT) + 1)
    coef[:5][data.scaling.constant] = 0.0
    slopes, constant = data.to_data(coef)
    direct = X @ slopes + constant + (0.0 if offset is None else offset)
    np.testing.assert_allclose(
        data.predictor(coef) * data.unit + data.location, direct, rtol=ROUNDING
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_an_offset_is_taken_off_before_the_response_is_measured(raw: Any, intercept: bool) -> None:
    X, y = raw
    offset = np.linspace(-30, 80, 40)
    plain, moved = (
        standardized(
            X, response, Squared(), family=Gaussian(), how="mad", intercept=intercept, offset=known
        )
        for response, known in ((y, None), (y + offset, offset))
    )
    assert moved.location == pytest.approx(plain.location, rel=ROUNDING)
    assert moved.unit == pytest.approx(plain.unit, rel=ROUNDING)
    np.testing.assert_allclose(moved.y - moved.offset, plain.y, atol=1e3 * ROUNDING)
    coef = np.zeros(len(plain.XT))
    coef[0] = 1.0
    np.testing.assert_allclose(
        moved.predictor(coef) - plain.predictor(coef), offset / moved.unit, atol=1e3 * ROUNDING
    )


def test_the_response_is_scaled_only_if_the_loss_scales_with_it(raw: Any) -> None:
    X, y = raw
    scaled = standardized(X, y, Squared(), family=Gaussian(), how="mad")
    assert np.median(scaled.y) == pytest.approx(0.0, abs=ROUNDING)
    assert np.median(np.abs(scaled.y)) * 1.4826 == pytest.approx(1.0)
    fixed = standardized(X, y, Huber(delta=2.0), family=Gaussian(), how="mad")
    assert (fixed.location, fixed.unit) == (0.0, 1.0)


def test_classes_are_never_scaled_whatever_the_loss(raw: Any) -> None:
    X, y = raw
    labels = (y > np.median(y)).astype(float)
    for loss in (Logistic(), Squared()):
        data = standardized(X, labels, loss, family=Binomial(), how="mad")
        np.testing.assert_array_equal(data.y, labels)
    scaled = standardized(X, labels, Squared(), family=Gaussian(), how="mad")
    assert not np.array_equal(scaled.y, labels)


def test_kept_and_constant_columns_are_not_free(raw: Any) -> None:
    X, y = raw
    data = standardized(X, y, Squared(), family=Gaussian(), how="mad", keep=np.array([1, 4]))
    assert (data.d, data.n) == (5, 40)
    # A constant column cannot be kept: the intercept stands for it.
    assert data.keep.tolist() == [1, 5]
    assert data.free == 3


@pytest.mark.parametrize("response", [np.full(40, 3.0), np.r_[np.full(38, 3.0), 4.0, 5.0]])
def test_a_response_without_spread_has_a_unit(raw: Any, response: np.ndarray) -> None:
    data = standardized(raw[0], response, Squared(), family=Gaussian(), how="mad")
    assert data.unit > 0
    assert np.isfinite(data.y).all()


def test_rows_are_the_same_problem_in_the_same_units(raw: Any) -> None:
    X, y = raw
    extra = {"weights": np.arange(1.0, 41.0), "offset": np.linspace(0, 1, 40)}
    data = standardized(X, y, Squared(), family=Gaussian(), how="mad", **extra)
    mask = np.arange(40) % 3 == 0
    by_mask, by_number = data.rows(mask), data.rows(np.flatnonzero(mask))
    for part in (by_mask, by_number):
        np.testing.assert_array_equal(part.XT, data.XT[:, mask])
        assert part.XT.flags.c_contiguous
        for name in ("y", "weights", "offset"):
            np.testing.assert_array_equal(getattr(part, name), getattr(data, name)[mask])
        assert (part.unit, part.location, part.keep.tolist()) == (data.unit, data.location, [5])


def test_all_rows_cost_no_copy(raw: Any) -> None:
    data = standardized(*raw, Squared(), family=Gaussian(), how="mad")
    assert data.rows(np.ones(40, dtype=bool)).XT is data.XT


def test_weights_have_mean_one(raw: Any) -> None:
    data = standardized(*raw, Squared(), family=Gaussian(), how="mad", weights=np.arange(40.0))
    assert data.weights is not None
    assert data.weights.mean() == pytest.approx(1.0)


def test_nothing_given_is_changed(raw: Any) -> None:
    X, y = raw
    copies = X.copy(), y.copy()
    data = standardized(X, y, Squared(), family=Gaussian(), how="none", intercept=False)
    data.XT[:] = 0.0
    data.y[:] = 0.0
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(y, copies[1])


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_rows_for_a_while_are_those_of_a_copy(
    raw: Any, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robustsparse.regression.fit.standardized._SMALL", small)
    X, y = raw
    weights = np.linspace(0.5, 1.5, len(y))
    data = standardized(
        X, y, Squared(), family=Gaussian(), how="mad", weights=weights, offset=0.1 * y
    )
    before, kept = data.XT.copy(), np.arange(len(y)) % 3 > 0
    copied = data.rows(kept)
    with data.only(kept) as part:
        for name in ("XT", "y", "weights", "offset"):
            np.testing.assert_array_equal(getattr(part, name), getattr(copied, name))
    np.testing.assert_array_equal(data.XT, before)
    with data.only(np.ones(len(y), dtype=bool)) as whole:
        assert whole is data


def test_single_precision_stays(raw: Any) -> None:
    X, y = raw
    single = standardized(X.astype(np.float32), y, Squared(), family=Gaussian(), how="mad")
    double = standardized(
        X.astype(np.float32).astype(np.float64), y, Squared(), family=Gaussian(), how="mad"
    )
    assert single.XT.dtype == np.float32
    np.testing.assert_array_equal(single.scaling.scale, double.scaling.scale)
    np.testing.assert_array_equal(single.XT, double.XT.astype(np.float32))
    assert single.columns(np.array([0, 2])).dtype == np.float64


def test_rows_that_are_looked_at_where_they_are(raw: Any) -> None:
    X, y = raw
    data = standardized(
        X, y, Squared(), family=Gaussian(), how="mad", weights=np.linspace(0.5, 1.0, 40)
    )
    assert data.seeing(np.ones(40, dtype=bool)) is data
    kept = np.arange(40) % 3 > 0
    seen, apart = data.seeing(kept), data.rows(kept)
    assert seen.XT is data.XT
    assert (seen.n, seen.room, seen.largest_k) == (apart.n, apart.room, apart.largest_k)
    chosen = np.array([3, 0])
    np.testing.assert_array_equal(seen.columns(chosen), apart.columns(chosen))
    np.testing.assert_array_equal(seen.chosen(chosen).weights, apart.weights)
    values = np.arange(float(seen.n))
    np.testing.assert_allclose(seen.XT @ seen.on_all_rows(values), apart.XT @ values, rtol=ROUNDING)
    fewer = np.arange(seen.n) % 2 > 0
    for part in (seen.rows(fewer), seen.seeing(fewer)):
        np.testing.assert_array_equal(part.columns(chosen), apart.rows(fewer).columns(chosen))
        np.testing.assert_array_equal(part.y, apart.rows(fewer).y)
