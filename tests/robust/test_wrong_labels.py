"""Logistic regression with wrong labels: its equations, what it reduces to, and data that break other fits."""

from dataclasses import replace

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array, Mask
from robustsparse.robust.mm import Refit
from robustsparse.robust.wrong_labels import (
    SHARES,
    Labelled,
    ShareFits,
    mislabeled_logistic,
    share_fits,
)

COEF = (0.5, 1.5, -1.0, 0.0)
STRONG = (0.0, 3.0, -3.0)
# Iterations stop when a step lowers the objective by less than 1e-9.
SETTLED = 1e-4


def labels(seed: int, n: int = 300, coef: tuple[float, ...] = COEF) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    A = np.column_stack([np.ones(n), rng.normal(size=(n, len(coef) - 1))])
    return A, (rng.random(n) < expit(A @ coef)).astype(float)


def flipped(y: Array, share: float) -> Array:
    """The first rows' labels exchanged."""
    wrong = int(share * len(y))
    return np.concatenate([1.0 - y[:wrong], y[wrong:]])


def objective(coef: Array, rows: Labelled, share: float) -> float:
    """Minus the penalized log-likelihood, written down once more: Jeffreys' prior and that of log-odds."""
    p = expit(rows.A @ coef + rows.offset)
    one = share + (1.0 - 2.0 * share) * p
    label = np.where(rows.y == 1, one, 1.0 - one)
    weights = rows.weights * ((1.0 - 2.0 * share) * p * (1.0 - p)) ** 2 / (one * (1.0 - one))
    information = (rows.A.T * weights) @ rows.A + rows.prior
    likelihood = float(rows.weights @ np.log(label)) - 0.5 * float(coef @ rows.prior @ coef)
    return -likelihood - 0.5 * float(np.linalg.slogdet(information)[1])


def minimum(rows: Labelled, share: float, start: Array) -> Array:
    found = minimize(objective, start, (rows, share), method="BFGS", options={"gtol": 1e-7})
    return np.asarray(found.x)


def firth(coef: Array, A: Array, y: Array) -> float:
    """Minus the likelihood with Jeffreys' prior and nothing else."""
    eta = A @ coef
    p = expit(eta)
    information = (A.T * (p * (1.0 - p))) @ A
    likelihood = float(y @ eta - np.logaddexp(0.0, eta).sum())
    return -likelihood - 0.5 * float(np.linalg.slogdet(information)[1])


def fits_of(A: Array, y: Array, **given: Array) -> ShareFits:
    return share_fits(Labelled.of(A, y, given.get("offset"), given.get("weights")))


def assert_finite(fit: Refit) -> None:
    assert fit.wrong is not None
    for part in (fit.coef, fit.weights, fit.cov, fit.resid, fit.wrong):
        assert np.isfinite(part).all()
    assert (np.diag(fit.cov) >= 0).all()
    assert fit.wrong.min() >= 0
    assert fit.wrong.max() <= 1
    assert fit.share is not None
    assert 0.0 <= fit.share <= SHARES[-1]
    assert fit.scale == 1.0


def auc(score: Array, among: Mask) -> float:
    """Probability that a row among these has the larger score."""
    apart = score[among][:, None] - score[~among]
    return float((apart > 0).mean() + 0.5 * (apart == 0).mean())


@pytest.mark.parametrize("share", [0.0, 0.05, 0.16])
def test_every_share_has_its_minimum(share: float) -> None:
    """With offset and weights, by a minimizer that knows nothing of derivatives."""
    A, y = labels(0, n=150)
    rng = np.random.default_rng(1)
    rows = Labelled(A, flipped(y, 0.1), 0.5 * rng.normal(size=150), rng.uniform(0.2, 2.0, 150))
    fits = share_fits(rows)
    found = fits.coefs[list(SHARES).index(share)]
    np.testing.assert_allclose(found, minimum(rows, share, np.zeros(4)), atol=SETTLED)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.16])
def test_the_working_response_holds_the_derivative(share: float) -> None:
    """Weighted residuals of the least-squares problem are the score; at each share that is best for some data."""
    A, y = labels(2, n=2000, coef=STRONG)
    rows = Labelled.of(A, flipped(y, float(share)), None, None)
    fits = share_fits(rows)
    best = int(np.argmax(fits.posterior))
    assert SHARES[best] == pytest.approx(share, abs=0.05)
    weights, response = fits.working(rows)
    eta, step = A @ fits.coefs[best], 1e-6

    def likelihood(eta: Array) -> Array:
        one = SHARES[best] + (1.0 - 2.0 * SHARES[best]) * expit(eta)
        return np.asarray(np.log(np.where(rows.y == 1, one, 1.0 - one)))

    slope = (likelihood(eta + step) - likelihood(eta - step)) / (2.0 * step)
    np.testing.assert_allclose(weights * (response - eta), slope, atol=1e-8)


def test_nearly_firth_where_no_label_is_wrong() -> None:
    """The prior of log-odds, with a spread of 4, counts like a small part of a row."""
    for seed in range(3):
        A, y = labels(seed, n=60)
        plain = minimize(firth, np.zeros(4), (A, y), method="BFGS").x
        np.testing.assert_allclose(fits_of(A, y).coefs[0], plain, atol=0.05)


def test_nearly_the_likelihood_for_many_rows() -> None:
    A, y = labels(3, n=20_000)
    coef = np.zeros(4)
    for _ in range(25):
        p = expit(A @ coef)
        coef = coef + np.linalg.solve((A.T * (p * (1 - p))) @ A, A.T @ (y - p))
    fit = mislabeled_logistic(A, y)
    errors = np.sqrt(np.diag(fit.cov))
    assert fit.share == 0.0
    assert (np.abs(fit.coef - coef) < 0.05 * errors).all()


def test_separated_classes_end_finite() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A = np.column_stack([np.ones(60), rng.normal(size=(60, 2))])
        fit = mislabeled_logistic(A, (A[:, 1] > A[:, 2]).astype(float))
        assert_finite(fit)
        assert fit.converged
        assert fit.coef[1] > 1.0
        assert fit.coef[2] < -1.0
        assert np.abs(fit.coef).max() < 30.0
        # Never 50 ± 676: errors are of the size of the coefficients.
        assert np.sqrt(np.diag(fit.cov)).max() < np.abs(fit.coef).max()


def test_a_separated_level_leaves_the_other_coefficients_alone() -> None:
    A, y = labels(3)
    group = (np.arange(300) < 20).astype(float)
    fit = mislabeled_logistic(np.column_stack([A, group]), np.where(group == 1, 1.0, y))
    assert_finite(fit)
    rest = mislabeled_logistic(A[20:], y[20:])
    np.testing.assert_allclose(fit.coef[:4], rest.coef, atol=0.1)
    assert 1.0 < fit.coef[4] < 10.0


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_one_class_only(label: float) -> None:
    A, _ = labels(4, n=50)
    fit = mislabeled_logistic(A, np.full(50, label))
    assert_finite(fit)
    assert np.sign(fit.coef[0]) == 2.0 * label - 1.0
    assert fit.share == 0.0


def test_offset_takes_the_place_of_coefficients() -> None:
    """As far as the prior of log-odds lets it, which does not know of the offset."""
    A, y = labels(6, n=3000)
    known = np.array([0.3, 0.3, -0.2, 0.2])
    fit, shifted = mislabeled_logistic(A, y), mislabeled_logistic(A, y, offset=A @ known)
    np.testing.assert_allclose(shifted.coef, fit.coef - known, atol=0.005)
    np.testing.assert_allclose(shifted.resid, fit.resid, rtol=0.02)


def test_weights_count_rows_as_copies() -> None:
    A, y = labels(7)
    y = flipped(y, 0.1)
    copies = np.random.default_rng(0).integers(0, 3, 300)
    fit = mislabeled_logistic(A, y, prior_weights=copies.astype(float))
    many = np.repeat(np.arange(300), copies)
    repeated = mislabeled_logistic(A[many], y[many])
    np.testing.assert_allclose(fit.coef, repeated.coef, atol=SETTLED)
    assert fit.share == pytest.approx(repeated.share, abs=SETTLED)
    assert fit.resid.shape == (300,)


def test_labels_are_symmetric() -> None:
    A, y = labels(8)
    y = flipped(y, 0.1)
    one, other = mislabeled_logistic(A, y), mislabeled_logistic(A, 1.0 - y)
    np.testing.assert_allclose(one.coef, -other.coef, atol=SETTLED)
    np.testing.assert_allclose(one.cov, other.cov, atol=SETTLED)
    assert one.share == pytest.approx(other.share, abs=SETTLED)


def test_aliased_columns_get_zero() -> None:
    A, y = labels(9)
    fit = mislabeled_logistic(A, y)
    wide = mislabeled_logistic(np.column_stack([A, A[:, 1] + A[:, 2]]), y)
    np.testing.assert_allclose(wide.coef, np.append(fit.coef, 0.0), atol=SETTLED)
    assert not wide.cov[4].any()


def test_start_does_not_matter_on_good_data() -> None:
    A, y = labels(10)
    far = mislabeled_logistic(A, y, start=-3.0 * np.array(COEF))
    np.testing.assert_allclose(far.coef, mislabeled_logistic(A, y).coef, atol=SETTLED)


def test_without_columns() -> None:
    fit = mislabeled_logistic(np.empty((4, 0)), np.array([0.0, 1.0, 1.0, 0.0]))
    np.testing.assert_array_equal(fit.resid, [-1.0, 1.0, 1.0, -1.0])
    assert fit.converged


def test_the_share_of_wrong_labels_is_found() -> None:
    shares, coefs = np.zeros(10), []
    for seed in range(10):
        A, y = labels(seed, n=3000, coef=STRONG)
        fit = mislabeled_logistic(A, flipped(y, 0.1))
        shares[seed] = fit.share
        coefs.append(fit.coef)
    assert np.abs(shares - 0.1).max() < 0.04
    assert np.mean(shares) == pytest.approx(0.1, abs=0.015)
    np.testing.assert_allclose(np.mean(coefs, axis=0), STRONG, atol=0.25)


def test_no_label_is_wrong_in_most_clean_data() -> None:
    none = [mislabeled_logistic(*labels(seed, n=500, coef=STRONG)).share == 0 for seed in range(20)]
    assert np.mean(none) >= 0.8


def test_wrong_labels_are_the_likelier_ones() -> None:
    areas = []
    for seed in range(10):
        A, y = labels(seed, n=500, coef=STRONG)
        fit = mislabeled_logistic(A, flipped(y, 0.1))
        assert fit.wrong is not None
        np.testing.assert_array_equal(fit.weights, 1.0 - fit.wrong)
        areas.append(auc(fit.wrong, np.arange(500) < 50))
    assert np.mean(areas) > 0.85
    assert min(areas) > 0.75


def test_wrong_labels_hurt_less_than_a_fit_that_trusts_them() -> None:
    errors = []
    for seed in range(10):
        A, y = labels(seed, n=400, coef=STRONG)
        rows = Labelled.of(A, flipped(y, 0.1), None, None)
        trusting = share_fits(rows).coefs[0]
        fit = mislabeled_logistic(A, rows.y)
        errors.append([np.linalg.norm(coef - STRONG) for coef in (fit.coef, trusting)])
    robust, trusting_error = np.mean(errors, axis=0)
    assert robust < 0.6 * trusting_error


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_intervals_hold(share: float) -> None:
    """With wrong labels a little less often than they say: 0.90."""
    covered = []
    for seed in range(100):
        A, y = labels(seed, n=400, coef=(0.5, 2.0, -2.0))
        fit = mislabeled_logistic(A, flipped(y, share))
        error = np.abs(fit.coef - [0.5, 2.0, -2.0])
        covered.append(error < 1.96 * np.sqrt(np.diag(fit.cov)))
    # 300 intervals, of three that go together: a standard error of 0.02.
    assert 0.87 < np.mean(covered) < 0.99


def test_the_evidence_is_for_columns_that_tell() -> None:
    """Half of the columns that tell nothing make the misfit larger, and few make it smaller by much."""
    falls = []
    for seed in range(10):
        A, y = labels(seed)
        noise = np.random.default_rng(100 + seed).normal(size=300)
        right = fits_of(A[:, :3], y).misfit
        assert fits_of(A[:, :2], y).misfit > right + 10.0
        falls.append(right - fits_of(np.column_stack([A[:, :3], noise]), y).misfit)
    assert np.median(falls) < 1.0
    assert np.mean(np.array(falls) > 3.0) <= 0.2


def test_the_share_of_one_sure_answer_is_that_answer() -> None:
    """Where all of the posterior is at one of the shares, its median is not nearer to the one before."""
    A, y = labels(12)
    sure = np.where(np.arange(len(SHARES)) == 3, 0.0, -np.inf)
    fits = replace(fits_of(A, y), likelihood=sure)
    assert fits.share == pytest.approx(SHARES[3], abs=0.005)


def test_coefficients_are_those_of_a_cautious_share() -> None:
    """Which is not larger than the share that the labels speak for, but for rounding."""
    for seed in range(5):
        A, y = labels(seed, coef=STRONG)
        partly_wrong = flipped(y, 0.1)
        fits = fits_of(A, partly_wrong)
        assert fits.posterior.sum() == pytest.approx(1.0)
        assert fits.cautious_share <= fits.share + 0.01
        np.testing.assert_allclose(fits.coef_at(float(SHARES[3])), fits.coefs[3])
        near = fits.coef_at(fits.cautious_share)
        coef = mislabeled_logistic(A, partly_wrong).coef
        np.testing.assert_allclose(coef, near, rtol=0.1, atol=0.1)


small = st.integers(-2, 2).map(float)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(float, (10, 3), elements=small),
    hnp.arrays(float, 10, elements=st.sampled_from([0.0, 1.0])),
)
def test_degenerate_tables_give_finite_answers(A: Array, y: Array) -> None:
    assert_finite(mislabeled_logistic(A, y))


@pytest.mark.parametrize("size", [1e-100, 1e-6, 1e6, 1e100])
def test_units_do_not_matter(size: float) -> None:
    A, y = labels(12)
    units = np.array([1.0, size, 1.0, 1.0])
    fit, other = mislabeled_logistic(A, y), mislabeled_logistic(A * units, y)
    assert_finite(other)
    np.testing.assert_allclose(other.resid, fit.resid, rtol=SETTLED)


@pytest.mark.parametrize("size", [1e100, 1e300])
def test_rows_that_do_not_count_may_be_anywhere(size: float) -> None:
    A, y = labels(13)
    A[:3, 1:] = size
    counts = (np.arange(300) >= 3).astype(float)
    fit = mislabeled_logistic(A, y, prior_weights=counts)
    assert_finite(fit)
    np.testing.assert_array_equal(fit.coef, mislabeled_logistic(A[3:], y[3:]).coef)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": np.append(np.ones(8), 2.0)}, DataError, "value 2 in row 8"),
        ({"A": np.full((9, 2), np.inf)}, DataError, "row 0, column 0"),
        ({"offset": np.ones(3)}, DataError, "offset"),
        ({"prior_weights": np.zeros(9)}, DataError, "positive"),
        ({"start": np.ones(3)}, ParameterError, "2 finite"),
        ({"A": np.eye(9)}, DataError, "fewer columns"),
    ],
)
def test_errors_name_the_remedy(
    change: dict[str, Array], error: type[Exception], message: str
) -> None:
    A = np.column_stack([np.ones(9), np.arange(9.0)])
    y = np.array([0.0, 1, 0, 1, 0, 1, 1, 1, 1])
    with pytest.raises(error, match=message):
        mislabeled_logistic(**({"A": A, "y": y} | change))
