"""What is asked of every column in one pass, against numpy and pandas."""

import numpy as np
import pandas as pd
import pytest

from robustsparse import kernels

SUMS = 1e-12


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (50, 7), (2, 1001)])
def test_hashes_are_those_of_pandas(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=shape) * 10.0 ** rng.integers(-300, 300, shape)
    rows[rng.random(shape) < 0.2] = 0.0
    rows[rng.random(shape) < 0.2] = -0.0
    rows[rng.random(shape) < 0.1] = np.nan
    factors = rng.integers(0, 2**63, shape[1], dtype=np.uint64)
    hashes = pd.util.hash_array((rows + 0.0).ravel(), categorize=False).reshape(shape)
    out = np.empty(shape[0], dtype=np.uint64)
    kernels.hash_rows(rows.view(np.uint64), factors, out)
    np.testing.assert_array_equal(out, hashes @ factors)


def test_counts_are_added_to_those_before() -> None:
    rows = np.random.default_rng(0).standard_t(2.0, size=(70, 33))
    rows[3] = np.inf
    limits = np.array([5.0, 3.0, 3.5])
    counts = np.ones((3, 33), dtype=np.int32)
    kernels.count_beyond(rows, limits, counts)
    expected = 1 + (np.abs(rows) > limits[:, None, None]).sum(axis=1)
    np.testing.assert_array_equal(counts, expected)


def test_slopes_of_the_middle() -> None:
    rng = np.random.default_rng(0)
    rows, y = 1.5 * rng.normal(size=(40, 101)), rng.normal(size=101)
    y -= y.mean()
    rows[0] = 0.0
    rows[1] = 9.0
    rows[2, 5] = 1e300
    z = np.where(np.abs(rows) < 2.0, rows * (1.0 - (np.clip(rows, -2.0, 2.0) / 2.0) ** 2) ** 2, 0.0)
    z -= z.mean(axis=1, keepdims=True)
    length = np.linalg.norm(z, axis=1)
    out = np.empty(40)
    kernels.bisquare_slopes(rows, y, 2.0, out)
    expected = np.abs(z @ y) / np.where(length > 0, length, np.inf)
    np.testing.assert_allclose(out, expected, rtol=SUMS, atol=SUMS)
    assert not out[:2].any()
    assert out[2] > 0


def test_squares_of_values_that_do_not_count_may_be_infinite() -> None:
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(9, 50)), rng.uniform(size=50)
    weights[::4] = 0.0
    expected = (rows**2) @ weights
    rows[:, ::4] = 1e200
    out = np.empty(9)
    kernels.weighted_squares(rows, weights, out)
    np.testing.assert_allclose(out, expected, rtol=SUMS)
