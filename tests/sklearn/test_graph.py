"""Robust graphs beside scikit-learn's."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import LedoitWolf
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import robustsparse as rs
from robustsparse.graph.covariance_selection import covariance_selection
from robustsparse.sklearn import RobustGraph


def test_the_graph_is_that_of_the_package() -> None:
    sim = rs.simulate.graph(200, 12, kind="band", v=0.6, epsilon=0.0, rng=1)
    model = RobustGraph(max_edges=11).fit(sim.data)
    own = rs.robust_ns(sim.data, max_edges=11)
    assert ((model.precision_ != 0) == (own.adjacency.toarray() | np.eye(12, dtype=bool))).all()
    assert list(model.graph_.nodes) == list(sim.data.columns)
    assert model.feature_names_in_.tolist() == list(sim.data.columns)


def test_covariance_and_precision_are_each_others_inverse_in_the_units_of_the_data() -> None:
    sim = rs.simulate.graph(400, 8, kind="band", v=0.6, epsilon=0.0, rng=2)
    units = np.geomspace(0.01, 100, 8)
    model = RobustGraph().fit(sim.data.to_numpy() * units + 7.0)
    np.testing.assert_allclose(model.covariance_ @ model.precision_, np.eye(8), atol=1e-8)
    np.testing.assert_allclose(np.sqrt(np.diag(model.covariance_)) / units, 1.0, rtol=0.35)
    np.testing.assert_allclose((model.location_ - 7.0) / units, 0.0, atol=0.3)


def test_bad_rows_spoil_a_plain_covariance_and_not_the_robust_graph() -> None:
    """Log-likelihood of clean rows, over seeds."""
    better = []
    for seed in range(5):
        clean = rs.simulate.graph(
            300, 10, kind="band", v=0.6, epsilon=0.0, rng=seed
        ).data.to_numpy()
        train, test = clean[:200].copy(), clean[200:]
        train[:15] = 20.0 + np.random.default_rng(seed).normal(size=(15, 10))
        better.append(RobustGraph().fit(train).score(test) - LedoitWolf().fit(train).score(test))
    assert min(better) > 1.0


def test_rejected_rows_are_told() -> None:
    data = rs.simulate.graph(200, 10, kind="band", v=0.6, epsilon=0.0, rng=3).data.to_numpy().copy()
    data[:10] = 15.0 + np.random.default_rng(0).normal(size=(10, 10))
    model = RobustGraph().fit(data)
    assert model.row_weights_.shape == (200,)
    assert (model.row_weights_[:10] < 0.1).all()
    distances = model.mahalanobis(data)
    assert distances[:10].min() > distances[10:].max()


def test_a_pipeline_and_a_copy() -> None:
    data = rs.simulate.graph(100, 6, kind="band", v=0.6, epsilon=0.0, rng=4).data
    pipe = make_pipeline(StandardScaler(), clone(RobustGraph(max_edges=5))).fit(data)
    assert pipe[-1].graph_.n_edges == 5


def test_an_indefinite_matrix_has_a_distribution_all_the_same() -> None:
    S = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    omega = covariance_selection(S, sparse.csr_array(np.ones((3, 3), dtype=bool)))
    assert np.linalg.eigvalsh(omega)[0] > 0


def test_zeros_of_the_graph_and_correlations_at_its_edges() -> None:
    rng = np.random.default_rng(0)
    S = np.corrcoef(rng.normal(size=(60, 6)), rowvar=False)
    graph = np.triu(rng.random((6, 6)) < 0.4, 1)
    graph |= graph.T
    omega = covariance_selection(S, sparse.csr_array(graph))
    W = np.linalg.inv(omega)
    assert (omega[~graph & ~np.eye(6, dtype=bool)] == 0).all()
    np.testing.assert_allclose(W[graph], S[graph], atol=1e-7)
    np.testing.assert_allclose(np.diag(W), 1.0, atol=1e-7)


def test_a_frame_of_numbers_of_any_type() -> None:
    data = rs.simulate.graph(80, 4, kind="band", v=0.6, epsilon=0.0, rng=4).data
    whole = (100 * data).round().astype("int64")
    assert RobustGraph().fit(whole).graph_.nodes == tuple(map(str, pd.Index(data.columns)))
