"""Any estimator on the rows that are trusted."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import robustsparse as rs
from robustsparse.sklearn import TrustedRows


def corrupted(seed: int, attack: str = "leverage") -> Any:
    return rs.simulate.linear(n=150, d=20, k=5, epsilon=0.1, attack=attack, rng=seed)


# The lasso of all rows, bad ones included, does not settle.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bad_rows_do_no_harm_over_seeds() -> None:
    """The median error on new rows is near that of the same estimator on the good rows alone."""
    to_good, to_all = [], []
    for seed in range(8):
        sim, new = corrupted(seed), np.random.default_rng(seed).normal(size=(300, 20))
        good = ~sim.outlier
        fits = (
            TrustedRows(LassoCV()).fit(sim.X, sim.y),
            LassoCV().fit(sim.X[good], sim.y[good]),
            LassoCV().fit(sim.X, sim.y),
        )
        ours, known, plain = (np.median(np.abs(fit.predict(new) - new @ sim.beta)) for fit in fits)
        to_good.append(ours / known)
        to_all.append(ours / plain)
    assert np.exp(np.mean(np.log(to_good))) < 1.15
    assert np.exp(np.mean(np.log(to_all))) < 0.5


def test_the_estimator_gets_the_trusted_rows_and_no_others() -> None:
    sim = corrupted(1)
    model = TrustedRows(KNeighborsRegressor(n_neighbors=1)).fit(sim.X, sim.y)
    assert model.estimator_.n_samples_fit_ == model.trusted_.sum()
    assert not model.trusted_[sim.outlier].any()
    assert model.judges_[0].goal == "predict"


def test_wrong_cells_are_mended_and_the_data_left_alone() -> None:
    sim = rs.simulate.linear(n=200, d=12, k=3, epsilon=0.0, attack=None, correlation=0.6, rng=2)
    X = sim.X.copy()
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(200)[:40], rng.integers(12, size=40)
    X[rows, columns] = 999.0
    before = X.copy()
    errors = {}
    for cells in ("auto", False):
        fit = TrustedRows(Ridge(), cells=cells).fit(X, sim.y)
        errors[cells] = np.abs(fit.estimator_.coef_ - sim.beta).max()
    assert (before == X).all()
    assert errors["auto"] < 0.25
    framed = pd.DataFrame(X).rename(columns="v{}".format)
    same = TrustedRows(Ridge()).fit(framed, sim.y)
    assert abs(np.abs(same.estimator_.coef_ - sim.beta).max() - errors["auto"]) < 1e-9
    assert same.estimator_.feature_names_in_.tolist() == list(framed.columns)
    assert (framed.to_numpy() == before).all()


def test_a_pipeline_may_be_inside_and_a_grid_outside() -> None:
    sim = corrupted(3)
    inside = TrustedRows(make_pipeline(StandardScaler(), Ridge()))
    grid = GridSearchCV(
        inside, {"estimator__ridge__alpha": [0.1, 1e6], "epsilon": [0.1, 0.2]}, cv=3
    )
    grid.fit(sim.X, sim.y)
    assert set(grid.best_params_) == {"estimator__ridge__alpha", "epsilon"}
    assert clone(inside).get_params()["estimator__ridge__alpha"] == 1.0


def test_labels_are_judged_too() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 8))
    y = (X[:, 0] - X[:, 1] > 0).astype(int)
    flipped = rng.permutation(400)[:40]
    y[flipped] = 1 - y[flipped]
    model = TrustedRows(LogisticRegression()).fit(X, y)
    assert model.trusted_[flipped].mean() < 0.3
    assert np.delete(model.trusted_, flipped).mean() > 0.9
    assert model.predict_proba(X).shape == (400, 2)
    assert model.classes_.tolist() == [0, 1]


def test_several_classes() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = TrustedRows(LogisticRegression()).fit(X, y)
    assert len(model.judges_) == 3
    assert model.score(X, y) > 0.8


@pytest.mark.filterwarnings("ignore:.*do not fit the model")
def test_a_class_that_lies_apart_is_kept_and_said() -> None:
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 40.0]])
    y = np.repeat([0, 1, 2], [60, 20, 20])
    X = centers[y] + rng.normal(size=(100, 2))
    with pytest.warns(rs.ContaminationWarning, match="every row of class"):
        model = TrustedRows(LogisticRegression()).fit(X, y)
    assert set(model.predict(X)) == {0, 1, 2}


def test_gaps_stay_gaps_for_an_estimator_that_takes_them() -> None:
    sim = corrupted(6)
    X = sim.X.copy()
    X[::9, 1] = np.nan
    model = TrustedRows(HistGradientBoostingRegressor(max_iter=10)).fit(X, sim.y)
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match="NaN"):
        TrustedRows(Ridge()).fit(X, sim.y)


@pytest.mark.parametrize("routing", [True, False])
def test_weights_reach_the_estimator(routing: bool) -> None:
    sim = corrupted(7)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(sim.y))
    with sklearn.config_context(enable_metadata_routing=routing):
        ridge = Ridge().set_fit_request(sample_weight=True) if routing else Ridge()
        model = TrustedRows(ridge).fit(sim.X, sim.y, sample_weight=weights)
    some = model.trusted_
    alone = Ridge().fit(sim.X[some], sim.y[some], sample_weight=weights[some])
    np.testing.assert_allclose(model.estimator_.coef_, alone.coef_)


def test_a_pickle_predicts_the_same() -> None:
    sim = corrupted(8)
    model = TrustedRows(Ridge()).fit(sim.X, sim.y)
    assert (pickle.loads(pickle.dumps(model)).predict(sim.X) == model.predict(sim.X)).all()


def test_it_has_what_the_estimator_has() -> None:
    assert not hasattr(TrustedRows(Ridge()), "predict_proba")
    assert hasattr(TrustedRows(LogisticRegression()), "predict_proba")


def test_an_estimator_that_takes_no_weights_gets_rows_as_often() -> None:
    sim = corrupted(2)
    weights = np.resize([2, 0, 1], len(sim.y))
    model = TrustedRows(KNeighborsRegressor(n_neighbors=1)).fit(sim.X, sim.y, sample_weight=weights)
    assert model.estimator_.n_samples_fit_ == weights[model.trusted_].sum()
    assert not model.trusted_[weights == 0].any()
    with pytest.raises(ValueError, match="takes no sample_weight"):
        TrustedRows(KNeighborsRegressor()).fit(sim.X, sim.y, sample_weight=weights + 0.5)


def test_the_order_of_rows_decides_nothing() -> None:
    sim = corrupted(4)
    turned = np.random.default_rng(0).permutation(len(sim.y))
    first = TrustedRows(Ridge()).fit(sim.X, sim.y)
    second = TrustedRows(Ridge()).fit(sim.X[turned], sim.y[turned])
    assert (first.trusted_[turned] == second.trusted_).all()
