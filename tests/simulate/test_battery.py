"""Every attack: only masked rows change, nothing is changed in place, and it does what it says."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import trim_mean

from robustsparse import simulate
from robustsparse.simulate import attacks, gross_attacks, label_attacks

COUNT = 30
ROUNDING = 1e-9


@dataclass
class Case:
    """Authentic data, and what an attack made of them."""

    X: np.ndarray
    y: np.ndarray
    beta: np.ndarray
    X_bad: np.ndarray
    y_bad: np.ndarray
    mask: np.ndarray

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        return self.X_bad[self.mask], self.y_bad[self.mask]

    @property
    def true(self) -> np.ndarray:
        return np.flatnonzero(self.beta)


def run(name: str, seed: int = 0, sigma: float = 0.5, k: int = 5) -> Case:
    sim = simulate.linear(n=300, d=40, k=k, sigma=sigma, attack=None, rng=seed)
    rng = np.random.default_rng(seed + 1)
    return Case(sim.X, sim.y, sim.beta, *attacks[name](sim.X, sim.y, sim.beta, COUNT, rng))


def every_attack(function):
    return pytest.mark.parametrize("name", sorted(attacks))(function)


@every_attack
def test_only_masked_rows_change(name: str) -> None:
    case = run(name)
    assert case.X_bad.shape == case.X.shape
    assert case.y_bad.shape == case.y.shape
    assert case.mask.dtype == bool
    assert case.mask.sum() == COUNT
    np.testing.assert_array_equal(case.X_bad[~case.mask], case.X[~case.mask])
    np.testing.assert_array_equal(case.y_bad[~case.mask], case.y[~case.mask])
    changed = (case.X_bad != case.X).any(axis=1) | (case.y_bad != case.y)
    np.testing.assert_array_equal(changed, case.mask)
    assert np.isfinite(case.X_bad).all()
    assert np.isfinite(case.y_bad).all()


@every_attack
def test_inputs_stay_as_they_are(name: str) -> None:
    sim = simulate.linear(n=100, d=20, attack=None, rng=0)
    X, y, beta = sim.X.copy(), sim.y.copy(), sim.beta.copy()
    attacks[name](sim.X, sim.y, sim.beta, 10, np.random.default_rng(0))
    np.testing.assert_array_equal(sim.X, X)
    np.testing.assert_array_equal(sim.y, y)
    np.testing.assert_array_equal(sim.beta, beta)


@every_attack
def test_reproducible_and_documented(name: str) -> None:
    first, again = run(name), run(name)
    np.testing.assert_array_equal(first.X_bad, again.X_bad)
    np.testing.assert_array_equal(first.mask, again.mask)
    assert "istinguish" in (attacks[name].__doc__ or "")


@every_attack
def test_survives_a_null_model_and_a_full_one(name: str) -> None:
    for beta in (np.zeros(6), np.ones(6)):
        sim = simulate.linear(n=60, d=6, beta=beta, attack=name, epsilon=0.2, rng=0)
        assert sim.outlier.sum() == 15
        assert np.isfinite(sim.X).all()
        assert np.isfinite(sim.y).all()


@pytest.mark.parametrize("name", sorted(gross_attacks))
def test_every_row_of_a_gross_attack_is_far_away(name: str) -> None:
    for seed in range(3):
        case = run(name, seed)
        x, y = case.rows
        residual = np.abs(y - x @ case.beta) / 0.5
        x_size = np.quantile(np.abs(x), 0.9, axis=1)
        # Authentic rows: below 4.5 noise scales, and 90% of the entries below about 1.9.
        assert np.all((residual > 6) | (x_size > 6))


@pytest.mark.parametrize("name", ["flip_y", "mimic", "equal_near", "edge", "greedy", "paper"])
def test_subtle_attacks_stay_within_the_range_of_the_inliers(name: str) -> None:
    case = run(name)
    x, y = case.rows
    assert np.abs(x).max() <= np.abs(case.X).max()
    assert np.abs(y).max() <= np.abs(case.y).max()


def test_paper() -> None:
    x, y = run("paper").rows
    assert set(np.unique(x)) == {-1.0, 1.0}
    np.testing.assert_allclose(y, -x @ run("paper").beta)


@pytest.mark.parametrize(("name", "factor"), [("leverage", 100.0), ("leverage_huge", 1e6)])
def test_leverage(name: str, factor: float) -> None:
    case = run(name)
    x, y = case.rows
    np.testing.assert_array_equal(x, case.X[case.mask] * factor)
    np.testing.assert_allclose(y, -x @ case.beta)


def test_leverage_false_uses_false_columns_only() -> None:
    case = run("leverage_false")
    x, y = case.rows
    touched = np.flatnonzero((case.X_bad != case.X).any(axis=0))
    assert len(touched) == 5
    assert not np.isin(touched, case.true).any()
    np.testing.assert_array_equal(x[:, touched], 100 * case.X[np.ix_(case.mask, touched)])
    coefficients = np.linalg.lstsq(x[:, touched], y)[0]
    np.testing.assert_allclose(np.abs(coefficients), 1.0, atol=ROUNDING)


def test_flip_y() -> None:
    case = run("flip_y")
    np.testing.assert_array_equal(case.X_bad, case.X)
    np.testing.assert_array_equal(case.y_bad[case.mask], -case.y[case.mask])


def test_flip_largest_takes_the_rows_with_most_signal() -> None:
    case = run("flip_largest")
    signal = np.abs(case.X @ case.beta)
    assert signal[case.mask].min() >= signal[~case.mask].max()
    np.testing.assert_array_equal(case.X_bad, case.X)
    np.testing.assert_array_equal(case.y_bad[case.mask], -10 * case.y[case.mask])


def test_shift_y() -> None:
    case = run("shift_y")
    np.testing.assert_array_equal(case.X_bad, case.X)
    np.testing.assert_allclose(case.y_bad - case.y, 20.0 * case.mask, atol=ROUNDING)


def test_mimic_has_the_inliers_columns_and_the_opposite_plane() -> None:
    case = run("mimic")
    x, y = case.rows
    for j in range(x.shape[1]):
        assert np.isin(x[:, j], case.X[:, j]).all()
    np.testing.assert_allclose(y, -x @ case.beta)
    # Entries come from independent rows: only by chance do two stem from the same one.
    assert not (x[:, None, :] == case.X[None, :, :]).all(axis=2).any()


@pytest.mark.parametrize(("name", "size"), [("equal_far", 10.0), ("equal_near", 1.0)])
def test_equal_rows(name: str, size: float) -> None:
    case = run(name)
    x, y = case.rows
    assert len(np.unique(np.c_[x, y], axis=0)) == 1
    assert set(np.abs(x[0])) == {size}
    # The signs agree with the coefficients, so y is as large as it can be: -size * k.
    np.testing.assert_allclose(y, -5 * size)


def test_edge_sits_at_three_noise_scales_and_pulls_toward_zero() -> None:
    case = run("edge")
    x, y = case.rows
    fitted = x @ case.beta
    residual = y - fitted
    np.testing.assert_array_equal(case.X_bad, case.X)
    assert np.abs(residual) == pytest.approx(1.5, rel=0.25)
    assert (residual * fitted < 0).all()


def test_edge_without_noise_has_no_edge() -> None:
    case = run("edge", sigma=0.0)
    np.testing.assert_allclose(case.y_bad, case.X @ case.beta, atol=ROUNDING)


def test_one_block_is_consecutive_and_shifted() -> None:
    case = run("one_block")
    rows = np.flatnonzero(case.mask)
    np.testing.assert_array_equal(np.diff(rows), 1)
    np.testing.assert_allclose(case.X_bad[rows], case.X[rows] + 10.0)
    np.testing.assert_array_equal(case.y_bad[rows], -case.y[rows])
    kept = simulate.linear(n=100, d=5, k=1, attack="one_block", shuffle=True, rng=0)
    np.testing.assert_array_equal(np.diff(np.flatnonzero(kept.outlier)), 1)


@pytest.mark.parametrize("name", ["cancel", "delete_cancel"])
def test_cancel_makes_the_gradient_at_zero_vanish_on_the_truth(name: str) -> None:
    case = run(name)
    gradient = case.X_bad.T @ case.y_bad / len(case.y)
    np.testing.assert_allclose(gradient[case.true], 0.0, atol=ROUNDING)
    before = np.abs(case.X.T @ case.y / len(case.y))[case.true]
    assert before.min() > 0.3
    false = np.delete(np.arange(case.X.shape[1]), case.true)
    np.testing.assert_array_equal(case.X_bad[:, false], case.X[:, false])


def test_delete_cancel_replaces_the_most_informative_rows() -> None:
    case = run("delete_cancel")
    information = case.y * (case.X @ case.beta)
    assert information[case.mask].min() >= information[~case.mask].max()
    x, y = case.rows
    x_plain, y_plain = run("cancel").rows
    assert np.abs(x[:, case.true]).max() < np.abs(x_plain[:, case.true]).max()
    assert np.abs(y).max() < np.abs(y_plain).max()


def test_greedy_beats_random_outliers_against_the_trimmed_gradient() -> None:
    def margins(name: str, seed: int) -> float:
        """Smallest true minus largest false entry of the trimmed gradient at zero."""
        case = run(name, seed)
        gradient = np.abs(trim_mean(case.X_bad * case.y_bad[:, None], COUNT / len(case.y)))
        return gradient[case.true].min() - np.delete(gradient, case.true).max()

    seeds = range(6)
    greedy = np.mean([margins("greedy", s) for s in seeds])
    assert greedy < np.mean([margins("flip_y", s) for s in seeds]) - 0.1
    assert greedy < np.mean([margins("leverage", s) for s in seeds]) - 0.1


@pytest.mark.parametrize("name", sorted(label_attacks))
def test_label_attacks_change_masked_rows_only_and_keep_labels(name: str) -> None:
    sim = simulate.logistic(n=200, d=20, attack=None, rng=0)
    X, y = sim.X.copy(), sim.y.copy()
    rng = np.random.default_rng(1)
    X_bad, y_bad, mask = label_attacks[name](sim.X, sim.y, sim.beta, 20, rng)
    np.testing.assert_array_equal(sim.X, X)
    np.testing.assert_array_equal(sim.y, y)
    assert mask.sum() == 20
    np.testing.assert_array_equal(X_bad[~mask], X[~mask])
    np.testing.assert_array_equal(y_bad[~mask], y[~mask])
    assert set(np.unique(y_bad)) == {0.0, 1.0}


def test_label_flip_and_leverage() -> None:
    sim = simulate.logistic(n=200, d=20, attack=None, rng=0)
    arguments = (sim.X, sim.y, sim.beta, 20, np.random.default_rng(1))
    X_bad, y_bad, mask = label_attacks["flip_y"](*arguments)
    np.testing.assert_array_equal(X_bad, sim.X)
    np.testing.assert_array_equal(y_bad[mask], 1 - sim.y[mask])
    X_bad, y_bad, mask = label_attacks["leverage"](*arguments)
    np.testing.assert_array_equal(X_bad[mask], 100 * sim.X[mask])
    np.testing.assert_array_equal(y_bad[mask], X_bad[mask] @ sim.beta < 0)
