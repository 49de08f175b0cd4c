"""Robust scales: their definitions, their breakdown, and their behavior at the normal distribution."""

import numpy as np
import pytest

from robustsparse.robust.scales import (
    BREAKDOWN_TUNING,
    column_mads,
    m_scale,
    mad,
    mads,
    median_and_mad,
    tau_scale,
)

SCALES = [mad, m_scale, tau_scale]

# The equation is solved to twelve digits.
SOLVED = 1e-10
# 60 samples of 400: the standard error of the mean scale is below 0.006.
SAMPLING = 0.02


def rho(u: np.ndarray) -> np.ndarray:
    t = np.minimum(np.abs(u) / BREAKDOWN_TUNING, 1.0)
    return 3 * t**2 - 3 * t**4 + t**6


@pytest.mark.parametrize("n", [1, 8, 31])
def test_all_forms_of_the_mad_are_one(n: int) -> None:
    X = np.random.default_rng(0).standard_cauchy((n, 5))
    medians = np.median(X, axis=0)
    assert column_mads(X).tolist() == [mad(column) for column in (X - medians).T]
    assert [median_and_mad(column)[1] for column in X.T] == column_mads(X).tolist()
    assert [median_and_mad(column)[0] for column in X.T] == medians.tolist()
    assert mads(X, axis=0).tolist() == mads(X.T, axis=1).tolist() == [mad(c) for c in X.T]


@pytest.mark.parametrize("n_coef", [0, 3, 20])
def test_m_scale_solves_its_equation(n_coef: int) -> None:
    r = np.random.default_rng(0).standard_cauchy(51)
    s = m_scale(r, n_coef=n_coef)
    assert rho(r / s).sum() == pytest.approx((51 - n_coef) / 2, rel=SOLVED)


def test_m_scale_counts_weighted_rows_as_copies() -> None:
    rng = np.random.default_rng(1)
    r, copies = rng.normal(size=40), rng.integers(0, 4, 40)
    weighted = m_scale(r, prior_weights=10.0 * copies)
    assert weighted == pytest.approx(m_scale(np.repeat(r, copies)), rel=SOLVED)


@pytest.mark.parametrize("scale", SCALES)
def test_scale_follows_the_units(scale) -> None:
    r = np.random.default_rng(2).normal(size=30)
    for unit in (1e-200, 1e-3, 1e200):
        assert scale(unit * r) == pytest.approx(unit * scale(r), rel=SOLVED)


@pytest.mark.parametrize("scale", SCALES)
def test_scale_estimates_the_standard_deviation(scale) -> None:
    rng = np.random.default_rng(3)
    estimates = [scale(2.0 * rng.normal(size=400)) for _ in range(60)]
    assert np.mean(estimates) == pytest.approx(2.0, rel=SAMPLING)


def test_tau_scale_is_more_efficient() -> None:
    rng = np.random.default_rng(4)
    samples = rng.normal(size=(400, 100))
    spread = {scale: np.std([np.log(scale(r)) for r in samples]) for scale in SCALES}
    # The best possible spread of the log scale is 1 / sqrt(2 n); efficiencies are 0.94, 0.56 and 0.39.
    best = 1 / np.sqrt(200)
    assert (best / spread[tau_scale]) ** 2 > 0.8
    assert (best / spread[m_scale]) ** 2 < 0.7


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", [1e2, 1e6, 1e300])
def test_scale_survives_45_percent_outliers(scale, size: float) -> None:
    r = np.random.default_rng(5).normal(size=100)
    r[:45] = size
    assert 0.5 < scale(r) < 15.0


@pytest.mark.parametrize("scale", SCALES)
def test_scale_of_mostly_zeros_is_zero(scale) -> None:
    assert scale(np.r_[np.zeros(60), np.ones(40)]) == 0.0
    assert scale(np.zeros(10)) == 0.0


def test_m_scale_with_nearly_half_zeros_is_positive() -> None:
    r = np.r_[np.zeros(49), np.full(51, 3.0)]
    s = m_scale(r)
    assert s > 0
    assert rho(r / s).mean() == pytest.approx(0.5, rel=SOLVED)
