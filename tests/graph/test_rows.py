"""Judging rows and cells on all variables at once."""

import numpy as np
import pytest
from scipy.stats import norm

import robustsparse as rs
from robustsparse.graph.rows import correlation, normal_scores, trusted_rows, wrong_cells
from robustsparse.scaling import standardize

SEEDS = range(5)


def judged(sim):
    return trusted_rows(standardize(sim.X, "mad")[0])


@pytest.mark.parametrize("shape", [(100, 100), (200, 200)])
def test_shifted_rows_are_rejected_and_no_good_ones(shape):
    for seed in SEEDS:
        sim = rs.simulate.graph(*shape, epsilon=0.1, rng=seed)
        assert np.array_equal(judged(sim).weights == 0, sim.outlier)


@pytest.mark.parametrize("tail", ["gaussian", "t3", "lognormal"])
def test_rows_of_a_heavy_tail_are_shrunk_but_kept(tail):
    for seed in SEEDS:
        rows = judged(rs.simulate.graph(100, 100, epsilon=0.0, tail=tail, rng=seed))
        # One row in a hundred may look like an outlier by chance.
        assert (rows.weights == 0).sum() <= 1
        assert rows.weights.max() == 1.0


def test_a_large_row_gets_a_smaller_weight():
    rng = np.random.default_rng(0)
    XT = rng.normal(size=(40, 60))
    XT[:, 7] *= 3.0
    weights = trusted_rows(XT).weights
    assert np.argmin(weights) == 7
    assert 0 < weights[7] < 0.6


def test_errors_in_cells_are_found_and_heavy_tails_are_none():
    for seed in SEEDS:
        sim = rs.simulate.graph(100, 100, epsilon=0.0, cellwise=0.05, rng=seed)
        found = wrong_cells(standardize(sim.X, "mad")[0]).T
        assert (found & sim.outlier_cells).sum() >= 0.95 * sim.outlier_cells.sum()
        assert (found & ~sim.outlier_cells).mean() <= 0.005
        for tail in ("t3", "lognormal"):
            heavy = rs.simulate.graph(100, 100, epsilon=0.0, tail=tail, rng=seed)
            assert not wrong_cells(standardize(heavy.X, "mad")[0]).any()


def test_errors_are_found_in_their_own_units():
    rng = np.random.default_rng(1)
    XT = rng.normal(size=(20, 100))
    XT[:, :5] = np.geomspace(8, 1e6, 20)[:, None]
    assert np.array_equal(np.flatnonzero(wrong_cells(XT).all(axis=0)), np.arange(5))


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
