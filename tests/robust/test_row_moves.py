"""Covariances from what rows move: against leaving them out, and against the sandwich of the MM-estimate."""

import numpy as np
import pytest

from robustsparse.robust.mm import mm_regression, mm_row_moves
from robustsparse.robust.row_moves import RowMoves, clustered, heteroscedastic
from robustsparse.robust.wrong_labels import logistic_row_moves, mislabeled_logistic

# The same numbers by two ways that round differently.
ROUNDING = 1e-9


def least_squares(A: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, RowMoves]:
    """Coefficients, and what rows do to them."""
    coef = np.linalg.lstsq(A, y, rcond=None)[0]
    resid = y - A @ coef
    inverse = np.linalg.inv(A.T @ A)
    nothing = np.zeros_like(A)
    return coef, RowMoves(A * resid[:, None], A, A, inverse, nothing, np.zeros_like(inverse))


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    A = np.column_stack([np.ones(40), rng.normal(size=(40, 2))])
    clusters = rng.permutation(np.repeat(np.arange(8), 5))
    return A, A.sum(axis=1) + rng.normal(size=40) + rng.normal(size=8)[clusters], clusters


def test_a_cluster_moves_coefficients_by_what_leaving_it_out_does(rows) -> None:
    A, y, clusters = rows
    coef, moves = least_squares(A, y)
    without = [least_squares(A[clusters != g], y[clusters != g])[0] for g in range(8)]
    np.testing.assert_allclose(moves.by_cluster(clusters), coef - np.array(without), rtol=ROUNDING)


def test_a_row_moves_coefficients_by_what_leaving_it_out_does(rows) -> None:
    A, y, _ = rows
    coef, moves = least_squares(A, y)
    without = [least_squares(np.delete(A, i, 0), np.delete(y, i))[0] for i in range(40)]
    np.testing.assert_allclose(moves.row_by_row(), coef - np.array(without), rtol=ROUNDING)


def test_clusters_of_one_row_are_rows(rows) -> None:
    A, y, _ = rows
    _, moves = least_squares(A, y)
    single = clustered(moves, np.arange(40))
    np.testing.assert_allclose(single, heteroscedastic(moves) * 39 / 40, rtol=ROUNDING)


def test_a_cluster_that_alone_knows_a_coefficient_is_no_division_by_zero(rows) -> None:
    A, y, clusters = rows
    dummy = np.column_stack([A, clusters == 3])
    _, moves = least_squares(dummy, y)
    cov = clustered(moves, clusters)
    assert np.isfinite(cov).all()
    assert np.linalg.eigvalsh(cov).min() > -ROUNDING


def test_robust_rows_give_the_sandwich_of_the_robust_fit() -> None:
    rng = np.random.default_rng(0)
    A = np.column_stack([np.ones(80), rng.normal(size=(80, 3))])
    y = 100.0 * (A @ [1.0, 2.0, 0.0, -1.0] + rng.standard_t(3, size=80))
    y[:8] = 5000.0
    prior = rng.uniform(0.2, 2.0, 80)
    prior[10:13] = 0.0
    fit = mm_regression(A, y, prior_weights=prior)
    cov = heteroscedastic(mm_row_moves(A, y, fit, prior))
    np.testing.assert_allclose(cov, fit.cov, rtol=1e-6)


def test_a_repeated_column_has_no_moves() -> None:
    rng = np.random.default_rng(0)
    A = np.column_stack([np.ones(60), rng.normal(size=60)])
    y = A.sum(axis=1) + rng.normal(size=60)
    wide = np.column_stack([A, A[:, 1]])
    fit = mm_regression(wide, y)
    moves = mm_row_moves(wide, y, fit)
    np.testing.assert_allclose(heteroscedastic(moves), fit.cov, rtol=1e-6, atol=1e-12)
    cov = clustered(moves, np.arange(60) // 4)
    assert not cov[2].any()
    assert cov[1, 1] > 0


def test_an_exact_fit_has_no_errors() -> None:
    A = np.column_stack([np.ones(20), np.arange(20.0)])
    y = A @ [1.0, 2.0]
    fit = mm_regression(A, y)
    assert not clustered(mm_row_moves(A, y, fit), np.arange(20) // 2).any()


def test_labels_that_are_there_twice_tell_no_more_than_once() -> None:
    rng = np.random.default_rng(0)
    A = np.column_stack([np.ones(400), rng.normal(size=(400, 2))])
    y = (rng.random(400) < 1 / (1 + np.exp(-A @ [0.0, 0.8, -0.8]))).astype(float)
    twice = np.vstack([A, A]), np.concatenate([y, y])
    one, two = (logistic_row_moves(*rows, mislabeled_logistic(*rows)) for rows in ((A, y), twice))
    in_pairs = clustered(two, np.tile(np.arange(400), 2)) - two.extra
    np.testing.assert_allclose(
        np.diag(in_pairs), np.diag(heteroscedastic(one) - one.extra), rtol=0.03
    )
    assert (np.diag(heteroscedastic(two) - two.extra) < 0.6 * np.diag(in_pairs)).all()


def test_the_empirical_variance_of_labels_is_that_of_the_likelihood() -> None:
    rng = np.random.default_rng(1)
    A = np.column_stack([np.ones(2000), rng.normal(size=(2000, 2))])
    y = (rng.random(2000) < 1 / (1 + np.exp(-A @ [0.0, 0.8, -0.8]))).astype(float)
    fit = mislabeled_logistic(A, y)
    cov = heteroscedastic(logistic_row_moves(A, y, fit))
    np.testing.assert_allclose(np.diag(cov), np.diag(fit.cov), rtol=0.05)
