"""Cross-validation of a fit, and the ROC curve and the calibration that come of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit

import robustsparse as rs
from robustsparse.base.types import Array
from robustsparse.regression.cross_validation import deal

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def classes(seed: int, signal: float = 1.5, n: int = 200, d: int = 30) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < expit(signal * (X[:, 2] - X[:, 7]))).astype(float)


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    X, y = classes(0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    label = np.where(y == 1, "sick", "healthy")
    return frame.assign(state=label).set_axis([f"p{i}" for i in range(len(y))])


@pytest.fixture(scope="module")
def fit(data: pd.DataFrame) -> Any:
    return rs.rht("state ~ .", data, family="binomial", k=2, n_jobs=1)


@pytest.fixture(scope="module")
def crossed(fit: Any) -> Any:
    return fit.cross_validate(folds=4)


def test_every_row_is_predicted_by_the_fit_without_its_fold(
    data: pd.DataFrame, crossed: Any
) -> None:
    table = crossed.predictions
    for fold, part in table.groupby("fold"):
        rest = data[(table["fold"] != fold).to_numpy()]
        alone = rs.rht("state ~ .", rest, family="binomial", k=2, n_jobs=1)
        expected = alone.predict(data.loc[part.index])
        np.testing.assert_allclose(part["prediction"], expected, rtol=1e-6)


def test_rows_keep_their_labels_and_responses(data: pd.DataFrame, fit: Any, crossed: Any) -> None:
    assert crossed.predictions.index.equals(data.index)
    np.testing.assert_array_equal(crossed.predictions["observed"] == 1, data["state"] == "sick")
    np.testing.assert_allclose(
        crossed.predictions["prediction"], expit(crossed.predictions["link"])
    )
    assert crossed.sizes == (2, 2, 2, 2)


def test_folds_have_their_share_of_both_classes(crossed: Any) -> None:
    counts = pd.crosstab(crossed.predictions["fold"], crossed.predictions["observed"])
    assert (counts.max() - counts.min() <= 1).all()
    assert list(counts.index) == [1, 2, 3, 4]


def test_folds_are_random_and_follow_the_seed(fit: Any, crossed: Any) -> None:
    same, other = (fit.cross_validate(folds=4, rng=rng).predictions for rng in (None, 1))
    pd.testing.assert_frame_equal(same, crossed.predictions)
    assert not other["fold"].equals(same["fold"])


def test_dealing_is_even_over_strata() -> None:
    strata = np.repeat([0, 1, 2], [13, 3, 8])
    for seed in range(5):
        fold = deal(strata, 4, np.random.default_rng(seed))
        counts = pd.crosstab(strata, fold)
        assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
        assert np.ptp(np.bincount(fold)) <= 1


def test_folds_do_not_depend_on_the_number_of_threads(fit: Any, crossed: Any) -> None:
    pd.testing.assert_frame_equal(
        fit.cross_validate(folds=4, n_jobs=2).predictions, crossed.predictions
    )


def test_noise_has_no_auc_out_of_sample() -> None:
    """Ten terms chosen from noise tell the classes apart in sample, and only there."""
    inside, outside = [], []
    for seed in range(20, 25):
        X, y = classes(seed, signal=0.0, n=120, d=100)
        fit = rs.rht_fit(X, y, family="binomial", k=10, n_jobs=1)
        inside.append(fit.class_roc().auc)
        outside.append(fit.cross_validate(folds=5).roc().auc)
    assert np.mean(inside) > 0.8
    assert 0.4 < np.mean(outside) < 0.6


def test_the_auc_by_cross_validation_is_that_of_fresh_rows() -> None:
    gaps = []
    for seed in range(30, 35):
        X, y = classes(seed, n=150)
        fit = rs.rht_fit(X, y, family="binomial", k=2, n_jobs=1)
        fresh = fit.class_roc(*classes(1000 + seed, n=3000)).auc
        gaps.append(fit.cross_validate(folds=5).roc().auc - fresh)
    assert abs(np.mean(gaps)) < 0.05


def test_numbers_can_be_cross_validated() -> None:
    sim = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.1, rng=1)
    fit = rs.rht("y ~ .", sim.data, k=2)
    crossed = fit.cross_validate(folds=5)
    assert 0.8 < crossed.score() <= fit.explained + 0.02
    for method in ("roc", "calibration"):
        with pytest.raises(rs.ParameterError, match="binomial"):
            getattr(crossed, method)()


def test_offset_weights_sparse_columns_and_groups_go_along() -> None:
    X, y = classes(3, n=150, d=12)
    X[np.abs(X) < 0.5] = 0.0
    offset, weights = 0.3 * X[:, 0], np.linspace(0.5, 1.5, len(y))
    given = {"family": "binomial", "k": 2, "offset": offset, "weights": weights, "n_jobs": 1,
             "groups": {"g": ["x1", "x2"]}}  # fmt: skip
    dense = rs.rht_fit(X, y, **given).cross_validate(folds=3)
    S = sp.csr_array(X)
    thin = rs.rht_fit(S, y, **given).cross_validate(folds=3)
    np.testing.assert_allclose(dense.predictions, thin.predictions, rtol=1e-6)
    one = dense.predictions["fold"] == 1
    rest = {**given, "offset": offset[~one], "weights": weights[~one]}
    alone = rs.rht_fit(X[~one], y[~one], **rest)
    expected = alone.predict(X[one], type="link", offset=offset[one])
    np.testing.assert_allclose(dense.predictions["link"][one], expected, rtol=1e-6)


def test_data_that_are_gone_have_to_be_given_again(tmp_path: Path) -> None:
    X, y = classes(4)
    fit = rs.rht_fit(X.copy(), y, family="binomial", k=2, n_jobs=1)
    with pytest.raises(rs.DataError, match=r"cross_validate\(data=\(X, y\)\)"):
        fit.cross_validate()
    again = fit.cross_validate(folds=3, data=(X, y))
    fit.save(tmp_path / "fit")
    stored = rs.load(tmp_path / "fit").cross_validate(folds=3, data=(X, y))
    pd.testing.assert_frame_equal(stored.predictions, again.predictions)
    with pytest.raises(rs.DataError, match="200 rows"):
        fit.cross_validate(data=(X[:150], y[:150]))


@pytest.mark.parametrize("folds", [1, 0, 2.5, 10_000, "ten"])
def test_folds_must_be_a_number_of_them(fit: Any, folds: Any) -> None:
    with pytest.raises(rs.ParameterError, match="folds"):
        fit.cross_validate(folds=folds)


def test_what_cannot_be_refitted_and_wrong_arguments_are_refused(fit: Any) -> None:
    with pytest.raises(rs.ParameterError, match="refitted"):
        replace(fit, _call=None).cross_validate()
    with pytest.raises(rs.ParameterError, match="fold"):
        fit.cross_validate(fold=3)


@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_a_class_of_one_row_is_refused() -> None:
    X, y = classes(5, n=40, d=8)
    y[:] = 0.0
    y[0] = 1.0
    fit = rs.rht_fit(X, y, family="binomial", keep=["x1"], k=1, refit=False, n_jobs=1)
    with pytest.raises(rs.DataError, match="single row"):
        fit.cross_validate(folds=3)


# Pictures


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_both_roc_curves_are_drawn_with_their_areas(fit: Any, crossed: Any) -> None:
    inside, outside = fit.class_roc().auc, crossed.roc().auc
    both = [f"{inside:.3f}  in sample", f"{outside:.3f}  4-fold cross-validation"]
    assert legend(fit.plot_roc(cv=crossed)) == both
    assert legend(fit.plot_roc(folds=4)) == both
    assert legend(fit.plot_roc(cv=False)) == both[:1]
    ax = plt.subplots(1, 3, figsize=(8.4, 2.9), layout="constrained")[1][0]
    assert fit.plot_roc(ax, cv=crossed) is ax
    assert legend(ax) == both


def test_calibration_is_drawn_out_of_sample(fit: Any, crossed: Any) -> None:
    ax = fit.plot_calibration(cv=crossed)
    assert ax.get_xlabel() == "predicted probability of sick"
    assert "4-fold cross-validation\nn = 200, 20 a point" in ax.texts[0].get_text()
    points = ax.containers[0].lines[0].get_xydata()
    np.testing.assert_allclose(points, crossed.calibration()[["predicted", "observed"]])
    assert "in sample" in fit.plot_calibration(cv=False).texts[0].get_text()


def test_numbers_as_labels_are_named_as_responses() -> None:
    X, y = classes(6)
    fit = rs.rht_fit(X, y, family="binomial", k=2, n_jobs=1)
    assert fit.plot_calibration(cv=False).get_xlabel() == "predicted probability of response 1"


def test_pictures_of_classes_need_two_and_a_cross_validation_of_their_own(
    fit: Any, crossed: Any
) -> None:
    sim = rs.simulate.linear(n=60, d=10, k=2, rng=1)
    numbers = rs.rht_fit(sim.X, sim.y, k=2)
    X, y = classes(7)
    other = rs.rht_fit(X, y, family="binomial", k=2, n_jobs=1)
    for name in ("plot_roc", "plot_calibration"):
        with pytest.raises(rs.ParameterError, match=f"{name} needs family='binomial'"):
            getattr(numbers, name)()
        with pytest.raises(rs.ParameterError, match="other rows"):
            getattr(other, name)(cv=crossed)
        with pytest.raises(rs.ParameterError, match="folds is for cross-validation"):
            getattr(fit, name)(cv=False, folds=3)
        with pytest.raises(rs.ParameterError, match="cv=5"):
            getattr(fit, name)(cv=5)


def test_the_text_of_a_cross_validation(crossed: Any) -> None:
    text = repr(crossed)
    assert text.startswith("<CrossValidation: 200 rows in 4 folds, 2 terms, ")
    assert text.endswith(f"% right, AUC {crossed.roc().auc:.3f}>")
    assert "1 to 2 terms" in repr(replace(crossed, sizes=(1, 2, 2, 2)))
    assert "folds, 1 term," in repr(replace(crossed, sizes=(1, 1, 1, 1)))
