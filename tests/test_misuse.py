"""What new users stumbled over: each mistake is met with the message that they would want."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import robustsparse as rs


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["age", "dose", "z"])
    return frame.assign(y=2.0 * frame["age"] - frame["z"] + 0.3 * rng.normal(size=120))


# ------------------------------------------------------------------------------------- formulas


def test_the_intercept_alone_is_a_model(data: pd.DataFrame) -> None:
    bad = data.assign(y=np.where(data.index < 10, 1e3, data["y"] + 5.0))
    fit = rs.rht("y ~ 1", bad)
    assert fit.support() == []
    assert abs(fit.params["Intercept"] - 5.0) < 1.0
    assert set(fit.outliers()) >= set(range(10))
    assert (fit.predict(data.head(2)) == fit.params["Intercept"]).all()
    assert np.isfinite(fit.bse["Intercept"])


@pytest.mark.parametrize("goal", ["select", "predict"])
@pytest.mark.parametrize("options", [{}, {"refit": False}, {"estimator": "mom"}])
def test_the_intercept_alone_in_all_ways(
    goal: str, options: dict[str, Any], data: pd.DataFrame
) -> None:
    if goal == "predict" and "refit" in options:
        return
    fit = rs.rht("y ~ 1", data, goal=goal, **options)
    assert "Candidates:   0" in str(fit.summary())


def test_the_intercept_alone_has_nothing_to_select_again(data: pd.DataFrame) -> None:
    fit = rs.rht("y ~ 1", data)
    for again in (
        lambda: fit.conf_int(method="split", splits=10),
        lambda: fit.conf_int(method="bootstrap", resamples=20),
        lambda: fit.cross_validate(folds=3),
        lambda: rs.stability("y ~ 1", data),
    ):
        with pytest.raises(rs.ParameterError, match="the intercept alone selects nothing"):
            again()


def test_the_intercept_alone_of_two_classes(data: pd.DataFrame) -> None:
    fit = rs.rht("sick ~ 1", data.assign(sick=data.index % 4 == 0), family="binomial")
    assert fit.fittedvalues.to_numpy() == pytest.approx(0.25, abs=0.05)


def test_nothing_at_all_is_no_model(data: pd.DataFrame) -> None:
    with pytest.raises(rs.FormulaError, match="'y ~ 1' is the model of the intercept alone"):
        rs.rht("y ~ 0", data)


@pytest.mark.parametrize(
    ("term", "says"),
    [
        ("sqrt(age)", r"did you mean np\.sqrt\?"),
        ("ln(age)", r"write log\(x\)"),
        ("factor(age)", r"write C\(x\)"),
        ("aeg", r"did you mean age\?"),
    ],
)
def test_a_hint_names_what_works(term: str, says: str, data: pd.DataFrame) -> None:
    with pytest.raises(rs.FormulaError, match=says):
        rs.rht(f"y ~ {term}", data)


def test_data_before_the_formula(data: pd.DataFrame) -> None:
    with pytest.raises(rs.FormulaError, match=r"the formula comes first, .*rht\('y ~ \.', data\)"):
        rs.rht(data, "y ~ .")  # type: ignore[arg-type]
    with pytest.raises(rs.FormulaError, match=r"use rht_fit\(X, y\)"):
        rs.rht(data[["age"]], data["y"])  # type: ignore[arg-type]
    with pytest.raises(rs.ParameterError, match=r"use rht\(formula, data\)"):
        rs.rht_fit("y ~ .", data)
    with pytest.raises(rs.DataError, match="the design comes first"):
        rs.rht_fit(data["y"], data[["age", "z"]])


@pytest.mark.parametrize(
    ("family", "says"),
    [
        ("logistic", "use family='binomial'"),
        ("Logit", "use family='binomial'"),
        ("normal", "use family='gaussian'"),
        ("Gaussian", "did you mean gaussian"),
        ("poisson", r"docs/extending/poisson\.py"),
    ],
)
def test_other_names_of_families(family: Any, says: str, data: pd.DataFrame) -> None:
    with pytest.raises(rs.ParameterError, match=says):
        rs.rht("y ~ .", data, family=family)


# ----------------------------------------------------------------------------------------- data


def test_a_constant_response_is_said_and_proves_nothing(data: pd.DataFrame) -> None:
    with pytest.warns(rs.DataWarning, match="'y' has the same value, 3, in all 120 rows"):
        fit = rs.rht("y ~ .", data.assign(y=3.0))
    assert fit.pvalues.isna().all()
    assert "inf" not in str(fit.summary())
    assert "no noise to judge" in str(fit.summary())


@pytest.mark.parametrize("formula", ["y ~ .", "y ~ age + s"])
def test_numbers_as_text_are_no_factor(formula: str, data: pd.DataFrame) -> None:
    text = data["dose"].map("{:.2f}".format)
    with pytest.raises(
        rs.DataError,
        match=r"'s' of data holds numbers as text.*pd\.to_numeric\(data\['s'\]\).*C\(s\)",
    ):
        rs.rht(formula, data.assign(s=text))
    text.iloc[7] = "n/a"
    with pytest.raises(rs.DataError, match=r"not in rows 7: 'n/a'; mend these"):
        rs.rht(formula, data.assign(s=text))


def test_few_codes_as_text_are_a_factor(data: pd.DataFrame) -> None:
    coded = data.assign(s=np.resize(["1", "2", "3"], len(data)))
    assert rs.rht("y ~ .", coded).references == {"s": "1"}


def test_a_response_of_numbers_as_text_says_how_to_convert_it(data: pd.DataFrame) -> None:
    with pytest.raises(rs.DataError, match=r"numbers as text, convert them with pd\.to_numeric"):
        rs.rht("y ~ .", data.assign(y=data["y"].astype(str)))


def test_rows_whose_labels_repeat_are_told_by_their_place(data: pd.DataFrame) -> None:
    bad = data.assign(y=data["y"] + 50.0 * (data.index == 17)).set_axis([0] * len(data))
    fit = rs.rht("y ~ .", bad)
    # Another size than the chosen one has its own rows.
    for text in (str(fit.summary()), str(fit.summary(k=1))):
        assert "row 17 (0)" in " ".join(text.split())
    assert "labels repeat" in str(fit.summary())


def test_dates_are_dates(data: pd.DataFrame) -> None:
    days = pd.date_range("2020-01-01", periods=len(data))
    bad = data.assign(y=data["y"] + 50.0 * (data.index == 2)).set_axis(days)
    text = str(rs.rht("y ~ .", bad).summary())
    assert "2020-01-03" in text
    assert "00:00" not in text


@pytest.mark.parametrize("order", [["mid", "low", "high"], ["high", "low", "mid"]])
def test_a_polars_categorical_has_the_reference_of_its_text(
    order: list[str], data: pd.DataFrame
) -> None:
    level = np.resize(order, len(data))
    y = data["y"] + 3.0 * (level == "low")
    text = pl.DataFrame({"y": y.to_numpy(), "age": data["age"].to_numpy(), "level": level})
    cast = text.with_columns(pl.col("level").cast(pl.Categorical))
    enum = text.with_columns(pl.col("level").cast(pl.Enum(order)))
    assert rs.rht("y ~ .", text).references == {"level": "high"}
    assert rs.rht("y ~ .", cast).references == {"level": "high"}
    # The order of an enumeration is the user's.
    assert rs.rht("y ~ .", enum).references == {"level": order[0]}


# ----------------------------------------------------------------------------------- the package


def test_completion_offers_what_is_public() -> None:
    assert [name for name in dir(rs) if not name.startswith("__")] == sorted(
        [*rs.__all__, "sklearn"]
    )


def test_there_is_no_module_where_a_function_would_be_looked_for() -> None:
    assert not hasattr(rs, "summary")
    assert not hasattr(rs, "fit")
