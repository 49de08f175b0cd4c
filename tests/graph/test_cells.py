"""Errors of moderate size, and tails that have none."""

import numpy as np
import pytest
from scipy.stats import norm, t

import robustsparse as rs
from robustsparse.graph.cells import shortfall
from robustsparse.graph.conformity import expected_scores
from robustsparse.graph.rows import trusted_rows
from robustsparse.graph.scores import correlation, normal_scores
from robustsparse.robust.standardize import standardize

SEEDS = range(4)


def errors_of(X):
    return trusted_rows(standardize(X, "mad")[0]).errors.T


@pytest.mark.parametrize("kind", ["band", "random"])
@pytest.mark.parametrize("size", [4.0, 5.0])
def test_cells_of_a_few_scales_are_found(kind, size):
    for seed in SEEDS:
        sim = rs.simulate.graph(
            200, 50, kind=kind, epsilon=0.0, cellwise=0.05, cell_size=size, rng=seed
        )
        found = errors_of(sim.X)
        assert (found & sim.outlier_cells).sum() >= 0.8 * sim.outlier_cells.sum()
        assert (found & ~sim.outlier_cells).mean() <= 0.002


@pytest.mark.parametrize("kind", ["band", "hub", "random"])
def test_cells_of_three_scales_among_good_ones_are_found_by_their_neighbors(kind):
    shares = []
    for seed in SEEDS:
        sim = rs.simulate.graph(
            200, 50, kind=kind, epsilon=0.0, cellwise=0.05, cell_size=3.0, rng=seed
        )
        found = errors_of(sim.X)
        shares.append([(found & sim.outlier_cells).mean(), (found & ~sim.outlier_cells).mean()])
    hit, false = np.mean(shares, axis=0)
    # About one good cell in a hundred lies as far from what its neighbors let expect.
    assert hit > 0.6 * 0.05
    assert false < 0.008


@pytest.mark.parametrize("kind", ["hub", "random"])
def test_a_graph_survives_cells_among_good_ones(kind):
    f1 = {"default": [], "skeptic": []}
    for seed in SEEDS:
        sim = rs.simulate.graph(
            200, 50, kind=kind, clusters=5, epsilon=0.0, cellwise=0.05, cell_size=3.0, rng=seed
        )
        truth = sim.adjacency
        for name, fit in (("default", rs.robust_ns), ("skeptic", rs.baselines.skeptic)):
            found = fit(sim.X, n_jobs=1).adjacency.toarray() != 0
            f1[name].append(2 * (found & truth).sum() / (found.sum() + truth.sum()))
    assert np.mean(f1["default"]) > np.mean(f1["skeptic"]) - 0.03


BENT = {
    "as they are": lambda X: X,
    "cubes": lambda X: X**3,
    "exponentials": lambda X: np.exp(2 * X),
    "t with 3 df": lambda X: t.ppf(norm.cdf(X), 3),
    "t with 1 df": lambda X: t.ppf(norm.cdf(X), 1),
    "some of each": lambda X: np.where(np.arange(50) % 2, X, np.exp(2 * X)),
    "counts": lambda X: np.round(np.exp(1 + X)),
    "rare ones": lambda X: np.where(np.arange(50) % 2, X, 1.0 * (X > 1.6)),
}


@pytest.mark.parametrize("bent", BENT)
def test_no_tail_that_falls_has_errors(bent):
    for seed in SEEDS:
        sim = rs.simulate.graph(200, 50, epsilon=0.0, rng=seed)
        # Cauchy's tail alone sets single cells apart, by gaps that other rules see.
        assert errors_of(BENT[bent](sim.X)).mean() <= 0.003


@pytest.mark.parametrize("bent", ["cubes", "t with 3 df"])
def test_errors_at_the_ends_of_bent_variables_are_found(bent):
    rng = np.random.default_rng(5)
    hit, false = [], []
    for seed in SEEDS:
        X = BENT[bent](rs.simulate.graph(200, 50, epsilon=0.0, rng=seed).X)
        wrong = rng.random(X.shape) < 0.05
        ends = np.quantile(X, rng.choice([0.005, 0.995], X.shape[1]), axis=0)[0]
        found = errors_of(np.where(wrong, ends, X))
        hit.append((found & wrong).sum() / wrong.sum())
        false.append((found & ~wrong).mean())
    assert np.mean(hit) > 0.7
    assert np.mean(false) < 0.05


def test_neighbors_fall_short_of_errors_and_of_no_law():
    """Of normal variables under any law of the size of rows they do not, of overwritten cells they do."""
    clean, heavy, wrong = [], [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=300)
        X = factor + rng.normal(size=(30, 300))
        chi = np.sqrt(rng.chisquare(4, 300) / 4)
        cells = np.where(rng.random(X.shape) < 0.05, 4.0 * rng.choice([-1, 1], X.shape), X)
        for found, values in ((clean, X), (heavy, X / chi), (wrong, cells)):
            scores = normal_scores(values)
            expected = expected_scores(scores, correlation(scores, np.ones(300)))
            found.append(shortfall(scores, expected, np.ones(X.shape)))
    assert not any(clean)
    assert not any(heavy)
    assert min(wrong) > 0.2


def test_errors_are_not_looked_for_without_dependence():
    scores = normal_scores(np.random.default_rng(0).normal(size=(10, 200)))
    assert shortfall(scores, np.zeros_like(scores), np.ones(scores.shape)) == 0.0
    assert shortfall(scores, -scores, np.ones(scores.shape)) == 0.0


def test_rows_of_a_heavy_tail_and_scattered_rows_have_no_errors():
    for seed in SEEDS:
        heavy = rs.simulate.graph(200, 50, epsilon=0.0, tail="t3", rng=seed)
        assert not errors_of(heavy.X).any()
        scattered = rs.simulate.graph(200, 50, outliers="scattered", rng=seed)
        assert errors_of(scattered.X)[~scattered.outlier].mean() <= 0.002


def test_a_moderate_second_mode_that_variables_share_is_no_error():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 40))
    X[rng.random(300) < 0.1, :10] += 5.0
    assert errors_of(X).mean() <= 0.002
