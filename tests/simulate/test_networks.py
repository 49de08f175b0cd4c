"""Graphs as R's huge makes them, and the paper's outlier mixture."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import sqrtm
from scipy.sparse.csgraph import connected_components

from robustsparse import simulate
from robustsparse.base.errors import ParameterError
from robustsparse.simulate import Simulation

REFERENCE = pd.read_csv(Path(__file__).parents[1] / "reference" / "huge_generator.csv")
KINDS = ["cluster", "hub", "band", "random", "scale-free"]
ROUNDING = 1e-9
STANDARD_ERRORS = 4.0  # 24 comparisons: a false alarm about once in 600 sets of seeds
REPETITIONS = 300


def statistics(sim: Simulation) -> dict[str, float]:
    off = sim.precision[np.triu_indices_from(sim.precision, 1)]
    return {
        "edges": sim.adjacency.sum() / 2,
        "degree": sim.adjacency.sum(axis=0).max(),
        "diagonal": np.diag(sim.precision).mean(),
        "offdiagonal": np.abs(off).max(),
    }


@pytest.mark.parametrize(("kind", "d", "v"), REFERENCE.groupby(["kind", "d", "v"]).groups)
def test_distributed_like_huge(kind: str, d: int, v: float) -> None:
    rng = np.random.default_rng(0)
    drawn = pd.DataFrame(
        [statistics(simulate.graph(1, d, kind=kind, v=v, rng=rng)) for _ in range(REPETITIONS)]
    )
    case = REFERENCE.query("kind == @kind and v == @v").set_index("statistic")
    variance = case["sd"] ** 2 / case["repetitions"] + drawn.var() / REPETITIONS
    bound = STANDARD_ERRORS * np.sqrt(variance) + ROUNDING
    assert (np.abs(drawn.mean() - case["mean"]) <= bound).all()
    # A sample standard deviation of so many draws is within a third of the true one.
    assert np.allclose(drawn.std(), case["sd"], rtol=1 / 3, atol=ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_precision_has_the_edges_and_unit_variances(kind: str) -> None:
    sim = simulate.graph(5, 50, kind=kind, v=0.6, rng=1)
    adjacency, precision = sim.adjacency, sim.precision
    assert adjacency.dtype == bool
    assert not adjacency.diagonal().any()
    np.testing.assert_array_equal(adjacency, adjacency.T)
    np.testing.assert_array_equal(precision, precision.T)
    np.testing.assert_array_equal((precision != 0) & ~np.eye(50, dtype=bool), adjacency)
    np.testing.assert_allclose(np.diag(np.linalg.inv(precision)), 1.0, atol=ROUNDING)
    assert np.linalg.eigvalsh(precision)[0] > 0


def test_shapes_of_the_graphs() -> None:
    band = simulate.graph(5, 10, kind="band", bandwidth=2, rng=0).adjacency
    assert band.sum() // 2 == 9 + 8
    assert band[0].nonzero()[0].tolist() == [1, 2]
    hub = simulate.graph(5, 11, kind="hub", clusters=3, rng=0).adjacency
    # Groups of 3, 4 and 4 variables, the smaller one first; hubs are x1, x4 and x8.
    assert hub.sum(axis=0).tolist() == [2, 1, 1, 3, 1, 1, 1, 3, 1, 1, 1]
    tree = simulate.graph(5, 30, kind="scale-free", rng=0).adjacency
    assert tree.sum() // 2 == 29
    assert connected_components(tree)[0] == 1


def test_clusters_are_separate_and_prob_is_respected() -> None:
    sim = simulate.graph(5, 60, clusters=3, prob=1.0, rng=0)
    expected = np.kron(np.eye(3), np.ones((20, 20))) - np.eye(60)
    np.testing.assert_array_equal(sim.adjacency, expected.astype(bool))
    assert not simulate.graph(5, 60, prob=0.0, rng=0).adjacency.any()
    full = simulate.graph(5, 20, kind="random", prob=1.0, rng=0).adjacency
    assert full.sum() == 20 * 19


def test_authentic_rows_have_the_covariance() -> None:
    sim = simulate.graph(20_000, 5, kind="band", epsilon=0, rng=3)
    np.testing.assert_allclose(np.cov(sim.X.T), np.linalg.inv(sim.precision), atol=0.05)


@pytest.mark.parametrize(
    ("tail", "quartiles"),
    [
        # Of a standardized logN(0, 4), and of a t with 3 degrees of freedom and variance 1.
        ("lognormal", (np.exp([-1.349, 1.349]) - np.exp(2)) / np.sqrt(np.exp(8) - np.exp(4))),
        ("t3", np.array([-0.7649, 0.7649]) / np.sqrt(3)),
    ],
)
def test_whitened_heavy_rows_have_the_right_law(tail: str, quartiles: np.ndarray) -> None:
    sim = simulate.graph(20_000, 5, kind="band", tail=tail, epsilon=0, rng=3)
    entries = sim.X @ sqrtm(sim.precision)
    observed = np.quantile(entries, [0.25, 0.75], axis=0)
    np.testing.assert_allclose(observed, np.repeat(quartiles[:, None], 5, axis=1), atol=0.02)


def test_tails_differ() -> None:
    kurtosis = {
        tail: pd.DataFrame(simulate.graph(2000, 5, tail=tail, epsilon=0, rng=0).X).kurt().min()
        for tail in ("gaussian", "lognormal", "t3")
    }
    assert abs(kurtosis["gaussian"]) < 1 < 3 < min(kurtosis["t3"], kurtosis["lognormal"])


def test_t3_rows_are_elliptical() -> None:
    sim = simulate.graph(4000, 20, kind="band", tail="t3", epsilon=0, rng=0)
    size = np.sqrt(np.einsum("ij,jk,ik->i", sim.X, sim.precision, sim.X) / 20)
    # One chi per row scales all its entries: rows of 20 entries differ widely in size.
    assert np.quantile(size, 0.95) / np.quantile(size, 0.05) > 3


def test_outliers_are_the_papers_mixture() -> None:
    sim = simulate.graph(3600, 30, rng=4)
    rows = sim.X[sim.outlier]
    assert len(rows) == 400
    signs = np.sign(rows.mean(axis=1))
    assert 0.4 < (signs > 0).mean() < 0.6
    centered = rows - 1.5 * signs[:, None]
    assert abs(centered.mean()) < 0.05
    np.testing.assert_allclose(np.cov(centered.T), np.eye(30), atol=0.3)


def test_shuffle_and_seed() -> None:
    last = simulate.graph(90, 10, shuffle=False, rng=0)
    np.testing.assert_array_equal(np.flatnonzero(last.outlier), np.arange(90, 100))
    mixed = simulate.graph(90, 10, rng=0)
    assert mixed.outlier[:90].any()
    assert mixed.outlier.sum() == 10
    np.testing.assert_array_equal(mixed.X, simulate.graph(90, 10, rng=0).X)


def test_cellwise_outliers_are_marked() -> None:
    sim = simulate.graph(200, 50, epsilon=0, cellwise=0.05, rng=0)
    clean = simulate.graph(200, 50, epsilon=0, cellwise=0.0, rng=0)
    assert clean.outlier_cells is None
    assert sim.outlier_cells.mean() == pytest.approx(0.05, abs=0.01)
    np.testing.assert_array_equal(sim.X[~sim.outlier_cells], clean.X[~sim.outlier_cells])
    bad = sim.X[sim.outlier_cells]
    assert np.abs(bad).min() > 8
    assert 0.4 < (bad > 0).mean() < 0.6
    assert not sim.outlier.any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "star"}, "kind='star'"),
        ({"tail": "cauchy"}, "tail='cauchy'"),
        ({"cellwise": 1.5}, "cellwise=1.5"),
        ({"clusters": 11}, "clusters=11"),
        ({"prob": -0.1}, "prob=-0.1"),
        ({"epsilon": -1}, "epsilon=-1"),
        ({"d": 1}, "d=1"),
        ({"kind": "band", "bandwidth": 0}, "bandwidth=0"),
    ],
)
def test_bad_arguments_are_named(arguments: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        simulate.graph(**{"n": 20, "d": 10, "rng": 0, **arguments})


def test_cells_have_the_size_that_was_asked_for() -> None:
    sim = simulate.graph(200, 50, epsilon=0, cellwise=0.05, cell_size=4.0, rng=0)
    size = np.abs(sim.X[sim.outlier_cells])
    assert 3 < size.min() < size.max() < 5


def test_scattered_rows_are_independent_and_concentrated_ones_together() -> None:
    scattered = simulate.graph(3600, 30, outliers="scattered", rng=4)
    np.testing.assert_allclose(
        np.cov(scattered.X[scattered.outlier].T), 9 * np.eye(30), atol=9 * 0.3
    )
    close = simulate.graph(3600, 30, outliers="concentrated", shift=1.0, spread=0.2, rng=4)
    rows = close.X[close.outlier]
    np.testing.assert_allclose(rows.std(axis=0), 0.2, atol=0.05)
    np.testing.assert_allclose(np.abs(rows.mean(axis=0)), 1.0, atol=0.05)


def test_flat_rows_lie_where_authentic_ones_vary_least() -> None:
    sim = simulate.graph(3600, 30, kind="band", v=0.6, outliers="flat", rng=4)
    rows = sim.X[sim.outlier]
    assert np.linalg.matrix_rank(rows) == 5
    assert (rows**2).mean() == pytest.approx(1.0, abs=0.1)
    distance = {
        bad: np.einsum("ij,jk,ik->i", part, sim.precision, part).mean()
        for bad, part in ((True, rows), (False, sim.X[~sim.outlier]))
    }
    assert distance[True] > 2 * distance[False]


@pytest.mark.parametrize("common", [{"factor": 1.0}, {"second": 0.3}])
def test_factors_and_populations_are_added_to_the_same_good_rows(common: dict[str, float]) -> None:
    plain = simulate.graph(400, 20, shuffle=False, rng=0)
    sim = simulate.graph(400, 20, shuffle=False, rng=0, **common)
    np.testing.assert_array_equal(sim.X[sim.outlier], plain.X[plain.outlier])
    added = (sim.X - plain.X)[~sim.outlier]
    assert np.linalg.matrix_rank(added, tol=1e-8) == 1
    if "second" in common:
        assert added.any(axis=1).sum() == 120
        np.testing.assert_allclose(np.abs(added[added.any(axis=1)]), 2.0)


def test_wrong_outliers_are_named() -> None:
    with pytest.raises(ParameterError, match="'far'"):
        simulate.graph(20, 10, outliers="far")
    with pytest.raises(ParameterError, match=r"second=1\.5"):
        simulate.graph(20, 10, second=1.5)
