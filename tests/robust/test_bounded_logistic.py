"""Bounded-influence logistic regression: R's values, its equations, and data that break other fits."""

from pathlib import Path

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.robust.bounded_logistic import TUNING, bounded_logistic, clipped_deviance
from robustsparse.robust.mm import Refit

REFERENCE = Path(__file__).parents[1] / "reference"
TERMS = pd.read_csv(REFERENCE / "glmrob_terms.csv")
CASES = list(TERMS[["dataset", "on_x"]].drop_duplicates().itertuples(index=False, name=None))

# The ridge that keeps separated classes finite shows in the sixth digit on vaso, which is nearly separated.
SAME_OPTIMUM = 1e-5
# Iterations stop at a step of 1e-10; the ridge is as small.
SETTLED = 1e-6


def reference(name: str, on_x: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, pd.DataFrame]:
    rows = pd.read_csv(REFERENCE / f"glmrob_{name}.csv")
    terms = TERMS.query("dataset == @name and on_x == @on_x")
    columns = [c for c in rows if c != "y" and not c.startswith(("leverage_", "weight_"))]
    A = np.column_stack([np.ones(len(rows)), rows[columns].to_numpy(float)])
    return A, rows["y"].to_numpy(float), rows, terms


def labels(
    seed: int, n: int = 300, coef: tuple[float, ...] = (0.5, 1.5, -1.0, 0.0)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = np.column_stack([np.ones(n), rng.normal(size=(n, len(coef) - 1))])
    return A, (rng.random(n) < expit(A @ coef)).astype(float), np.array(coef)


def moments(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standard deviation of a label, and the first two moments of its clipped Pearson residual."""
    p = expit(eta)
    sd = np.sqrt(p * (1 - p))
    one, zero = np.clip((1 - p) / sd, -TUNING, TUNING), np.clip(-p / sd, -TUNING, TUNING)
    return sd, p * one + (1 - p) * zero, p * one**2 + (1 - p) * zero**2


def published_covariance(A: np.ndarray, eta: np.ndarray, leverage: np.ndarray) -> np.ndarray:
    """Covariance as Cantoni and Ronchetti (2001) give it, which bounds the exact one from above."""
    sd, mean, square = moments(eta)
    p = expit(eta)
    one, zero = np.clip((1 - p) / sd, -TUNING, TUNING), np.clip(-p / sd, -TUNING, TUNING)
    product = p * one * (1 - p) / sd + (1 - p) * zero * -p / sd
    bread = np.linalg.inv((A.T * (leverage * product * sd**2)) @ A)
    drift = A.T @ (leverage * mean * sd)
    meat = (A.T * (leverage**2 * square * sd**2)) @ A - np.outer(drift, drift) / len(A)
    return bread @ meat @ bread


def assert_finite(fit: Refit) -> None:
    for part in (fit.coef, fit.weights, fit.cov, fit.resid):
        assert np.isfinite(part).all()
    assert fit.weights.min() >= 0
    assert fit.weights.max() <= 1
    assert fit.scale == 1.0


@pytest.mark.parametrize(("name", "on_x"), CASES)
def test_agrees_with_glmrob(name: str, on_x: str) -> None:
    A, y, rows, terms = reference(name, on_x)
    leverage = rows[f"leverage_{on_x}"].to_numpy()
    fit = bounded_logistic(A, y, leverage=leverage)
    np.testing.assert_allclose(fit.coef, terms["coef"], rtol=SAME_OPTIMUM)
    np.testing.assert_allclose(fit.weights, rows[f"weight_{on_x}"], atol=SAME_OPTIMUM)
    published = np.sqrt(np.diag(published_covariance(A, A @ fit.coef, leverage)))
    np.testing.assert_allclose(published, terms["se"], rtol=10 * SAME_OPTIMUM)
    ratio = np.sqrt(np.diag(fit.cov)) / terms["se"]
    assert ratio.between(0.96, 1.0).all()
    assert fit.converged


def test_known_outliers_of_vaso_have_the_least_weight() -> None:
    A, y, _, _ = reference("vaso", "none")
    fit = bounded_logistic(A, y, leverage=np.ones(len(y)))
    assert set(np.argsort(fit.weights)[:2] + 1) == {4, 18}


def test_solves_the_estimating_equations() -> None:
    A, y, _ = labels(0)
    rng = np.random.default_rng(1)
    leverage, prior, offset = rng.uniform(0.2, 1, 300), rng.uniform(0, 2, 300), rng.normal(size=300)
    fit = bounded_logistic(A, y, leverage=leverage, prior_weights=prior, offset=offset)
    eta = A @ fit.coef + offset
    sd, mean, _ = moments(eta)
    np.testing.assert_allclose(fit.resid, (y - expit(eta)) / sd, rtol=1e-9)
    psi = np.clip(fit.resid, -TUNING, TUNING)
    assert np.abs(A.T @ (prior * leverage * (psi - mean) * sd)).max() < SETTLED * 300
    np.testing.assert_allclose(fit.weights, leverage * psi / fit.resid)


@pytest.mark.parametrize("tuning", [1.05, TUNING, 3.0, np.inf])
def test_loss_is_the_integral_of_the_score(tuning: float) -> None:
    margin, step = np.linspace(-9, 9, 181), 1e-5
    slope = (clipped_deviance(margin + step, tuning) - clipped_deviance(margin - step, tuning)) / (
        2 * step
    )
    half = np.exp(np.abs(margin) / 2)
    clipped = np.minimum(half, tuning) + np.minimum(1 / half, tuning)
    sd = np.sqrt(expit(margin) * expit(-margin))
    np.testing.assert_allclose(slope, -sd * clipped * expit(-margin), atol=1e-8)
    assert clipped_deviance(np.array([800.0]), tuning)[0] == pytest.approx(0.0, abs=1e-12)


def test_loss_of_a_wrong_label_is_bounded() -> None:
    far = clipped_deviance(np.array([-1e2, -1e4]))
    assert far[1] == pytest.approx(far[0])


@pytest.mark.parametrize("start", [None, np.full(3, 5.0)])
def test_separated_classes_end_finite_and_not_converged(start: np.ndarray | None) -> None:
    rng = np.random.default_rng(2)
    A = np.column_stack([np.ones(60), rng.normal(size=(60, 2))])
    fit = bounded_logistic(A, (A[:, 1] > A[:, 2]).astype(float), start=start)
    assert_finite(fit)
    assert not fit.converged
    assert fit.coef[1] > 1.0
    assert fit.coef[2] < -1.0


def test_partly_separated_classes_are_not_converged() -> None:
    A, y, _ = labels(3)
    group = (np.arange(300) < 20).astype(float)
    fit = bounded_logistic(np.column_stack([A, group]), np.where(group == 1, 1.0, y))
    assert_finite(fit)
    assert not fit.converged
    # The other coefficients are those of the rows that are not in the group.
    rest = bounded_logistic(A[20:], y[20:], leverage=np.ones(280))
    np.testing.assert_allclose(fit.coef[:4], rest.coef, atol=0.2)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_class_only(label: float) -> None:
    A, _, _ = labels(4, n=50)
    fit = bounded_logistic(A, np.full(50, label))
    assert_finite(fit)
    assert not fit.converged


@pytest.mark.parametrize("size", [10.0, 1e3, 1e6, 1e200])
def test_wrong_labels_at_far_out_rows_do_nothing(size: float) -> None:
    A, y, coef = labels(5, n=500)
    clean = bounded_logistic(A[25:], y[25:])
    A[:25, 1:], y[:25] = [size, -size, 0.0], 0.0
    fit = bounded_logistic(A, y)
    assert_finite(fit)
    assert fit.converged
    np.testing.assert_allclose(fit.coef, clean.coef, atol=0.15)
    assert np.abs(fit.coef - coef).max() < 0.6
    assert fit.weights[:25].max() < 0.1


def test_flipped_labels_hurt_less_than_maximum_likelihood() -> None:
    """A tenth of the labels flipped where the model is surest, over 10 seeds."""
    errors = []
    for seed in range(10):
        A, y, coef = labels(seed, n=400, coef=(0.0, 2.0, -1.5, 1.0))
        sure = np.argsort(-np.abs(A @ coef))[:40]
        y[sure] = 1 - y[sure]
        fit = bounded_logistic(A, y)
        assert fit.converged
        assert np.array_equal(np.sign(fit.coef[1:]), np.sign(coef[1:]))
        errors.append([np.linalg.norm(fit.coef - coef), np.linalg.norm(_likelihood(A, y) - coef)])
    robust, likelihood = np.mean(errors, axis=0)
    assert robust < 0.9 * likelihood


def _likelihood(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    coef = np.zeros(A.shape[1])
    for _ in range(25):
        p = expit(A @ coef)
        coef = coef + np.linalg.solve((A.T * (p * (1 - p))) @ A, A.T @ (y - p))
    return coef


def test_consistent_and_covered_on_clean_data() -> None:
    """200 seeds: little bias (that of small samples) and intervals that hold."""
    fits, covered = [], []
    for seed in range(200):
        A, y, coef = labels(seed, n=400)
        fit = bounded_logistic(A, y)
        fits.append(fit.coef)
        covered.append(np.abs(fit.coef - coef) < 1.96 * np.sqrt(np.diag(fit.cov)))
    np.testing.assert_allclose(np.mean(fits, axis=0), coef, atol=0.06)
    # 800 intervals: a standard error of 0.008.
    assert 0.92 < np.mean(covered) < 0.98


def test_offset_takes_the_place_of_coefficients() -> None:
    A, y, _ = labels(6)
    leverage, known = np.ones(300), np.array([0.3, 1.0, -0.5, 0.2])
    fit = bounded_logistic(A, y, leverage=leverage)
    shifted = bounded_logistic(A, y, leverage=leverage, offset=A @ known)
    np.testing.assert_allclose(shifted.coef, fit.coef - known, atol=SETTLED)
    np.testing.assert_allclose(shifted.resid, fit.resid, atol=SETTLED)


def test_prior_weights_count_rows_as_copies() -> None:
    A, y, _ = labels(7)
    copies = np.random.default_rng(0).integers(0, 3, 300)
    leverage = np.random.default_rng(1).uniform(0.5, 1, 300)
    fit = bounded_logistic(A, y, leverage=leverage, prior_weights=3.0 * copies)
    many = np.repeat(np.arange(300), copies)
    repeated = bounded_logistic(A[many], y[many], leverage=leverage[many])
    np.testing.assert_allclose(fit.coef, repeated.coef, atol=SETTLED)
    assert fit.resid.shape == (300,)


def test_labels_are_symmetric() -> None:
    A, y, _ = labels(8)
    one, other = bounded_logistic(A, y), bounded_logistic(A, 1 - y)
    np.testing.assert_allclose(one.coef, -other.coef, atol=SETTLED)
    np.testing.assert_allclose(one.cov, other.cov, atol=SETTLED)


def test_aliased_columns_get_zero() -> None:
    A, y, _ = labels(9)
    leverage = np.ones(300)
    fit = bounded_logistic(A, y, leverage=leverage)
    wide = bounded_logistic(np.column_stack([A, A[:, 1] + A[:, 2]]), y, leverage=leverage)
    np.testing.assert_allclose(wide.coef, np.r_[fit.coef, 0.0], atol=SETTLED)
    assert not wide.cov[4].any()


def test_start_does_not_matter_on_good_data() -> None:
    A, y, coef = labels(10)
    far = bounded_logistic(A, y, start=-3.0 * coef)
    np.testing.assert_allclose(far.coef, bounded_logistic(A, y).coef, atol=SETTLED)


def test_without_columns() -> None:
    fit = bounded_logistic(np.empty((4, 0)), np.array([0.0, 1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(fit.resid, [-1.0, 1.0, 1.0, -1.0])
    assert fit.converged


small = st.integers(-2, 2).map(float)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(float, (10, 3), elements=small),
    hnp.arrays(float, 10, elements=st.sampled_from([0.0, 1.0])),
)
def test_degenerate_tables_give_finite_answers(A: np.ndarray, y: np.ndarray) -> None:
    assert_finite(bounded_logistic(A, y))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": np.r_[np.ones(8), 2.0]}, DataError, "value 2 in row 8"),
        ({"A": np.full((9, 2), np.inf)}, DataError, "row 0, column 0"),
        ({"leverage": -np.ones(9)}, DataError, "leverage"),
        ({"leverage": np.zeros(9)}, DataError, "positive"),
        ({"offset": np.ones(3)}, DataError, "offset"),
        ({"prior_weights": np.zeros(9)}, DataError, "positive"),
        ({"start": np.ones(3)}, ParameterError, "2 finite"),
        ({"A": np.eye(9), "leverage": np.ones(9)}, DataError, "fewer columns"),
    ],
)
def test_errors_name_the_remedy(change: dict, error: type, message: str) -> None:
    A = np.column_stack([np.ones(9), np.arange(9.0)])
    y = np.array([0.0, 1, 0, 1, 0, 1, 1, 1, 1])
    with pytest.raises(error, match=message):
        bounded_logistic(**({"A": A, "y": y} | change))
