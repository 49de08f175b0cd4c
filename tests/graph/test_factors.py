"""Factors that are partialled out before a graph is estimated."""

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.graph.factors import without_factors
from robustsparse.graph.rows import all_rows, trusted_rows
from robustsparse.robust.standardize import standardize


def f1(graph, sim):
    edges = graph.adjacency.toarray()
    return 2 * (edges & sim.adjacency).sum() / (edges.sum() + sim.adjacency.sum())


@pytest.mark.parametrize("common", [{"factor": 1.0}, {"second": 0.3}])
def test_a_graph_given_the_factor_is_found(common):
    plain, given = [], []
    for seed in range(3):
        sim = rs.simulate.graph(200, 50, kind="band", v=0.6, epsilon=0.0, rng=seed, **common)
        plain.append(f1(rs.robust_ns(sim.X, n_jobs=1), sim))
        given.append(f1(rs.robust_ns(sim.X, factors=1, n_jobs=1), sim))
    assert np.mean(plain) < 0.85
    assert np.mean(given) > 0.95


def test_bad_rows_make_no_factor():
    for seed in range(3):
        sim = rs.simulate.graph(200, 50, kind="band", v=0.6, factor=1.0, rng=seed)
        graph = rs.robust_ns(sim.X, factors=1, n_jobs=1)
        assert f1(graph, sim) > 0.9


def test_without_screening_it_is_least_squares_on_principal_components():
    XT = standardize(rs.simulate.graph(100, 12, epsilon=0.0, factor=2.0, rng=0).X, "mad")[0]
    rows = all_rows(XT)
    left, share = without_factors(XT, rows, 2)
    values, vectors = np.linalg.eigh(np.corrcoef(rows.values))
    factors = (vectors[:, -2:].T @ rows.values).T
    expected = rows.values.T - factors @ np.linalg.lstsq(factors, rows.values.T, rcond=None)[0]
    assert np.allclose(left, expected.T)
    assert share == pytest.approx(values[-2:].sum() / 12)


def test_wrong_cells_stay_wrong_given_the_factors():
    sim = rs.simulate.graph(200, 30, epsilon=0.0, factor=1.0, cellwise=0.03, rng=1)
    graph = rs.robust_ns(sim.X, factors=1, n_jobs=1)
    assert any("out of line" in note for note in graph.notes)
    XT = standardize(sim.X, "mad")[0]
    rows = trusted_rows(XT)
    left, _ = without_factors(XT, rows, 1)
    assert np.abs(left[rows.errors]).min() > 3 * np.median(np.abs(left))


def test_factors_are_noted_and_do_not_depend_on_workers(tmp_path):
    sim = rs.simulate.graph(150, 20, factor=1.0, rng=0)
    before = sim.data.copy()
    one, two = (rs.robust_ns(sim.data, factors=2, n_jobs=jobs) for jobs in (1, 2))
    assert before.equals(sim.data)
    assert (one.ranking != two.ranking).nnz == 0
    assert np.array_equal(one.covariance, two.covariance)
    assert any("2 robust principal factors were partialled out" in note for note in one.notes)
    one.save(tmp_path / "graph.npz")
    assert rs.load(tmp_path / "graph.npz").notes == one.notes


def test_gaps_are_imputed_given_the_factors():
    sim = rs.simulate.graph(150, 20, factor=1.0, epsilon=0.0, rng=0)
    data = sim.data.mask(np.random.default_rng(0).random(sim.data.shape) < 0.02)
    graph = rs.robust_ns(data, factors=1, na_action="impute", n_jobs=1)
    assert graph.nobs == 150
    assert any("imputed" in note for note in graph.notes)
