"""`RHTResult`: predictions, scores, inference, curves and plots."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import robustsparse as rs

mpl.use("Agg")

# The same prediction by two ways that round differently.
ROUNDING = 1e-8


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=120, d=60, k=3, rng=1)


@pytest.fixture(scope="module")
def data(sim: Any) -> pd.DataFrame:
    groups = np.random.default_rng(0).choice(list("abc"), len(sim.y))
    frame = sim.data.assign(g=groups)
    frame["y"] += 2.0 * (groups == "b")
    return frame


@pytest.fixture(scope="module")
def fit(data: pd.DataFrame) -> rs.RHTResult:
    return rs.rht("y ~ .", data, k="auto")


@pytest.fixture(scope="module")
def plain(data: pd.DataFrame) -> rs.RHTResult:
    return rs.rht("y ~ .", data, k=4, refit=False)


@pytest.fixture(scope="module")
def binary_data() -> pd.DataFrame:
    sim = rs.simulate.logistic(n=150, d=30, k=3, rng=2)
    return sim.data.assign(y=np.where(sim.y == 1, "sick", "healthy"))


@pytest.fixture(scope="module")
def binary(binary_data: pd.DataFrame) -> rs.RHTResult:
    return rs.rht("y ~ .", binary_data, family="binomial")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


# Coefficients


def test_parts_of_a_fit_agree(fit: rs.RHTResult, data: pd.DataFrame) -> None:
    assert fit.nobs == len(data) == len(fit.fittedvalues) == len(fit.row_weights)
    assert fit.k == len(fit.terms())
    np.testing.assert_allclose(fit.fittedvalues + fit.resid, data["y"], atol=ROUNDING)
    assert fit.row_weights.between(0, 1).all()
    assert (fit.row_weights[fit.outliers("response")] < 0.5).all()
    assert len(fit.history) == fit.n_iter
    assert (fit.diagnostics["fitted"] == fit.fittedvalues).all()


def test_coefficients_are_listed_largest_first(fit: rs.RHTResult, sim: Any) -> None:
    coef = fit.coef()
    assert coef.index[0] == "Intercept"
    assert list(coef.index[1:]) == fit.support()
    assert set(fit.support()) == {*sim.support(), "g[T.b]", "g[T.c]"}
    standardized = fit.path[fit.k][[name for name in fit.support() if name[0] == "x"]].abs()
    assert standardized.is_monotonic_decreasing
    every = fit.coef(zeros=True)
    pd.testing.assert_series_equal(every, fit.params)
    assert (every != 0).sum() == len(coef)


def test_changing_what_is_returned_does_not_change_the_fit(fit: rs.RHTResult) -> None:
    before = fit.params.copy()
    for series in (fit.coef(zeros=True), fit.coef(), fit.predict(), fit.predict(type="link")):
        series.iloc[:] = 0.0
    pd.testing.assert_series_equal(fit.params, before)
    assert (fit.fittedvalues != 0).all()
    assert (fit.diagnostics["link"] != 0).all()


def test_a_repr_is_short(fit: rs.RHTResult, binary: rs.RHTResult) -> None:
    many = rs.rht_fit(np.random.default_rng(0).normal(size=(60, 40)), np.arange(60.0), k=20)
    for result in (fit, binary, many):
        assert len(repr(result)) < 200
        assert "\n" not in repr(result)


# Predictions


def test_training_rows_are_predicted_as_they_were_fitted(
    fit: rs.RHTResult, data: pd.DataFrame
) -> None:
    np.testing.assert_allclose(fit.predict(data), fit.predict(), atol=ROUNDING)
    pd.testing.assert_series_equal(fit.predict(), fit.fittedvalues, check_names=False)


def test_predictions_keep_length_and_index(fit: rs.RHTResult, data: pd.DataFrame) -> None:
    new = data.iloc[[5, 3, 3, 8]].copy()
    new.index = pd.Index(["a", "b", "b", "c"], name="id")
    new.iloc[0, new.columns.get_loc(fit.support()[0])] = np.nan
    new.iloc[3, new.columns.get_loc(fit.support()[0])] = np.inf
    predicted = fit.predict(new)
    assert predicted.index.equals(new.index)
    assert predicted.isna().tolist() == [True, False, False, True]
    np.testing.assert_allclose(predicted.iloc[1:3], fit.fittedvalues.iloc[3], atol=ROUNDING)


def test_only_the_columns_of_the_support_are_needed(fit: rs.RHTResult, data: pd.DataFrame) -> None:
    needed = fit.terms()
    np.testing.assert_allclose(fit.predict(data[needed]), fit.predict(data), atol=ROUNDING)
    with pytest.raises(rs.DataError, match=needed[0]):
        fit.predict(data.drop(columns=needed[0]))


def test_an_unseen_level_is_refused(fit: rs.RHTResult, data: pd.DataFrame) -> None:
    with pytest.raises(rs.UnseenLevelError, match=r"'?g'?.*z"):
        fit.predict(data.assign(g="z"))


def test_new_levels_in_terms_that_were_not_selected_do_not_matter(sim: Any) -> None:
    data = sim.data.assign(g=np.resize(list("abc"), len(sim.y)))
    fit = rs.rht("y ~ .", data, k=3)
    assert not any(name.startswith("g[") for name in fit.support())
    assert fit.predict(data.assign(g="z")).notna().all()


def test_types_of_prediction(binary: rs.RHTResult, binary_data: pd.DataFrame) -> None:
    for new in (None, binary_data):
        link, probability, label = (
            binary.predict(new, kind) for kind in ("link", "response", "class")
        )
        np.testing.assert_allclose(probability, 1 / (1 + np.exp(-link)), atol=ROUNDING)
        assert (label == np.where(link > 0, "sick", "healthy")).all()
    broken = binary_data.iloc[:3].copy()
    broken.loc[broken.index[1], binary.support()[0]] = np.nan
    assert binary.predict(broken, "class").isna().tolist() == [False, True, False]


def test_classes_of_a_measured_response_are_refused(fit: rs.RHTResult) -> None:
    with pytest.raises(rs.ParameterError, match="family='binomial'"):
        fit.predict(type="class")
    with pytest.raises(rs.ParameterError, match="type='prob'"):
        fit.predict(type="prob")


def test_links_of_separated_classes_are_finite() -> None:
    x = np.r_[np.linspace(-9, -3, 20), np.linspace(3, 9, 20)][:, None] * [1.0, 0.1]
    result = rs.rht_fit(x + np.random.default_rng(0).normal(size=x.shape) / 9, x[:, 0] > 0,
                        family="binomial", k=1)  # fmt: skip
    assert np.isfinite(result.predict(type="link")).all()
    assert "separate" in str(result.summary())


def test_arrays_are_predicted_by_place(sim: Any) -> None:
    result = rs.rht_fit(sim.X, sim.y)
    new = sim.X[:4].copy()
    new[1, sim.names.index(result.support()[0])] = np.inf
    predicted = result.predict(new)
    assert predicted.isna().tolist() == [False, True, False, False]
    np.testing.assert_allclose(predicted[[0, 2, 3]], result.fittedvalues[[0, 2, 3]], atol=ROUNDING)
    with pytest.raises(rs.DataError, match=r"59 columns.* fitted to 60"):
        result.predict(sim.X[:, 1:])
    assert np.isinf(new[1]).sum() == 1


# Scores and curves


def test_the_score_is_robust(fit: rs.RHTResult, data: pd.DataFrame, sim: Any) -> None:
    good = data[~sim.outlier]
    wild = good.copy()
    wild.iloc[:5, 0] = 1e6
    assert 0.85 < fit.score(good) <= 1
    assert abs(fit.score(wild) - fit.score(good)) < 0.1
    assert abs(fit.explained - fit.score(data)) < ROUNDING
    noise = good.assign(y=np.random.default_rng(0).permutation(good["y"]))
    assert fit.score(noise) < 0.1


def test_the_score_of_classes_is_the_share_of_right_labels(
    binary: rs.RHTResult, binary_data: pd.DataFrame
) -> None:
    right = binary.predict(binary_data, "class") == binary_data["y"]
    assert binary.score(binary_data) == right.mean()
    with pytest.raises(rs.DataError, match="labels that were not"):
        binary.score(binary_data.assign(y="other"))


def test_a_score_needs_rows_and_responses(fit: rs.RHTResult, data: pd.DataFrame, sim: Any) -> None:
    with pytest.raises(rs.DataError, match="no row"):
        fit.score(data.assign(y=np.nan))
    some = data.copy()
    some.loc[some.index[:50], "y"] = np.nan
    assert fit.score(some) > 0.8
    with pytest.raises(rs.ParameterError, match=r"score\(X, y\)"):
        rs.rht_fit(sim.X, sim.y, k=3).score(sim.X)


def test_the_curve_of_the_support(fit: rs.RHTResult, sim: Any) -> None:
    assert fit.support_roc([*sim.support(), "g[T.b]"]).auc == 1.0
    wrong = [name for name in sim.names if name not in fit.path.index][:3]
    assert fit.support_roc(wrong).auc < 0.6
    with pytest.raises(rs.ParameterError, match="'age' is not a candidate"):
        fit.support_roc(["age"])


def test_the_curve_of_classes(binary: rs.RHTResult, binary_data: pd.DataFrame) -> None:
    assert 0.75 < binary.class_roc().auc <= 1.0
    assert binary.class_roc(binary_data).auc == pytest.approx(binary.class_roc().auc)
    flipped = binary_data["y"].map({"sick": "healthy", "healthy": "sick"})
    turned = binary.class_roc(binary_data.assign(y=flipped)).auc
    assert turned == pytest.approx(1 - binary.class_roc().auc)


def test_a_measured_response_has_no_curve(fit: rs.RHTResult) -> None:
    with pytest.raises(rs.ParameterError, match="binomial"):
        fit.class_roc()


# Inference


def test_intervals_stand_around_the_estimates(fit: rs.RHTResult) -> None:
    narrow, wide = fit.conf_int(0.5), fit.conf_int(0.99)
    assert list(narrow.index) == list(fit.coef().index)
    assert ((wide["low"] < narrow["low"]) & (narrow["high"] < wide["high"])).all()
    np.testing.assert_allclose((wide["low"] + wide["high"]) / 2, fit.coef(), atol=ROUNDING)
    for level in (0.0, 1.5, "95%"):
        with pytest.raises(rs.ParameterError, match="level"):
            fit.conf_int(level)


def test_a_level_can_be_given_as_alpha(fit: rs.RHTResult) -> None:
    pd.testing.assert_frame_equal(fit.conf_int(alpha=0.25), fit.conf_int(0.75))
    with pytest.raises(rs.ParameterError, match=r"use level=0\.95, or alpha=0\.05"):
        fit.conf_int(0.05)
    with pytest.raises(rs.ParameterError, match=r"level=0\.05"):
        fit.tidy(0.05)


def test_errors_and_tests_by_the_names_of_statsmodels(fit: rs.RHTResult) -> None:
    tidy = fit.tidy().set_index("term")
    for values, column in ((fit.bse, "std_error"), (fit.pvalues, "p_value")):
        assert list(values.index) == list(fit.coef().index)
        np.testing.assert_array_equal(values, tidy[column])
    cov = fit.cov_params()
    assert list(cov.index) == list(cov.columns) == list(fit.coef().index)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), fit.bse)
    assert fit.cov is not None
    pd.testing.assert_frame_equal(cov.loc[fit.cov.index, fit.cov.columns], fit.cov)


def test_degrees_of_freedom_are_those_of_the_row_weights(fit: rs.RHTResult) -> None:
    assert fit.df_resid is not None
    assert 0 < fit.df_resid <= fit.row_weights.sum() - len(fit.coef())


def test_two_classes_have_the_normal_distribution() -> None:
    sim = rs.simulate.logistic(n=100, d=4, k=2, epsilon=0.0, rng=0)
    result = rs.rht_fit(sim.X, sim.y, family="binomial", k=2)
    assert result.df_resid is None
    tidy = result.tidy()
    np.testing.assert_allclose(tidy["p_value"], 2 * norm.sf(tidy["statistic"].abs()))
    width = norm.ppf(0.975) * tidy["std_error"]
    np.testing.assert_allclose(tidy["high"] - tidy["estimate"], width)
    assert "z" in result.summary().table


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
def test_an_interval_is_as_wide_as_its_level_asks(fit: rs.RHTResult, level: float) -> None:
    tidy, interval = fit.tidy(level), fit.conf_int(level)
    margin = student(df=fit.df_resid).ppf((1 + level) / 2) * tidy["std_error"].to_numpy()
    np.testing.assert_allclose(interval["low"], tidy["estimate"] - margin, atol=ROUNDING)
    np.testing.assert_allclose(interval["high"], tidy["estimate"] + margin, atol=ROUNDING)
    np.testing.assert_array_equal(tidy[["low", "high"]], interval)


def test_the_level_of_an_interval_is_95_percent_if_none_is_given(fit: rs.RHTResult) -> None:
    pd.testing.assert_frame_equal(fit.conf_int(), fit.conf_int(0.95))
    pd.testing.assert_frame_equal(fit.tidy(), fit.tidy(0.95))


def test_the_tidy_table_holds_the_test_of_each_term(fit: rs.RHTResult) -> None:
    tidy = fit.tidy()
    assert list(tidy["term"]) == list(fit.coef().index)
    np.testing.assert_allclose(tidy["statistic"], tidy["estimate"] / tidy["std_error"])
    p = 2 * student(df=fit.df_resid).sf(tidy["statistic"].abs())
    np.testing.assert_allclose(tidy["p_value"], p)
    np.testing.assert_allclose(tidy[["low", "high"]], fit.conf_int())


def test_standard_errors_are_those_of_least_squares_on_good_rows() -> None:
    sim = rs.simulate.linear(n=300, d=40, k=3, attack=None, scales="mixed", rng=0)
    result = rs.rht_fit(sim.X, sim.y)
    active = [sim.names.index(name) for name in result.support()]
    A = np.column_stack([np.ones(300), sim.X[:, active]])
    resid = sim.y - A @ np.linalg.lstsq(A, sim.y, rcond=None)[0]
    variance = resid @ resid / (300 - A.shape[1])
    wanted = np.sqrt(np.diag(np.linalg.inv(A.T @ A)) * variance)
    # A robust estimate is 95% efficient, and its sandwich varies by some percent.
    np.testing.assert_allclose(result.tidy()["std_error"], wanted, rtol=0.25)


def test_intervals_cover_the_truth() -> None:
    covered = []
    for seed in range(25):
        sim = rs.simulate.linear(n=150, d=30, k=3, rng=seed)
        interval = rs.rht_fit(sim.X, sim.y).conf_int()
        beta = pd.Series(sim.beta, index=sim.names)[sim.support()]
        interval = interval.reindex(sim.support())
        covered += ((interval["low"] <= beta) & (beta <= interval["high"])).tolist()
    # 75 intervals of level 0.95: below 0.85 by luck once in 5,000 times.
    assert np.mean(covered) >= 0.85


def test_without_a_refit_there_are_no_standard_errors(plain: rs.RHTResult) -> None:
    assert plain.cov is None
    for method in (plain.conf_int, plain.plot_coefficients):
        with pytest.raises(rs.ParameterError, match="refit=True"):
            method()
    assert list(plain.tidy().columns) == ["term", "estimate"]


# Flagged rows


def test_kinds_of_flagged_rows() -> None:
    sim = rs.simulate.linear(n=100, d=10, k=3, attack=None, rng=0)
    X, y = sim.X.copy(), sim.y.copy()
    y[0] += 50.0
    X[1] *= 6.0
    y[1] = X[1] @ sim.beta
    X[2] *= 30.0
    y[2] = -X[2] @ sim.beta + 50.0
    result = rs.rht_fit(X, y)
    assert {0, 2} <= set(result.outliers("response"))
    assert 1 not in result.outliers("response")
    assert {1, 2} <= set(result.outliers("leverage"))
    assert 0 not in result.outliers("leverage")
    assert set(result.outliers()) == {*result.outliers("response"), *result.outliers("leverage")}
    assert result.diagnostics["flag"].iloc[:3].tolist() == ["response", "leverage", "both"]
    with pytest.raises(rs.ParameterError, match="kind='y'"):
        result.outliers("y")


# Plots


SINGLE = ["plot_path", "plot_cv", "plot_convergence", "plot_coefficients"]


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_plots_draw_on_given_and_on_new_axes(
    name: str, family: str, fit: rs.RHTResult, binary: rs.RHTResult
) -> None:
    draw = getattr(fit if family == "gaussian" else binary, name)
    _, ax = plt.subplots()
    assert draw(ax=ax) is ax
    assert ax.has_data()
    assert len(plt.get_fignums()) == 1
    new = draw()
    assert new is not ax
    new.figure.canvas.draw()


def test_the_plot_of_diagnostics_has_four_panels(fit: rs.RHTResult, binary: rs.RHTResult) -> None:
    for result in (fit, binary):
        axes = np.ravel(result.plot_diagnostics())
        assert len(axes) == 4
        axes[0].figure.canvas.draw()
    _, given = plt.subplots(2, 2)
    assert set(np.ravel(fit.plot_diagnostics(given))) == set(np.ravel(given))


def test_there_is_no_choice_to_draw_for_a_given_k(plain: rs.RHTResult) -> None:
    with pytest.raises(rs.ParameterError, match="k='auto'"):
        plain.plot_cv()
    plain.plot_path().figure.canvas.draw()
    plain.plot_convergence().figure.canvas.draw()


def test_fits_without_terms_can_be_drawn_and_printed(sim: Any) -> None:
    empty = rs.rht_fit(sim.X, sim.y, k=0)
    with pytest.warns(rs.DataWarning, match="the same value"):
        constant = rs.rht_fit(sim.X, np.ones(len(sim.y)))
    for result in (empty, constant):
        for name in ("plot_path", "plot_convergence", "plot_diagnostics", "plot_coefficients"):
            getattr(result, name)()
            plt.gcf().canvas.draw()
        assert result.support() == []
        assert list(result.tidy()["term"]) == ["Intercept"]
        assert "Intercept" in str(result.summary())
