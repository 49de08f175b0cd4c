"""What a result tells: one row, its rows, the same fit with a change, files and notebooks."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import robustsparse as rs
from robustsparse.regression.rerun import rerun

ADDED = [".fitted", ".resid", ".std_resid", ".weight", ".flag", ".outlier"]


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    frame = rs.simulate.linear(n=100, d=8, k=2, rng=1).data.assign(g=np.resize(list("abc"), 111))
    frame.index = [f"row {i}" for i in range(111)]
    frame.loc["row 7", "x1"] = np.nan
    return frame


@pytest.fixture(scope="module")
def fit(data: pd.DataFrame) -> rs.RHTResult:
    return rs.rht("y ~ .", data)


@pytest.fixture(scope="module")
def binary() -> rs.RHTResult:
    return rs.rht("y ~ .", rs.simulate.logistic(n=150, d=10, k=2, rng=2).data, "binomial")


def test_a_glance_is_one_row_that_stands_below_others(fit: Any, binary: Any) -> None:
    table = pd.concat([fit.glance(), binary.glance()], ignore_index=True)
    assert len(table) == 2
    first = table.iloc[0]
    assert (first["nobs"], first["dropped"], first["flagged"]) == (110, 1, len(fit.outliers()))
    assert first["r_squared"] == fit.rsquared == fit.explained
    assert np.isnan(table["df_resid"].iloc[1])
    assert table["family"].tolist() == ["gaussian", "binomial"]


def test_the_criterion_is_the_one_at_the_choice(data: pd.DataFrame, fit: Any) -> None:
    assert fit.criterion == fit.cv["value"].min()
    given = rs.rht("y ~ .", data, k=2)
    assert given.criterion is None
    assert np.isnan(given.glance()["criterion"].iloc[0])


def test_every_row_of_the_data_is_there_with_what_the_fit_says(
    data: pd.DataFrame, fit: Any
) -> None:
    table = fit.augment()
    pd.testing.assert_frame_equal(table[list(data)], data)
    assert list(table.columns[-6:]) == ADDED
    assert table.loc["row 7", ADDED].isna().all()
    used = table.drop(index="row 7")
    pd.testing.assert_series_equal(used[".fitted"], fit.fittedvalues, check_names=False)
    assert list(used.index[used[".outlier"].astype(bool)]) == fit.outliers()
    pd.testing.assert_frame_equal(fit.augment(data), table)
    # Rows are known by their labels, whatever their order.
    mixed = data.sample(frac=1.0, random_state=0)
    pd.testing.assert_frame_equal(fit.augment(mixed), table.loc[mixed.index])


def test_rows_of_other_containers(data: pd.DataFrame) -> None:
    clean = data.drop(columns="g").dropna().reset_index(drop=True)
    X, y = clean.drop(columns="y"), clean["y"]
    by_formula = rs.rht("y ~ .", pl.from_pandas(clean))
    polar = by_formula.augment(pl.from_pandas(clean))
    pd.testing.assert_frame_equal(polar, rs.rht("y ~ .", clean).augment(clean))
    frames = rs.rht_fit(X, y)
    assert list(frames.augment((X, y)).columns) == [*X.columns, "y", *ADDED]
    values = X.to_numpy()
    for matrix in (values, sp.csr_array(values)):
        arrays = rs.rht_fit(matrix, y.to_numpy())
        table = arrays.augment((matrix, y.to_numpy()))
        assert list(table.columns) == [*arrays.support(), "y", *ADDED]
        np.testing.assert_array_equal(
            table[arrays.support()[0]], values[:, int(arrays.support()[0][1:]) - 1]
        )


def test_rows_of_other_data_are_refused(data: pd.DataFrame, fit: Any) -> None:
    for other, why in (
        (data.assign(y=data["y"] + 1), "response of row 'row 0'"),
        (data.iloc[5:], "lack rows of the fit, the first being 'row 0'"),
        (data.assign(**{".fitted": 1.0}), "'.fitted' already"),
        (data.set_axis([0] * len(data)), "share labels"),
    ):
        with pytest.raises(rs.DataError, match=re.escape(why)):
            fit.augment(other)
    temporary = rs.rht("y ~ .", data.copy())
    with pytest.raises(rs.DataError, match=r"Pass them again: augment\(data=data\)"):
        temporary.augment()


def test_classes_have_rows_too(binary: Any) -> None:
    data = rs.simulate.logistic(n=150, d=10, k=2, rng=2).data
    table = binary.augment(data)
    assert table[".fitted"].between(0, 1).all()


def test_an_update_is_the_fit_with_the_change(data: pd.DataFrame, fit: Any) -> None:
    again = fit.update(". ~ . - g", k=1)
    pd.testing.assert_series_equal(again.params, rs.rht("y ~ . - g", data, k=1).params)
    assert again.formula == "y ~ . - g"
    half = data.iloc[:60]
    pd.testing.assert_series_equal(fit.update(data=half).params, rs.rht("y ~ .", half).params)
    same = fit.update()
    pd.testing.assert_series_equal(same.params, fit.params)
    twice = fit.update(". ~ . - g").update("I(2 * y) ~ .")
    assert twice.formula == "I(2 * y) ~ . - g"


def test_an_update_of_arrays_and_of_a_stored_fit(
    data: pd.DataFrame, fit: Any, tmp_path: Path
) -> None:
    clean = data.dropna()
    X, y = clean.filter(like="x").to_numpy(), clean["y"].to_numpy()
    arrays = rs.rht_fit(X, y)
    pd.testing.assert_series_equal(arrays.update(k=1).params, rs.rht_fit(X, y, k=1).params)
    with pytest.raises(rs.ParameterError, match="no formula"):
        arrays.update(". ~ . - x1")
    fit.save(tmp_path / "m")
    back = rs.load(tmp_path / "m")
    with pytest.raises(rs.DataError, match=r"update\(data=data\)"):
        back.update(k=1)
    pd.testing.assert_series_equal(back.update(data=data, k=1).params, fit.update(k=1).params)


def test_an_update_keeps_data_that_were_kept(data: pd.DataFrame) -> None:
    kept = rs.rht("y ~ .", data.copy(), keep_data=True).update(k=1)
    assert kept.update(k=2).k == 2
    assert len(kept.augment()) == len(data)


def test_an_update_refuses_data_that_have_changed(data: pd.DataFrame) -> None:
    mine = data.copy()
    fit = rs.rht("y ~ . - g", mine)
    mine["g"] = "a"
    assert fit.update(k=1).k == 1
    mine["x3"] += 1.0
    with pytest.raises(rs.DataError, match="in x3"):
        fit.update(k=1)
    with pytest.raises(rs.ParameterError, match="did you mean k"):
        fit.update(data=data, kk=1)


def test_a_pickle_of_an_earlier_version_says_what_it_cannot(data: pd.DataFrame, fit: Any) -> None:
    # These have pickled the function that repeats a fit, which knew nothing of updates.
    old = replace(fit, _call=replace(fit._call, rerun=rerun))
    assert old.cross_validate(folds=3).folds == 3
    with pytest.raises(rs.ParameterError, match="fit again"):
        old.update(data=data, k=1)


def test_levels_are_those_of_the_intervals(fit: Any) -> None:
    table = fit.summary(level=0.9).table
    np.testing.assert_array_equal(table[["90% CI low", "90% CI high"]], fit.conf_int(0.9))
    assert str(fit.summary(alpha=0.1)) == str(fit.summary(level=0.9))
    for refused in (fit.summary, fit.tidy, fit.conf_int):
        with pytest.raises(rs.ParameterError, match=r"alpha=0\.05"):
            refused(level=0.05)


@pytest.mark.parametrize("level", [0.05, 1.5, "high"])
def test_every_level_is_checked(fit: Any, data: pd.DataFrame, level: Any) -> None:
    for call in (
        lambda: fit.predict(data, interval="prediction", level=level),
        lambda: fit.conf_int(level, method="split"),
        lambda: rs.inference.split("y ~ .", data, level=level),
        lambda: rs.inference.bootstrap("y ~ .", data, level=level),
    ):
        with pytest.raises(rs.ParameterError, match="level"):
            call()


def test_alpha_is_taken_wherever_a_level_is(data: pd.DataFrame) -> None:
    for method, how in ((rs.inference.split, {}), (rs.inference.bootstrap, {"resamples": 4})):
        pair = (method("y ~ .", data, **how, **level) for level in ({"level": 0.9}, {"alpha": 0.1}))
        pd.testing.assert_frame_equal(*pair)
    fit = rs.rht("y ~ .", data)
    pd.testing.assert_frame_equal(fit.tidy(alpha=0.1), fit.tidy(0.9))


def test_files_are_written_whole(fit: Any, tmp_path: Path) -> None:
    page, table = tmp_path / "fit.html", tmp_path / "fit.tex"
    assert fit.to_html(page) is None
    assert fit.to_latex(table) is None
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert fit.to_html() in text
    assert "Robust R²" in text
    assert table.read_text(encoding="utf-8") == fit.to_latex()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["fit.html", "fit.tex"]
    with pytest.raises(rs.RobustSparseError, match="cannot be written"):
        fit.to_latex(tmp_path / "nowhere" / "fit.tex")


def test_a_notebook_shows_the_summary(fit: Any) -> None:
    assert fit._repr_html_() == fit.summary()._repr_html_() == fit.to_html()
