"""The laws behind the simulations: population moments, the Toeplitz square root, counts."""

import numpy as np
import pytest
from scipy.linalg import sqrtm, toeplitz

from robustsparse.base.errors import ParameterError
from robustsparse.simulate.draws import (
    autoregression,
    correlated_rows,
    outlier_count,
    sparse_signs,
    standardized,
    toeplitz_sqrt_rows,
)

ROUNDING = 1e-12  # the quadrature converges to rounding error, which grows with the condition
MONTE_CARLO = 5.0  # standard errors; a false alarm once in two million


def test_standardized_lognormal_uses_population_moments() -> None:
    values = standardized("lognormal", (200_000,), np.random.default_rng(0))
    # Undo the standardization with the moments of logN(0, 4): what is left must be log-normal.
    log_z = np.log(values * np.sqrt((np.exp(4) - 1) * np.exp(4)) + np.exp(2))
    assert abs(log_z.mean()) < MONTE_CARLO * 2 / np.sqrt(len(values))
    assert abs(log_z.std() - 2) < MONTE_CARLO * 2 / np.sqrt(2 * len(values))


@pytest.mark.parametrize(("tail", "upper_quartile"), [("gaussian", 0.6745), ("cauchy", 1.0)])
def test_quartiles_of_symmetric_tails(tail: str, upper_quartile: float) -> None:
    values = standardized(tail, (100_000,), np.random.default_rng(1))
    assert np.quantile(values, 0.75) == pytest.approx(upper_quartile, abs=0.03)
    assert np.quantile(values, 0.25) == pytest.approx(-upper_quartile, abs=0.03)


def test_t3_has_the_quartiles_of_a_unit_variance_t() -> None:
    values = standardized("t3", (100_000,), np.random.default_rng(1))
    assert np.quantile(values, 0.75) == pytest.approx(0.7649 / np.sqrt(3), abs=0.02)


@pytest.mark.parametrize("rho", [0.0, np.exp(-1), 0.9, -0.7, 0.99])
def test_square_root_is_the_symmetric_one(rho: float) -> None:
    root = sqrtm(toeplitz(rho ** np.arange(30)))
    np.testing.assert_allclose(toeplitz_sqrt_rows(np.eye(30), rho), root, atol=ROUNDING)


def test_square_root_of_a_single_column() -> None:
    np.testing.assert_array_equal(toeplitz_sqrt_rows(np.array([[2.0]]), 0.5), [[2.0]])


@pytest.mark.parametrize("rho", [0.6, -0.4])
def test_autoregression_is_a_square_root_too(rho: float) -> None:
    root = autoregression(np.eye(12), rho)
    np.testing.assert_allclose(root.T @ root, toeplitz(rho ** np.arange(12)), atol=ROUNDING)


def test_rows_have_the_toeplitz_correlation() -> None:
    X = correlated_rows("gaussian", 20_000, 4, 0.5, np.random.default_rng(2))
    np.testing.assert_allclose(np.corrcoef(X.T), toeplitz(0.5 ** np.arange(4)), atol=0.05)


def test_sparse_signs() -> None:
    beta = sparse_signs(50, 7, np.random.default_rng(3))
    assert np.count_nonzero(beta) == 7
    assert set(np.abs(beta[beta != 0])) == {1.0}
    with pytest.raises(ParameterError, match="k=51"):
        sparse_signs(50, 51, np.random.default_rng(3))


@pytest.mark.parametrize(
    ("n", "epsilon", "count"),
    [(300, 0.1, 33), (300, 0.2, 75), (100, 0.1, 11), (300, 0.0, 0), (4, 0.01, 1)],
)
def test_outlier_count(n: int, epsilon: float, count: int) -> None:
    assert outlier_count(n, epsilon) == count


@pytest.mark.parametrize("epsilon", [-0.1, 1.0, float("nan")])
def test_outlier_count_rejects_what_is_no_fraction(epsilon: float) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        outlier_count(100, epsilon)
