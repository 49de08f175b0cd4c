"""Graphical lasso and CLIME along a path."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from robustsparse import simulate
from robustsparse.base.errors import ConvergenceWarning, DataError, ParameterError
from robustsparse.baselines.correlations import pearson, spearman_correlation
from robustsparse.baselines.lasso_paths import lambda_path
from robustsparse.baselines.solvers import (
    clime_lambdas,
    clime_path,
    glasso_path,
    larger_of_both,
    smaller_of_both,
)

Array = NDArray[np.float64]

REFERENCE = Path(__file__).parents[1] / "reference"
# R's glasso stops by the mean change of the covariances.
AGAINST_R = 1e-4
# The duality gap of the graphical lasso, which bounds how far its objective is from the minimum.
GAP = 1e-5
# The parametric simplex method is exact but for rounding over some hundred pivots; HiGHS was asked for 1e-10.
EXACT = 1e-8


def contaminated(n: int, d: int, seed: int = 1) -> Array:
    return simulate.graph(n, d, epsilon=0.1, rng=seed).X


class TestGlasso:
    def test_equals_r(self) -> None:
        S = pearson(pd.read_csv(REFERENCE / "graph_baselines_data.csv").to_numpy())
        table = pd.read_csv(REFERENCE / "graph_baselines.csv")
        table = table[table["method"] == "glasso"]
        lambdas = [0.5, 0.3, 0.15, 0.05]
        for rho, ours in zip(lambdas, glasso_path(S, lambdas), strict=True):
            part = table[table["parameter"] == rho]
            theirs = part.pivot(index="i", columns="j", values="value").to_numpy()
            np.testing.assert_allclose(ours, theirs, atol=AGAINST_R)
            np.testing.assert_array_equal(ours != 0, theirs != 0)

    # More rows than variables, and fewer: the latter makes S singular.
    @pytest.mark.parametrize("n", [150, 25])
    def test_minimum_along_the_whole_path(self, n: int) -> None:
        S = pearson(contaminated(n, 40))
        lambdas = lambda_path(S, 15, 0.05)
        off = ~np.eye(40, dtype=bool)
        for penalty, omega in zip(lambdas, glasso_path(S, lambdas), strict=True):
            gap = (S * omega).sum() + penalty * np.abs(omega[off]).sum() - 40
            assert abs(gap) < GAP
            assert np.linalg.eigvalsh(omega)[0] > 0
            inverse = np.linalg.inv(omega)
            assert np.abs(inverse - S)[off].max() <= penalty + GAP
            np.testing.assert_allclose(np.diag(inverse), 1.0, atol=GAP)

    def test_a_path_equals_its_single_steps(self) -> None:
        S = pearson(contaminated(60, 20))
        together = glasso_path(S, [0.4, 0.2, 0.1])
        for q, penalty in enumerate([0.4, 0.2, 0.1]):
            np.testing.assert_allclose(glasso_path(S, [penalty])[0], together[q], atol=AGAINST_R)

    def test_beyond_the_largest_correlation_nothing_is_left(self) -> None:
        S = pearson(contaminated(60, 10))
        np.testing.assert_allclose(glasso_path(S, [2.0])[0], np.eye(10), atol=GAP)

    def test_penalties_must_be_positive(self) -> None:
        with pytest.raises(ParameterError, match="positive"):
            glasso_path(np.eye(2), [0.1, 0.0])

    def test_unfinished_steps_warn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("robustsparse.baselines.solvers.GLASSO_ROUNDS", 1)
        with pytest.warns(ConvergenceWarning, match="1 of 1 steps"):
            glasso_path(pearson(contaminated(60, 10)), [0.05])


def linear_program(S: Array, j: int, penalty: float) -> Array:
    d = len(S)
    unit = np.eye(d)[j]
    found = linprog(
        np.ones(2 * d),
        A_ub=np.block([[S, -S], [-S, S]]),
        b_ub=np.r_[penalty + unit, penalty - unit],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return np.asarray(found.x[:d] - found.x[d:])


class TestClime:
    # Rank correlations of few rows are indefinite, which linear programs do not mind.
    @pytest.mark.parametrize(
        "S",
        [
            pearson(contaminated(60, 15)),
            pearson(contaminated(40, 30)),
            spearman_correlation(contaminated(30, 25)),
            np.cov((contaminated(50, 12) * np.linspace(0.5, 3.0, 12)).T),
        ],
        ids=["plain", "nearly singular", "ranks", "covariance"],
    )
    def test_equals_linear_programs(self, S: Array) -> None:
        lambdas = clime_lambdas(S, 5, 0.2)
        for penalty, found in zip(lambdas, clime_path(S, lambdas), strict=True):
            for j in (0, len(S) // 2):
                expected = linear_program(S, j, penalty)
                np.testing.assert_allclose(found[:, j], expected, atol=EXACT)

    def test_constraints_hold_and_the_norm_grows(self) -> None:
        S = pearson(contaminated(100, 60))
        lambdas = clime_lambdas(S, 20, 0.05)
        found = clime_path(S, lambdas)
        assert len(found) == 20
        errors = np.abs(S @ found - np.eye(60)).max(axis=(1, 2))
        assert (errors <= lambdas + EXACT).all()
        # Some constraint of every column binds, or a smaller norm would do.
        np.testing.assert_allclose(errors, lambdas, atol=EXACT)
        assert (np.diff(np.abs(found).sum(axis=1), axis=0) > -EXACT).all()

    def test_the_dual_proves_the_minimum(self) -> None:
        # With u feasible for the dual, |S u|_inf <= 1, the norm is at least u_j - lambda |u|_1.
        S = pearson(contaminated(80, 30))
        penalty, d = 0.1, 30
        found = clime_path(S, [penalty])[0]
        for j in range(0, d, 5):
            b = found[:, j]
            residual = S @ b - np.eye(d)[j]
            tight = np.flatnonzero(np.abs(np.abs(residual) - penalty) < EXACT)
            support = np.flatnonzero(b)
            assert len(tight) == len(support)
            u = np.zeros(d)
            u[tight] = np.linalg.solve(S[np.ix_(support, tight)], np.sign(b[support]))
            assert np.abs(S @ u).max() <= 1 + EXACT
            bound = u[j] - penalty * np.abs(u).sum()
            assert np.abs(b).sum() == pytest.approx(bound, abs=EXACT)

    def test_first_penalty_leaves_nothing_and_a_smaller_one_something(self) -> None:
        S = pearson(contaminated(60, 15))
        first = clime_lambdas(S, 1, 0.5)[0]
        off = ~np.eye(15, dtype=bool)
        found = clime_path(S, [first * 1.0001, first * 0.99])
        assert not found[0][off].any()
        assert found[1][off].any()

    def test_singular_matrix_ends_the_path(self) -> None:
        S = pearson(np.random.default_rng(0).normal(size=(10, 20)))
        lambdas = np.geomspace(0.9, 1e-4, 12)
        found = clime_path(S, lambdas)
        assert 0 < len(found) < 12
        with pytest.raises(DataError, match="no solution"):
            clime_path(S, [1e-4])

    def test_threads_change_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("robustsparse.base.threads._ENTRIES_FOR_THREADS", 0)
        S = pearson(contaminated(60, 15))
        np.testing.assert_array_equal(clime_path(S, [0.1], threads=3), clime_path(S, [0.1]))

    def test_senseless_paths(self) -> None:
        with pytest.raises(ParameterError, match="lambda_ratio=0"):
            clime_lambdas(np.eye(2) + 0.1, 3, 0)
        with pytest.raises(ParameterError, match="n_lambdas=0"):
            clime_lambdas(np.eye(2) + 0.1, 0, 0.1)


def test_entries_of_a_pair() -> None:
    matrix = np.array([[1.0, -3.0, 0.0], [2.0, 1.0, 0.5], [4.0, -0.5, 1.0]])
    small, large = smaller_of_both(matrix), larger_of_both(matrix)
    np.testing.assert_array_equal(np.abs(small), [[1, 2, 0], [2, 1, 0.5], [0, 0.5, 1]])
    np.testing.assert_array_equal(np.abs(large), [[1, 3, 4], [3, 1, 0.5], [4, 0.5, 1]])
    np.testing.assert_array_equal(large, large.T)
    np.testing.assert_array_equal(small, small.T)
