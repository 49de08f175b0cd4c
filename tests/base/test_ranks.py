"""Ranks of the values of a column."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from robustsparse.base import ranks


@pytest.mark.parametrize("digits", [0, 1, 8])
@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (7, 40), (333, 9)])
@pytest.mark.parametrize("at_once", [1, 50, 10**6])
def test_ranks_are_scipys_however_many_rows_are_taken_at_once(shape, digits, at_once, monkeypatch):
    monkeypatch.setattr(ranks, "_ENTRIES_AT_ONCE", at_once)
    X = np.random.default_rng(0).normal(size=shape).round(digits)
    expected = rankdata(X, axis=0)
    assert np.array_equal(ranks.column_ranks(X), expected)
    quantiles = norm.ppf(expected / (len(X) + 1)).T
    np.testing.assert_allclose(ranks.normal_quantiles(X.T), quantiles, rtol=1e-12, atol=1e-12)
    # The same numbers, in another order in memory.
    np.testing.assert_array_equal(
        ranks.normal_quantiles(np.ascontiguousarray(X.T)), ranks.normal_quantiles(X.T)
    )


def test_ranks_leave_the_data_as_they_are():
    X = np.random.default_rng(1).normal(size=(20, 4)).round(1)
    before = X.copy()
    ranks.column_ranks(X)
    assert np.array_equal(X, before)


def test_signs_of_zero_are_ties():
    assert ranks.column_ranks(np.array([[0.0], [-0.0], [-1.0]])).ravel().tolist() == [2.5, 2.5, 1.0]


def test_columns_without_rows_have_no_ranks():
    assert ranks.column_ranks(np.empty((0, 3))).shape == (0, 3)
