"""Errors of moderate size, and tails that have none."""

import numpy as np
import pytest
from scipy.stats import norm, t

import robustsparse as rs
from robustsparse.graph.rows import trusted_rows
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
