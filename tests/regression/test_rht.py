"""`rht` and `rht_fit`: the paper's claims, awkward data and arguments, and what must never change."""

import inspect
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LassoCV

import robustsparse as rs
from robustsparse.regression.rht import rht, rht_fit

# Where the noise is zero the estimate is exact but for rounding in some hundred steps.
EXACT = 1e-10
# The same estimate by two ways that round differently.
ROUNDING = 1e-8


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=100, d=30, k=3, epsilon=0.1, rng=1)


@pytest.fixture(scope="module")
def binary() -> rs.simulate.Simulation:
    return rs.simulate.logistic(n=120, d=20, k=3, rng=3)


def error(fit: rs.RHTResult, sim: rs.simulate.Simulation) -> float:
    return float(np.linalg.norm(fit.params.to_numpy()[int(fit.intercept) :] - sim.beta))


def f1(fit: rs.RHTResult, sim: rs.simulate.Simulation) -> float:
    found, true = set(fit.support()), set(sim.support())
    return 2 * len(found & true) / (len(found) + len(true))


# What the paper claims


@pytest.mark.parametrize("k", [5, 10])
def test_without_noise_the_truth_is_recovered_from_every_seed(k: int) -> None:
    for seed in range(20):
        sim = rs.simulate.linear(sigma=0.0, rng=seed)
        assert error(rht_fit(sim.X, sim.y, k=k, refit=False), sim) <= EXACT


def lasso_error(sim: rs.simulate.Simulation) -> float:
    # scikit-learn renamed the argument that holds the number of penalties.
    new = inspect.signature(LassoCV).parameters["alphas"].default == 100
    lasso = LassoCV(cv=5, **{"alphas" if new else "n_alphas": 30})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it does not settle on heavy tails
        lasso.fit(sim.X, sim.y)
    return float(np.linalg.norm(lasso.coef_ - sim.beta))


# Fresh blocks at each iteration need not come to rest on every data set.
@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_under_heavy_tails_median_of_means_is_as_good_as_the_lasso_without_them() -> None:
    errors = []
    for seed in range(12):
        sizes: dict[str, Any] = {"n": 100, "d": 1000, "sigma": 0.1, "attack": None, "rng": seed}
        heavy = rs.simulate.linear(design="lognormal", noise="lognormal", **sizes)
        gaussian = rs.simulate.linear(**sizes)
        fit = rht_fit(heavy.X, heavy.y, estimator="mom", k=5, refit=False)
        errors.append((error(fit, heavy), lasso_error(heavy), lasso_error(gaussian)))
    ours, same_data, gaussian_data = np.median(errors, axis=0)
    assert ours <= same_data / 5
    assert ours <= 1.2 * gaussian_data


def test_corrupted_classes_are_told_apart_by_the_true_predictors() -> None:
    sims = [rs.simulate.logistic(rng=seed) for seed in range(20)]
    scores = [f1(rht_fit(s.X, s.y, family="binomial", k=5, refit=False), s) for s in sims]
    assert np.mean(scores) >= 0.95


@pytest.mark.parametrize("attack", ["leverage", "shift_y"])
def test_planted_rows_are_flagged_and_good_ones_are_not(attack: str) -> None:
    found, false = [], []
    for seed in range(8):
        sim = rs.simulate.linear(n=120, d=150, k=5, attack=attack, rng=seed)
        fit = rht("y ~ .", sim.data)
        flagged = np.isin(np.arange(fit.nobs), fit.outliers("response"))
        found.append(flagged[sim.outlier].mean())
        false.append(flagged[~sim.outlier].mean())
    assert np.mean(found) >= 0.95
    assert np.mean(false) <= 0.01


def test_the_automatic_fit_is_near_least_squares_on_the_truth() -> None:
    ratios = []
    for seed in range(8):
        sim = rs.simulate.linear(n=150, d=200, k=5, attack="leverage", rng=seed)
        good, true = ~sim.outlier, sim.beta != 0
        oracle = np.linalg.lstsq(sim.X[good][:, true], sim.y[good], rcond=None)[0]
        ideal = np.linalg.norm(oracle - sim.beta[true])
        ratios.append(error(rht_fit(sim.X, sim.y), sim) / ideal)
    # The price of the rows and columns not being known: a quarter at most, in the median.
    assert np.median(ratios) <= 1.25


def test_a_noise_free_fit_flags_no_rounding_errors() -> None:
    sim = rs.simulate.linear(n=100, d=30, k=3, sigma=0.0, attack=None, rng=0)
    fit = rht_fit(sim.X, sim.y, k=3)
    assert error(fit, sim) < ROUNDING
    assert fit.outliers("response") == []


# Data that cannot be used


def broken(X: np.ndarray, value: float) -> np.ndarray:
    out = X.copy()
    out[3, 4] = value
    return out


BAD_DATA: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "nan in X": (lambda X, y: rht_fit(broken(X, np.nan), y), "'x5'.*row 3.*nan.*drop or impute"),
    "inf in X": (lambda X, y: rht_fit(broken(X, np.inf), y), "'x5'.*row 3.*inf.*drop or impute"),
    "nan in y": (lambda X, y: rht_fit(X, np.r_[np.nan, y[1:]]), "y has 1 .*row 0.*drop or impute"),
    "one dimension": (lambda X, y: rht_fit(y, y), r"reshape\(-1, 1\)"),
    "ragged rows": (lambda X, y: rht_fit([[1.0, 2.0], [3.0]], y), "X is not rectangular"),
    "short y": (lambda X, y: rht_fit(X, y[1:]), "y has shape .* rows of X"),
    "two columns in y": (lambda X, y: rht_fit(X, np.c_[y, y]), "y has shape"),
    "text in X": (lambda X, y: rht_fit(X.astype(str), y), "convert"),
    "text in y": (lambda X, y: rht_fit(X, ["a"] * len(y)), "y holds .* not numbers"),
    "complex": (lambda X, y: rht_fit(X + 0j, y), "complex"),
    "no rows": (lambda X, y: rht_fit(X[:0], y[:0]), "at least one row"),
    "no columns": (lambda X, y: rht_fit(X[:, :0], y), "at least one row and one column"),
    "four rows": (lambda X, y: rht_fit(X[:4], y[:4]), "4 rows.*at least 5"),
    "all constant": (
        lambda X, y: rht_fit(np.full_like(X, 3.0), y),
        "every predictor is constant.*'x1' is 3, 'x2' is 3.*Add columns",
    ),
    "zeros without an intercept": (
        lambda X, y: rht_fit(np.zeros_like(X), y, intercept=False),
        "every predictor is constant.*'x1' is 0",
    ),
    "three classes": (
        lambda X, y: rht_fit(X, np.arange(len(y)) % 3, family="binomial"),
        "two different values.*3: 0, 1, 2",
    ),
    "one class": (
        lambda X, y: rht_fit(X, np.ones(len(y)), family="binomial"),
        "two different values.*have 1",
    ),
    "missing label": (
        lambda X, y: rht_fit(X, np.where(y > 0, "a", None), family="binomial"),
        "y has .* missing",
    ),
    "wrong labels": (
        lambda X, y: rht_fit(X, (y > 0)[1:], family="binomial"),
        "y has shape",
    ),
    "negative weights": (
        lambda X, y: rht_fit(X, y, weights=np.r_[1.0, -2.0, np.ones(len(y) - 2)]),
        r"negative, but 1 of .* row 1 \(-2\).*weight of 0",
    ),
    "no weights": (lambda X, y: rht_fit(X, y, weights=np.zeros(len(y))), "all weights are zero"),
    "short weights": (lambda X, y: rht_fit(X, y, weights=[1.0]), "weights has shape"),
    "nan in offset": (lambda X, y: rht_fit(X, y, offset=y * np.nan), "offset has .*row 0"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_data_that_cannot_be_used_are_refused_by_name(case: str, sim: Any) -> None:
    call, says = BAD_DATA[case]
    with pytest.raises(rs.DataError, match=says):
        call(sim.X, sim.y)


BAD_ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "k negative": ({"k": -1}, "k=-1 .* from 0 to 30"),
    "k too large": ({"k": 31}, "k=31 .* from 0 to 30"),
    "k broken": ({"k": 2.5}, "k=2.5"),
    "k None": ({"k": None}, "k=None"),
    "k True": ({"k": True}, "k=True"),
    "k empty": ({"k": []}, "k is empty"),
    "k name": ({"k": "best"}, "'auto'"),
    "k zero without intercept": (
        {"k": 0, "intercept": False, "refit": False},
        "from 1 to 30",
    ),
    "family": ({"family": "gamma"}, "'gaussian', 'binomial'"),
    "select": ({"select": "aic"}, "'ric', 'ebic', 'gic', 'cv'"),
    "estimator": ({"estimator": "huber"}, "'trim', 'mom', 'mean'"),
    "estimator class": ({"estimator": rs.Trimmed}, "call the class"),
    "loss": ({"loss": "l1"}, "'squared', 'huber', 'logistic'"),
    "loss of classes": ({"loss": "logistic"}, "does not fit family='gaussian'"),
    "loss object of classes": ({"loss": rs.Logistic()}, "does not fit family='gaussian'"),
    "epsilon": ({"epsilon": 0.5}, "epsilon=0.5"),
    "standardize": ({"standardize": "qn"}, "'mad'"),
    "step": ({"step": 0.0}, "step=0.0"),
    "step text": ({"step": "long"}, "'auto', 'search'"),
    "step searched on parts": ({"step": "search", "split": 3, "k": 3}, "step='search' .*split"),
    "radius": ({"radius": -1.0}, "radius=-1.0"),
    "max_iter": ({"max_iter": 0}, "max_iter=0"),
    "tol": ({"tol": -1e-3}, "tol=-0.001"),
    "split": ({"split": True, "k": 3}, "split=True"),
    "split without k": ({"split": 3}, "split needs a number for k"),
    "split too fine": ({"split": 60, "k": 3}, "split=60 .*fewer parts"),
    "n_jobs": ({"n_jobs": 0}, "n_jobs=0"),
    "n_jobs text": ({"n_jobs": "all"}, "n_jobs='all'"),
    "rng": ({"rng": "seed"}, "rng='seed'"),
    "keep name": ({"keep": "age"}, "'age'.* no column"),
    "keep number": ({"keep": 30}, "keep=30"),
    "names": ({"names": ["a"]}, "1 entries; X has 30"),
    "same names": ({"names": ["a"] * 30}, "'a' twice"),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_arguments_that_make_no_sense_are_refused_by_name(case: str, sim: Any) -> None:
    arguments, says = BAD_ARGUMENTS[case]
    with pytest.raises(rs.ParameterError, match=says):
        rht_fit(sim.X, sim.y, **arguments)


def test_a_refit_needs_two_rows_a_coefficient(sim: Any) -> None:
    with pytest.raises(rs.ParameterError, match=r"k=12 is too many .*refit=False"):
        rht_fit(sim.X[:20], sim.y[:20], k=12)


def test_a_squared_loss_is_not_for_classes(binary: Any) -> None:
    for loss in ("huber", rs.Squared()):
        with pytest.raises(rs.ParameterError, match="does not fit family='binomial'"):
            rht_fit(binary.X, binary.y, family="binomial", loss=loss)


# Awkward but usable data


@pytest.mark.filterwarnings("ignore:the model may be wrong")
def test_tiny_and_narrow_data_can_be_fitted(sim: Any) -> None:
    X, y = sim.X, sim.y
    assert rht_fit(X[:5], y[:5]).nobs == 5
    assert rht_fit(X[:5], (y[:5] > np.median(y[:5])), family="binomial").nobs == 5
    assert rht_fit(X[:, :1], y).k <= 1
    assert rht_fit(X[:, :1], y, k=1).support() == ["x1"]


def test_with_all_terms_it_is_a_robust_regression(sim: Any) -> None:
    X = sim.X[:, sim.beta != 0]
    fit = rht_fit(X, sim.y, k=3, names=sim.support())
    good = ~sim.outlier
    A = np.column_stack([np.ones(good.sum()), X[good]])
    ideal = np.linalg.lstsq(A, sim.y[good], rcond=None)[0]
    # A twentieth of a standard deviation is lost to not knowing the bad rows.
    assert np.abs(fit.params.to_numpy() - ideal).max() < 0.05


def test_constant_and_repeated_columns_do_no_harm(sim: Any) -> None:
    constant = np.ones((len(sim.y), 1))
    X = np.hstack([sim.X, constant, sim.X])
    names = [*sim.names, "one", *(f"{name}_again" for name in sim.names)]
    fit = rht_fit(X, sim.y, names=names)
    assert {name.removesuffix("_again") for name in fit.support()} == set(sim.support())
    assert fit.constant == ("one",)
    assert "one" not in fit.support()
    assert "Constant columns cannot be selected: one" in str(fit.summary())


def test_a_factor_with_one_level_is_told_of_as_constant_columns_are(sim: Any) -> None:
    data = sim.data.assign(g="only", h=np.resize(["u", "v"], len(sim.data)), one=1.0)
    fit = rht("y ~ .", data)
    told = " ".join(str(fit.summary()).split())
    assert fit.constant == ("one", "g")
    assert "Constant columns cannot be selected: one. Remove" in told
    assert "Factors with one level in the rows in use explain nothing: g (only). Remove" in told
    assert "Reference levels: h: u." in told


def test_a_factor_with_one_level_cannot_be_kept(sim: Any) -> None:
    data = sim.data.assign(g="only")
    for asked in ({"keep": "g"}, {"groups": {"both": ["g", "x1"]}}):
        with pytest.raises(rs.FormulaError, match=r"'g', which has no column.*one level"):
            rht("y ~ .", data, **asked)  # type: ignore[arg-type]


def test_a_factor_whose_other_levels_are_left_out_has_one(sim: Any) -> None:
    data = sim.data.assign(g=["rare", *["usual"] * (len(sim.data) - 1)])
    data.loc[0, "x1"] = np.nan
    assert "g (usual)" in str(rht("y ~ .", data).summary())


def test_nothing_but_constant_predictors_are_named_with_their_values(sim: Any) -> None:
    data = pd.DataFrame({"y": sim.y, "g": "only", "one": 1.5})
    for formula, told in {
        "y ~ g": "'g' has one level, 'only'",
        "y ~ one + g": "'one' is 1.5, 'g' has",
    }.items():
        with pytest.raises(rs.DataError, match=f"every predictor is constant.*{told}.*Add columns"):
            rht(formula, data)
    assert rht("y ~ 1", data).k == 0


def test_terms_that_repeat_others_are_counted_in_the_summary(sim: Any) -> None:
    X = np.hstack([sim.X[:, :3]] * 3)
    fit = rht_fit(X, sim.y, k=6)
    assert len(fit.support()) < fit.k == 6
    assert f"{6 - len(fit.support())} of 6" in str(fit.summary())
    assert np.isfinite(fit.conf_int().to_numpy()).all()


def test_a_constant_response_needs_no_predictor(sim: Any) -> None:
    with pytest.warns(rs.DataWarning, match="the same value, 7"):
        fit = rht_fit(sim.X, np.full(len(sim.y), 7.0))
    assert fit.support() == []
    assert fit.params["Intercept"] == 7.0
    assert fit.outliers("response") == []
    assert "Selected (k): 0" in str(fit.summary())


@pytest.mark.parametrize(
    ("x_unit", "y_unit"), [(1e-200, 1.0), (1e200, 1.0), (1.0, 1e200), (3.0, 1e-200)]
)
def test_units_do_not_matter(sim: Any, x_unit: float, y_unit: float) -> None:
    plain = rht_fit(sim.X, sim.y)
    fit = rht_fit(sim.X * x_unit, sim.y * y_unit)
    assert fit.support() == plain.support()
    slopes = fit.params.iloc[1:] / y_unit * x_unit
    np.testing.assert_allclose(slopes, plain.params.iloc[1:], rtol=ROUNDING, atol=ROUNDING)
    assert fit.outliers() == plain.outliers()


def test_arrays_of_every_kind_give_the_same_fit(sim: Any) -> None:
    wanted = rht_fit(sim.X, sim.y, k=3).params
    lists = rht_fit(sim.X.tolist(), sim.y.tolist(), k=3)
    columns = rht_fit(np.asfortranarray(sim.X), sim.y[:, None], k=3)
    frame = rht_fit(sim.data.drop(columns="y"), sim.data["y"], k=3)
    sparse = rht_fit(sp.csr_array(sim.X), sim.y, k=3)
    for other in (lists, columns, frame, sparse, rht("y ~ .", sim.data, k=3)):
        pd.testing.assert_series_equal(other.params, wanted)


def test_user_data_are_never_changed(sim: Any) -> None:
    X, y, w = sim.X.copy(), sim.y.copy(), np.linspace(0, 1, len(sim.y))
    data = sim.data.copy()
    for array in (X, y, w):
        array.setflags(write=False)
    rht_fit(X, y, weights=w, offset=w)
    rht_fit(X, y > 0, family="binomial", weights=w)
    fit = rht("y ~ .", data, k=3)
    fit.predict(data)
    pd.testing.assert_frame_equal(data, sim.data)


# Choosing k


def test_k_can_be_a_number_a_list_or_automatic(sim: Any) -> None:
    for k in (3, np.int64(3), 3.0, np.array(3), [3]):
        fit = rht_fit(sim.X, sim.y, k=k)
        assert (fit.k, fit.select, fit.cv) == (3, "given", None)
    for k in ("auto", [1, 3, 5], range(1, 6), {3, 2}, np.arange(6)):
        fit = rht_fit(sim.X, sim.y, k=k)
        assert fit.k == 3
        assert set(fit.support()) == set(sim.support())
        assert fit.select == "ric"
        assert fit.cv is not None
        assert 3 in fit.cv.index


def test_k_zero_is_the_robust_location(sim: Any) -> None:
    y = np.r_[sim.y[~sim.outlier], 1e6, 1e6]
    X = np.vstack([sim.X[~sim.outlier], sim.X[:2]])
    fit = rht_fit(X, y, k=0)
    assert fit.support() == []
    assert abs(fit.params["Intercept"] - np.median(y)) < fit.scale
    assert fit.outliers("response") == [len(y) - 2, len(y) - 1]


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("estimator", ["trim", "mom"])
def test_cross_validation_does_not_depend_on_the_threads(
    sim: Any, estimator: str, refit: bool
) -> None:
    one, two = (
        rht_fit(sim.X, sim.y, estimator=estimator, k=[2, 3, 4], select="cv", refit=refit, n_jobs=n)
        for n in (1, 2)
    )
    assert one.k == two.k
    pd.testing.assert_frame_equal(one.cv, two.cv)
    pd.testing.assert_series_equal(one.params, two.params)


@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_the_fit_does_not_depend_on_the_threads(family: str) -> None:
    # Large enough that the kernels share the columns among threads.
    if family == "gaussian":
        big = rs.simulate.linear(n=150, d=3000, k=3, rng=0)
    else:
        big = rs.simulate.logistic(n=150, d=3000, k=3, rng=0)
    one, two = (rht_fit(big.X, big.y, family=family, n_jobs=n) for n in (1, 2))
    pd.testing.assert_series_equal(one.params, two.params, check_exact=True)
    pd.testing.assert_frame_equal(one.diagnostics, two.diagnostics, check_exact=True)


def test_the_same_call_gives_the_same_answer(sim: Any) -> None:
    for rng in (None, 5):
        one, two = (rht_fit(sim.X, sim.y, estimator="mom", rng=rng) for _ in range(2))
        pd.testing.assert_series_equal(one.params, two.params, check_exact=True)


# How to run


def test_split_uses_fresh_rows_and_finds_strong_predictors() -> None:
    sim = rs.simulate.linear(n=600, d=50, k=3, sigma=0.1, rng=0)
    fit = rht_fit(sim.X, sim.y, k=3, split=4, refit=False)
    assert fit.n_iter == 4
    assert set(fit.support()) == set(sim.support())
    assert fit.cov is None
    refitted = rht_fit(sim.X, sim.y, k=3, split=4)
    assert error(refitted, sim) < error(fit, sim)


def test_a_step_of_the_users_own_reaches_the_same_point(sim: Any) -> None:
    auto = rht_fit(sim.X, sim.y, k=30, refit=False, max_iter=1000)
    fixed = rht_fit(sim.X, sim.y, k=30, refit=False, step=0.2, max_iter=20_000)
    np.testing.assert_allclose(fixed.params, auto.params, atol=1e-4)
    assert fixed.step == 0.2


def test_a_searched_step_is_the_paper_s_algorithm_with_a_number(sim: Any) -> None:
    options: dict[str, Any] = {"k": 6, "refit": False, "standardize": False, "intercept": False}
    searched = rht_fit(sim.X, sim.y, step="search", **options)
    given = rht_fit(sim.X, sim.y, step=searched.step, **options)
    assert searched.params.equals(given.params)
    assert set(sim.support()) <= set(searched.support())


def test_a_step_too_long_is_shortened_with_a_warning(sim: Any) -> None:
    with pytest.warns(rs.ConvergenceWarning, match="step"):
        fit = rht_fit(sim.X, sim.y, k=3, refit=False, step=10.0)
    assert np.isfinite(fit.params).all()


def test_redrawn_blocks_with_a_fixed_step_get_the_right_remedy(sim: Any) -> None:
    options: dict[str, Any] = {"k": 3, "step": 0.3, "refit": False, "max_iter": 50}
    with pytest.warns(rs.ConvergenceWarning, match="redraw=False"):
        rht_fit(sim.X, sim.y, estimator="mom", **options)
    # Blocks that stay let it settle, so that the remedy is one: any warning is an error here.
    blocks = rs.MedianOfMeans(redraw=False)
    assert rht_fit(sim.X, sim.y, estimator=blocks, **{**options, "max_iter": 500}).converged


def test_iterations_that_run_out_are_said(sim: Any) -> None:
    with pytest.warns(rs.ConvergenceWarning, match="max_iter"):
        fit = rht_fit(sim.X, sim.y, k=3, refit=False, max_iter=1)
    assert not fit.converged
    assert "NOT SETTLED" in str(fit.summary())


def test_the_radius_bounds_the_standardized_coefficients(sim: Any) -> None:
    free = rht_fit(sim.X, sim.y, k=3, refit=False)
    bound = rht_fit(sim.X, sim.y, k=3, refit=False, radius=0.2)
    assert np.linalg.norm(free.path) > 0.3
    assert np.linalg.norm(bound.path) <= 0.2 + ROUNDING


@pytest.mark.parametrize("standardize", [True, "mad", "winsor", "blocks", "sd"])
def test_mixed_units_are_scaled_away(standardize: Any) -> None:
    sim = rs.simulate.linear(n=120, d=60, k=3, scales="mixed", rng=2)
    fit = rht_fit(sim.X, sim.y, standardize=standardize)
    assert set(fit.support()) == set(sim.support())
    assert abs(fit.params["Intercept"] - sim.intercept) < 1.0


def test_columns_of_like_units_can_be_left_as_they_are(sim: Any) -> None:
    fit = rht_fit(sim.X, sim.y, standardize=False)
    assert set(fit.support()) == set(sim.support())


@pytest.mark.parametrize("loss", ["huber", rs.Huber(delta=1.0)])
def test_huber_finds_the_predictors_under_cauchy_noise(loss: Any) -> None:
    found = []
    for seed in range(6):
        sim = rs.simulate.linear(n=200, d=60, k=3, sigma=0.3, noise="cauchy", rng=seed)
        found.append(f1(rht_fit(sim.X, sim.y, loss=loss, k=3), sim))
    assert np.mean(found) >= 0.95


class LogCosh:
    """A loss of a user's own, smooth and nearly linear far out."""

    def value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.logaddexp(eta - y, y - eta) - np.log(2.0)

    def score(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.tanh(eta - y)

    def curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return np.ones_like(eta)

    def __repr__(self) -> str:
        return "LogCosh()"


def test_a_users_loss_works_everywhere(sim: Any, binary: Any) -> None:
    fit = rht_fit(sim.X, sim.y, loss=LogCosh())
    assert set(fit.support()) == set(sim.support())
    assert "LogCosh" in str(fit.summary())
    for refit in (True, False):
        classes = rht_fit(binary.X, binary.y, family="binomial", loss=LogCosh(), k=3, refit=refit)
        assert classes.fittedvalues.between(0, 1).all()
        np.testing.assert_allclose(classes.predict(binary.X), classes.fittedvalues, atol=ROUNDING)


def median_gradient(X: np.ndarray, score: np.ndarray) -> np.ndarray:
    """A gradient estimator of a user's own."""
    return np.median(X * score[:, None], axis=0)


@pytest.mark.parametrize("refit", [True, False])
def test_a_users_estimator_works_everywhere(sim: Any, refit: bool) -> None:
    fit = rht_fit(sim.X, sim.y, estimator=median_gradient, k=3, refit=refit)
    assert set(fit.support()) == set(sim.support())
    assert "median_gradient" in str(fit.summary())


def test_an_estimator_of_the_wrong_shape_is_refused(sim: Any) -> None:
    with pytest.raises(rs.ParameterError, match=r"shape \(2,\)"):
        rht_fit(sim.X, sim.y, estimator=lambda X, score: np.zeros(2))


def test_the_plain_mean_is_ordinary_least_squares_on_all_columns() -> None:
    sim = rs.simulate.linear(n=100, d=4, k=3, attack=None, rng=0)
    fit = rht_fit(sim.X, sim.y, estimator="mean", k=4, refit=False)
    A = np.column_stack([np.ones(100), sim.X])
    np.testing.assert_allclose(fit.params, np.linalg.lstsq(A, sim.y, rcond=None)[0], atol=ROUNDING)


# Intercept, kept terms, weights, offset


def test_without_intercept_there_is_none(sim: Any) -> None:
    array = rht_fit(sim.X, sim.y, intercept=False)
    formula = rht("y ~ . - 1", sim.data)
    overruled = rht("y ~ .", sim.data, intercept=False)
    for fit in (array, formula, overruled):
        assert not fit.intercept
        assert "Intercept" not in fit.params
        assert set(fit.support()) == set(sim.support())
    pd.testing.assert_series_equal(formula.params, overruled.params)
    assert rht("y ~ . - 1", sim.data, intercept=True).params.index[0] == "Intercept"
    np.testing.assert_allclose(formula.predict(sim.data), formula.fittedvalues, atol=ROUNDING)


def test_a_column_called_intercept_is_a_predictor_like_any_other(sim: Any) -> None:
    data = sim.data.rename(columns={sim.support()[0]: "Intercept"})
    fit = rht("y ~ . - 1", data, k=3)
    assert "Intercept" in fit.support()
    assert not fit.intercept
    np.testing.assert_allclose(fit.predict(data), fit.fittedvalues, atol=ROUNDING)
    with pytest.raises(rs.FormulaError, match="Intercept"):
        rht("y ~ . - 1", data, intercept=True)


@pytest.mark.parametrize("refit", [True, False])
def test_kept_terms_stay_and_do_not_count(sim: Any, refit: bool) -> None:
    weak = [name for name in sim.names if name not in sim.support()][:2]
    by_name = rht_fit(sim.X, sim.y, keep=weak, k=3, refit=refit)
    by_number = rht_fit(sim.X, sim.y, keep=[sim.names.index(w) for w in weak], k=3, refit=refit)
    pd.testing.assert_series_equal(by_name.params, by_number.params)
    assert by_name.k == 3
    assert set(by_name.support()) == set(sim.support())
    assert list(by_name.coef().index[:3]) == ["Intercept", *weak]
    assert (by_name.params[weak] != 0).all()
    text = str(by_name.summary())
    assert f"Kept whatever their size: {weak[0]}, {weak[1]}" in text


def test_kept_terms_of_a_formula_bring_all_their_columns(sim: Any) -> None:
    groups = np.random.default_rng(0).choice(list("abc"), len(sim.y))
    fit = rht("y ~ .", sim.data.assign(g=groups), keep=["g", "x1"])
    assert fit.kept == ("x1", "g[T.b]", "g[T.c]")
    assert "Reference levels: g: a" in str(fit.summary())


def test_all_terms_can_be_kept(sim: Any) -> None:
    fit = rht_fit(sim.X[:, :3], sim.y, keep=[0, 1, 2])
    assert fit.k == 0
    assert fit.support() == []
    assert (fit.params != 0).all()


@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_rows_of_weight_zero_can_hold_anything(sim: Any, family: Any) -> None:
    X, y = sim.X[~sim.outlier], sim.y[~sim.outlier]
    weights = np.ones(len(y))
    weights[:10] = 0.0
    y = y if family == "gaussian" else (y > 0).astype(float)
    wild = np.r_[1.0 - y[:10] if family == "binomial" else y[:10] + 1e3, y[10:]]
    spoiled = X.copy()
    spoiled[:10] = np.nan
    offset = np.zeros(len(y))
    offset[:10] = np.inf
    fit = rht_fit(spoiled, wild, family=family, weights=weights, offset=offset, select="cv")
    without = rht_fit(X[10:], y[10:], family=family, offset=offset[10:], select="cv")
    assert np.array_equal(fit.params, without.params)
    assert fit.nobs == len(y) - 10
    assert fit.resid.index.tolist() == list(range(10, len(y)))
    assert np.array_equal(fit.diagnostics["weight"], without.diagnostics["weight"])
    assert fit.dropped.labels.tolist() == list(range(10))
    assert "10 of weight 0" in str(fit.summary())


def test_rows_are_numbered_as_the_caller_counts_them(sim: Any) -> None:
    weights = np.where(np.arange(len(sim.y)) < 5, 0.0, 1.0)
    X, y, offset = sim.X.copy(), sim.y.copy(), np.zeros(len(sim.y))
    X[7, 2], y[8], offset[9] = np.nan, np.inf, np.nan
    with pytest.raises(rs.DataError, match=r"'x3' of X has 1 .*row 7 "):
        rht_fit(X, sim.y, weights=weights)
    with pytest.raises(rs.DataError, match=r"y has 1 .*row 8 "):
        rht_fit(sim.X, y, weights=weights)
    with pytest.raises(rs.DataError, match=r"offset has 1 .*row 9 "):
        rht_fit(sim.X, sim.y, weights=weights, offset=offset)
    for family in ("gaussian", "binomial"):
        hidden = np.ma.masked_array(sim.y > 0, mask=np.arange(len(sim.y)) == 8)
        for w in (None, weights):
            with pytest.raises(rs.DataError, match="1 missing"):
                rht_fit(sim.X, hidden, family=family, weights=w)


@pytest.mark.filterwarnings("ignore:the model may be wrong")
def test_values_of_rows_in_the_context_follow_the_rows_in_use(sim: Any) -> None:
    data = sim.data.assign(w=1.0)
    data.loc[data.index[:4], "w"] = 0.0
    data.loc[data.index[6], "x2"] = np.inf
    z = pd.Series(np.random.default_rng(5).normal(size=len(data)), index=data.index)
    formula = "y ~ x1 + I(x2 * z) + z"
    used = data.index[[i for i in range(len(data)) if i >= 4 and i != 6]]
    wanted = rht(formula, data.loc[used], context={"z": z.loc[used]})
    for own in (z, z.to_numpy()):
        fit = rht(formula, data, weights="w", context={"z": own})
        assert np.array_equal(fit.params, wanted.params)


def test_what_lacks_the_rows_of_weight_zero_is_refused(sim: Any) -> None:
    weights = np.where(np.arange(len(sim.y)) < 5, 0.0, 1.0)
    for y, offset in ((sim.y[5:], None), (sim.y, np.zeros(len(sim.y) - 5))):
        with pytest.raises(rs.DataError, match=f"each of the {len(sim.y)} rows"):
            rht_fit(sim.X, y, weights=weights, offset=offset)


@pytest.mark.filterwarnings("ignore:the model may be wrong")
def test_rows_of_weight_zero_are_left_out_of_formulas(sim: Any, tmp_path: Path) -> None:
    data = sim.data.assign(w=1.0, g=np.where(np.arange(len(sim.y)) % 2, "a", "b"))
    data.index = [f"row {i}" for i in range(len(data))]
    data.loc[["row 3", "row 8"], ["w", "x1", "g"]] = [0.0, np.inf, "only here"]
    data.loc["row 9", "x2"] = np.nan
    used = data.drop(["row 3", "row 8"])
    fit = rht("y ~ . + center(x1)", data, weights="w", na_action="drop")
    without = rht("y ~ . + center(x1)", used, weights="w", na_action="drop")
    assert fit.params.equals(without.params)
    assert fit.references == without.references
    assert fit.dropped.labels.tolist() == ["row 3", "row 8", "row 9"]
    assert (fit.dropped.missing, fit.dropped.infinite, fit.dropped.weightless) == (1, 0, 2)
    assert "1 missing, 0 infinite, 2 of weight 0" in str(fit.summary())
    fit.save(tmp_path / "fit.rs")
    assert rs.load(tmp_path / "fit.rs").dropped.weightless == 2
    # Its fitted value is there for the asking.
    assert np.isfinite(fit.predict(data.loc[["row 9"]].assign(x2=0.0))).all()
    finite = rht("y ~ x1 + x2", data.dropna(), weights="w", na_action="raise")
    assert finite.nobs == len(data) - 3


def test_intervals_do_without_rows_of_weight_zero(sim: Any) -> None:
    weights = np.where(np.arange(len(sim.y)) < 5, 0.0, 1.0)
    X, y, fewer, rest = sim.X, sim.y, sim.X[5:], sim.y[5:]
    fit, without = rht_fit(X, y, weights=weights, k=3), rht_fit(fewer, rest, k=3)
    pd.testing.assert_frame_equal(
        fit.conf_int(method="split", rng=0), without.conf_int(method="split", rng=0)
    )


def test_equal_weights_are_none(sim: Any) -> None:
    none = rht_fit(sim.X, sim.y)
    for select in ("ric", "cv"):
        none, equal = (
            rht_fit(sim.X, sim.y, weights=w, select=select)
            for w in (None, np.full(len(sim.y), 7.0))
        )
        np.testing.assert_allclose(equal.params, none.params, atol=ROUNDING)


def test_an_offset_is_subtracted_and_added_again(sim: Any) -> None:
    shift = np.random.default_rng(0).normal(size=len(sim.y)) * 5
    plain = rht("y ~ .", sim.data)
    data = sim.data.assign(y=sim.y + shift, known=shift)
    fit = rht("y ~ . - known", data, offset="known")
    np.testing.assert_allclose(fit.params, plain.params, atol=ROUNDING)
    np.testing.assert_allclose(fit.fittedvalues, plain.fittedvalues + shift, atol=ROUNDING)
    np.testing.assert_allclose(fit.predict(data), fit.fittedvalues, atol=ROUNDING)
    with pytest.raises(rs.DataError, match="known"):
        fit.predict(data.drop(columns="known"))


def test_an_offset_of_log_odds(binary: Any) -> None:
    data = binary.data.assign(known=np.where(np.arange(len(binary.y)) % 2, 1.5, -1.5))
    fit = rht("y ~ . - known", data, family="binomial", offset="known", k=3)
    np.testing.assert_allclose(fit.predict(data), fit.fittedvalues, atol=ROUNDING)
    higher = fit.predict(data.assign(known=data["known"] + 1.0), "link")
    np.testing.assert_allclose(higher - fit.predict(data, "link"), 1.0, atol=ROUNDING)


def test_an_offset_given_as_an_array_must_be_given_for_new_rows(sim: Any) -> None:
    shift = np.ones(len(sim.y))
    for fit, new in (
        (rht_fit(sim.X, sim.y, offset=shift, k=3), sim.X),
        (rht("y ~ .", sim.data, offset=shift, k=3), sim.data),
    ):
        assert len(fit.predict()) == len(sim.y)
        with pytest.raises(rs.DataError, match="offset="):
            fit.predict(new)
        assert np.allclose(fit.predict(new, offset=shift), fit.fittedvalues)


def test_an_offset_beside_a_column_of_offsets_is_not_left_out_silently(sim: Any) -> None:
    data = sim.data.assign(known=1.0)
    fit = rht("y ~ . - known", data, offset="known", k=3)
    with pytest.raises(rs.ParameterError, match="leave offset= out"):
        fit.predict(data, offset=np.zeros(len(data)))


# Classes


LABELS: dict[str, Callable[[np.ndarray], Any]] = {
    "bool": lambda y: y == 1,
    "signs": lambda y: np.where(y == 1, 1, -1),
    "text": lambda y: np.where(y == 1, "sick", "healthy"),
    "category": lambda y: pd.Categorical(np.where(y == 1, "a", "b"), categories=["b", "a"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_give_the_same_fit(kind: str, binary: Any) -> None:
    y = LABELS[kind](binary.y)
    wanted = rht_fit(binary.X, binary.y, family="binomial", k=3)
    array = rht_fit(binary.X, y, family="binomial", k=3)
    formula = rht("y ~ .", binary.data.assign(y=y), family="binomial", k=3)
    for fit in (array, formula):
        np.testing.assert_allclose(fit.params, wanted.params, atol=ROUNDING)
        event = fit.classes[1]
        assert f"{event} (against {fit.classes[0]})" in str(fit.summary())
        right = fit.predict(type="class") == pd.Series(y)
        assert right.mean() > 0.8


def test_golub_just_works() -> None:
    data = rs.datasets.golub()
    fit = rht("subtype ~ .", data, family="binomial")
    assert (fit.nobs, len(fit.params) - 1) == (38, 3051)
    assert fit.classes == ("ALL", "AML")
    assert fit.score(data) > 0.9
    assert max(len(line) for line in str(fit.summary()).splitlines()) <= 80
    assert list(fit.predict(data.iloc[:3], "class")) == list(data["subtype"].iloc[:3])


# Frames


INDEXES: dict[str, Callable[[int], Any]] = {
    "duplicates": lambda n: [0] * n,
    "text": lambda n: [f"row {i}" for i in range(n)],
    "times": lambda n: pd.date_range("2020-01-31", periods=n),
    "levels": lambda n: pd.MultiIndex.from_arrays([np.arange(n) % 3, np.arange(n)]),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_row_labels_of_every_kind_are_kept(kind: str, sim: Any) -> None:
    data = sim.data.set_axis(INDEXES[kind](len(sim.y)), axis=0)
    index = data.index
    data.iloc[2, 3] = np.nan
    fit = rht("y ~ .", data, k=3)
    kept = index.delete(2)
    assert fit.fittedvalues.index.equals(kept)
    assert fit.predict(data).index.equals(index)
    plain = rht("y ~ .", data.reset_index(drop=True), k=3)
    assert fit.outliers() == [index[i] for i in plain.outliers()]
    assert "1 missing, 0 infinite" in str(fit.summary())


def test_polars_frames_are_fitted_and_predicted(sim: Any) -> None:
    frame = pl.from_pandas(sim.data)
    fit = rht("y ~ .", frame, k=3)
    pd.testing.assert_series_equal(fit.params, rht("y ~ .", sim.data, k=3).params)
    np.testing.assert_allclose(fit.predict(frame), fit.fittedvalues, atol=ROUNDING)


def test_rows_that_cannot_be_used_are_counted_or_refused(sim: Any) -> None:
    data = sim.data.copy()
    data.iloc[0, 1], data.iloc[1, 2] = np.nan, np.inf
    fit = rht("y ~ .", data)
    assert fit.nobs == len(data) - 2
    assert (fit.dropped.missing, fit.dropped.infinite) == (1, 1)
    assert "x1 (1), x2 (1)" in str(fit.summary())
    with pytest.raises(rs.DataError):
        rht("y ~ .", data, na_action="raise")


def test_context_gives_names_to_the_formula(sim: Any) -> None:
    fit = rht("twice(y) ~ .", sim.data, context={"twice": lambda y: 2 * y}, k=3)
    plain = rht("y ~ .", sim.data, k=3)
    np.testing.assert_allclose(fit.params, 2 * plain.params, atol=ROUNDING)


# Warnings


def test_more_bad_rows_than_are_trimmed_give_a_warning() -> None:
    sim = rs.simulate.linear(n=120, d=40, k=3, attack="shift_y", epsilon=0.15, rng=0)
    with pytest.warns(rs.ContaminationWarning, match="trims 2 at each end.*larger epsilon"):
        rht_fit(sim.X, sim.y, epsilon=0.005, k=3)


def test_more_bad_rows_than_blocks_can_carry_give_a_warning() -> None:
    sim = rs.simulate.linear(n=120, d=40, k=3, attack="shift_y", epsilon=0.15, rng=0)
    with pytest.warns(rs.ContaminationWarning, match="blocks.*estimator='trim'"):
        rht_fit(sim.X, sim.y, estimator="mom", k=3)


def test_good_data_give_no_warning() -> None:
    normal = rs.simulate.linear(n=3000, d=10, k=3, attack=None, rng=0)
    heavy = rs.simulate.linear(n=3000, d=10, k=3, noise="t3", attack=None, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rht_fit(normal.X, normal.y, epsilon=0.0)
        rht_fit(normal.X, normal.y, estimator="mom")
        rht_fit(heavy.X, heavy.y, estimator="mom")
    for seed in range(4):
        wild = {"design": "lognormal", "noise": "lognormal", "sigma": 0.1, "attack": None}
        sim = rs.simulate.linear(n=100, d=300, k=3, rng=seed, **wild)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rht_fit(sim.X, sim.y, estimator="mom", k=3)


# Size


def peak_of(run: Any) -> int:
    """Largest number of bytes that were allocated at once."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


# The design, its scaled copy, and that in single precision, which is its own.
@pytest.mark.filterwarnings("ignore:the model may be wrong")
@pytest.mark.parametrize(("dtype", "limit"), [(np.float64, 2.6), (np.float32, 2.5)])
def test_a_wide_frame_is_copied_little_more_than_once(dtype: Any, limit: float) -> None:
    data = rs.simulate.linear(n=270, d=20_000, rng=0).data.astype(dtype)
    rht("y ~ .", data)  # what is imported or compiled on first use does not count
    assert peak_of(lambda: rht("y ~ .", data)) <= limit * data.memory_usage().sum()


@pytest.mark.filterwarnings("ignore:the model may be wrong")
@pytest.mark.parametrize(("dtype", "limit"), [(np.float64, 1.6), (np.float32, 1.5)])
@pytest.mark.parametrize("options", [{}, {"k": 5}, {"k": 5, "refit": False}])
def test_a_wide_array_is_copied_once(dtype: Any, limit: float, options: Any) -> None:
    sim = rs.simulate.linear(n=450, d=12_000, rng=0)
    X = sim.X.astype(dtype)
    rht_fit(X, sim.y, **options)  # what is imported or compiled on first use does not count
    assert peak_of(lambda: rht_fit(X, sim.y, **options)) <= limit * X.nbytes


@pytest.mark.parametrize("estimator", ["trim", "mom", "mean", "geomom", "catoni", "filter"])
@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_single_precision_gives_the_same_model(estimator: str, family: str) -> None:
    make = rs.simulate.linear if family == "gaussian" else rs.simulate.logistic
    attack = {} if estimator == "trim" else {"attack": None}
    sim = make(n=300, d=400, k=3, rng=4, **attack)
    options: Any = {"estimator": estimator, "family": family, "k": 3}
    X = sim.X.astype(np.float32)
    single = rht_fit(X, sim.y, **options)
    double = rht_fit(X.astype(np.float64), sim.y, **options)
    assert set(single.support()) == set(double.support())
    # Predictors are rounded to 6e-8 of their size, and the fit stops within 1e-6 or so of its goal.
    np.testing.assert_allclose(single.params, double.params, atol=1e-5)


def test_single_precision_survives_its_largest_value() -> None:
    rng = np.random.default_rng(0)
    X = (0.5 * rng.normal(size=(80, 30))).astype(np.float32)
    y = 3.0 * X[:, 1] - 2.0 * X[:, 4] + 0.1 * rng.normal(size=80)
    X[3, 0] = np.finfo(np.float32).max
    assert set(rht_fit(X, y, k=2).support()) == {"x2", "x5"}


def test_products_that_overflow_are_no_error_of_python() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = rht_fit(X * 1e150, X[:, 1], k=2, standardize=False, refit=False)
    assert not fit.converged or np.isfinite(fit.params).all()


# Progress


@pytest.mark.parametrize(
    ("options", "labels"),
    [({}, ["path"]), ({"select": "cv"}, ["path", "folds"]), ({"refit": False}, ["path"])],
)
def test_progress_goes_to_the_standard_error(
    sim: Any, options: Any, labels: list[str], capsys: Any
) -> None:
    quiet = rht_fit(sim.X, sim.y, **options)
    assert capsys.readouterr() == ("", "")
    loud = rht_fit(sim.X, sim.y, verbose=True, **options)
    shown = capsys.readouterr()
    assert shown.out == ""
    for label in labels:
        assert label in shown.err
    np.testing.assert_array_equal(quiet.params, loud.params)


def test_repetitions_show_their_progress(sim: Any, capsys: Any) -> None:
    fit = rht("y ~ .", sim.data, k=3)
    fit.conf_int(method="bootstrap", resamples=4, verbose=True)
    shown = capsys.readouterr().err
    assert "repetitions: 100%" in shown
    assert "2/2" in shown
    fit.conf_int(method="split")
    assert capsys.readouterr().err == ""
