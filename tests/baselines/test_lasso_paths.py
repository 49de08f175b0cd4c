"""Lasso of every variable on all others, from a covariance matrix."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import lasso_path

from robustsparse.base.errors import ConvergenceWarning, DataError, ParameterError
from robustsparse.baselines.lasso_paths import (
    TOLERANCE,
    Array,
    descending,
    lambda_path,
    lasso_paths,
)

# The equations of the minimum hold to the solver's tolerance; sums of d terms add some.
KKT = 10 * TOLERANCE
# scikit-learn stops by its duality gap, whose square root bounds the coefficients.
SKLEARN = 1e-6


def sample(n: int, d: int, seed: int = 0, factor: float = 1.0) -> Array:
    """Standardized columns that share a factor."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + factor * rng.normal(size=(n, 1))
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def violation(S: Array, penalty: float, B: Array) -> float:
    """How far the coefficients are from the equations of the lasso's minimum, over all nodes."""
    gradient = S - B @ S
    off = ~np.eye(len(S), dtype=bool)
    at_zero = np.maximum(np.abs(gradient) - penalty, 0.0)[(B == 0) & off]
    elsewhere = np.abs(gradient - penalty * np.sign(B))[B != 0]
    return float(max(at_zero.max(initial=0.0), elsewhere.max(initial=0.0)))


# Few rows make a singular matrix, a strong factor one in which coordinate descent alone is slow.
@pytest.mark.parametrize(("n", "factor"), [(200, 0.0), (200, 5.0), (15, 1.0), (15, 0.0)])
def test_equations_of_the_minimum_hold(n: int, factor: float) -> None:
    X = sample(n, 40, factor=factor)
    S = X.T @ X / n
    lambdas = lambda_path(S, 12, 0.01)
    for penalty, B in zip(lambdas, lasso_paths(S, lambdas), strict=True):
        assert violation(S, penalty, B) < KKT
        assert not np.diag(B).any()


def test_equals_scikit_learn() -> None:
    X = sample(60, 20)
    S = X.T @ X / 60
    lambdas = lambda_path(S, 10, 0.05)
    ours = lasso_paths(S, lambdas)
    for j in range(3):
        others = np.delete(np.arange(20), j)
        _, theirs, _ = lasso_path(X[:, others], X[:, j], alphas=lambdas, tol=1e-14, max_iter=10_000)
        np.testing.assert_allclose(ours[:, j, others], theirs.T, atol=SKLEARN)


def test_variances_need_not_be_one() -> None:
    X = sample(50, 8)
    scales = np.arange(1.0, 9.0)
    S = X.T @ X / 50 * np.outer(scales, scales)
    assert violation(S, 0.3, lasso_paths(S, [0.3])[0]) < KKT * 64


def test_first_penalty_of_the_path_leaves_nothing_and_a_smaller_one_something() -> None:
    X = sample(50, 8)
    S = X.T @ X / 50
    first = lambda_path(S, 5)[0]
    B = lasso_paths(S, [first, 0.99 * first])
    assert not B[0].any()
    assert np.count_nonzero(B[1]) >= 2


def test_order_of_penalties_does_not_matter() -> None:
    X = sample(30, 6)
    S = X.T @ X / 30
    np.testing.assert_array_equal(lasso_paths(S, [0.1, 0.5]), lasso_paths(S, [0.5, 0.1]))


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robustsparse.base.threads._ENTRIES_FOR_THREADS", 0)
    X = sample(30, 11)
    S = X.T @ X / 30
    np.testing.assert_array_equal(
        lasso_paths(S, [0.2, 0.1], threads=3), lasso_paths(S, [0.2, 0.1], threads=1)
    )


def test_indefinite_matrix_warns() -> None:
    S = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 1.5], [-0.9, 1.5, 1.0]])
    with pytest.warns(ConvergenceWarning, match="positive semidefinite"):
        B = lasso_paths(S, [0.95, 0.01])
    assert np.isfinite(B).all()


@pytest.mark.parametrize("bad", [[-0.1], [np.nan], [], "wide", [[0.1]]])
def test_senseless_penalties(bad: Any) -> None:
    with pytest.raises(ParameterError, match="lambdas"):
        descending(bad)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "finite"),
        (np.zeros((2, 2)), "positive"),
    ],
)
def test_senseless_matrices(bad: Array, message: str) -> None:
    with pytest.raises(DataError, match=message):
        lasso_paths(bad, [0.1])


def test_nothing_to_find() -> None:
    with pytest.raises(DataError, match="uncorrelated"):
        lambda_path(np.eye(3))
