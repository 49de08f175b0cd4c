"""Growth: the exponent, the sizes, and data that are what they are said to be."""

from math import exp

import numpy as np
import pytest

from benchmarks import growth, large
from benchmarks.growth import FULL, QUICK, Axis, Size, exponent, measure

# Sampling error of a mean of 40,000 products with variance about 1, five standard deviations.
SAMPLING = 5 / 200
LARGEST = 500_000_000


def test_exponent_leaves_small_sizes_out() -> None:
    sizes = np.array([1.0, 2.0, 50.0, 100.0, 200.0])
    times = 2.0 * sizes**1.3
    times[:2] += 1000.0
    assert exponent(sizes, times) == pytest.approx(1.3)


def test_exponent_takes_three_sizes_at_least() -> None:
    sizes = np.array([1.0, 100.0, 10_000.0])
    assert exponent(sizes, np.array([1.0, 10.0, 1000.0])) == pytest.approx(0.75)


def test_axis() -> None:
    axis = Axis("d", Size(100, 0, 5), (20, 1_000), 50_000)
    assert axis.sizes() == [Size(100, 20, 5), Size(100, 1_000, 5)]
    assert axis.fixed == "n = 100, k = 5"


def test_full_runs_reach_the_largest_design_in_rows_and_columns() -> None:
    reach = {axis.name: max(size.entries for size in axis.sizes()) for axis in FULL}
    assert reach["n"] == reach["d"] == LARGEST
    assert all(list(axis.values) == sorted(axis.values) for axis in (*QUICK, *FULL))


def test_large_designs_are_the_papers() -> None:
    XT, _ = large.draw(200, 300, 3, seed=1)
    bad = np.isin(np.abs(XT), [1.0]).all(axis=0)
    assert bad.sum() == 20
    good = XT[:, ~bad]
    assert np.mean(good[1:] * good[:-1]) == pytest.approx(exp(-1), abs=SAMPLING)
    assert np.mean(good[2:] * good[:-2]) == pytest.approx(exp(-2), abs=SAMPLING)
    assert good.std() == pytest.approx(1.0, abs=SAMPLING)


def test_large_responses_follow_three_columns_and_bad_rows_their_opposite() -> None:
    XT, y = large.draw(2_000, 30, 3, seed=2)
    bad = np.isin(np.abs(XT), [1.0]).all(axis=0)
    coef = np.linalg.lstsq(XT[:, ~bad].T, y[~bad], rcond=None)[0]
    assert sorted(np.abs(coef.round()))[-4:] == [0, 1, 1, 1]
    np.testing.assert_allclose(y[bad], -coef.round() @ XT[:, bad])


def test_rows_of_a_small_axis() -> None:
    rows = measure(Axis("n", Size(0, 40, 2), (60, 90, 120), 90 * 40))
    sizes = {row.method: row.sizes for row in rows}
    assert sizes == {
        growth.FIXED: (60, 90, 120),
        growth.WHOLE: (60, 90),
        growth.VANILLA: (60, 90, 120),
    }
    bars = {row.method: row.bar for row in rows}
    assert bars == {growth.FIXED: 1.05, growth.WHOLE: 1.05, growth.VANILLA: None}
    assert all(len(row.seconds) == len(row.sizes) and min(row.seconds) > 0 for row in rows)
    assert rows[0].entries == 4800
