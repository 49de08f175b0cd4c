"""Medians of columns and of their deviations to the bit, whatever the values."""

import numpy as np
import pytest

from robustsparse import kernels
from robustsparse.base.types import Array

LENGTHS = [1, 2, 3, 4, 31, 32, 33, 127, 128, 129, 130, 301, 1000, 1001, 4000]


def designs(n: int, rng: np.random.Generator) -> dict[str, Array]:
    """Ten columns of each kind."""
    d = 10
    normal = rng.normal(size=(d, n))
    return {
        "normal": normal,
        "single precision": normal.astype(np.float32).astype(np.float64),
        "sorted": np.sort(normal, axis=1),
        "skewed": np.exp(3.0 * normal),
        "wild": rng.standard_t(0.5, size=(d, n)),
        "few values": rng.poisson(0.7, (d, n)).astype(float),
        "more values": rng.poisson(5.0, (d, n)).astype(float),
        "two values": (normal > 0.3).astype(float),
        "constant": np.full((d, n), -3.0),
        "half constant": np.where(np.arange(n) < n // 2, 2.0, normal),
        "hidden": np.where(np.arange(n) % 31 == 0, normal, 1.0),
        "huge": 1e307 * np.clip(normal, -4.0, 4.0),
        "tiny": 1e-310 * normal,
        "tiniest": np.full((d, n), 5e-324),
        "far apart": normal * 10.0 ** rng.integers(-200, 200, (d, n)),
    }


def medians(rows: Array) -> Array:
    """By sorting; two values in the middle are halved before they are added, as the largest ones must be."""
    n = rows.shape[1]
    ordered = np.sort(rows, axis=1)
    bottom, top = ordered[:, (n - 1) // 2], ordered[:, n // 2]
    return top if n % 2 else 0.5 * bottom + 0.5 * top


@pytest.mark.parametrize("n", LENGTHS)
def test_medians_and_deviations_are_those_of_sorted_columns(n: int) -> None:
    for name, rows in designs(n, np.random.default_rng(n)).items():
        expected = medians(rows)
        found, location, deviation = np.empty((3, len(rows)))
        kernels.row_deviations(rows, True, found, np.empty(0))
        np.testing.assert_array_equal(found, expected, err_msg=name)
        kernels.row_deviations(rows, True, location, deviation)
        np.testing.assert_array_equal(location, expected, err_msg=name)
        np.testing.assert_array_equal(
            deviation, medians(np.abs(rows - expected[:, None])), err_msg=name
        )
        kernels.row_deviations(rows, False, location, deviation)
        assert not location.any()
        np.testing.assert_array_equal(deviation, medians(np.abs(rows)), err_msg=name)
