"""The lasso and the trimmed lasso, for linear and logistic models."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import lasso_path

from robustsparse import simulate
from robustsparse.algorithm.losses import Logistic, Squared
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.baselines import LassoResult, lasso, trimmed_lasso
from robustsparse.baselines.lasso_solver import Problem, fit_path, largest_penalty

Array = NDArray[np.float64]

# The solver's own tolerance, and what sums over rows and columns add to it.
KKT = 1e-5
# Majorization stops at changes of 1e-4 of the linear predictor.
KKT_LOGISTIC = 1e-4
AGAINST_SKLEARN = 1e-4


def problem(n: int = 80, d: int = 30, kept: int | None = None, binary: bool = False) -> Problem:
    rng = np.random.default_rng(5)
    XT = rng.normal(size=(d, n))
    eta = XT[0] - XT[1] + 0.5 * XT[2]
    y = (rng.random(n) < 1 / (1 + np.exp(-eta))) * 1.0 if binary else eta + rng.normal(size=n) + 3.0
    loss = Logistic() if binary else Squared()
    return Problem(XT, y, loss, True, n if kept is None else kept)


def violation(part: Problem, penalty: float, beta: Array, constant: float, weights: Array) -> float:
    """How far a solution is from the equations of the minimum, for the rows that count."""
    score = weights * part.loss.score(part.y, part.XT.T @ beta + constant) / part.kept
    gradient = -(part.XT @ score)
    at_zero = np.maximum(np.abs(gradient) - penalty, 0.0)[beta == 0]
    elsewhere = np.abs(gradient - penalty * np.sign(beta))[beta != 0]
    return float(max(at_zero.max(initial=0.0), elsewhere.max(initial=0.0), abs(score.sum())))


class TestSolver:
    @pytest.mark.parametrize("binary", [False, True])
    @pytest.mark.parametrize("kept", [80, 70])
    def test_equations_of_the_minimum_hold(self, kept: int, binary: bool) -> None:
        part = problem(kept=kept, binary=binary)
        lambdas = largest_penalty(part) * np.geomspace(1.0, 0.05, 8)
        path = fit_path(part, lambdas)
        bar = KKT_LOGISTIC if binary else KKT
        for q, penalty in enumerate(lambdas):
            assert path.weights[q].sum() == kept
            found = path.coefs[q], float(path.constants[q]), path.weights[q]
            assert violation(part, penalty, *found) < bar

    @pytest.mark.parametrize("binary", [False, True])
    def test_first_penalty_leaves_nothing_and_a_smaller_one_something(self, binary: bool) -> None:
        part = problem(binary=binary)
        first = largest_penalty(part)
        path = fit_path(part, [first * 1.001, first * 0.95])
        assert path.sizes()[0] == 0
        assert path.sizes()[1] >= 1

    def test_linear_path_equals_scikit_learn(self) -> None:
        part = problem()
        lambdas = largest_penalty(part) * np.geomspace(1.0, 0.02, 10)
        XT = part.XT - part.XT.mean(axis=1, keepdims=True)
        theirs = lasso_path(XT.T, part.y - part.y.mean(), alphas=lambdas, tol=1e-12)[1]
        np.testing.assert_allclose(fit_path(part, lambdas).coefs, theirs.T, atol=AGAINST_SKLEARN)

    @pytest.mark.parametrize("binary", [False, True])
    def test_objective_of_the_trimmed_lasso_falls(self, binary: bool) -> None:
        part = problem(kept=60, binary=binary)
        part.y[:12] = 1.0 - part.y[:12] if binary else -8.0
        path = fit_path(part, largest_penalty(part) * np.geomspace(0.9, 0.05, 8))
        assert any(len(values) > 1 for values in path.objectives)
        for values in path.objectives:
            assert (np.diff(values) <= KKT).all()

    def test_kept_rows_are_those_with_the_smallest_losses(self) -> None:
        part = problem(kept=60)
        path = fit_path(part, [0.2])
        losses = part.loss.value(part.y, part.XT.T @ path.coefs[0] + path.constants[0])
        kept = path.weights[0] == 1
        assert losses[kept].max() <= losses[~kept].min()


class TestFits:
    @pytest.mark.parametrize("family", ["gaussian", "binomial"])
    @pytest.mark.parametrize("method", [lasso, trimmed_lasso])
    def test_formula_and_arrays_agree(self, method: Any, family: Any) -> None:
        make = simulate.logistic if family == "binomial" else simulate.linear
        sim = make(n=80, d=12, k=3, rng=1)
        by_formula = method("y ~ .", sim.data, family)
        by_array = method(sim.X, sim.y, family)
        pd.testing.assert_series_equal(by_formula.params, by_array.params)
        pd.testing.assert_series_equal(
            by_formula.predict(sim.data), by_array.predict(sim.X), check_index=False
        )
        by_sparse = method(sparse.csr_array(sim.X), sim.y, family)
        np.testing.assert_allclose(by_sparse.params, by_array.params, atol=KKT)

    def test_without_trimming_only_the_standardization_differs(self) -> None:
        part = problem()
        whole = fit_path(part, [0.1])
        again = fit_path(problem(kept=len(part.y)), [0.1])
        np.testing.assert_array_equal(whole.coefs, again.coefs)
        fit = trimmed_lasso(part.XT.T, part.y, epsilon=0.0)
        assert (fit.row_weights == 1).all()

    def test_units_of_the_data_do_not_matter(self) -> None:
        sim = simulate.linear(n=80, d=10, k=3, epsilon=0.0, rng=1)
        for method in (lasso, trimmed_lasso):
            fit = method(sim.X, sim.y, lambdas=[0.1])
            scaled = method(sim.X * 100.0 + 3.0, sim.y * 1e-3 - 8.0, lambdas=[0.1])
            np.testing.assert_allclose(
                scaled.params.iloc[1:] * 1e5, fit.params.iloc[1:], rtol=1e-6, atol=1e-8
            )
            np.testing.assert_allclose(
                scaled.predict(sim.X * 100.0 + 3.0), fit.predict(sim.X) * 1e-3 - 8.0, rtol=1e-8
            )

    def test_trimming_survives_leverage(self) -> None:
        errors: dict[str, list[float]] = {"lasso": [], "trimmed lasso": []}
        for seed in range(3):
            sim = simulate.linear(n=200, d=100, k=5, epsilon=0.1, sigma=0.3, rng=seed)
            for fit in (lasso(sim.X, sim.y), trimmed_lasso(sim.X, sim.y, epsilon=0.12)):
                error = np.linalg.norm(fit.params.to_numpy()[1:] - sim.beta)
                errors[fit.method].append(float(error))
            assert (fit.row_weights[sim.outlier] == 0).mean() > 0.8
        assert np.mean(errors["trimmed lasso"]) < 0.5 * np.mean(errors["lasso"])

    def test_trimming_helps_classification(self) -> None:
        wrong: dict[str, list[float]] = {"lasso": [], "trimmed lasso": []}
        for seed in range(3):
            sim = simulate.logistic(n=225, d=100, k=5, epsilon=0.15, rng=seed)
            good = ~sim.outlier
            for fit in (
                lasso(sim.X, sim.y, "binomial"),
                trimmed_lasso(sim.X, sim.y, "binomial", epsilon=0.15),
            ):
                labels = fit.predict(sim.X[good], "class").to_numpy()
                wrong[fit.method].append(float((labels != sim.y[good]).mean()))
        assert np.mean(wrong["trimmed lasso"]) < np.mean(wrong["lasso"]) - 0.03

    def test_number_of_terms(self) -> None:
        sim = simulate.linear(n=100, d=40, k=4, epsilon=0.0, rng=3)
        fit = lasso(sim.X, sim.y, k=4)
        assert fit.k <= 4
        assert fit.cv is None
        assert len(fit.support()) == fit.k
        assert set(fit.support()) <= set(fit.path.index)
        with pytest.raises(ParameterError, match="k=1"):
            lasso(sim.X, sim.y, k=1, lambdas=[1e-3])

    def test_chosen_penalty_has_the_smallest_loss_and_folds_are_fixed(self) -> None:
        sim = simulate.linear(n=60, d=20, k=4, rng=3)
        fit = lasso(sim.X, sim.y)
        assert fit.cv is not None
        assert fit.cv["value"].idxmin() == fit.penalty
        assert (fit.cv["se"] > 0).all()
        pd.testing.assert_series_equal(fit.params, lasso(sim.X, sim.y).params)
        other = lasso(sim.X, sim.y, rng=9).cv
        assert other is not None
        assert not other["value"].equals(fit.cv["value"])

    def test_model_without_intercept(self) -> None:
        sim = simulate.linear(n=60, d=5, k=2, epsilon=0.0, rng=3)
        fit = lasso("y ~ . - 1", sim.data, lambdas=[0.01])
        assert "Intercept" not in fit.params
        np.testing.assert_allclose(fit.predict(sim.data), sim.X @ fit.params.to_numpy(), atol=1e-12)
        assert list(fit.coef().index) == fit.support()


class TestResult:
    @pytest.fixture
    def fit(self) -> LassoResult:
        sim = simulate.logistic(n=80, d=10, k=3, epsilon=0.0, rng=2)
        return lasso("y ~ .", sim.data.assign(y=np.where(sim.y > 0, "yes", "no")), "binomial")

    def test_predictions(self, fit: LassoResult) -> None:
        sim = simulate.logistic(n=80, d=10, k=3, epsilon=0.0, rng=2)
        new = sim.data.drop(columns="y")
        new.loc[4, fit.support()[0]] = np.nan
        link, probability = fit.predict(new, "link"), fit.predict(new)
        labels = fit.predict(new, "class")
        np.testing.assert_allclose(probability, 1 / (1 + np.exp(-link)))
        assert np.isnan(probability[4])
        assert pd.isna(labels[4])
        assert set(labels.dropna()) == {"yes", "no"}
        assert ((labels == "yes") == (probability > 0.5)).all()

    def test_words_and_curves(self, fit: LassoResult) -> None:
        assert repr(fit).startswith("<LassoResult: lasso, binomial, 80 rows, lambda = ")
        assert fit.coef().index[0] == "Intercept"
        assert len(fit.coef(zeros=True)) == 11
        truth = simulate.logistic(n=80, d=10, k=3, epsilon=0.0, rng=2).support()
        assert fit.support_roc(truth).auc > 0.8
        with pytest.raises(ParameterError, match="'z9'"):
            fit.support_roc(["z9"])

    def test_largest_first(self, fit: LassoResult) -> None:
        sizes = fit.path[fit.penalty].abs()[fit.support()]
        assert sizes.is_monotonic_decreasing
        assert (sizes > 0).all()

    def test_senseless_questions(self, fit: LassoResult) -> None:
        sim = simulate.linear(n=60, d=5, k=2, rng=3)
        linear = lasso(sim.X, sim.y)
        with pytest.raises(ParameterError, match="binomial"):
            linear.predict(sim.X, "class")
        with pytest.raises(DataError, match="4 columns"):
            linear.predict(sim.X[:, :4])
        with pytest.raises(ParameterError, match="type='odds'"):
            linear.predict(sim.X, "odds")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"family": "poisson"}, ParameterError, "family"),
        ({"folds": 1}, ParameterError, "folds"),
        ({"n_lambdas": 0}, ParameterError, "n_lambdas"),
        ({"lambda_ratio": 0.0}, ParameterError, "lambda_ratio"),
        ({"lambdas": [-1.0]}, ParameterError, "lambdas"),
    ],
)
def test_senseless_arguments(arguments: Any, error: Any, message: str) -> None:
    sim = simulate.linear(n=60, d=5, k=2, rng=3)
    with pytest.raises(error, match=message):
        lasso(sim.X, sim.y, **arguments)


def test_senseless_data() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(DataError, match="nothing to explain"):
        lasso(X, np.ones(30))
    with pytest.raises(ParameterError, match="epsilon"):
        trimmed_lasso(X, X[:, 0], epsilon=0.7)
    with pytest.raises(DataError, match="shape"):
        lasso(X, np.ones(29))
