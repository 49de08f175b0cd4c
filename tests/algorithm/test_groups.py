"""Algorithm 1 with a threshold for whole groups."""

from typing import Any

import numpy as np
import pytest

from robustsparse.algorithm.gradients import Mean, MedianOfMeans, Trimmed
from robustsparse.algorithm.groups import Groups
from robustsparse.algorithm.losses import Logistic, Squared
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve, solve_down

ROUNDING = 1e-8


def drawn(seed: int, n: int = 160, count: int = 20, size: int = 3) -> tuple[Any, Any, Groups]:
    """Two groups of 20 explain the response; a tenth of the rows is bad."""
    rng = np.random.default_rng(seed)
    XT = rng.normal(size=(count * size, n))
    beta = np.zeros(count * size)
    beta[: 2 * size] = np.tile([1.0, -1.0, 0.7], 2)
    y = beta @ XT + 0.3 * rng.normal(size=n)
    y[: n // 10] += 20.0
    return XT, y, Groups.numbered(np.repeat(np.arange(count), size))


@pytest.mark.parametrize("estimator", [Trimmed(0.2), MedianOfMeans(45)], ids=["trim", "mom"])
@pytest.mark.parametrize("run", [solve, solve_down])
@pytest.mark.parametrize("step", ["auto", 0.3])
def test_true_groups_survive_as_a_whole(estimator: Any, run: Any, step: Any) -> None:
    right = []
    for seed in range(5):
        XT, y, groups = drawn(seed)
        if isinstance(estimator, MedianOfMeans):
            y[: len(y) // 10] -= 20.0
        problem = Problem(estimator.bind(XT), y, Squared(), groups=groups)
        fit = run(problem, 2, settings=Settings(step), warn=False)
        right.append(sorted(fit.support) == list(range(6)))
        assert np.count_nonzero(fit.coef) == 6
    assert np.mean(right) >= 0.8


def test_two_classes() -> None:
    right = []
    for seed in range(5):
        XT, _, groups = drawn(seed, n=300)
        rng = np.random.default_rng(seed + 50)
        eta = 3.0 * (XT[0] - XT[1] + XT[2])
        y = (rng.random(300) < 1 / (1 + np.exp(-eta))).astype(float)
        problem = Problem(Trimmed(0.02).bind(XT), y, Logistic(), groups=groups)
        fit = solve(problem, 1, settings=Settings(radius=10.0, tol=1e-5), warn=False)
        right.append(sorted(fit.support) == [0, 1, 2])
    assert all(right)


def test_groups_of_one_column_are_columns() -> None:
    for seed in range(4):
        XT, y, _ = drawn(seed)
        keep = np.array([50])
        alone = Groups.numbered(np.where(np.arange(len(XT)) == 50, -1, np.arange(len(XT))))
        fits = [
            solve(Problem(Trimmed(0.2).bind(XT), y, Squared(), groups=groups), 6, keep=keep)
            for groups in (None, alone)
        ]
        np.testing.assert_allclose(fits[0].coef, fits[1].coef, atol=ROUNDING)
        assert fits[0].support.tolist() == fits[1].support.tolist()


def test_a_start_is_cut_down_to_its_largest_groups() -> None:
    XT, y, groups = drawn(0)
    start = np.zeros(len(XT))
    start[9:12], start[30:33] = 0.1, 5.0
    fit = solve(
        Problem(Mean().bind(XT), y, Squared(), groups=groups), 1, start=start,
        settings=Settings(1e-12, max_iter=1), warn=False,
    )  # fmt: skip
    assert sorted(fit.support) == [30, 31, 32]


def test_many_columns_are_no_merit() -> None:
    # Noise of the same size in 30 columns as in one; the one is a little larger.
    groups = Groups.numbered(np.r_[np.zeros(30, dtype=int), 1])
    values = np.r_[np.ones(30), 1.1]
    assert groups.largest(values, 1).tolist() == [1]


def test_a_group_that_does_not_fit_is_passed_over() -> None:
    groups = Groups.numbered(np.array([0, 0, 0, 1, 1, 2]), room=4)
    values = np.array([3.0, 3.0, 3.0, 2.0, 2.0, 1.0])
    assert groups.largest(values, 2).tolist() == [0, 2]
    assert groups.largest(values, 1).tolist() == [0]


def test_support_is_ordered_by_group_and_lists_all_its_columns() -> None:
    groups = Groups.numbered(np.array([0, 0, 1, 1, -1]))
    ranked = groups.ranked(np.array([0, 1, 2, 3]), np.array([1.0, 0.0, 2.0, -2.0, 9.0]))
    assert ranked.tolist() == [2, 3, 0, 1]
