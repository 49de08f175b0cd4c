"""Rows of rare levels that share a shift are not outliers."""

import numpy as np
import pytest

from robustsparse.algorithm.losses import Squared
from robustsparse.regression.fit.levels import RareLevels
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian


@pytest.fixture
def levels() -> RareLevels:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    X[:, 1] = np.arange(100) < 8
    X[:, 2] = np.arange(100) < 50
    X[:, 3] = np.where(np.arange(100) < 95, 3.0, -1.0)
    X[:, 4] = np.arange(100) < 2
    return RareLevels.of(standardized(X, X[:, 0], Squared(), family=Gaussian(), how="mad"))


def test_only_rare_values_of_two_count(levels: RareLevels) -> None:
    assert levels.columns.tolist() == [1, 3]
    assert [np.flatnonzero(rows).tolist() for rows in levels.members] == [
        list(range(8)), list(range(95, 100)),
    ]  # fmt: skip


def test_rows_that_share_a_shift_come_back_with_their_column(levels: RareLevels) -> None:
    resid = np.zeros(100)
    resid[:8] = 10.0 + np.linspace(-1, 1, 8)
    resid[40] = 12.0
    good = np.abs(resid) < 3
    kept, columns = levels.mended(good, resid)
    assert columns.tolist() == [1]
    assert np.flatnonzero(~kept).tolist() == [40]


def test_rows_that_do_not_agree_stay_out(levels: RareLevels) -> None:
    resid = np.zeros(100)
    resid[:8] = [10, -12, 30, -8, 55, -20, 9, -40]
    good = np.abs(resid) < 3
    kept, columns = levels.mended(good, resid)
    assert not len(columns)
    np.testing.assert_array_equal(kept, good)


def test_a_few_bad_rows_of_a_level_stay_out(levels: RareLevels) -> None:
    resid = np.zeros(100)
    resid[:3] = 10.0
    good = np.abs(resid) < 3
    kept, columns = levels.mended(good, resid)
    assert not len(columns)
    assert not kept[:3].any()
