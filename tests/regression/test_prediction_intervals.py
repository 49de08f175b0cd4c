"""`predict(se=, interval=)`: standard errors and intervals of predictions."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import robustsparse as rs

# The same number by two ways that round differently; and by a difference in place of a derivative.
ROUNDING, DIFFERENCE = 1e-8, 1e-6


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=120, d=30, k=3, rng=1)


@pytest.fixture(scope="module")
def fit(sim: Any) -> rs.RHTResult:
    return rs.rht("y ~ .", sim.data)


@pytest.fixture(scope="module")
def shrunken(sim: Any) -> rs.RHTResult:
    return rs.rht("y ~ .", sim.data, goal="predict")


@pytest.fixture(scope="module")
def binary() -> tuple[rs.RHTResult, pd.DataFrame]:
    data = rs.simulate.logistic(n=150, d=20, k=2, rng=2).data
    return rs.rht("y ~ .", data, "binomial"), data


def test_standard_errors_are_those_of_a_linear_combination(fit: Any, sim: Any) -> None:
    new = sim.data.head(5)
    A = np.column_stack([np.ones(5), new[fit.support()]])
    variance = np.diag(A @ fit.cov_params().to_numpy() @ A.T)
    table = fit.predict(new, se=True)
    np.testing.assert_allclose(table["se"], np.sqrt(variance), rtol=ROUNDING)
    np.testing.assert_allclose(table["prediction"], fit.predict(new), rtol=ROUNDING)


def test_the_intercept_at_zero_has_its_own_standard_error(fit: Any, sim: Any) -> None:
    zero = sim.data.head(1) * 0.0
    table = fit.predict(zero, interval="confidence", level=0.9)
    assert table["se"].iloc[0] == pytest.approx(fit.bse["Intercept"], rel=ROUNDING)
    low, high = fit.conf_int(0.9).loc["Intercept"]
    np.testing.assert_allclose(table[["lower", "upper"]].iloc[0], [low, high], rtol=ROUNDING)


def test_a_prediction_interval_adds_the_spread_of_a_response(fit: Any, sim: Any) -> None:
    new = sim.data.head(5)
    table = fit.predict(new, interval="prediction", level=0.9)
    half = student.ppf(0.95, fit.df_resid) * np.hypot(table["se"], fit.spread)
    np.testing.assert_allclose(table["upper"] - table["prediction"], half, rtol=ROUNDING)
    np.testing.assert_allclose(table["prediction"] - table["lower"], half, rtol=ROUNDING)


def test_alpha_is_one_less_the_level(fit: Any, sim: Any) -> None:
    pair = [
        fit.predict(sim.data, interval="prediction", **how)
        for how in ({"level": 0.9}, {"alpha": 0.1})
    ]
    pd.testing.assert_frame_equal(*pair)


def test_other_sizes_have_intervals_of_their_own(fit: Any, sim: Any) -> None:
    one, all_three = (fit.predict(sim.data.head(5), interval="prediction", k=k) for k in (1, None))
    width = [(table["upper"] - table["lower"]).mean() for table in (one, all_three)]
    assert width[0] > 1.5 * width[1]


def test_a_row_with_a_missing_input_has_no_interval(fit: Any, sim: Any) -> None:
    new = sim.data.head(3).copy()
    new.loc[new.index[1], fit.support()[0]] = np.nan
    table = fit.predict(new, interval="prediction")
    assert table.isna().all(axis=1).tolist() == [False, True, False]


def test_a_model_without_intercept_and_arrays(sim: Any) -> None:
    fit = rs.rht_fit(sim.X, sim.y, intercept=False)
    places = [int(name[1:]) - 1 for name in fit.support()]
    A = sim.X[:4][:, places]
    variance = np.diag(A @ fit.cov_params().to_numpy() @ A.T)
    np.testing.assert_allclose(
        fit.predict(sim.X[:4], se=True)["se"], np.sqrt(variance), rtol=ROUNDING
    )


def test_classes_have_intervals_of_the_probability(binary: Any) -> None:
    fit, data = binary
    link, response = (fit.predict(data, se=True, type=type) for type in ("link", "response"))
    p = response["prediction"]
    np.testing.assert_allclose(
        response["se"], link["se"] * p * (1 - p), rtol=DIFFERENCE, atol=DIFFERENCE
    )
    for end in ("lower", "upper"):
        np.testing.assert_allclose(response[end], 1 / (1 + np.exp(-link[end])), rtol=ROUNDING)
    assert response[["lower", "upper"]].stack().between(0, 1).all()


def test_what_would_promise_too_much_is_refused(
    fit: Any, shrunken: Any, binary: Any, sim: Any
) -> None:
    classes, data = binary
    for bad, why in (
        (lambda: classes.predict(data, interval="prediction"), "one of its values"),
        (lambda: classes.predict(data, type="class", se=True), "has neither se nor interval"),
        (lambda: fit.predict(se=True), "pass them as newdata"),
        (lambda: fit.predict(sim.data, interval="both"), "is not one of"),
        (lambda: fit.predict(sim.data, interval="prediction", level=0.05), "alpha=0.05"),
        (lambda: shrunken.predict(sim.data, se=True), "its coefficients are biased"),
        (lambda: fit.predict(sim.data, se=True, na_action="impute"), "imputed inputs"),
    ):
        with pytest.raises(rs.ParameterError, match=why):
            bad()


def test_a_thresholded_estimate_has_no_standard_errors(sim: Any) -> None:
    plain = rs.rht("y ~ .", sim.data, k=3, refit=False)
    with pytest.raises(rs.ParameterError, match="robust refit"):
        plain.predict(sim.data, interval="prediction")


def test_a_shrunken_model_is_as_sure_as_rows_left_out_tell(shrunken: Any, sim: Any) -> None:
    new = rs.simulate.linear(n=2000, d=30, beta=sim.beta, epsilon=0.0, attack=None, rng=5).data
    table = shrunken.predict(new, interval="prediction")
    assert table["se"].isna().all()
    assert 0.92 < new["y"].between(table["lower"], table["upper"]).mean() < 0.99


@pytest.mark.parametrize("n", [50, 300])
@pytest.mark.parametrize("attack", [None, "paper"])
def test_new_responses_lie_within_their_intervals(n: int, attack: str | None) -> None:
    covered = []
    for seed in range(8):
        epsilon = 0.1 if attack else 0.0
        sim = rs.simulate.linear(n=n, d=40, k=3, epsilon=epsilon, attack=attack, rng=100 + seed)
        new = rs.simulate.linear(
            n=500, d=40, beta=sim.beta, epsilon=0.0, attack=None, rng=seed
        ).data
        table = rs.rht("y ~ .", sim.data).predict(new, interval="prediction")
        covered.append(new["y"].between(table["lower"], table["upper"]).mean())
    assert 0.92 < np.mean(covered) < 0.98


def test_the_spread_does_not_count_bad_rows() -> None:
    ratios = []
    for seed in range(8):
        sim = rs.simulate.linear(n=200, d=20, k=3, epsilon=0.1, attack="paper", rng=seed)
        fit = rs.rht("y ~ .", sim.data)
        ratios.append([fit.spread / 0.5, fit.scale / 0.5])
    spread, scale = np.mean(ratios, axis=0)
    # The robust scale counts a tenth of bad rows as if they were at its edge.
    assert abs(spread - 1) < 0.05 < scale - 1


def test_a_stored_model_has_the_same_intervals(
    fit: Any, shrunken: Any, sim: Any, tmp_path: Path
) -> None:
    for number, model in enumerate((fit, shrunken)):
        file = tmp_path / f"{number}.model"
        model.save(file)
        back = rs.load(file)
        for k in (None, 1):
            pd.testing.assert_frame_equal(
                back.predict(sim.data, interval="prediction", k=k),
                model.predict(sim.data, interval="prediction", k=k),
            )
