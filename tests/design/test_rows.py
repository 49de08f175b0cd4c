"""Rows that cannot be used are counted, dropped or refused."""

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.errors import DataError
from robustsparse.design.build import build_design

N = 24


# Rows that cannot be used


def test_missing_and_infinite_rows_are_counted_apart(data: pd.DataFrame) -> None:
    data.iloc[0, data.columns.get_loc("a")] = np.nan
    data.iloc[1, data.columns.get_loc("a")] = np.inf
    data.iloc[2, data.columns.get_loc("g")] = None
    data.iloc[3, data.columns.get_loc("y")] = -np.inf
    data.iloc[4, data.columns.get_loc("y")] = np.nan
    data.iloc[4, data.columns.get_loc("b")] = np.inf
    design = build_design("y ~ .", data)
    assert (design.dropped.missing, design.dropped.infinite) == (3, 2)
    assert design.dropped.labels.tolist() == ["row0", "row1", "row2", "row3", "row4"]
    assert design.dropped.columns == {"a": 2, "b": 1, "g": 1, "y": 2}
    assert design.rows.tolist() == data.index[5:].tolist()
    assert np.isfinite(design.X).all()


def test_clean_data_drop_nothing(data: pd.DataFrame) -> None:
    dropped = build_design("y ~ .", data).dropped
    assert (dropped.missing, dropped.infinite, len(dropped.labels)) == (0, 0, 0)
    assert dropped.columns == {}


@pytest.mark.parametrize("formula", ["y ~ log(z)", "y ~ center(log(z)):g", "log(z) ~ a"])
def test_infinity_made_by_a_transform(data: pd.DataFrame, formula: str) -> None:
    data["z"] = [0.0] + [1.0, 2.0, 3.0] * 7 + [-1.0, 4.0]
    design = build_design(formula, data)
    assert (design.dropped.missing, design.dropped.infinite) == (1, 1)
    assert design.dropped.labels.tolist() == ["row0", "row22"]
    assert np.isfinite(design.X).all()


def test_infinity_made_by_a_product(data: pd.DataFrame) -> None:
    data.iloc[2, [1, 2]] = 1e200
    design = build_design("y ~ a:b + g", data)
    assert design.dropped.columns == {"a:b": 1}
    assert (design.dropped.infinite, len(design.rows)) == (1, N - 1)


def test_infinite_input_does_not_spoil_what_a_transform_learns(data: pd.DataFrame) -> None:
    spoiled = data.copy()
    spoiled.loc["row5", "a"] = np.inf
    for term in ("center(a)", "scale(a)", "poly(a, 2)", "bs(a, df=4)"):
        expected = build_design(f"y ~ {term}", data.drop(index="row5"))
        np.testing.assert_array_equal(build_design(f"y ~ {term}", spoiled).X, expected.X)


@pytest.mark.parametrize("term", ["center(a)", "scale(a)", "standardize(a)"])
def test_one_hole_does_not_empty_a_centered_column(data: pd.DataFrame, term: str) -> None:
    data.loc["row5", "a"] = np.nan
    design = build_design(f"y ~ {term}", data)
    expected = build_design(f"y ~ {term}", data.dropna())
    assert design.dropped.missing == 1
    np.testing.assert_array_equal(design.X, expected.X)


@pytest.mark.parametrize("formula", ["y ~ {a > 0}", "y ~ I(a > 0):g", "y ~ np.where(a > 0, 1, 2)"])
def test_missing_is_not_false(data: pd.DataFrame, formula: str) -> None:
    data.loc["row5", "a"] = np.nan
    design = build_design(formula, data)
    assert design.dropped.labels.tolist() == ["row5"]
    assert np.isnan(design.spec.matrix(data)[0][5]).all()


def test_filled_holes_are_used(data: pd.DataFrame) -> None:
    data.loc["row5", "a"] = np.nan
    design = build_design("y ~ a.fillna(0) + {a.fillna(0) > 0}", data)
    assert design.dropped.missing == 0
    assert design.X[5].tolist() == [0.0, 0.0]


def test_duplicate_index_labels(data: pd.DataFrame) -> None:
    data.index = pd.Index(["same"] * N)
    data.iloc[3, data.columns.get_loc("a")] = np.nan
    design = build_design("y ~ a*g + center(b)", data)
    assert len(design.rows) == N - 1
    np.testing.assert_array_equal(design.response.values, np.delete(data["y"].to_numpy(), 3))
    assert len(design.spec.matrix(data)[1]) == N


def test_raise_names_columns_counts_and_rows(data: pd.DataFrame) -> None:
    data.loc[["row1", "row7"], "a"] = np.nan
    data.loc["row3", "g"] = None
    with pytest.raises(
        DataError, match=r"3 of 24 rows .* a \(2\), g \(1\).*'row1', 'row3', 'row7'"
    ):
        build_design("y ~ .", data, na_action="raise")
    data["b"] = np.inf
    with pytest.raises(DataError, match=r"b \(24\)"):
        build_design("y ~ b", data, na_action="raise")
    with pytest.raises(DataError, match=r"log\(z\) \(1\)"):
        build_design("y ~ log(z)", data.assign(z=[0.0] + [1.0] * (N - 1)), na_action="raise")
    assert len(build_design("y ~ 0 + a", data.dropna(), na_action="raise").rows) == N - 3


def test_no_row_left(data: pd.DataFrame) -> None:
    data["a"] = np.nan
    with pytest.raises(DataError, match=r"no row is left.*a \(24\)"):
        build_design("y ~ .", data)
    with pytest.raises(DataError, match="no rows"):
        build_design("y ~ a", data.head(0))


def test_missing_levels_lose_their_column(data: pd.DataFrame) -> None:
    data.loc[data["g"] == "w", "a"] = np.nan
    assert build_design("y ~ g + a", data).names == ("g[T.v]", "a")
