"""Our models where scikit-learn's would stand: frames, pipelines, grids, weights."""

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import robustsparse as rs
from robustsparse.base.errors import DataWarning
from robustsparse.design.row_order import RowOrder
from robustsparse.sklearn import RHTClassifier, RHTRegressor, TrustedRows


@pytest.fixture(scope="module")
def sim() -> Any:
    return rs.simulate.linear(n=120, d=20, k=3, epsilon=0.1, rng=4)


@pytest.fixture(scope="module")
def frame(sim: Any) -> pd.DataFrame:
    return sim.data.drop(columns="y").rename(columns=lambda name: f"gene {name}")


@pytest.mark.parametrize("goal", ["predict", "select"])
def test_the_model_is_that_of_the_package(goal: Any, sim: Any) -> None:
    model = RHTRegressor(goal=goal, n_jobs=1).fit(sim.X, sim.y)
    order = RowOrder.of(sim.X, sim.y, None).places
    own = rs.rht_fit(sim.X[order], sim.y[order], goal=goal, n_jobs=1)
    assert model.coef_.tolist() == own.params.iloc[1:].tolist()
    assert model.intercept_ == own.params.iloc[0]
    np.testing.assert_allclose(model.predict(sim.X), own.predict(sim.X), rtol=1e-9)
    assert (model.row_weights_[order] == own.row_weights.to_numpy()).all()
    assert model.result_.diagnostics.index.tolist() == list(range(len(sim.y)))
    as_given = rs.rht_fit(sim.X, sim.y, goal=goal, n_jobs=1)
    far = np.abs(as_given.predict(sim.X) - model.predict(sim.X))
    assert np.median(far) < 0.1 * as_given.scale


def test_a_frame_has_its_names_in_and_out(frame: pd.DataFrame, sim: Any) -> None:
    model = RHTRegressor(goal="select").fit(frame, sim.y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert set(model.get_feature_names_out()) == set(model.result_.support())
    assert set(model.get_feature_names_out()) == {f"gene {name}" for name in sim.support()}
    chosen = model.set_output(transform="pandas").transform(frame)
    assert chosen.equals(frame[model.get_feature_names_out()])


def test_select_from_model_reads_the_coefficients(frame: pd.DataFrame, sim: Any) -> None:
    chosen = SelectFromModel(RHTRegressor(goal="select"), threshold=1e-9).fit(frame, sim.y)
    assert set(chosen.get_feature_names_out()) == {f"gene {name}" for name in sim.support()}


def test_a_selector_within_a_pipeline(frame: pd.DataFrame, sim: Any) -> None:
    pipe = make_pipeline(StandardScaler(), RHTRegressor(goal="select"), LinearRegression())
    pipe.fit(frame, sim.y)
    assert pipe[-1].n_features_in_ == 3
    assert np.isfinite(pipe.predict(frame)).all()


def test_a_grid_over_what_a_fit_takes(sim: Any) -> None:
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), RHTRegressor(goal="select")),
        {"rhtregressor__k": [1, 3], "rhtregressor__estimator": ["trim", rs.Trimmed(alpha=0.2)]},
        cv=3,
        scoring="neg_median_absolute_error",
    ).fit(sim.X, sim.y)
    assert grid.best_params_["rhtregressor__k"] == 3


def test_a_copy_and_a_pickle_predict_the_same(sim: Any) -> None:
    model = RHTRegressor(k=3, goal="select", epsilon=0.2)
    assert clone(model).get_params() == model.get_params()
    model.fit(sim.X, sim.y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(sim.X) == model.predict(sim.X)).all()
    assert str(again.result_.summary()) == str(model.result_.summary())


def test_weights_of_zero_leave_rows_out(sim: Any) -> None:
    weights = (~sim.outlier).astype(float)
    weighted = RHTRegressor().fit(sim.X, sim.y, sample_weight=weights)
    without = RHTRegressor().fit(sim.X[~sim.outlier], sim.y[~sim.outlier])
    np.testing.assert_allclose(weighted.coef_, without.coef_, rtol=1e-12)
    assert not weighted.row_weights_[sim.outlier].any()


def test_the_order_of_rows_does_not_matter_and_rows_are_told_as_given(sim: Any) -> None:
    turned = np.random.default_rng(0).permutation(len(sim.y))
    first = RHTRegressor(goal="select").fit(sim.X, sim.y)
    second = RHTRegressor(goal="select").fit(sim.X[turned], sim.y[turned])
    assert (first.coef_ == second.coef_).all()
    assert (first.row_weights_[turned] == second.row_weights_).all()
    assert first.result_.outliers() == sorted(turned[second.result_.outliers()])
    np.testing.assert_allclose(first.result_.fittedvalues, first.predict(sim.X), rtol=1e-9)
    # What fits again knows the rows as they were given.
    crossed = second.result_.cross_validate(folds=3, data=(sim.X[turned], sim.y[turned]))
    np.testing.assert_allclose(crossed.predictions["observed"], sim.y[turned])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32])
def test_whole_numbers_repeat_rows_and_each_is_told_of_once(kind: Any, sim: Any) -> None:
    weights = np.random.default_rng(1).integers(0, 4, len(sim.y))
    rows = np.repeat(np.arange(len(sim.y)), weights)
    weighted = RHTRegressor(goal="select").fit(kind(sim.X), sim.y, sample_weight=weights)
    repeated = RHTRegressor(goal="select").fit(kind(sim.X[rows]), sim.y[rows])
    assert (weighted.coef_ == repeated.coef_).all()
    assert (weighted.row_weights_[rows] == repeated.row_weights_).all()
    assert weighted.result_.bse.equals(repeated.result_.bse)
    assert weighted.result_.nobs == (weights > 0).sum()
    assert set(weighted.result_.outliers()) == set(rows[repeated.result_.outliers()])
    other = RHTRegressor(goal="select").fit(kind(sim.X), sim.y, sample_weight=weights / 2)
    assert (other.coef_ != weighted.coef_).any()


def test_repeated_rows_have_their_missing_cells_repeated(sim: Any) -> None:
    X = sim.X.copy()
    X[::5, 1] = np.nan
    weights = np.resize([1, 2, 3, 0], len(sim.y))
    rows = np.repeat(np.arange(len(sim.y)), weights)
    weighted = RHTRegressor(na_action="impute").fit(X, sim.y, sample_weight=weights)
    repeated = RHTRegressor(na_action="impute").fit(X[rows], sim.y[rows])
    assert (weighted.coef_ == repeated.coef_).all()
    cells = weighted.result_.cells("missing")
    assert cells.index.tolist() == [row for row in range(0, len(sim.y), 5) if weights[row]]
    with pytest.warns(DataWarning, match=f"{len(cells)} of {(weights > 0).sum()} rows"):
        left_out = RHTRegressor(na_action="drop").fit(X, sim.y, sample_weight=weights)
    assert left_out.result_.dropped.missing == len(cells)
    assert not left_out.row_weights_[::5].any()


def test_too_many_repetitions_are_multipliers_and_that_is_said(sim: Any) -> None:
    weights = np.full(len(sim.y), 1000.0)
    with pytest.warns(DataWarning, match="add up to"):
        many = RHTRegressor(goal="select").fit(sim.X, sim.y, sample_weight=weights)
    np.testing.assert_allclose(many.coef_, RHTRegressor(goal="select").fit(sim.X, sim.y).coef_)


# A bad row thirty times makes for more of them than the fit was told of.
@pytest.mark.filterwarnings("ignore::robustsparse.base.errors.ContaminationWarning")
def test_a_good_row_of_a_large_weight_counts_in_full_and_a_bad_one_is_rejected() -> None:
    """Against least squares on the true columns and the good rows, with these weights, over seeds."""
    trusted, rejected, apart = [], [], []
    for seed in range(6):
        data = rs.simulate.linear(n=150, d=20, k=3, epsilon=0.1, attack="leverage", rng=seed)
        good, bad = np.flatnonzero(~data.outlier), np.flatnonzero(data.outlier)
        true = np.flatnonzero(data.beta)
        for row, told in ((good[0], trusted), (bad[0], rejected)):
            weights = np.ones(len(data.y))
            weights[row] = 30
            model = RHTRegressor(goal="select", k=3).fit(data.X, data.y, sample_weight=weights)
            told.append(model.row_weights_[row])
            known = LinearRegression().fit(data.X[good][:, true], data.y[good], weights[good])
            apart.append(np.abs(model.coef_[true] - known.coef_).max())
    assert min(trusted) > 0.8
    assert max(rejected) < 0.01
    assert max(apart) < 0.1


def test_weights_find_their_way_through_a_pipeline(sim: Any) -> None:
    weights = np.where(sim.outlier, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = RHTRegressor(goal="select").set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        pipe.fit(sim.X, sim.y, sample_weight=weights)
    assert pipe[-1].result_.dropped.weightless == sim.outlier.sum()


def test_missing_values_are_imputed_in_new_rows_too(sim: Any) -> None:
    X = sim.X.copy()
    X[::7, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        RHTRegressor().fit(X, sim.y)
    model = RHTRegressor(na_action="impute").fit(X, sim.y)
    assert np.isfinite(model.predict(X)).all()
    np.testing.assert_allclose(model.predict(sim.X), sim.X @ model.coef_ + model.intercept_)


def test_a_missing_value_without_a_coefficient_does_not_hinder_a_prediction(sim: Any) -> None:
    X = sim.X.copy()
    model = RHTRegressor(goal="select", na_action="drop").fit(X, sim.y)
    X[0, int(np.flatnonzero(model.coef_ == 0)[0])] = np.nan
    X[1, int(np.flatnonzero(model.coef_)[0])] = np.nan
    assert np.isnan(model.predict(X)[:3]).tolist() == [False, True, False]


def test_labels_of_any_kind_come_back(sim: Any) -> None:
    y = np.where(sim.X[:, 0] > sim.X[:, 1], "sick", "well")
    model = RHTClassifier().fit(sim.X, y)
    assert model.classes_.tolist() == ["sick", "well"]
    assert model.score(sim.X, y) > 0.9
    right = model.classes_[model.predict_proba(sim.X).argmax(axis=1)]
    assert (right == model.predict(sim.X)).all()


@pytest.mark.filterwarnings("ignore::robustsparse.base.errors.SelectionWarning")
def test_more_than_two_classes_one_by_one(sim: Any) -> None:
    y = np.digitize(sim.X[:, 0], [-0.5, 0.5])
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        RHTClassifier().fit(sim.X, y)
    assert OneVsRestClassifier(RHTClassifier()).fit(sim.X, y).score(sim.X, y) > 0.6


def patients(n: int = 300) -> tuple[pd.DataFrame, "pd.Series[float]"]:
    """A frame as it comes: text, gaps and dates, and one response in ten that belongs to another row."""
    rng = np.random.default_rng(1)
    ward = rng.choice(["north", "south", "west"], n)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n), unit="D")
    frame = pd.DataFrame(
        {"ward": ward, "day": day, "age": rng.normal(50, 10, n), "bmi": rng.normal(25, 4, n)}
    )
    y = (
        0.1 * frame["age"]
        + 2.0 * (ward == "south")
        + 0.01 * day.day_of_year
        + rng.normal(0, 0.3, n)
    )
    wrong = rng.permutation(n)[: n // 10]
    y.iloc[wrong] = y.iloc[rng.permutation(wrong)].to_numpy() + 20.0
    frame.loc[rng.permutation(n)[:20], "age"] = np.nan
    frame.loc[rng.permutation(n)[:20], "ward"] = np.nan
    return frame, y


def days(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.apply(lambda column: column.dt.day_of_year.astype(float))


@pytest.mark.parametrize(
    "model", [RHTRegressor(), RHTRegressor(goal="select"), TrustedRows(LassoCV())]
)
def test_a_pipeline_from_a_frame_with_text_gaps_and_dates(model: Any) -> None:
    frame, y = patients()
    columns = ColumnTransformer(
        [
            (
                "text",
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False)
                ),
                ["ward"],
            ),
            ("date", FunctionTransformer(days, feature_names_out="one-to-one"), ["day"]),
            ("number", SimpleImputer(strategy="median"), ["age", "bmi"]),
        ]
    )
    pipe = make_pipeline(columns, clone(model)).fit(frame, y)
    assert pipe[-1].n_features_in_ == 6
    plain = make_pipeline(columns, LassoCV()).fit(frame, y)
    errors = [np.median(np.abs(one.predict(frame) - y)) for one in (pipe, plain)]
    assert errors[0] < 0.5 * errors[1]
    assert np.isfinite(cross_val_score(pipe, frame, y, cv=3)).all()
    named = pipe.set_output(transform="pandas").fit(frame, y)
    assert "number__age" in named[-1].feature_names_in_


def test_a_response_that_is_transformed(sim: Any) -> None:
    model = TransformedTargetRegressor(RHTRegressor(), func=np.arcsinh, inverse_func=np.sinh)
    assert np.isfinite(model.fit(sim.X, sim.y).predict(sim.X)).all()


def test_it_is_imported_on_use_alone() -> None:
    code = "import sys, robustsparse as rs; assert 'sklearn' not in sys.modules; print(rs.sklearn.RHTRegressor())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "RHTRegressor()"


def test_without_scikit_learn_the_remedy_is_said() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import robustsparse as rs\n"
        "try:\n    rs.sklearn\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "robustsparse[sklearn]" in done.stdout
