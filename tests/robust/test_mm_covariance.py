"""Covariance and degrees of freedom of an MM-estimate, in samples that are small."""

import numpy as np
import pytest
from scipy.stats import t

from robustsparse.robust.mm import mm_regression
from robustsparse.robust.mm_covariance import degrees_of_freedom, leverages
from robustsparse.robust.s_estimate import make_problem


def design(seed: int, n: int, p: int) -> tuple[np.ndarray, np.random.Generator]:
    rng = np.random.default_rng([29, seed])
    return np.column_stack([np.ones(n), rng.normal(size=(n, p - 1))]), rng


def test_leverages_are_the_diagonal_of_the_hat_matrix() -> None:
    A, rng = design(0, 25, 4)
    prior, weights = rng.uniform(0.5, 2.0, 25), rng.uniform(size=25)
    task = make_problem(A, rng.normal(size=25), prior)
    Q = np.linalg.qr(A * np.sqrt(prior * weights)[:, None])[0]
    np.testing.assert_allclose(leverages(task, weights), (Q**2).sum(axis=1), atol=1e-10)


def test_degrees_of_freedom_are_the_trusted_rows_less_what_they_tell() -> None:
    A, rng = design(1, 12, 3)
    y, weights = rng.normal(size=12), np.r_[0.0, 0.5, np.ones(10)]
    for size in (1.0, 7.0):
        task = make_problem(A, y, np.full(12, size))
        assert degrees_of_freedom(task, weights) == pytest.approx(6.5)
    # A row of hardly any weight is as good as none.
    task = make_problem(A, y, np.r_[np.full(4, 1e-12), np.ones(8)])
    assert degrees_of_freedom(task, np.ones(12)) == pytest.approx(4.0)
    assert degrees_of_freedom(task, np.r_[np.zeros(10), np.ones(2)]) == 1.0
    assert degrees_of_freedom(task, np.zeros(12)) == 1.0


def test_a_fit_has_the_degrees_of_its_weights() -> None:
    A, rng = design(2, 30, 3)
    y = rng.normal(size=30)
    y[:4] += 100.0
    fit = mm_regression(A, y)
    assert fit.df == pytest.approx(fit.weights.sum() - 4)
    assert fit.df < 22
    # Rows on one plane: all but the two that are off it.
    y = A @ [1.0, 2.0, 3.0]
    y[:2] += 1.0
    assert mm_regression(A, y).df == pytest.approx(24.0)


def test_a_coefficient_of_one_row_is_as_uncertain_as_its_response() -> None:
    """Its residual is zero, and says nothing."""
    A, rng = design(3, 60, 2)
    y = rng.normal(size=60)
    alone = np.column_stack([A, np.arange(60) == 59]).astype(float)
    fit = mm_regression(alone, y)
    assert np.sqrt(fit.cov[2, 2]) == pytest.approx(fit.scale, rel=0.15)
    without = mm_regression(A[:59], y[:59])
    np.testing.assert_allclose(np.diag(fit.cov)[:2], np.diag(without.cov), rtol=0.1)


def test_standard_errors_are_those_of_leaving_rows_out() -> None:
    """The ratio of the two, over designs with rows of high leverage."""
    ratios = []
    for seed in range(12):
        A, rng = design(100 + seed, 30, 3)
        A[0, 1:] *= 4.0
        y = rng.normal(size=30)
        fit = mm_regression(A, y)
        rows = np.arange(30)
        left = [
            mm_regression(A[rows != i], y[rows != i], starts=fit.coef, subsamples=0).coef
            for i in rows
        ]
        ratios.append(np.sqrt(np.diag(fit.cov) / np.sum((left - fit.coef) ** 2, axis=0)))
    # A rejected row that comes back when another is out makes single designs differ.
    np.testing.assert_allclose(np.median(ratios, axis=0), 1.0, atol=0.12)


# 300 data sets with two slopes each: shares of intervals have a standard error of 0.01 or so.
@pytest.mark.parametrize("bad", [False, True])
@pytest.mark.parametrize("n", [10, 20])
def test_small_samples_keep_their_promise(n: int, bad: bool) -> None:
    covered, normal = [], []
    for seed in range(300):
        A, rng = design(1000 + seed, n, 3)
        y = A.sum(axis=1) + rng.normal(size=n)
        if bad:
            y[: n // 10] += 20.0
        fit = mm_regression(A, y, subsamples=50)
        off = np.abs(fit.coef - 1.0)[1:] / np.sqrt(np.diag(fit.cov))[1:]
        covered.append(off < t.ppf(0.975, fit.df))
        normal.append(off < 1.96)
    assert 0.92 < np.mean(covered) < 0.98
    assert np.mean(normal) < np.mean(covered)
