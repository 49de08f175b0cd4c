"""Rows that are far out: the alcohol samples of octane, R's robust distances, clean rows left alone."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from robustsparse.robust import subspaces
from robustsparse.robust.distances import (
    distance_cutoff,
    joint_scores,
    leverage_flags,
    orthogonal_distances,
    robust_distances,
    score_cutoff,
)

REFERENCE = Path(__file__).parents[1] / "reference"
DATA = Path(__file__).parents[2] / "data"
ALCOHOL = np.array([25, 26, 36, 37, 38, 39]) - 1

# Two ways to the same eigenvectors.
SAME_ALGEBRA = 1e-6


def standardized(X: np.ndarray) -> np.ndarray:
    center = np.median(X, axis=0)
    return (X - center) / (1.4826 * np.median(np.abs(X - center), axis=0))


def toeplitz_rows(seed: int, n: int, d: int, correlation: float = np.exp(-1)) -> np.ndarray:
    """Normal rows whose columns have correlation c^|i - j|, robustly standardized."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    return standardized(X)


@pytest.fixture(scope="module")
def octane() -> np.ndarray:
    return standardized(pd.read_csv(DATA / "octane.csv.gz").drop(columns="y").to_numpy())


def test_scores_separate_the_alcohol_samples(octane: np.ndarray) -> None:
    scores = joint_scores(octane)
    others = np.delete(scores, ALCOHOL)
    assert scores[ALCOHOL].min() > 0.36 > score_cutoff(scores) > 0.04 > others.max()


def test_distances_separate_the_alcohol_samples(octane: np.ndarray) -> None:
    distances = orthogonal_distances(octane)
    others = np.delete(distances, ALCOHOL)
    assert distances[ALCOHOL].min() > 90 > distance_cutoff(distances) > others.max()
    assert others.max() < 13


def test_flags_are_the_alcohol_samples(octane: np.ndarray) -> None:
    np.testing.assert_array_equal(np.flatnonzero(leverage_flags(octane)), ALCOHOL)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_alcohol_does_not_enter_the_subspace(octane: np.ndarray, rank: int) -> None:
    distances = orthogonal_distances(octane, rank)
    assert distances[ALCOHOL].min() > 5 * np.delete(distances, ALCOHOL).max()


@pytest.mark.parametrize(
    ("n", "d", "correlation"),
    [
        (300, 1000, np.exp(-1)),
        (300, 5, np.exp(-1)),
        (300, 5, 0.95),
        (300, 1, 0.0),
        (40, 200, 0.99),
        (50, 5, 0.3),
    ],
)
def test_clean_rows_are_rarely_flagged(n: int, d: int, correlation: float) -> None:
    seeds = range(6 if d > 500 else 50)
    shares = [leverage_flags(toeplitz_rows(seed, n, d, correlation)).mean() for seed in seeds]
    assert np.mean(shares) <= 0.01
    assert np.median(shares) <= 1 / n


def test_far_rows_are_flagged_whatever_makes_them_far() -> None:
    Z = toeplitz_rows(0, 300, 400)
    rng = np.random.default_rng(1)
    Z[:10] *= 10.0
    Z[10:20, :120] += 4.0
    Z[20:30] = 6.0 * rng.choice([-1, 1], size=400)
    flags = leverage_flags(Z)
    assert flags[:30].all()
    assert flags[30:].mean() <= 0.01


def test_few_columns_use_robust_distances() -> None:
    """A row that breaks the correlation of two columns is far out in neither."""
    Z = toeplitz_rows(2, 300, 6, 0.95)
    Z[0, :2] = [2.0, -2.0]
    assert leverage_flags(Z)[0]


@pytest.mark.parametrize("share", [0.2, 0.3])
def test_heavy_contamination_in_one_direction(share: float) -> None:
    Z = toeplitz_rows(3, 200, 300)
    bad = int(share * 200)
    Z[:bad] += 8.0
    flags = leverage_flags(standardized(Z))
    assert flags[:bad].all()
    assert not flags[bad:].any()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    Z = toeplitz_rows(4, 30, 100)
    whole = joint_scores(Z), orthogonal_distances(Z)
    monkeypatch.setattr(subspaces, "_BLOCK", 200)
    np.testing.assert_allclose(joint_scores(Z), whole[0])
    np.testing.assert_allclose(orthogonal_distances(Z), whole[1], rtol=SAME_ALGEBRA)


def test_rows_may_be_float32_and_are_not_changed() -> None:
    Z = np.asfortranarray(toeplitz_rows(5, 30, 100).astype(np.float32))
    Z.setflags(write=False)
    whole = orthogonal_distances(Z.astype(float))
    np.testing.assert_allclose(orthogonal_distances(Z), whole, rtol=SAME_ALGEBRA)


def test_wide_and_tall_agree() -> None:
    """A column of zeros more or less decides the route, nothing else."""
    Z = toeplitz_rows(6, 60, 60)
    tall = orthogonal_distances(Z, rank=4)
    wide = orthogonal_distances(np.column_stack([Z, np.zeros(60)]), rank=4)
    np.testing.assert_allclose(tall, wide, rtol=SAME_ALGEBRA)


def test_multiplications_find_what_a_decomposition_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Directions that stand out are found exactly; among those of noise one is as good as another."""
    rng = np.random.default_rng(7)
    noise = toeplitz_rows(7, 300, 400)
    factors = standardized(noise + 3.0 * rng.normal(size=(300, 4)) @ rng.normal(size=(4, 400)))
    wanted = [orthogonal_distances(factors, rank=4), orthogonal_distances(noise)]
    monkeypatch.setattr(subspaces, "_LARGEST_MATRIX", 10)
    np.testing.assert_allclose(orthogonal_distances(factors, rank=4), wanted[0], rtol=1e-6)
    found = orthogonal_distances(noise)
    np.testing.assert_allclose(found, wanted[1], rtol=0.12)
    assert found.mean() == pytest.approx(wanted[1].mean(), rel=0.01)


def test_rows_within_the_subspace_have_distance_zero() -> None:
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 200))
    Z[7] += rng.normal(size=200)
    distances = orthogonal_distances(Z, rank=2)
    assert distances[7] > 1.0
    # The odd row tilts the subspace a little.
    assert np.delete(distances, 7).max() < 0.2 * distances[7]
    assert not orthogonal_distances(np.delete(Z, 7, axis=0), rank=2).any()


@pytest.mark.parametrize("shape", [(20, 1), (20, 3), (5, 40)])
def test_zeros_and_extremes_give_finite_answers(shape: tuple[int, int]) -> None:
    for Z in (np.zeros(shape), np.eye(*shape) * 1e300):
        assert np.isfinite(joint_scores(Z)).all()
        assert np.isfinite(orthogonal_distances(Z)).all()
        assert np.isfinite(robust_distances(Z)).all()
        assert leverage_flags(Z).dtype == bool


@pytest.mark.parametrize("name", ["stackloss", "hbk", "wood"])
def test_robust_distances_are_those_of_covmcd_up_to_scale(name: str) -> None:
    """The same rows are inner, so the ellipsoids differ in size only (robustbase uses asymptotic factors)."""
    X, expected = _reference(name)
    ratio = robust_distances(X) / expected
    np.testing.assert_allclose(ratio, ratio[0], rtol=SAME_ALGEBRA)
    assert 0.9 < ratio[0] < 1.6


def test_robust_distances_resemble_those_of_covmcd_where_the_inner_rows_differ() -> None:
    X, expected = _reference("simulated")
    distances = robust_distances(X)
    assert np.corrcoef(np.log(distances), np.log(expected))[0, 1] > 0.99
    np.testing.assert_array_equal(np.flatnonzero(distances > distance_cutoff(distances)), range(5))


def _reference(name: str) -> tuple[np.ndarray, np.ndarray]:
    rows = pd.read_csv(REFERENCE / f"lmrob_{name}.csv").drop(columns=["y", "resid", "weight"])
    expected = pd.read_csv(REFERENCE / "covmcd.csv").query("dataset == @name")["distance"]
    return rows.to_numpy(float), expected.to_numpy()


def test_the_leverage_points_of_hbk_are_flagged() -> None:
    distances = robust_distances(_reference("hbk")[0])
    np.testing.assert_array_equal(np.flatnonzero(distances > distance_cutoff(distances)), range(14))


@pytest.mark.parametrize("p", [1, 2, 6, 20])
def test_distances_of_normal_rows_follow_the_chi_distribution(p: int) -> None:
    d = robust_distances(np.random.default_rng(9).normal(size=(1000, p)))
    for quantile in (0.25, 0.5, 0.75, 0.95):
        # A share of 1,000 rows has a standard error of 0.016 at most.
        share = np.mean(d**2 <= chi2.ppf(quantile, p))
        assert share == pytest.approx(quantile, abs=0.05)


@pytest.mark.parametrize("size", [8.0, 1e3, 1e9])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_clusters_of_outliers_do_not_mask_each_other(size: float, share: float) -> None:
    A = np.random.default_rng(10).normal(size=(200, 4))
    bad = int(200 * share)
    A[:bad] = A[:bad] * 0.1 + size
    d = robust_distances(A)
    assert d[:bad].min() > distance_cutoff(d)
    assert np.mean(d[bad:] > distance_cutoff(d)) <= 0.01


def test_distances_do_not_depend_on_units() -> None:
    A = np.random.default_rng(11).normal(size=(100, 3))
    moved = A * [1e-6, 1.0, 1e6] + [5.0, 0.0, -3.0]
    np.testing.assert_allclose(robust_distances(moved), robust_distances(A), rtol=SAME_ALGEBRA)


def test_intercept_and_categories_have_no_distance() -> None:
    rng = np.random.default_rng(12)
    A = rng.normal(size=(100, 2))
    rare = (np.arange(100) < 3).astype(float)
    counts = np.r_[np.arange(30), np.zeros(70)]
    more = np.column_stack([np.ones(100), A, rare, rng.integers(0, 2, 100), counts])
    np.testing.assert_allclose(robust_distances(more), robust_distances(A))
    np.testing.assert_array_equal(robust_distances(more[:, [0, 3]]), np.zeros(100))


def test_collinear_columns() -> None:
    A = np.random.default_rng(13).normal(size=(100, 3))
    A = np.column_stack([A, A.sum(axis=1)])
    A[0, 3] += 2.0
    d = robust_distances(A)
    assert np.isfinite(d).all()
    # Rows keep the relation but one.
    assert np.argmax(d) == 0
    assert d[0] > distance_cutoff(d)


def test_data_of_few_dimensions_keep_their_outliers_at_any_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(9)
    Z = rng.normal(size=(120, 5)) @ rng.normal(size=(5, 150))
    Z[:3] += 5.0 * rng.normal(size=(3, 150))
    wanted = orthogonal_distances(Z, rank=5)
    monkeypatch.setattr(subspaces, "_LARGEST_MATRIX", 10)
    found = orthogonal_distances(Z, rank=5)
    np.testing.assert_allclose(found[:3], wanted[:3], rtol=0.1)
    assert found[:3].min() > 3.0 * found[3:].max()


def test_of_very_many_rows_some_tell_the_guesses_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows go on from the best guess, and come to the same distances."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(4000, 4)) @ rng.normal(size=(4, 4))
    A[:800] += 30.0
    whole = robust_distances(A)
    monkeypatch.setattr("robustsparse.robust.distances.MOST_ROWS", 500)
    thinned = robust_distances(A)
    np.testing.assert_allclose(thinned, whole, rtol=0.02)
    assert thinned[:800].min() > distance_cutoff(thinned) > np.median(thinned[800:])
