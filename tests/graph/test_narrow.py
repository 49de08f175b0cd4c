"""Rows that lie far out where others hardly vary."""

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.graph.narrow import rows_across
from robustsparse.graph.rows import trusted_rows
from robustsparse.graph.scores import correlation, normal_scores
from robustsparse.robust.standardize import standardize

SEEDS = range(5)


def across(scores):
    """Rows that lie across, all of them trusted before."""
    return rows_across(scores, correlation(scores, np.ones(scores.shape[1])))


KINDS = {"band": {"v": 0.6}, "hub": {"clusters": 5}, "random": {}, "cluster": {}}


def rejected(sim):
    return trusted_rows(standardize(sim.X, "mad")[0]).weights == 0


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_directions_in_which_good_ones_hardly_vary_are_rejected(kind):
    bad, good = [], []
    for seed in SEEDS:
        sim = rs.simulate.graph(200, 50, kind=kind, outliers="flat", rng=seed, **KINDS[kind])
        out = rejected(sim)
        bad.append(out[sim.outlier].mean())
        good.append(out[~sim.outlier].mean())
    assert np.mean(bad) > 0.6
    assert np.mean(good) < 0.005


def test_graphs_survive_such_rows():
    f1 = []
    for seed in SEEDS:
        sim = rs.simulate.graph(200, 50, kind="hub", clusters=5, outliers="flat", rng=seed)
        found = rs.robust_ns(sim.X, n_jobs=1).adjacency.toarray() != 0
        f1.append(2 * (found & sim.adjacency).sum() / (found.sum() + sim.adjacency.sum()))
    # With these rows it is 0.2.
    assert np.mean(f1) > 0.9


@pytest.mark.parametrize("shape", [(100, 100), (200, 200), (300, 20)])
@pytest.mark.parametrize("tail", ["gaussian", "t3", "lognormal"])
def test_good_rows_are_not_across(shape, tail):
    found = []
    for seed in SEEDS:
        sim = rs.simulate.graph(*shape, epsilon=0.0, tail=tail, rng=seed)
        found.append(across(normal_scores(sim.X.T)).mean())
    assert np.mean(found) <= 0.002


def test_many_rows_across_are_another_population():
    rng = np.random.default_rng(0)
    pairs = np.repeat(rng.normal(size=(10, 400)), 2, axis=0) + 0.3 * rng.normal(size=(20, 400))
    for share, expected in ((0.1, True), (0.4, False)):
        scores = pairs.copy()
        opposed = slice(0, int(share * 400))
        scores[1::2, opposed] = -scores[::2, opposed]
        assert across(scores).any() == expected


def test_few_values_in_few_variables_reject_nothing():
    rng = np.random.default_rng(1)
    for d in (2, 3, 10):
        for X in (rng.poisson(0.5, (d, 500)), rng.random((d, 500)) < 0.3, np.zeros((d, 500))):
            assert not across(normal_scores(1.0 * X)).any()


def test_many_rows_are_compared_with_some_of_them():
    sim = rs.simulate.graph(1500, 40, kind="hub", clusters=4, outliers="flat", rng=0)
    out = rejected(sim)
    assert out[sim.outlier].mean() > 0.6
    assert out[~sim.outlier].mean() < 0.005
