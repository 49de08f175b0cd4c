"""Judging rows and cells on all variables at once."""

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.graph.rows import (
    _mean_agreement,
    row_weights,
    trusted_rows,
    with_expected,
    wrong_cells,
)
from robustsparse.graph.scores import correlation
from robustsparse.robust.standardize import standardize

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
        # A variable with one or two errors shows no gap that is beyond chance.
        assert (found & sim.outlier_cells).sum() >= 0.8 * sim.outlier_cells.sum()
        assert (found & ~sim.outlier_cells).mean() <= 0.002
        for tail in ("t3", "lognormal"):
            heavy = rs.simulate.graph(100, 100, epsilon=0.0, tail=tail, rng=seed)
            assert not wrong_cells(standardize(heavy.X, "mad")[0]).any()


def test_errors_are_found_in_their_own_units():
    rng = np.random.default_rng(1)
    XT = rng.normal(size=(20, 100))
    planted = np.zeros(XT.shape, dtype=bool)
    for row in planted:
        row[rng.choice(100, 5, replace=False)] = True
    XT = np.where(planted, np.geomspace(10, 1e6, 20)[:, None], XT)
    found = wrong_cells(XT)
    assert found[planted].all()
    # The largest good value of a variable may lie nearer to the errors than to the rest.
    assert found[~planted].sum() <= 2


@pytest.mark.parametrize("size", [3.0, 30.0, 1e6])
def test_rows_that_are_wild_in_all_variables_are_rejected_not_emptied(size):
    X = np.random.default_rng(0).normal(size=(200, 10))
    X[:20] += size
    rows = trusted_rows(standardize(X, "mad")[0])
    assert (rows.weights[:20] == 0).all()
    # A good row that lies out on the same side by chance.
    assert (rows.weights[20:] == 0).sum() <= 1
    assert not rows.errors.any()


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_rows_that_are_all_equal_are_rejected(share):
    sim = rs.simulate.graph(200, 50, epsilon=0.0, rng=1)
    X = sim.X.copy()
    bad = int(share * 200)
    X[:bad] = 2.0
    rows = trusted_rows(standardize(X, "mad")[0])
    assert np.array_equal(np.flatnonzero(rows.weights == 0), np.arange(bad))


def test_errors_show_once_bad_rows_are_out():
    for seed in SEEDS:
        sim = rs.simulate.graph(100, 100, epsilon=0.1, cellwise=0.05, rng=seed)
        rows = judged(sim)
        assert np.array_equal(rows.weights == 0, sim.outlier)
        planted = sim.outlier_cells[~sim.outlier].T
        assert (rows.errors[:, ~sim.outlier] & planted).sum() >= 0.7 * planted.sum()


def test_a_second_mode_that_variables_share_is_no_error():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 40))
    X[rng.random(300) < 0.1, :2] += 12
    assert not wrong_cells(standardize(X, "mad")[0]).any()


@pytest.mark.parametrize("values", ["rare ones", "rare counts", "pareto"])
def test_rare_values_and_pareto_tails_are_no_errors(values):
    rng = np.random.default_rng(2)
    rare = rng.random((500, 30)) < 0.02
    X = {
        "rare ones": 1.0 * rare,
        "rare counts": rare * rng.integers(1, 4, rare.shape),
        "pareto": rng.pareto(0.7, (500, 30)),
    }[values]
    assert wrong_cells(standardize(X, "mad")[0]).mean() <= 0.003


@pytest.mark.parametrize("power", [3, 5])
def test_transformed_variables_lose_next_to_nothing(power):
    """Ranks do not change; what is lost is cells that a very heavy tail sets apart."""
    plain, bent = [], []
    for seed in range(3):
        sim = rs.simulate.graph(200, 50, epsilon=0.0, rng=seed)
        curved = np.sign(sim.X) * np.abs(sim.X) ** power
        plain.append(rs.robust_ns(sim.X, k=1, n_jobs=1).roc(sim.adjacency).auc)
        bent.append(rs.robust_ns(curved, k=1, n_jobs=1).roc(sim.adjacency).auc)
    assert np.mean(bent) > np.mean(plain) - 0.015


def test_clean_rows_keep_their_weight_in_few_variables():
    for d in (2, 3, 10):
        X = np.random.default_rng(d).normal(size=(5000, d))
        weights = trusted_rows(X.T).weights
        assert (weights == 0).mean() <= 0.005
        assert weights.mean() > 0.9


def test_constant_variables_leave_every_row_as_it_is():
    rows = trusted_rows(np.zeros((3, 20)))
    assert (rows.weights == 1).all()
    assert not rows.values.any()


@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (7, 700)])
@pytest.mark.parametrize("threads", [1, 2])
def test_agreement_is_the_mean_squared_cosine_with_the_others(shape, threads, monkeypatch):
    monkeypatch.setattr("robustsparse.base.threads._ENTRIES_FOR_THREADS", 0)
    directions = np.random.default_rng(3).normal(size=shape)
    directions /= np.linalg.norm(directions, axis=0)
    squares = (directions.T @ directions) ** 2
    np.fill_diagonal(squares, 0.0)
    expected = squares.sum(axis=1) / (shape[1] - 1)
    np.testing.assert_allclose(_mean_agreement(directions, threads), expected, rtol=1e-10)


def test_rows_are_judged_alike_by_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("robustsparse.base.threads._ENTRIES_FOR_THREADS", 0)
    XT = standardize(rs.simulate.graph(700, 40, epsilon=0.1, rng=0).X, "mad")[0]
    one, three = (trusted_rows(XT, threads) for threads in (1, 3))
    assert np.array_equal(one.weights, three.weights)
    assert np.array_equal(one.values, three.values)


def with_gaps(X, share, seed):
    """Standardized variables with cells missing by chance, and which."""
    missing = np.random.default_rng(1000 + seed).random(X.shape) < share
    return standardize(X, "mad")[0], missing.T


def test_bad_rows_are_found_in_spite_of_gaps_and_good_ones_kept():
    for seed in SEEDS:
        sim = rs.simulate.graph(150, 60, epsilon=0.1, rng=seed)
        XT, missing = with_gaps(sim.X, 0.1, seed)
        rejected = trusted_rows(XT, missing=missing).weights == 0
        assert np.array_equal(rejected, sim.outlier)


def test_gaps_make_rows_neither_near_nor_far():
    for seed in SEEDS:
        XT, missing = with_gaps(np.random.default_rng(seed).normal(size=(200, 50)), 0.05, seed)
        missing[10:, :20] = True
        weights = row_weights(np.where(missing, 0.0, XT), missing=missing)
        assert weights[:20].min() > 0.5
        assert weights[:20].mean() > weights[20:].mean() - 0.02
        # One row in a hundred may look like an outlier by chance.
        assert (weights == 0).sum() <= 2


def test_what_missing_cells_hold_does_not_matter():
    sim = rs.simulate.graph(150, 40, epsilon=0.1, rng=0)
    XT, missing = with_gaps(sim.X, 0.05, 0)
    one, other = (trusted_rows(np.where(missing, held, XT), missing=missing) for held in (0.0, 1e6))
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.weights, other.weights)
    assert not (one.errors & missing).any()


def test_doubtful_cells_are_nearer_to_the_truth_than_the_median():
    better = []
    for seed in SEEDS:
        sim = rs.simulate.graph(200, 40, kind="band", v=0.6, epsilon=0.0, rng=seed)
        XT, missing = with_gaps(sim.X, 0.05, seed)
        filled = with_expected(np.where(missing, 0.0, XT), missing, np.ones(200, dtype=bool))
        assert np.array_equal(filled[~missing], XT[~missing])
        better.append(((filled - XT)[missing] ** 2).mean() / (XT[missing] ** 2).mean())
    # Two neighbors explain about half of the variance.
    assert np.mean(better) < 0.75


def test_scores_are_cut_off_where_errors_among_good_values_keep_neighbors_short():
    hidden = [
        rs.simulate.graph(200, 50, kind="hub", clusters=5, epsilon=0.0, cellwise=0.05, cell_size=2.0, rng=seed)
        for seed in SEEDS
    ]  # fmt: skip
    cut = [judged(sim) for sim in hidden]
    # Chance may hide it in one of them.
    assert sum(rows.cut is not None for rows in cut) >= len(SEEDS) - 1
    for rows in cut:
        assert rows.cut is None or np.abs(rows.values).max() == rows.cut


@pytest.mark.parametrize(
    "setting",
    [
        {"epsilon": 0.0},
        {"epsilon": 0.1},
        {"epsilon": 0.0, "tail": "t3"},
        {"epsilon": 0.0, "cellwise": 0.05, "cell_size": 4.0},
        {"epsilon": 0.0, "second": 0.3},
        {"epsilon": 0.0, "factor": 1.0},
    ],
)
def test_scores_are_not_cut_off_where_ends_can_be_relied_upon(setting):
    for seed in SEEDS:
        assert judged(rs.simulate.graph(200, 50, **setting, rng=seed)).cut is None


def test_correlations_of_some_rows_are_those_of_their_values():
    rows = judged(rs.simulate.graph(100, 20, rng=0))
    some = np.arange(40)
    wanted = correlation(rows.values[:, some], rows.weights[some])
    assert np.array_equal(rows.correlations(some), wanted)
