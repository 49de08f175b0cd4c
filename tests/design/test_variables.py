"""Variables of a graph, with gaps that are left out, refused or marked."""

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.design.variables import variables
from robustsparse.robust.scales import median_and_mad


@pytest.fixture
def frame():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[3, 0], X[5, 1], X[6, 1] = np.nan, np.inf, -np.inf
    return pd.DataFrame(X, columns=["a", "b", "c"], index=[f"r{i}" for i in range(40)])


def test_rows_with_gaps_are_left_out_by_default(frame):
    got = variables(frame)
    assert got.X.shape == (37, 3)
    assert got.left_out == 3
    assert got.missing is None
    assert got.notes == ("3 rows with missing or infinite values were left out",)


def test_gaps_to_impute_are_marked_and_hold_numbers(frame):
    got = variables(frame, na_action="impute")
    known = np.isfinite(frame.to_numpy())
    assert np.array_equal(got.missing, ~known)
    assert np.array_equal(got.X[known], frame.to_numpy()[known])
    assert np.isfinite(got.X).all()
    assert list(got.rows) == list(frame.index)
    assert got.notes == ()


def test_without_gaps_there_is_no_mask(frame):
    whole = frame.dropna().iloc[10:]
    assert variables(whole, na_action="impute").missing is None


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7])
def test_placeholders_leave_median_and_mad_as_they_are(share):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.gamma(2.0, size=(400, 2))
        gaps = rng.random(X.shape) < share
        got = variables(np.where(gaps, np.nan, X), na_action="impute")
        full = got.X[:, 0]
        median, mad = median_and_mad(X[got.rows, 0][~got.missing[:, 0]])
        # A fifth of what chance does to a median of all rows.
        assert median_and_mad(full) == pytest.approx((median, mad), abs=0.015)


def test_placeholders_of_two_values_are_these_values():
    X = np.random.default_rng(0).integers(0, 2, size=(50, 2)).astype(float)
    X[:5, 0] = np.nan
    assert set(np.unique(variables(X, na_action="impute").X)) == {0.0, 1.0}


def test_a_column_without_values_is_named(frame):
    with pytest.raises(rs.DataError, match=r"'b' have no values.*drop them"):
        variables(frame.assign(b=np.nan), na_action="impute")


def test_a_row_without_values_is_left_out_and_noted(frame):
    frame.iloc[8] = np.nan
    got = variables(frame, na_action="impute")
    assert got.X.shape == got.missing.shape == (39, 3)
    assert "r8" not in got.rows
    assert got.notes == ("1 row with no values at all was left out",)


def test_a_formula_may_choose_among_columns_with_gaps(frame):
    data = frame.assign(g="u", e=np.nan)
    got = variables(data, "~ . - g - e - a", na_action="impute")
    assert got.nodes == ("b", "c")
    assert got.missing.sum() == 2
    with pytest.raises(rs.ParameterError, match=r"'exp\(b\)'.*columns in the data"):
        variables(data, "~ a + exp(b)", na_action="impute")


def test_the_data_are_not_changed(frame):
    before, array = frame.copy(), frame.to_numpy(copy=True)
    for formula in (None, "~ ."):
        variables(frame, formula, na_action="impute")
    variables(array, na_action="impute")
    pd.testing.assert_frame_equal(frame, before)
    np.testing.assert_array_equal(array, before.to_numpy())


def test_refused_gaps_name_both_remedies(frame):
    with pytest.raises(rs.DataError, match=r'na_action="impute".*na_action="drop"'):
        variables(frame, na_action="raise")
