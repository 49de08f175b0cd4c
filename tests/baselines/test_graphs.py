"""Graphs by the methods that the paper compares with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse

from robustsparse import baselines, simulate
from robustsparse.base.errors import ConvergenceWarning, DataError, ParameterError
from robustsparse.baselines.correlations import robust_standardized
from robustsparse.baselines.graphs import CLIME_RATIO
from robustsparse.baselines.solvers import glasso_path
from robustsparse.baselines.trimmed_graphs import trimmed_glasso_path
from robustsparse.design.variables import variables
from robustsparse.graph.result import GraphResult

Array = NDArray[np.float64]
Method = Callable[..., GraphResult]

REFERENCE = Path(__file__).parents[1] / "reference"
# huge's coordinate descent stops at a change of 1e-4.
HUGE = 2e-3
GLASSO = 1e-5

METHODS: dict[str, Method] = {
    name: getattr(baselines, name)
    for name in (
        "neighborhood_lasso",
        "glasso",
        "clime",
        "trimmed_glasso",
        "rclime",
        "skeptic",
        "spearman",
    )
}


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> Method:
    return METHODS[request.param]


def reference_data() -> pd.DataFrame:
    return pd.read_csv(REFERENCE / "graph_baselines_data.csv")


def reference_matrix(method: str, parameter: float) -> Array:
    table = pd.read_csv(REFERENCE / "graph_baselines.csv")
    table = table[(table["method"] == method) & (table["parameter"] == parameter)]
    return table.pivot(index="i", columns="j", values="value").to_numpy()


class TestNeighborhoodLasso:
    @pytest.mark.parametrize("rule", ["or", "and"])
    @pytest.mark.parametrize("penalty", [0.5, 0.3, 0.15, 0.05])
    def test_equals_huge(self, rule: Any, penalty: float) -> None:
        graph = baselines.neighborhood_lasso(reference_data(), rule=rule, lambdas=[penalty])
        found, theirs = graph.steps[0].toarray(), reference_matrix(f"mb_{rule}", penalty) != 0
        sizes = np.abs(reference_matrix("mb", penalty))
        near = np.minimum(sizes, sizes.T) if rule == "and" else np.maximum(sizes, sizes.T)
        # Where huge's coefficient is below its own tolerance, the two may differ.
        assert not (found != theirs)[(near == 0) | (near > HUGE)].any()
        assert (found != theirs).sum() <= 2

    def test_rules_are_nested(self) -> None:
        either = baselines.neighborhood_lasso(reference_data(), lambdas=[0.2])
        both = baselines.neighborhood_lasso(reference_data(), lambdas=[0.2], rule="and")
        assert (both.steps[0] > either.steps[0]).nnz == 0
        assert either.rule == "or"
        assert both.rule == "and"

    def test_unknown_rule(self) -> None:
        with pytest.raises(ParameterError, match="rule='xor'"):
            baselines.neighborhood_lasso(reference_data(), rule="xor")  # type: ignore[arg-type]


class TestAllMethods:
    def test_good_data_give_the_true_graph(self, method: Method) -> None:
        for seed in range(2):
            sim = simulate.graph(400, 24, epsilon=0.0, rng=seed)
            # Trimming products shrinks variances more than covariances, which costs even on good data.
            bar = 0.8 if method is baselines.rclime else 0.9
            assert method(sim.data).roc(sim.adjacency).auc > bar

    def test_steps_grow_from_nothing(self, method: Method) -> None:
        graph = method(simulate.graph(80, 15, rng=2).X, n_lambdas=6)
        assert graph.path.index.name == "lambda"
        assert (np.diff(graph.path.index) < 0).all()
        edges = graph.path["n_edges"].to_numpy()
        assert edges[0] <= 1
        assert edges[-1] > 15
        assert "criterion" in graph.path

    def test_asked_for_edges(self, method: Method) -> None:
        graph = method(simulate.graph(80, 15, rng=2).X, n_lambdas=6, max_edges=9)
        assert graph.n_edges == 9
        assert graph.nodes[0] == "x1"

    def test_given_penalties(self, method: Method) -> None:
        graph = method(simulate.graph(80, 15, rng=2).X, lambdas=[0.1, 0.3])
        assert graph.path.index.tolist() == [0.3, 0.1]

    def test_frames_arrays_and_other_libraries_agree(self, method: Method) -> None:
        frame = reference_data()
        first = method(frame, lambdas=[0.2])
        for data in (
            frame.to_numpy(),
            pl.DataFrame(frame.to_dict("list")),
            sparse.csr_array(frame),
        ):
            again = method(data, lambdas=[0.2])
            assert (first.adjacency != again.adjacency).nnz == 0
            assert first.nodes == again.nodes

    def test_data_stay_as_they_are(self, method: Method) -> None:
        frame = reference_data()
        before = frame.copy()
        method(frame, lambdas=[0.2])
        pd.testing.assert_frame_equal(frame, before)

    def test_rows_with_gaps_are_left_out_and_noted(self, method: Method) -> None:
        frame = reference_data()
        gaps = pd.concat([frame, frame.iloc[:2]], ignore_index=True)
        gaps.iloc[60, 3], gaps.iloc[61, 4] = np.nan, np.inf
        graph = method(gaps, lambdas=[0.2])
        assert graph.nobs == 60
        assert graph.notes[0] == "2 rows with missing or infinite values were left out"
        assert (graph.adjacency != method(frame, lambdas=[0.2]).adjacency).nnz == 0

    def test_constant_variable_is_isolated(self, method: Method) -> None:
        frame = reference_data().assign(x4=1.25)
        graph = method(frame, n_lambdas=5, max_edges=8)
        assert graph.degrees["x4"] == 0
        assert graph.n_edges == 8

    def test_units_do_not_matter(self, method: Method) -> None:
        frame = reference_data()
        # Covariances, unlike correlations, depend on the units of the variables, though not on a common one.
        units = 1e3 if method is baselines.spearman else np.geomspace(1e-3, 1e3, 12)
        graph, scaled = (method(data, lambdas=[0.2]) for data in (frame, frame * units + 7.0))
        assert graph.n_edges > 0
        assert (graph.adjacency != scaled.adjacency).nnz == 0


def awkward(kind: str) -> Array:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    return {
        "a copy": np.column_stack([X, X[:, 0]]),
        "a mirror image": np.column_stack([X, -2.0 * X[:, 0]]),
        "a sum": np.column_stack([X, X.sum(axis=1)]),
        "enormous rows": np.vstack([X, np.full((2, 6), 1e300)]),
        "two values": (X > 0) * 1.0,
        "ties": np.round(X),
        "two variables": X[:, :2],
        "more variables than rows": rng.normal(size=(15, 40)),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    ["a copy", "a mirror image", "a sum", "enormous rows", "two values", "ties", "two variables",
     "more variables than rows"],
)  # fmt: skip
def test_awkward_data_give_finite_answers(method: Method, kind: str) -> None:
    graph = method(awkward(kind), n_lambdas=10)
    assert np.isfinite(graph.ranking.data).all()
    assert np.isfinite(graph.covariance).all()
    assert np.isfinite(graph.edges()["partial_corr"]).all()


class TestRanks:
    @pytest.mark.parametrize("correlation", ["kendall", "spearman"])
    @pytest.mark.parametrize("solver", ["clime", "glasso"])
    def test_monotone_transformations_change_nothing(self, correlation: Any, solver: Any) -> None:
        frame = reference_data()
        bent = frame.assign(x1=np.exp(frame["x1"]), x2=frame["x2"] ** 3)
        plain = baselines.skeptic(frame, correlation=correlation, solver=solver)
        graph = baselines.skeptic(bent, correlation=correlation, solver=solver)
        assert (plain.ranking != graph.ranking).nnz == 0
        assert correlation in graph.method

    def test_spearman_of_equal_scales_is_skeptic(self) -> None:
        X = robust_standardized(reference_data().to_numpy())
        ours = baselines.spearman(X, lambdas=[0.3, 0.1])
        theirs = baselines.skeptic(X, correlation="spearman", lambdas=[0.3, 0.1])
        np.testing.assert_allclose(ours.covariance, theirs.covariance, atol=1e-12)
        assert (ours.adjacency != theirs.adjacency).nnz == 0

    @pytest.mark.parametrize("solver", ["clime", "glasso"])
    @pytest.mark.parametrize("unit", [1e300, 1e-300])
    def test_a_common_unit_does_not_matter(self, solver: Any, unit: float) -> None:
        X = reference_data().to_numpy()
        plain = baselines.spearman(X, solver=solver, max_edges=10)
        scaled = baselines.spearman(X * unit, solver=solver, max_edges=10)
        assert (plain.adjacency != scaled.adjacency).nnz == 0

    def test_indefinite_correlations_are_repaired_and_noted(self) -> None:
        X = np.random.default_rng(0).normal(size=(12, 30))
        for solver in ("clime", "glasso"):
            graph = baselines.skeptic(X, solver=solver, lambdas=[0.5])  # type: ignore[arg-type]
            assert "negative eigenvalues" in graph.notes[-1]
            assert np.linalg.eigvalsh(graph.covariance)[0] > 0

    def test_bad_cells_hurt_ranks_less(self) -> None:
        gains = []
        for seed in range(3):
            sim = simulate.graph(200, 40, epsilon=0.0, cellwise=0.05, rng=seed)
            ranks, plain = baselines.skeptic(sim.X), baselines.clime(sim.X)
            gains.append(ranks.roc(sim.adjacency).auc - plain.roc(sim.adjacency).auc)
        assert np.mean(gains) > 0.05

    @pytest.mark.parametrize("bad", [{"correlation": "pearson"}, {"solver": "quic"}])
    def test_unknown_choices(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="is not one of"):
            baselines.skeptic(reference_data(), **bad)


class TestTrimmedGlasso:
    def test_without_trimming_it_is_the_graphical_lasso(self) -> None:
        Z = robust_standardized(simulate.graph(80, 15, rng=3).X)
        S = np.cov(Z.T, bias=True)
        fits = trimmed_glasso_path(Z, np.array([0.5, 0.1]), np.arange(len(Z)), 20)
        for fit, omega in zip(fits, glasso_path(S, [0.5, 0.1]), strict=True):
            np.testing.assert_allclose(fit.precision, omega, atol=GLASSO)
            assert len(fit.objectives) == 1
        weights = baselines.trimmed_glasso(Z, epsilon=0.0).row_weights
        assert weights is not None
        assert (weights == 1).all()

    @pytest.mark.parametrize("seed", range(3))
    def test_objective_falls(self, seed: int) -> None:
        X = simulate.graph(100, 20, epsilon=0.1, rng=seed).X
        Z = robust_standardized(X)
        # A start at the most outlying rows, so that there is something to do.
        start = np.sort(np.argsort((Z**2).sum(axis=1))[-60:])
        fits = trimmed_glasso_path(Z, np.array([0.3, 0.1, 0.05]), start, 50)
        assert sum(len(fit.objectives) - 1 for fit in fits) >= 3
        for fit in fits:
            assert (np.diff(fit.objectives) <= GLASSO).all()

    def test_planted_rows_are_left_out(self) -> None:
        for seed in range(3):
            sim = simulate.graph(150, 40, epsilon=0.1, rng=seed)
            weights = baselines.trimmed_glasso(sim.data, epsilon=0.12).row_weights
            assert weights is not None
            assert (weights[sim.outlier] == 0).mean() > 0.95

    def test_it_beats_the_graphical_lasso_on_bad_rows(self) -> None:
        for seed in range(2):
            sim = simulate.graph(100, 40, epsilon=0.1, rng=seed)
            trimmed, plain = baselines.trimmed_glasso(sim.X), baselines.glasso(sim.X)
            assert trimmed.roc(sim.adjacency).auc > plain.roc(sim.adjacency).auc + 0.1

    def test_weights_carry_the_labels_of_the_rows(self) -> None:
        frame = reference_data().set_axis([f"day{i}" for i in range(60)])
        weights = baselines.trimmed_glasso(frame, max_edges=5).row_weights
        assert weights is not None
        assert weights.index.tolist() == frame.index.tolist()
        assert weights.sum() == 54

    def test_rows_are_those_of_the_step_with_the_smallest_criterion(self) -> None:
        # An earlier step has as many edges, from other rows.
        X = simulate.graph(40, 10, epsilon=0.1, rng=7).X
        graph = baselines.trimmed_glasso(X, n_lambdas=60, lambda_ratio=0.1)
        place = int(graph.path["criterion"].argmin())
        assert graph.path["n_edges"].iloc[place - 1] == graph.n_edges
        assert_rows_of_step(graph, X, place)

    def test_rows_of_more_edges_than_any_step_has_are_those_of_the_last(self) -> None:
        X = simulate.graph(40, 10, epsilon=0.1, rng=2).X
        graph = baselines.trimmed_glasso(X, n_lambdas=8, lambda_ratio=0.1, max_edges=41)
        # Pairs left the path again.
        assert graph.n_edges == 41 > graph.path["n_edges"].max()
        assert_rows_of_step(graph, X, 7)
        few = baselines.trimmed_glasso(X, n_lambdas=8, max_edges=1)
        assert_rows_of_step(few, X, int((few.path["n_edges"] == 0).sum()))

    @pytest.mark.parametrize("epsilon", [-0.1, 0.5, "much"])
    def test_senseless_fractions(self, epsilon: Any) -> None:
        for method in (baselines.trimmed_glasso, baselines.rclime):
            with pytest.raises(ParameterError, match="epsilon"):
                method(reference_data(), epsilon=epsilon)


def assert_rows_of_step(graph: GraphResult, X: Array, place: int) -> None:
    """The graph's rows and covariance are those of one step of the path."""
    Z = robust_standardized(X)
    h = int(0.9 * len(Z))
    first = np.sort(np.argsort((Z**2).sum(axis=1), kind="stable")[:h])
    fit = trimmed_glasso_path(Z, graph.path.index.to_numpy(), first, 20)[place]
    assert graph.row_weights is not None
    np.testing.assert_array_equal(np.flatnonzero(graph.row_weights), fit.kept)
    np.testing.assert_array_equal(graph.covariance, fit.covariance)


def test_warnings_point_to_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robustsparse.baselines.solvers.GLASSO_ROUNDS", 1)
    monkeypatch.setattr("robustsparse.baselines.lasso_paths.MAX_SWEEPS", 1)
    for name in ("glasso", "trimmed_glasso", "neighborhood_lasso"):
        with pytest.warns(ConvergenceWarning) as record:
            METHODS[name](reference_data(), lambdas=[0.05])
        assert {warning.filename for warning in record} == {__file__}


def with_wild_rows(X: Array, count: int) -> Array:
    X = X.copy()
    X[:count] = 1e4
    return X


class TestChoice:
    """Raised eigenvalues must not let many neighbors explain everything."""

    @pytest.mark.parametrize("name", ["rclime", "skeptic", "spearman"])
    def test_sparse_graphs_are_chosen_sparse(self, name: str) -> None:
        for seed in range(3):
            for n, d in ((20, 8), (60, 20), (60, 30)):
                X = simulate.graph(n, d, epsilon=0.0, rng=seed).X
                for data in (X, with_wild_rows(X, 3)):
                    # The truth has a fifth to two fifths of the pairs.
                    assert METHODS[name](data).n_edges < 0.45 * d * (d - 1) / 2

    def test_a_bound_on_what_is_compared_is_told(self) -> None:
        X = simulate.graph(60, 30, epsilon=0.0, rng=0).X
        graph = baselines.rclime(X)
        # 30 / 2 nodes, 60 rows, four for each neighbor and log 30.
        assert graph.notes[-1].endswith("raised; the extended BIC compared up to 66 edges")
        assert baselines.rclime(X, max_edges=5).notes[-1].endswith("were raised")


def test_clime_of_fewer_rows_than_variables_says_where_it_ends() -> None:
    X = np.random.default_rng(0).normal(size=(10, 20))
    graph = baselines.clime(X, lambda_ratio=CLIME_RATIO / 100)
    assert "no solution below" in graph.notes[0]
    assert len(graph.path) < 40


class TestInputs:
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (np.ones((20, 1)), "two variables"),
            (np.full((20, 3), np.nan), "0 of 20 rows"),
            (np.ones((3, 3)), "3 of 3 rows"),
            (np.ones(5), "dimension"),
            (pd.DataFrame({"a": ["u"] * 9, "b": range(9)}), "'a'"),
            (pd.DataFrame(), "shape"),
        ],
    )
    def test_senseless_data(self, bad: Any, message: str) -> None:
        with pytest.raises(DataError, match=message):
            variables(bad)

    def test_one_row_left_out(self) -> None:
        frame = reference_data()
        frame.loc[5, "x1"] = np.nan
        got = variables(frame)
        assert got.notes == ("1 row with missing or infinite values was left out",)
        assert 5 not in got.rows

    def test_uncorrelated_variables(self) -> None:
        with pytest.raises(DataError, match="no edge"):
            baselines.glasso(np.ones((20, 3)))
