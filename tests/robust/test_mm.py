"""MM-regression: R's values, the equations it solves, and data that break other fits."""

from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.robust.mm import (
    Refit,
    _final_weights,
    independent_columns,
    mm_regression,
)
from robustsparse.robust.mm_covariance import influences
from robustsparse.robust.s_estimate import make_problem, s_estimate
from robustsparse.robust.scales import BISQUARE_EFFICIENCY, m_scale

REFERENCE = Path(__file__).parents[1] / "reference"
DATASETS = ["stackloss", "hbk", "starsCYG", "coleman", "wood", "simulated"]

# Both sides iterate to about nine digits.
SAME_OPTIMUM = 1e-6
# robustbase takes mean(rho^2) - 1/4 for the variance of rho, whose mean is not 1/2 but (n - p) / 2n; that
# matters where coefficients are many and the scale moves them: stackloss and coleman.
SAME_ERRORS = {"stackloss": 0.08, "coleman": 0.08}
# Iterations stop when the fit moves by less than 1e-8 scales.
SETTLED = 1e-6


def reference(name: str) -> tuple[np.ndarray, np.ndarray, pd.DataFrame, pd.DataFrame]:
    rows = pd.read_csv(REFERENCE / f"lmrob_{name}.csv")
    terms = pd.read_csv(REFERENCE / "lmrob_terms.csv").query("dataset == @name")
    X = rows.drop(columns=["y", "resid", "weight"]).to_numpy(float)
    return np.column_stack([np.ones(len(rows)), X]), rows["y"].to_numpy(float), rows, terms


def regression(
    seed: int, n: int = 80, p: int = 4, bad: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Design with intercept, response with unit errors and `bad` outliers in front, coefficients."""
    rng = np.random.default_rng(seed)
    A = np.column_stack([np.ones(n), rng.normal(size=(n, p - 1))])
    coef = rng.normal(size=p)
    y = A @ coef + rng.normal(size=n)
    y[:bad] += 30.0
    return A, y, coef


def moves_of(
    A: np.ndarray, y: np.ndarray, fit: Refit, prior: np.ndarray | None = None
) -> np.ndarray:
    """Influence of each row on the coefficients of a fit."""
    task = make_problem(A, y, np.ones(len(y)) if prior is None else prior)
    none = np.empty((0, A.shape[1]))
    first, scale, _ = s_estimate(task, none, 500, np.random.default_rng(0))
    return scale * influences(task, fit.resid / scale, (y - A @ first) / scale)


def assert_finite(fit: Refit) -> None:
    assert np.isfinite(fit.scale)
    for part in (fit.coef, fit.weights, fit.cov, fit.resid):
        assert np.isfinite(part).all()
    assert fit.weights.min() >= 0
    assert fit.weights.max() <= 1
    assert np.linalg.eigvalsh(fit.cov).min(initial=0.0) >= -1e-8 * np.abs(fit.cov).max(initial=0.0)


@pytest.mark.parametrize("name", DATASETS)
def test_agrees_with_lmrob(name: str) -> None:
    A, y, rows, terms = reference(name)
    fit = mm_regression(A, y)
    np.testing.assert_allclose(fit.coef, terms["coef"], rtol=SAME_OPTIMUM)
    assert fit.scale == pytest.approx(terms["scale"].iloc[0], rel=SAME_OPTIMUM)
    np.testing.assert_allclose(fit.weights, rows["weight"], atol=SAME_OPTIMUM)
    np.testing.assert_allclose(fit.resid, rows["resid"], atol=SAME_OPTIMUM * np.ptp(y))
    moves = moves_of(A, y, fit)
    errors = np.sqrt(np.diag(moves.T @ moves))
    np.testing.assert_allclose(errors, terms["se_avar1"], rtol=SAME_ERRORS.get(name, 1e-3))


@pytest.mark.parametrize(
    ("name", "outliers"),
    [
        ("hbk", range(1, 11)),
        ("starsCYG", [11, 20, 30, 34]),
        ("wood", [4, 6, 8, 19]),
        ("stackloss", [21]),
    ],
)
def test_known_outliers_have_no_weight(name: str, outliers) -> None:
    A, y, _, _ = reference(name)
    weights = mm_regression(A, y).weights
    assert set(np.flatnonzero(weights < 0.05) + 1) == set(outliers)


def test_good_leverage_points_keep_their_weight() -> None:
    A, y, _, _ = reference("hbk")
    assert mm_regression(A, y).weights[10:14].min() > 0.5


def test_solves_the_estimating_equations() -> None:
    A, y, _ = regression(0, bad=15)
    prior = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    fit = mm_regression(A, y, prior_weights=prior)
    u = fit.resid / fit.scale
    psi = np.where(
        np.abs(u) < BISQUARE_EFFICIENCY, u * (1 - (u / BISQUARE_EFFICIENCY) ** 2) ** 2, 0.0
    )
    assert np.abs(A.T @ (prior * psi)).max() < SETTLED * len(y)
    np.testing.assert_allclose(fit.weights * u, psi, atol=1e-12)


def test_scale_is_the_smallest_found() -> None:
    A, y, coef = regression(2, bad=20)
    fit = mm_regression(A, y)
    rng = np.random.default_rng(3)
    for size in (1e-3, 0.1, 1.0):
        for _ in range(20):
            other = y - A @ (coef + size * rng.normal(size=4))
            assert m_scale(other, n_coef=4) >= fit.scale


@pytest.mark.parametrize("prior", [np.ones(30), np.linspace(0.4, 2.0, 30)])
def test_influences_are_what_the_rows_do(prior: np.ndarray) -> None:
    """A little more weight on row i moves the coefficients by the influence of row i, scale and all."""
    A, _, coef = regression(4, n=30, p=3)
    # Skewed errors, so that the path through the scale matters.
    y = A @ coef + np.random.default_rng(5).exponential(size=30) ** 1.5
    fit = mm_regression(A, y, prior_weights=prior)

    def moved(row: int, change: float) -> np.ndarray:
        changed = prior.copy()
        changed[row] *= 1 + change
        return mm_regression(A, y, prior_weights=changed, starts=fit.coef, subsamples=0).coef

    half = 1e-3
    influence = np.array([(moved(i, half) - moved(i, -half)) / (2 * half) for i in range(30)])
    wanted = moves_of(A, y, fit, prior)
    np.testing.assert_allclose(influence, wanted, rtol=0.01, atol=0.01 * np.abs(wanted).max())


@pytest.mark.parametrize("size", [10.0, 1e3, 1e6, 1e12, 1e200])
@pytest.mark.parametrize("kind", ["one point", "scattered"])
def test_survives_leverage_outliers(size: float, kind: str) -> None:
    """A fifth of the rows in one far point (near the worst case), or 40% all over the place."""
    A, y, coef = regression(6, n=100)
    bad = 20 if kind == "one point" else 40
    rng = np.random.default_rng(7)
    A[:bad, 1:] = size if kind == "one point" else size * rng.normal(size=(bad, 3))
    y[:bad] = -3.0 * size if kind == "one point" else 20.0 * size * rng.choice([-1, 1], bad)
    fit = mm_regression(A, y)
    assert_finite(fit)
    assert fit.weights[:bad].max() == 0.0
    clean = mm_regression(A[bad:], y[bad:])
    # Outliers move the scale and with it the weights of the good rows, no more.
    np.testing.assert_allclose(fit.coef, clean.coef, atol=0.1)
    np.testing.assert_allclose(fit.coef, coef, atol=0.6)


def test_exact_fit() -> None:
    A, _, coef = regression(7, n=60)
    y = A @ coef
    y[:25] += np.random.default_rng(8).normal(size=25) * 10
    for fit in (mm_regression(A, y), mm_regression(A, y, starts=coef + 0.01, subsamples=0)):
        assert fit.scale == 0.0
        np.testing.assert_array_equal(fit.weights, np.r_[np.zeros(25), np.ones(35)])
        np.testing.assert_allclose(fit.coef, coef, rtol=1e-12)
        np.testing.assert_array_equal(fit.cov, np.zeros((4, 4)))
        np.testing.assert_array_equal(fit.resid[25:], np.zeros(35))
        assert fit.converged


@pytest.mark.parametrize("level", [0.0, 7.0])
def test_constant_response_is_an_exact_fit(level: float) -> None:
    A, _, _ = regression(9)
    fit = mm_regression(A, np.full(80, level))
    np.testing.assert_allclose(fit.coef, [level, 0, 0, 0], atol=1e-12)
    assert fit.scale == 0.0
    assert fit.weights.min() == 1.0


def test_response_of_the_same_noise_is_no_exact_fit_in_any_unit() -> None:
    A, y, _ = regression(10)
    fit = mm_regression(A, y)
    for unit in (1e-100, 1e-8, 1e8, 1e100):
        other = mm_regression(A, unit * y)
        np.testing.assert_allclose(other.coef, unit * fit.coef, rtol=SETTLED)
        np.testing.assert_allclose(other.cov, unit**2 * fit.cov, rtol=SETTLED)


@pytest.mark.parametrize("unit", [1e-8, 1e-3, 1e3, 1e8])
def test_units_of_the_design_do_not_matter(unit: float) -> None:
    A, y, _ = regression(25, n=100, bad=10)
    A[:10] *= 1e200
    fit, other = mm_regression(A, y), mm_regression(unit * A, y)
    np.testing.assert_allclose(unit * other.coef, fit.coef, rtol=SETTLED)
    np.testing.assert_allclose(unit**2 * other.cov, fit.cov, rtol=SETTLED)
    np.testing.assert_allclose(other.weights, fit.weights, atol=SETTLED)


def test_good_rows_of_any_length_keep_their_say() -> None:
    """Rows beyond the length at which they are shortened, with responses that the model explains."""
    A, y, coef = regression(26, n=60)
    A[:25] *= 1e7
    y[:25] = A[:25] @ coef
    fit = mm_regression(A, y)
    assert fit.weights[:25].min() > 0.5
    # The length of the rows makes up for the errors of all others.
    np.testing.assert_allclose(fit.coef, coef, atol=1e-6)


def test_wild_responses_beside_tiny_ones() -> None:
    A, y, coef = regression(27)
    y, coef = 1e-10 * y, 1e-10 * coef
    y[:10] = 1e300
    fit = mm_regression(A, y)
    assert_finite(fit)
    np.testing.assert_allclose(fit.coef, coef, atol=0.6e-10)


def test_starts_are_in_the_units_of_the_data() -> None:
    """A start in other units would be far off, and these rows do not let a fit come back from there."""
    A, y, coef = regression(31, bad=30)
    A[:30, 1] += 6.0
    for unit in (1.0, 1e4, 1e-4):
        fit = mm_regression(A, unit * y, starts=unit * coef, subsamples=0)
        np.testing.assert_allclose(fit.coef, unit * coef, atol=0.5 * unit)


def test_equivariance() -> None:
    A, y, _ = regression(11, bad=12)
    fit = mm_regression(A, y)
    rng = np.random.default_rng(12)
    shift, mix = rng.normal(size=4), rng.normal(size=(4, 4))
    shifted = mm_regression(A, y + A @ shift)
    np.testing.assert_allclose(shifted.coef, fit.coef + shift, atol=SETTLED)
    mixed = mm_regression(A @ mix, y)
    np.testing.assert_allclose(mix @ mixed.coef, fit.coef, atol=SETTLED)
    np.testing.assert_allclose(mix @ mixed.cov @ mix.T, fit.cov, atol=SETTLED)
    order = rng.permutation(80)
    np.testing.assert_allclose(mm_regression(A[order], y[order]).coef, fit.coef, atol=SETTLED)


def test_weight_zero_removes_a_row_but_keeps_its_residual() -> None:
    A, y, _ = regression(13)
    prior = np.ones(80)
    prior[:10] = 0.0
    fit, part = mm_regression(A, y, prior_weights=prior), mm_regression(A[10:], y[10:])
    np.testing.assert_allclose(fit.coef, part.coef, atol=SETTLED)
    np.testing.assert_allclose(fit.cov, part.cov, atol=SETTLED)
    np.testing.assert_allclose(fit.resid, y - A @ fit.coef)
    assert fit.weights.shape == (80,)


def test_only_ratios_of_weights_matter() -> None:
    A, y, _ = regression(14)
    prior = np.random.default_rng(0).uniform(1, 2, 80)
    one, two = (mm_regression(A, y, prior_weights=c * prior) for c in (1.0, 1e6))
    np.testing.assert_allclose(one.coef, two.coef, rtol=SETTLED)
    np.testing.assert_allclose(one.cov, two.cov, rtol=SETTLED)


def test_heavier_rows_pull_more() -> None:
    A, y, _ = regression(15)
    prior = np.ones(80)
    prior[y > np.median(y)] = 5.0
    assert mm_regression(A, y, prior_weights=prior).coef[0] > mm_regression(A, y).coef[0]


def test_aliased_columns_get_zero() -> None:
    A, y, _ = regression(16)
    fit = mm_regression(A, y)
    zero = np.zeros(80)
    more = np.column_stack([A[:, 0], 3 * A[:, 0], A[:, 1:3], A[:, 1] - A[:, 2], A[:, 3], zero])
    wide = mm_regression(more, y)
    np.testing.assert_allclose(wide.coef[[0, 2, 3, 5]], fit.coef, atol=SETTLED)
    assert not wide.coef[[1, 4, 6]].any()
    assert not wide.cov[[1, 4, 6]].any()
    np.testing.assert_allclose(wide.resid, fit.resid, atol=SETTLED)


def test_aliased_unit_vectors() -> None:
    """A repeated indicator must not hide the next one."""
    rows = np.zeros((40, 3))
    rows[0, :2] = 1.0
    rows[1, 2] = 1.0
    A = np.column_stack([np.ones(40), rows])
    y = np.random.default_rng(0).normal(size=40)
    fit = mm_regression(A, y)
    assert fit.coef[2] == 0.0
    assert fit.coef[3] != 0.0


def test_aliasing_does_not_depend_on_units() -> None:
    A, _, _ = regression(16)
    columns = np.column_stack([A[:, 0], A[:, 1], A[:, 0] + A[:, 1], A[:, 2], A[:, 3]])
    for units in ([1.0, 1e-8, 1e8, 1e-8, 1e8], [1e8, 1e8, 1e-8, 1.0, 1e-8]):
        assert independent_columns(columns * units).tolist() == [0, 1, 3, 4]


def test_columns_close_to_each_other_hide_no_combination_of_them() -> None:
    """The third is a combination of the first two, which differ in the eighth digit."""
    for seed in range(20):
        first, other = np.random.default_rng(seed).normal(size=(2, 50))
        second = first + 2e-8 * other
        columns = np.column_stack([first, second, 0.3 * first + 0.7 * second])
        assert independent_columns(columns).tolist() == [0, 1]


def test_a_design_of_zeros_has_no_columns() -> None:
    y = np.random.default_rng(0).normal(size=9)
    fit = mm_regression(np.zeros((9, 2)), y)
    np.testing.assert_array_equal(fit.coef, [0.0, 0.0])
    np.testing.assert_array_equal(fit.cov, np.zeros((2, 2)))
    none = independent_columns(np.zeros((9, 2)))
    assert none.tolist() == []
    assert np.issubdtype(none.dtype, np.integer)


# Two rows of 2,000 less, and a curvature that is averaged over the rows.
NEARLY = 0.05


def test_rows_that_contradict_each_other_leave_the_other_errors_alone() -> None:
    """Two rows of a rare category, far apart: started half way between them, a fit stays there."""
    A, y, _ = regression(29, n=2000, p=3)
    without = mm_regression(A[2:], y[2:])
    A[:2], y[:2] = 0.0, 3.5 * without.scale * np.array([1.0, -1.0])
    rare = np.zeros(2000)
    rare[:2] = 1.0
    start = np.append(without.coef, 0.0)
    fit = mm_regression(np.column_stack([A, rare]), y, starts=start, subsamples=0)
    assert fit.coef[3] == 0.0
    np.testing.assert_allclose(np.diag(fit.cov)[:3], np.diag(without.cov), rtol=NEARLY)
    # What two rows can tell, no more, and not that nothing is known.
    assert 0.1 * fit.scale < np.sqrt(fit.cov[3, 3]) < 10.0 * fit.scale


def test_rare_category_is_found_without_a_start() -> None:
    A, y, _ = regression(17)
    rare = np.zeros(80)
    rare[:3] = 1.0
    fit = mm_regression(np.column_stack([A, rare]), y + 30.0 * rare, subsamples=20)
    assert fit.coef[-1] == pytest.approx(30.0, abs=3.0)
    assert fit.weights[:3].min() > 0.1


@pytest.mark.parametrize(("n", "p"), [(5, 4), (20, 9), (20, 10), (20, 15), (20, 19), (61, 30)])
def test_few_rows_for_many_columns(n: int, p: int) -> None:
    A, y, _ = regression(18, n=n, p=p)
    assert_finite(mm_regression(A, y))


def test_without_columns() -> None:
    y = np.random.default_rng(19).normal(size=50)
    fit = mm_regression(np.empty((50, 0)), y)
    assert fit.scale == pytest.approx(m_scale(y))
    np.testing.assert_array_equal(fit.resid, y)
    assert fit.converged
    assert fit.n_iter == 0
    assert fit.weights.min() < 0.7 < 0.99 < fit.weights.max()
    order = np.argsort(np.abs(y))
    assert (np.diff(fit.weights[order]) <= 0).all()
    tiny = mm_regression(np.empty((50, 0)), 1e-6 * y)
    np.testing.assert_allclose(tiny.weights, fit.weights, atol=SETTLED)


def test_without_columns_weights_count() -> None:
    y = np.r_[np.random.default_rng(19).normal(size=40), np.full(20, 50.0)]
    prior = np.r_[np.ones(40), np.zeros(20)]
    fit = mm_regression(np.empty((60, 0)), y, prior_weights=prior)
    assert fit.scale == pytest.approx(m_scale(y[:40]), rel=SETTLED)
    assert fit.weights[40:].max() == 0.0


def test_without_columns_and_spread_only_zeros_fit() -> None:
    y = np.r_[np.zeros(40), 1.0, 2.0]
    fit = mm_regression(np.empty((42, 0)), y)
    assert fit.scale == 0.0
    np.testing.assert_array_equal(fit.weights, y == 0)


def test_numbers_of_any_type_are_taken_in_double_precision() -> None:
    A, y, coef = regression(30)
    single = A.astype(np.float32)
    wanted = mm_regression(single.astype(np.float64), y, starts=coef)
    for starts in (coef, coef.astype(object)):
        fit = mm_regression(single, y, starts=starts)
        np.testing.assert_array_equal(fit.coef, wanted.coef)


def test_large_data_are_screened_on_a_part_of_the_rows() -> None:
    A, y, coef = regression(20, n=3000, p=6, bad=900)
    fit = mm_regression(A, y, subsamples=30)
    np.testing.assert_allclose(fit.coef, coef, atol=0.15)
    assert fit.weights[:900].max() == 0.0


def test_fewer_subsets_are_drawn_beside_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    A, y, coef = regression(31)
    seen = []

    def watched(task: Any, starts: Any, subsamples: int, rng: Any) -> Any:
        seen.append(subsamples)
        first, scale, _ = s_estimate(task, starts, subsamples, rng)
        return first, scale, 1000

    monkeypatch.setattr("robustsparse.robust.mm.s_estimate", watched)
    fits = [mm_regression(A, y, **own) for own in ({}, {"starts": coef}, {"subsamples": 7})]
    assert seen == [500, 50, 7]
    # Iterations of both stages count.
    assert all(fit.n_iter > 1000 for fit in fits)


def test_starts_alone_are_enough_if_good() -> None:
    A, y, coef = regression(22, bad=30)
    fit = mm_regression(A, y)
    started = mm_regression(A, y, starts=np.stack([coef + 0.3, np.zeros(4)]), subsamples=0)
    np.testing.assert_allclose(started.coef, fit.coef, atol=SETTLED)


def test_subsets_rescue_a_bad_start() -> None:
    A, y, coef = regression(23, n=100, bad=30)
    A[:30, 1:] *= 5
    trapped = np.linalg.lstsq(A[:30], y[:30], rcond=None)[0]
    fit = mm_regression(A, y, starts=trapped)
    np.testing.assert_allclose(fit.coef, coef, atol=0.6)


def test_same_seed_same_fit() -> None:
    A, y, _ = regression(24, bad=25)
    kept = A.copy(), y.copy()
    one, two = mm_regression(A, y, rng=3), mm_regression(A, y, rng=3)
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(A, kept[0])
    np.testing.assert_array_equal(y, kept[1])


def test_efficiency_and_coverage_on_normal_data() -> None:
    """Over 300 seeds: at least 85% of the efficiency of least squares (95% in theory), honest errors."""
    squares, covered = [], []
    for seed in range(300):
        A, y, coef = regression(seed, n=100, p=5)
        first = np.linalg.lstsq(A, y, rcond=None)[0]
        fit = mm_regression(A, y, starts=first, subsamples=0)
        squares.append([((first - coef) ** 2).sum(), ((fit.coef - coef) ** 2).sum()])
        covered.append(np.abs(fit.coef - coef) < 1.985 * np.sqrt(np.diag(fit.cov)))
    least, robust = np.mean(squares, axis=0)
    assert least / robust > 0.85
    # 1,500 intervals: a standard error of 0.006.
    assert 0.925 < np.mean(covered) < 0.97


def test_heteroscedastic_and_skewed_errors_are_covered() -> None:
    covered = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        A = np.column_stack([np.ones(100), rng.normal(size=(100, 3))])
        y = np.abs(1 + 0.7 * A[:, 1]) * rng.normal(size=100)
        y[:10] += 8.0
        fit = mm_regression(A, y, starts=np.zeros(4), subsamples=0)
        covered.append(np.abs(fit.coef[1:]) < 1.985 * np.sqrt(np.diag(fit.cov))[1:])
    assert 0.92 < np.mean(covered) < 0.98


def test_settles_on_difficult_data() -> None:
    """Heavy tails, leverage and clusters: reweighting alone creeps on some of these."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(20, 150)), int(rng.integers(1, 9))
        A = rng.normal(size=(n, p)) * rng.choice([1, 1, 1, 50], size=(n, 1))
        y = A @ rng.normal(size=p) + rng.standard_t(1.5, size=n)
        y = np.where(rng.random(n) < 0.25, y + 20 * rng.normal(), y)
        fit = mm_regression(A, y, subsamples=20)
        assert fit.converged
        assert_finite(fit)


small = st.integers(-2, 2).map(float)


@settings(max_examples=80, deadline=None)
@given(hnp.arrays(float, (9, 3), elements=small), hnp.arrays(float, 9, elements=small))
def test_degenerate_tables_give_finite_answers(A: np.ndarray, y: np.ndarray) -> None:
    assert_finite(mm_regression(A, y, subsamples=10))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"A": np.ones((3, 4)) + np.eye(3, 4), "y": np.ones(3)}, DataError, "fewer columns"),
        ({"A": np.full((9, 2), np.nan)}, DataError, "row 0, column 0"),
        ({"A": np.ones(9)}, DataError, "dimension"),
        ({"A": np.empty(0), "y": np.empty(0)}, DataError, "two dimensions"),
        ({"A": np.empty((0, 2)), "y": np.empty(0)}, DataError, "at least one must be positive"),
        ({"y": np.r_[np.ones(8), np.inf]}, DataError, "^y .*row 8"),
        ({"y": np.ones(8)}, DataError, "^y .*shape"),
        ({"prior_weights": np.ones(8)}, DataError, "^prior_weights .*shape"),
        ({"prior_weights": -np.ones(9)}, DataError, "negative"),
        ({"prior_weights": np.zeros(9)}, DataError, "positive"),
        ({"starts": np.ones((2, 3))}, ParameterError, "rows of 2"),
        ({"starts": np.array([1.0, np.nan])}, ParameterError, "finite"),
        ({"subsamples": 0}, ParameterError, "needs starts"),
        ({"subsamples": -1}, ParameterError, "^subsamples=-1"),
    ],
)
def test_errors_name_the_remedy(change: dict, error: type, message: str) -> None:
    A = np.column_stack([np.ones(9), np.arange(9.0)])
    arguments = {"A": A, "y": np.arange(9.0) ** 2} | change
    with pytest.raises(error, match=message):
        mm_regression(**arguments)


def test_without_a_covariance_the_fit_is_the_same() -> None:
    A, y, coef = regression(23, bad=10)
    given = {"starts": coef, "subsamples": 10, "rng": 0}
    fit, bare = mm_regression(A, y, **given), mm_regression(A, y, **given, cov=False)
    np.testing.assert_array_equal(bare.coef, fit.coef)
    np.testing.assert_array_equal(bare.weights, fit.weights)
    assert bare.scale == fit.scale
    assert np.isnan(bare.cov).all()


@pytest.mark.parametrize("near", [1e-1, 1e-4, 1e-7])
def test_nearly_aliased_columns_are_told_from_aliased_ones(near: float) -> None:
    rng = np.random.default_rng(5)
    A = rng.normal(size=(60, 4))
    A[:, 3] = A[:, 0] - A[:, 1] + near * A[:, 3]
    assert independent_columns(A).tolist() == [0, 1, 2, 3]
    A[:, 3] = A[:, 0] - A[:, 1]
    assert independent_columns(A).tolist() == [0, 1, 2]


def test_a_rejected_row_has_no_weight_at_all_whatever_the_scale() -> None:
    for scale in np.exp(3.0 * np.random.default_rng(0).normal(size=2000)):
        edge = BISQUARE_EFFICIENCY * scale
        weights = _final_weights(edge * np.array([0.999, 1.0001, -10.0, 1e280]), scale)
        assert weights[0] > 0.0
        assert not weights[1:].any()
