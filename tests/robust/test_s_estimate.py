"""The descent behind the robust fits: never uphill, never stuck at a saddle, from subsets that say something."""

import numpy as np
import pytest

from robustsparse.robust.s_estimate import (
    Fits,
    Problem,
    _independent,
    descend,
    draw_subsets,
    make_problem,
    s_estimate,
    start_fits,
    subset_fits,
)
from robustsparse.robust.scales import BREAKDOWN_TUNING, m_scale

# Steps may rise by rounding errors of this size.
ROUNDING = 1e-8


def difficult(seed: int, n: int = 60, p: int = 5) -> Problem:
    """Heavy tails and leverage: many local minima and saddles."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, p)) * rng.choice([1, 1, 1, 10], size=(n, 1))
    y = A @ rng.normal(size=p) + rng.standard_t(2, size=n)
    y = np.where(rng.random(n) < 0.25, y + 5 * rng.normal(), y)
    return make_problem(A, y, np.ones(n))


def scales(task: Problem, coefs: np.ndarray) -> np.ndarray:
    return np.array([m_scale(task.y - task.A @ c, n_coef=task.A.shape[1]) for c in coefs])


def run(task: Problem, coefs: np.ndarray, max_iter: int, tol: float = 1e-6) -> np.ndarray:
    fits = start_fits(task, coefs)
    return descend(task, fits, BREAKDOWN_TUNING, free_scale=True, tol=tol, max_iter=max_iter).coefs


@pytest.mark.parametrize("near", [0.1, 10.0])
def test_loss_never_rises_at_a_fixed_scale(near: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if Newton's steps begin far too early."""
    monkeypatch.setattr("robustsparse.robust.s_estimate.NEAR", near)
    for seed in range(6):
        task = difficult(seed)
        fits = start_fits(task, np.random.default_rng(seed).normal(size=(6, 5)))
        before = np.full(6, np.inf)
        for steps in range(1, 25):
            ends = descend(task, fits, BREAKDOWN_TUNING, free_scale=False, tol=0.0, max_iter=steps)
            after = losses(task, ends)
            assert np.all(after <= before + ROUNDING)
            before = after


def losses(task: Problem, fits: Fits) -> np.ndarray:
    t = (task.y - fits.coefs @ task.A.T) ** 2 * fits.inverse[:, None] / BREAKDOWN_TUNING**2
    return (1 - (1 - np.minimum(t, 1.0)) ** 3).mean(axis=1)


def test_newton_ends_no_higher_than_reweighting(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [difficult(seed) for seed in range(12)]
    starts = np.random.default_rng(0).normal(size=(4, 5))
    fast = np.array([scales(task, run(task, starts, 200)) for task in tasks])
    monkeypatch.setattr("robustsparse.robust.s_estimate.NEAR", 0.0)
    slow = np.array([scales(task, run(task, starts, 3000)) for task in tasks])
    assert np.mean(np.abs(fast / slow - 1) < 1e-5) > 0.9


def test_ends_are_minima() -> None:
    for seed in range(40):
        task = difficult(seed, p=8)
        starts = np.random.default_rng(seed).normal(size=(5, 8))
        for coef in run(task, starts, 500):
            assert least_curvature(task, coef) > 0


def least_curvature(task: Problem, coef: np.ndarray) -> float:
    r = task.y - task.A @ coef
    t = np.minimum((r / m_scale(r, n_coef=len(coef)) / BREAKDOWN_TUNING) ** 2, 1.0)
    hessian = (task.A.T * ((1 - t) * (1 - 5 * t))) @ task.A
    return float(np.linalg.eigvalsh(hessian)[0])


def test_subsets_determine_the_coefficients() -> None:
    rng = np.random.default_rng(0)
    rare = np.zeros((80, 2))
    rare[:2, 0] = rare[5, 1] = 1.0
    A = np.column_stack([np.ones(80), rng.normal(size=80), rare])
    subsets = draw_subsets(A, 50, rng)
    assert all(np.linalg.matrix_rank(A[rows]) == 4 for rows in subsets)
    assert all(len(set(rows)) == 4 for rows in subsets)
    task = make_problem(A, rng.normal(size=80), np.ones(80))
    coefs = subset_fits(task, subsets)
    for rows, coef in zip(subsets, coefs, strict=True):
        np.testing.assert_allclose(A[rows] @ coef, task.y[rows], atol=1e-6)


def test_subsets_are_drawn_evenly() -> None:
    A = np.random.default_rng(1).normal(size=(20, 3))
    subsets = draw_subsets(A, 4000, np.random.default_rng(2))
    counts = np.bincount(subsets.ravel(), minlength=20)
    # Each row is in a subset with probability 0.15: 600 times, with a standard deviation of 23.
    assert np.abs(counts - 600).max() < 100


def test_more_subsets_find_smaller_scales() -> None:
    task = difficult(3, n=100)
    start = np.full((1, 5), 3.0)
    alone = s_estimate(task, start, 0, np.random.default_rng(0))[1]
    best = s_estimate(task, start, 300, np.random.default_rng(0))[1]
    assert best <= alone * (1 + ROUNDING)


def test_subsets_are_the_rows_of_the_smallest_keys() -> None:
    A = np.random.default_rng(1).normal(size=(40, 5))
    subsets = draw_subsets(A, 30, np.random.default_rng(2))
    keys = np.random.default_rng(2).random((30, 40))
    np.testing.assert_array_equal(subsets, np.argsort(keys, axis=1)[:, :5])


def test_of_very_many_rows_subsets_are_drawn_from_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robustsparse.robust.s_estimate.DRAWN_ROWS", 30)
    A = np.random.default_rng(1).normal(size=(200, 3))
    subsets = draw_subsets(A, 400, np.random.default_rng(2))
    assert len(np.unique(subsets)) == 30
    assert subsets.max() > 150
    assert all(np.linalg.matrix_rank(A[rows]) == 3 for rows in subsets)


def test_independent_rows_are_the_first() -> None:
    rows = np.array(
        [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    )
    assert _independent(rows.copy(), 1e-6) == [0, 2, 4]
    # Of a third column next to nothing is left: less is enough then.
    rows[4] = [0.0, 1.0, 1e-8]
    assert _independent(rows.copy(), 1e-6) == [0, 2, 4]


def test_rows_that_depend_on_each_other_are_as_many_as_columns() -> None:
    assert len(_independent(np.ones((3, 2)), 1e-6)) == 2
