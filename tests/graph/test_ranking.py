"""Ranking of pairs by hard thresholding over subsamples."""

import itertools

import numpy as np
import pytest

import robustsparse as rs
from robustsparse import kernels
from robustsparse.graph.ranking import (
    Ranking,
    Subsample,
    combine,
    neighbors_kept,
    rank_subsample,
    subsample_size,
)
from robustsparse.graph.rows import trusted_rows
from robustsparse.graph.scores import correlation, much_is_shared
from robustsparse.robust.standardize import standardize


def thresholded(S, *ks, first=0, last=None):
    last = len(S) if last is None else last
    each = (last - first, sum(ks))
    places, values = np.full(each, -1), np.full(each, np.nan)
    kernels.threshold_nodes(np.ascontiguousarray(S), first, last, np.array(ks), places, values)
    out = np.zeros((len(ks), last - first, len(S)))
    ends = np.cumsum(ks)[:-1]
    parts = zip(np.split(places, ends, axis=1), np.split(values, ends, axis=1), strict=True)
    for coef, (at, numbers) in zip(out, parts, strict=True):
        np.put_along_axis(coef, at, numbers, axis=1)
    return out


def residual_variance(S, node, places):
    places = list(places)
    b = np.linalg.solve(S[np.ix_(places, places)], S[places, node])
    return S[node, node] - b @ S[places, node]


def test_coefficients_are_least_squares_on_their_neighbors():
    S = np.corrcoef(np.random.default_rng(0).normal(size=(12, 60)))
    for k, coef in zip((1, 3, 5), thresholded(S, 1, 3, 5), strict=True):
        assert (np.count_nonzero(coef, axis=1) == k).all()
        assert not np.diag(coef).any()
        for node in range(12):
            at = np.flatnonzero(coef[node])
            exact = np.linalg.solve(S[np.ix_(at, at)], S[at, node])
            # The jitter on the diagonal is 1e-8.
            assert np.allclose(coef[node, at], exact, atol=1e-6)


def test_neighbors_are_near_the_best_subset():
    S = np.corrcoef(np.random.default_rng(1).normal(size=(9, 40)))
    coef = thresholded(S, 2)[0]
    ratios = []
    for node in range(9):
        others = [i for i in range(9) if i != node]
        best = min(residual_variance(S, node, pair) for pair in itertools.combinations(others, 2))
        ratios.append(residual_variance(S, node, np.flatnonzero(coef[node])) / best)
    assert np.median(ratios) < 1.01
    assert max(ratios) < 1.2


def test_equal_columns_share_without_failing():
    X = np.random.default_rng(2).normal(size=(5, 50))
    X[1] = X[0]
    coef = thresholded(np.corrcoef(X), 3)[0]
    assert np.isfinite(coef).all()
    assert abs(coef[0, 1] - 1.0) < 1e-3


def test_a_part_of_the_nodes_is_a_part_of_the_answer():
    S = np.corrcoef(np.random.default_rng(3).normal(size=(10, 60)))
    part = thresholded(S, 2, 4, first=4, last=7)
    assert np.array_equal(part, thresholded(S, 2, 4)[:, 4:7])


def none(count):
    return np.full(count, -1)


def test_a_subsample_is_what_thresholding_of_its_correlations_gives():
    sim = rs.simulate.graph(60, 15, rng=0)
    rows = trusted_rows(standardize(sim.X, "mad")[0])
    found = rank_subsample(rows, 11)
    drawn = np.random.default_rng(11).choice(rows.kept, subsample_size(60), replace=False)
    both = thresholded(correlation(rows.values[:, drawn], rows.weights[drawn]), 4, 8)
    mean = both.mean(axis=0)
    coef = np.zeros(15 * 15)
    coef[found.places] = found.coef
    assert np.array_equal(coef.reshape(15, 15), mean)
    tight = np.triu((both[0] != 0) | (both[0].T != 0))
    assert np.array_equal(found.tight, np.flatnonzero(tight))
    strength = np.triu(np.abs(mean) + np.abs(mean).T).ravel()
    some = np.count_nonzero(strength)
    assert len(found.strongest) == 150
    assert np.array_equal(found.strongest[:some], np.argsort(-strength, kind="stable")[:some])
    assert (found.strongest[some:] == -1).all()


def test_stability_is_the_share_of_subsamples_in_both_halves():
    ones = [
        Subsample(np.arange(0), np.zeros(0), np.array(tight, dtype=int), none(1))
        for tight in ([1, 2], [1], [], [])
    ]
    stability = combine(ones, "or", 3).stability.toarray()
    assert stability.tolist() == [[0.0, 0.5, 0.25], [0.5, 0.0, 0.0], [0.25, 0.0, 0.0]]


def test_both_directions_count_under_or_the_weaker_under_and():
    # Coefficients 0.8 and -0.2 of the pair, each in one of two subsamples.
    ones = [
        Subsample(np.array([place]), np.array([coef]), np.arange(0), none(1))
        for place, coef in ((1, 0.8), (2, -0.2))
    ]
    either = combine(ones, "or", 2)
    assert either.scores.toarray()[0, 1] == pytest.approx(0.25)
    assert either.stronger.toarray()[0, 1] == pytest.approx(0.4)
    assert combine(ones, "and", 2).scores.toarray()[0, 1] == pytest.approx(0.1)


def test_instability_by_hand():
    # Four nodes, six pairs, two subsamples that agree on the first pair only.
    zero = np.zeros((4, 4))
    ranking = Ranking(zero, zero, np.array([[0, 1, -1], [0, 2, -1]]))
    assert ranking.instability(0) == 0.0
    assert ranking.instability(1) == 0.0
    assert ranking.instability(2) == pytest.approx(2 * 2 * 0.25 / 6)
    assert ranking.instability(99) == ranking.instability(2)


def test_sizes_for_few_rows_and_variables():
    assert subsample_size(144) == 115
    assert subsample_size(10_000) == 1_000
    assert neighbors_kept(80, 100).tolist() == [4, 8]
    assert neighbors_kept(80, 100, many=True).tolist() == [4, 8, 16]
    assert neighbors_kept(80, 4).tolist() == [3]
    assert neighbors_kept(5, 50).tolist() == [1]


def test_populations_share_much_and_sparse_graphs_do_not():
    for seed in range(5):
        for kind in ("band", "hub", "random", "cluster"):
            apart, plain = (
                rs.simulate.graph(200, 50, kind=kind, epsilon=0.0, second=second, rng=seed)
                for second in (0.3, 0.0)
            )
            assert much_is_shared(np.corrcoef(apart.X.T))
            assert not much_is_shared(np.corrcoef(plain.X.T))
    assert not much_is_shared(np.eye(5))


def test_between_populations_more_neighbors_order_pairs_better():
    better = []
    for seed in range(6):
        sim = rs.simulate.graph(200, 50, kind="random", epsilon=0.0, second=0.3, rng=seed)
        rows = trusted_rows(standardize(sim.X, "mad")[0])
        few, many = (
            combine([rank_subsample(rows, s, many=more) for s in range(20)], "or", 50).scores
            for more in (False, True)
        )
        truth = sim.adjacency[np.triu_indices(50, 1)]
        hits = []
        for scores in (few, many):
            size = scores.toarray()[np.triu_indices(50, 1)]
            hits.append(truth[np.argsort(-size)[: truth.sum()]].mean())
        better.append(hits[1] - hits[0])
    assert np.mean(better) > 0.02
