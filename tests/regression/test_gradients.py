"""Fits and graphs with every gradient that has a name."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustsparse as rs

MORE = ("geomom", "catoni", "filter")
WORDS = {
    "geomom": "geomedian of 18 block means",
    "catoni": "Catoni mean, 10% bad",
    "filter": "sparse filter, 10% bad",
}


@pytest.fixture(scope="module")
def sim() -> Any:
    return rs.simulate.linear(n=150, d=40, k=3, epsilon=0.1, attack="flip_y", rng=2)


@pytest.mark.parametrize("name", MORE)
def test_the_automatic_fit_finds_the_terms_and_says_how(name: str, sim: Any) -> None:
    fit = rs.rht("y ~ .", sim.data, estimator=name)
    assert set(fit.support()) == set(sim.support())
    assert dict(fit.summary().head)["Gradient"] == WORDS[name]


@pytest.mark.parametrize("name", MORE)
def test_the_papers_estimate_needs_no_refit(name: str, sim: Any) -> None:
    """A fit without a refit, whose iterates settle, from formulas and from arrays alike."""
    fit = rs.rht("y ~ .", sim.data, estimator=name, k=3, refit=False)
    assert fit.converged
    assert set(fit.support()) == set(sim.support())
    same = rs.rht_fit(sim.X, sim.y, estimator=name, k=3, refit=False)
    np.testing.assert_allclose(fit.params.to_numpy(), same.params.to_numpy())


@pytest.mark.parametrize("name", MORE)
def test_jobs_do_not_matter(name: str, sim: Any) -> None:
    fits = [
        rs.rht_fit(sim.X, sim.y, estimator=name, k=[2, 3], select="cv", refit=False, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    assert fits[0].params.equals(fits[1].params)
    graphs = [rs.robust_ns(sim.X[:, :9], k=2, estimator=name, n_jobs=jobs) for jobs in (1, 2)]
    assert np.array_equal(graphs[0].weights.toarray(), graphs[1].weights.toarray())


@pytest.mark.parametrize("name", ["catoni", "filter"])
def test_order_of_rows_does_not_matter(name: str, sim: Any) -> None:
    order = np.random.default_rng(0).permutation(len(sim.y))
    options: Any = {"estimator": name, "k": 3, "refit": False}
    fit, moved = (
        rs.rht_fit(sim.X, sim.y, **options),
        rs.rht_fit(sim.X[order], sim.y[order], **options),
    )
    np.testing.assert_allclose(fit.params, moved.params, atol=1e-7)


@pytest.mark.parametrize("name", MORE)
def test_weights_count_and_rows_without_weight_do_not(name: str, sim: Any) -> None:
    weights = np.ones(len(sim.y))
    weights[sim.outlier] = 0.0
    options: Any = {"estimator": name, "k": 3, "refit": False}
    fit = rs.rht_fit(sim.X, sim.y, weights=weights, **options)
    good = rs.rht_fit(sim.X[~sim.outlier], sim.y[~sim.outlier], **options)
    np.testing.assert_allclose(fit.params, good.params)
    light = rs.rht_fit(sim.X, sim.y, weights=np.where(sim.outlier, 0.01, 1.0), **options)
    full = rs.rht_fit(sim.X, sim.y, **options)
    far = [np.linalg.norm(one.params.iloc[1:] - sim.beta) for one in (light, full)]
    assert far[0] < far[1]


@pytest.mark.parametrize("name", MORE)
def test_models_are_stored_with_their_gradient(name: str, sim: Any, tmp_path: Path) -> None:
    fit = rs.rht_fit(sim.X, sim.y, estimator=name, k=3)
    fit.save(tmp_path / "fit.rs")
    back = rs.load(tmp_path / "fit.rs")
    assert type(back.estimator) is type(fit.estimator)
    assert str(back.summary()) == str(fit.summary())


@pytest.mark.parametrize("name", MORE)
def test_two_classes(name: str) -> None:
    sim = rs.simulate.logistic(n=200, d=20, k=2, epsilon=0.0, attack=None, rng=4)
    fit = rs.rht_fit(sim.X, sim.y, family="binomial", estimator=name, k=2)
    assert set(fit.support()) == set(sim.support())


@pytest.mark.parametrize("name", MORE)
def test_missing_cells_are_for_na_action(name: str, sim: Any) -> None:
    data = sim.data.copy()
    data.loc[3, "x1"] = np.nan
    fit = rs.rht("y ~ .", data, estimator=name, k=3, na_action="impute")
    assert set(fit.support()) == set(sim.support())
    assert rs.rht("y ~ .", data, estimator=name, k=3).nobs == len(data) - 1


@pytest.mark.parametrize("name", ["catoni", "filter"])
def test_more_bad_rows_than_expected_are_told(name: str, sim: Any) -> None:
    with pytest.warns(rs.ContaminationWarning, match=r"a share of 0.01; fit again with a larger"):
        rs.rht_fit(sim.X, sim.y, estimator=name, epsilon=0.01, k=3)


def test_a_share_that_is_estimated_reaches_the_gradient(sim: Any) -> None:
    fit = rs.rht_fit(sim.X, sim.y, estimator="filter", epsilon="auto")
    assert fit.estimator == rs.SparseFilter(fit.epsilon)
    own = rs.rht_fit(sim.X, sim.y, estimator=rs.SparseFilter(0.2), epsilon="auto", k=3)
    assert own.estimator == rs.SparseFilter(0.2)


def test_designs_read_in_blocks_refuse_them(sim: Any, tmp_path: Path) -> None:
    # A file with nothing in it yet, larger than the memory that is given.
    X = np.memmap(tmp_path / "X.npy", np.float64, "w+", shape=(len(sim.y), 50_000))
    with pytest.raises(rs.ParameterError, match="estimator= must be 'trim' or 'mean'"):
        rs.rht_fit(X, sim.y, estimator="filter", memory="50MB")


@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_a_graph_with_shifted_rows_is_seen_better_by_the_filter() -> None:
    """The paper's outliers, all rows used, over seeds."""
    gain = []
    for seed in range(3):
        sim = rs.simulate.graph(100, 40, v=0.6, rng=seed)
        areas = [
            rs.robust_ns(sim.X, k=5, estimator=name, screen=False)
            .roc(sim.adjacency)
            .partial_auc(0.1)
            for name in ("trim", "filter")
        ]
        gain.append(areas[1] - areas[0])
    assert np.mean(gain) > 0.02


@pytest.mark.parametrize("name", MORE)
def test_graphs_resume_with_them(name: str, tmp_path: Path) -> None:
    sim = rs.simulate.graph(150, 12, kind="band", v=0.6, epsilon=0.0, rng=1)
    runs = [rs.robust_ns(sim.X, k=2, estimator=name, checkpoint=tmp_path) for _ in range(2)]
    assert (runs[0].adjacency != runs[1].adjacency).nnz == 0
    assert runs[0].roc(sim.adjacency).auc > 0.8
