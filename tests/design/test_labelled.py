"""Frames as matrices: names of columns and labels of rows are kept, and checked."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import robustsparse as rs
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.design.labelled import frame_matrix, labelled

# A row's products are added in the order of its memory, which may differ in the last bits.
SUMMED = 1e-9


def made(n: int = 80) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
    """A frame of three numbers with a text index, and a response of two of them; x1 is not the first column."""
    rng = np.random.default_rng(0)
    index = [f"r{i}" for i in range(n)]
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["age", "x1", "z"], index=index)
    return X, (2.0 * X["age"] - X["z"] + 0.1 * rng.normal(size=n)).rename("y")


@pytest.fixture(scope="module")
def fit() -> Any:
    return rs.rht_fit(*made())


def test_names_and_labels_are_those_of_the_frame(fit: Any) -> None:
    assert list(fit.params.index) == ["Intercept", "age", "x1", "z"]
    assert set(fit.support()) == {"age", "z"}
    assert list(fit.resid.index) == list(made()[0].index)


def test_a_frame_fits_as_its_values_do(fit: Any) -> None:
    X, y = made()
    plain = rs.rht_fit(X.to_numpy(), y.to_numpy())
    assert (plain.params.to_numpy() == fit.params.to_numpy()).all()


def test_columns_of_new_rows_are_found_by_name(fit: Any) -> None:
    X, _ = made()
    expected = fit.predict(X)
    assert fit.predict(X[["z", "x1", "age"]]).equals(expected)
    assert fit.predict(X[["z", "age"]].assign(other="a")).equals(expected)
    for other in (X.to_numpy(), pl.DataFrame(X)):
        np.testing.assert_allclose(fit.predict(other), expected, rtol=SUMMED)


def test_a_frame_without_the_columns_is_refused(fit: Any) -> None:
    X, _ = made()
    with pytest.raises(DataError, match="lack columns that the model needs: 'age'; did you mean"):
        fit.predict(X.rename(columns={"age": "Age"}))


def test_a_model_of_bare_arrays_takes_frames_by_position_unless_they_have_its_names() -> None:
    X, y = made()
    fit = rs.rht_fit(X.to_numpy(), y.to_numpy())
    expected = fit.predict(X.to_numpy()).to_numpy()
    by_place, named = (X.set_axis(list(names), axis=1) for names in ("abc", ("x1", "x2", "x3")))
    np.testing.assert_allclose(fit.predict(by_place), expected, rtol=SUMMED)
    np.testing.assert_allclose(fit.predict(named[["x3", "x1", "x2"]]), expected, rtol=SUMMED)
    with pytest.raises(DataError, match="lack columns"):
        fit.predict(X)


@pytest.mark.parametrize("name", ["y", "weights", "offset"])
def test_rows_in_another_order_are_refused(name: str) -> None:
    X, y = made()
    given = {"y": y, "weights": y**2, "offset": 0.0 * y}
    given[name] = given[name][::-1]
    with pytest.raises(DataError, match=rf"{name} has row labels in another order.*{name}\.loc\["):
        rs.rht_fit(X, **given)


def test_labels_of_other_rows_are_refused() -> None:
    X, y = made()
    with pytest.raises(DataError, match=r"row 0 is r0 in X and 0 in y; .*y\.to_numpy\(\)"):
        rs.rht_fit(X, y.reset_index(drop=True))
    with pytest.raises(DataError, match="row labels"):
        rs.rht_fit(X, y).score(X, y.reset_index(drop=True))
    with pytest.raises(DataError, match="row labels"):
        rs.baselines.lasso(X, y.reset_index(drop=True))


def test_the_lasso_finds_columns_by_name() -> None:
    X, y = made()
    fit = rs.baselines.lasso(X, y)
    assert fit.predict(X[["z", "x1", "age"]]).equals(fit.predict(X))


def test_names_of_a_frame_cannot_be_others() -> None:
    X, y = made()
    assert rs.rht_fit(X, y, names=list(X.columns)).support()
    with pytest.raises(ParameterError, match="set_axis"):
        rs.rht_fit(X, y, names=["a", "b", "c"])


def test_names_survive_a_file(fit: Any, tmp_path: Any) -> None:
    X, _ = made()
    fit.save(tmp_path / "fit.rs")
    again = rs.load(tmp_path / "fit.rs")
    assert again.predict(X[["z", "x1", "age"]]).equals(fit.predict(X))


def test_one_row_as_a_dict(fit: Any) -> None:
    X, y = made()
    row = X.iloc[0].to_dict()
    assert fit.predict(row).tolist() == fit.predict(X.head(1)).tolist()
    with pytest.raises(DataError, match=r"0 dimension\(s\)"):
        rs.rht_fit(row, y)


def test_missing_inputs_of_a_frame_are_imputed() -> None:
    X, y = made()
    X.iloc[3, 0] = np.nan
    fit = rs.rht_fit(X, y, na_action="impute")
    assert fit.cells().index.tolist() == ["r3"]
    new = X[["z", "age"]].iloc[:5]
    table = fit.predict(new, na_action="impute")
    assert table["imputed"].tolist() == [0, 0, 0, 1, 0]
    assert table["prediction"].notna().all()


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (["u", "v"] * 40, r"'g' of X is no number: .*'u'; a formula codes factors"),
        ([str(i) for i in range(80)], r"'g' of X holds numbers as text, such as '0'; .*to_numeric"),
        (list(pd.date_range("2020", periods=80)), r"'g' of X is no number: it has type datetime64"),
    ],
)
def test_columns_that_are_no_numbers_are_named(column: list[Any], says: str) -> None:
    X, y = made()
    with pytest.raises(DataError, match=says):
        rs.rht_fit(X.assign(g=column), y)


def test_numbers_of_any_type_are_read() -> None:
    frame = pd.DataFrame(
        {
            "a": pd.array([1, None], dtype="Int8"),
            "b": [True, False],
            "c": pd.Series([1, 2.5], dtype=object),
        }
    )
    np.testing.assert_array_equal(frame_matrix(frame), [[1.0, 1.0, 1.0], [np.nan, 0.0, 2.5]])


def test_values_of_one_type_are_shared() -> None:
    frame = pd.DataFrame(np.zeros((4, 3), dtype=np.float32))
    X = labelled(frame).X
    assert X.dtype == np.float32
    assert np.shares_memory(X, frame.to_numpy())


def test_a_lazy_frame_is_told_to_collect() -> None:
    X, y = made()
    with pytest.raises(DataError, match=r"\.collect\(\)"):
        rs.rht_fit(pl.DataFrame(X).lazy(), y.to_numpy())


def test_the_offset_of_new_rows_has_their_labels() -> None:
    X, y = made()
    fit = rs.rht_fit(X, y, offset=0.5 * X["x1"])
    np.testing.assert_allclose(
        fit.predict(X, offset=0.5 * X["x1"]), fit.fittedvalues, rtol=SUMMED, atol=SUMMED
    )
    with pytest.raises(DataError, match=r"in newdata .*offset\.loc\[|in another order"):
        fit.predict(X, offset=0.5 * X["x1"][::-1])
    assert fit.predict(X.to_numpy(), offset=0.5 * X["x1"][::-1]).notna().all()
