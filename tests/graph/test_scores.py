"""Normal scores and weighted correlations."""

import numpy as np
from scipy.stats import norm

from robustsparse.graph.scores import correlation, normal_scores


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
