"""What is easily given in the wrong form: it works, or the message says what to do."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return rs.simulate.linear(n=80, d=6, k=2, epsilon=0.1, rng=1).data


@pytest.fixture(scope="module")
def fit(data: pd.DataFrame) -> Any:
    return rs.rht("y ~ .", data)


def test_augment_refuses_other_predictors_selected_or_not(fit: Any, data: pd.DataFrame) -> None:
    for name in ("x1", fit.support()[0]):
        other = data.copy()
        other.loc[3, name] += 1e-9
        with pytest.raises(rs.DataError, match=f"differ in {name}") as caught:
            fit.augment(other)
        assert "predict()" in str(caught.value)
    assert len(fit.augment(data.sample(frac=1.0, random_state=1))) == len(data)


def test_augment_of_arrays_frames_and_terms_that_look_at_other_rows(data: pd.DataFrame) -> None:
    X, y = data.drop(columns="y"), data["y"]
    for given in (X, X.to_numpy()):
        fit = rs.rht_fit(given, y)
        assert len(fit.augment((given, y))) == len(y)
        moved = X.assign(x2=X["x2"] + 1.0)
        other = moved if given is X else moved.to_numpy()
        with pytest.raises(rs.DataError, match="differ in x2"):
            fit.augment((other, y))
    holed = data.assign(g=np.resize(["a", "b", "c"], len(data)))
    holed.loc[5, "x3"] = np.nan
    late = rs.rht("y ~ lag(x1) + bs(x2, df=4) + g*x6 + x3 + x4", holed)
    assert late.augment(holed)[".fitted"].isna().sum() == 2
    weights = np.where(holed["g"] == "c", 0.0, 1.0)
    two = rs.rht("y ~ g + x6 + x4", holed, weights=weights)
    assert len(two.augment(holed)) == len(holed)


def test_one_term_as_a_word_and_models_from_a_generator(fit: Any) -> None:
    term = fit.support()[0]
    assert str(rs.table([fit], terms=term)) == str(rs.table([fit], terms=[term]))
    models = [fit, fit.update(k=1)]
    assert str(rs.table(one for one in models)) == str(rs.table(models))
    axes = rs.coefplot((one for one in models), terms=term)
    assert [label.get_text() for label in axes.get_yticklabels()] == [term]
    with pytest.raises(rs.ParameterError, match="'q', which no model has selected; these have"):
        rs.table([fit], terms="q")


def test_unknown_terms_to_keep_are_met_with_those_there_are(data: pd.DataFrame) -> None:
    with pytest.raises(rs.FormulaError, match="'q', which is no term; these are terms: x1, x2"):
        rs.rht("y ~ .", data, keep="q")
    with pytest.raises(rs.ParameterError, match="'q', which is no column of X; it has x1, x2"):
        rs.rht_fit(data.drop(columns="y"), data["y"], keep="q")


def test_a_folder_is_no_model(fit: Any, tmp_path: Path) -> None:
    with pytest.raises(rs.DataError, match="is a folder"):
        rs.load(tmp_path)
    fit.save(tmp_path / "first.rs")
    with pytest.raises(rs.DataError, match=r"in it are first\.rs"):
        rs.load(str(tmp_path))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--k", "k='abc' must be a whole number, several of them or 'auto'"),
        ("--epsilon", "epsilon='abc' must be a number from 0 to below 0.5 or 'auto'"),
    ],
)
def test_a_word_for_a_number_on_the_command_line(
    option: str, message: str, data: pd.DataFrame, tmp_path: Path
) -> None:
    data.to_csv(tmp_path / "data.csv", index=False)
    call = [sys.executable, "-m", "robustsparse", "fit", str(tmp_path / "data.csv"), "y ~ ."]
    done = subprocess.run([*call, option, "abc"], capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr


def test_what_predict_says_of_offsets_is_so(data: pd.DataFrame) -> None:
    rest = data.drop(columns="y")
    plain, shift = rs.rht("y ~ .", data), np.full(len(data), 2.0)
    np.testing.assert_allclose(plain.predict(rest, offset=shift), plain.predict(rest) + 2.0)
    named = rs.rht("y ~ .", data.assign(known=shift), offset="known")
    with pytest.raises(rs.RobustSparseError, match="leave offset= out"):
        named.predict(rest.assign(known=shift), offset=shift)
    given = rs.rht("y ~ .", data, offset=shift)
    with pytest.raises(rs.DataError, match="offset="):
        given.predict(rest)
    assert np.isfinite(given.predict(rest, offset=shift)).all()
