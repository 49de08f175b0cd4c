"""Normal scores and weighted correlations."""

import numpy as np
import pytest
from scipy.stats import norm

from robustsparse.graph.scores import as_uncut, correlation, normal_scores


def test_normal_scores_of_ties_are_equal_and_of_ranks_normal():
    scores = normal_scores(np.array([[3.0, 1.0, 1.0, 9.0]]))
    assert scores[0, 1] == scores[0, 2]
    assert np.allclose(scores[0], norm.ppf(np.array([3.0, 1.5, 1.5, 4.0]) / 5.0))


def test_correlation_is_numpys_with_equal_weights():
    X = np.random.default_rng(2).normal(size=(4, 30))
    assert np.allclose(correlation(X, np.full(30, 0.3)), np.corrcoef(X), atol=1e-14)


def test_correlation_with_whole_weights_repeats_rows():
    X = np.random.default_rng(3).normal(size=(3, 12))
    times = np.arange(12) % 3
    assert np.allclose(
        correlation(X, times.astype(float)), np.corrcoef(np.repeat(X, times, axis=1))
    )


@pytest.mark.parametrize("cut", [0.7, 1.3, 2.0])
@pytest.mark.parametrize("rho", [-0.8, 0.3, 0.95])
def test_correlations_of_cut_scores_are_brought_back(cut, rho):
    x, e = np.random.default_rng(4).normal(size=(2, 200_000))
    cut_off = np.clip([x, rho * x + np.sqrt(1 - rho**2) * e], -cut, cut)
    # Three standard errors.
    assert as_uncut(np.corrcoef(cut_off), cut)[0, 1] == pytest.approx(rho, abs=0.008)


def test_correlations_that_nothing_was_cut_off_stay():
    S = np.array([[1.0, -0.5, 0.0], [-0.5, 1.0, 0.9], [0.0, 0.9, 1.0]])
    assert np.allclose(as_uncut(S, 8.0), S, atol=2e-3)
    assert np.array_equal(np.diag(as_uncut(S, 1.0)), np.ones(3))
    assert as_uncut(S, 1.0)[0, 2] == 0.0
