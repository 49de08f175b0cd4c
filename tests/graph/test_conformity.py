"""Rows judged by what neighbors leave of their variables."""

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.graph.conformity import (
    coefficients_on_nearest,
    expected_scores,
    is_minority,
    rows_apart,
    unexplained,
    weights_by_size,
)
from robustsparse.graph.rows import trusted_rows
from robustsparse.graph.scores import correlation, normal_scores
from robustsparse.robust.standardize import standardize

SEEDS = range(5)
KINDS = ["band", "hub", "random", "cluster"]


def judged(**setting):
    sim = rs.simulate.graph(200, 50, **setting)
    return sim, trusted_rows(standardize(sim.X, "mad")[0])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_around_one_point_are_rejected_at_any_size(kind):
    good = []
    for seed in SEEDS:
        sim, rows = judged(kind=kind, outliers="concentrated", shift=1.0, rng=seed)
        assert (rows.weights[sim.outlier] == 0).all()
        good.append((rows.weights[~sim.outlier] == 0).mean())
    # A good row may lie on their side by chance.
    assert np.mean(good) <= 0.005


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("common", [{"factor": 1.0}, {"second": 0.3}, {"second": 0.4}])
def test_populations_and_extremes_of_a_factor_are_kept(kind, common):
    rejected = [
        (judged(kind=kind, epsilon=0.0, rng=seed, **common)[1].weights == 0).mean()
        for seed in SEEDS
    ]
    assert np.mean(rejected) < 0.01


def test_rows_without_dependence_count_less_than_their_size_tells():
    """Rows of the size of the good ones, whose variables have nothing to do with each other."""
    for seed in SEEDS:
        sim, rows = judged(
            kind="band", v=0.6, outliers="scattered", spread=1.0, epsilon=0.1, rng=seed
        )
        assert rows.weights[sim.outlier].mean() < 0.75
        assert rows.weights[~sim.outlier].mean() > 0.9


def test_coefficients_are_least_squares_on_few_others():
    S = np.corrcoef(np.random.default_rng(0).normal(size=(12, 60)))
    coef = coefficients_on_nearest(S, 3).toarray()
    assert (np.count_nonzero(coef, axis=1) == 3).all()
    for node, own in enumerate(coef):
        at = np.flatnonzero(own)
        exact = np.linalg.solve(S[np.ix_(at, at)], S[at, node])
        # The jitter on the diagonal is 1e-8.
        assert np.allclose(own[at], exact, atol=1e-6)


def test_what_is_left_is_in_units_of_its_scale_and_cut_off():
    sim = rs.simulate.graph(500, 20, kind="band", v=0.6, epsilon=0.0, rng=0)
    scores = normal_scores(sim.X.T)
    left = unexplained(scores, expected_scores(scores, correlation(scores, np.ones(500))))
    assert np.abs(left).max() == 3.0
    assert np.allclose(np.median(np.abs(left), axis=1), 0.6745, atol=1e-3)
    neighbors = np.abs(np.corrcoef(left)[np.arange(19), np.arange(1, 20)]).mean()
    # Errors of regressions on neighbors are correlated as the neighbors are, with the other sign.
    assert neighbors < np.abs(np.corrcoef(sim.X.T)[np.arange(19), np.arange(1, 20)]).mean()


def test_no_row_of_noise_is_apart():
    rng = np.random.default_rng(0)
    found = [rows_apart(rng.normal(size=(40, 100))).sum() for _ in range(20)]
    assert sum(found) == 0
    assert not rows_apart(np.zeros((5, 30))).any()


def test_half_of_the_rows_are_no_minority():
    distance = np.r_[np.zeros(70), np.full(30, 9.0)]
    assert not is_minority(distance, distance > 4)
    distance[:80] = 0.0
    assert is_minority(distance, distance > 4)


def test_rows_of_which_more_is_left_are_brought_to_the_size_of_the_others():
    left = np.random.default_rng(1).normal(size=(50, 80))
    left[:, 3] *= 2.0
    weights = weights_by_size(left)
    size = (left**2).mean(axis=0)
    assert np.argmin(weights) == 3
    reached = (weights * size)[weights < 1]
    assert np.allclose(reached, reached[0])
    assert (weights[size < np.median(size)] == 1).all()
