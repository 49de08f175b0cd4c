"""Compiled steps and iterations against the same in Python."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from robustsparse import simulate
from robustsparse.algorithm.gradients import Array, Trimmed, bind
from robustsparse.algorithm.iteration import Descent, Iterate, Secants
from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve
from robustsparse.graph.neighborhoods import _regressions, _residual_variances
from robustsparse.kernels.vectors import dot, dot_from

# Sums in another order; after many steps of a secant method the differences have grown.
ROUNDING, STEPS = 1e-9, 1e-6


def case(seed: int, attack: str = "paper", **rows: Any) -> Problem:
    sim = simulate.linear(n=150, d=200, k=4, sigma=0.3, attack=attack, rng=seed)
    XT = np.ascontiguousarray(sim.X.T)
    return Problem(bind(Trimmed(0.2), XT), sim.y, Squared(), **rows)


def weights(n: int) -> Array:
    out = np.random.default_rng(1).uniform(0.2, 2.0, size=n)
    out[:5] = 0.0
    return out


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [False, True])
@pytest.mark.parametrize("steps", [1, 3, 80])
@pytest.mark.parametrize("fused", [False, True])
def test_steps_on_the_support_are_those_of_python(
    weighted: bool, offset: bool, steps: int, fused: bool
) -> None:
    for seed in range(4):
        problem = case(seed)
        n = len(problem.y)
        problem = replace(
            problem,
            weights=weights(n) if weighted else None,
            offset=np.linspace(-1.0, 1.0, n) if offset else None,
        )
        run = Descent(problem, 6, np.arange(0), Settings(fused=fused))
        rng = np.random.default_rng(seed)
        start = Iterate(np.sort(rng.choice(200, 6, replace=False)), rng.normal(size=6))
        compiled = run.polish(start, steps, 1e-12)
        plain = run._polished(run.rows(start.columns), start, steps, 1e-12)
        tolerance = ROUNDING if steps < 80 else STEPS
        np.testing.assert_allclose(compiled.values, plain, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("keep", [[], [7, 150]])
@pytest.mark.parametrize("barred", [(), (3, 90)])
def test_whole_iterations_are_those_of_python(
    keep: list[int], barred: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(fused=True)
    for seed, attack in enumerate(["paper", "leverage", "equal_far", "flip_y"]):
        rows = {"weights": weights(167), "barred": barred}
        # A generous support would go from one to another for long, and the least rounding decide where to.
        for k in (1, 2, 4):
            plain, fused = (case(seed, attack, **rows) for _ in range(2))
            monkeypatch.setattr(plain.gradient, "iterated", lambda *_: None)
            found = [
                solve(one, k, keep=np.array(keep, dtype=np.int64), settings=settings, warn=False)
                for one in (plain, fused)
            ]
            assert found[0].reason == found[1].reason == "settled"
            assert not set(barred) & set(found[1].support.tolist())
            np.testing.assert_allclose(found[1].coef, found[0].coef, rtol=STEPS, atol=STEPS)
            assert found[1].loss == pytest.approx(found[0].loss, rel=STEPS)
            for one, other in zip(found[0].history, found[1].history, strict=True):
                assert (one.entered, one.left) == (other.entered, other.left)


def test_compiled_iterations_are_used() -> None:
    problem = case(0)
    problem.gradient.begin(problem.score(np.zeros(len(problem.y))))
    run = Descent(problem, 3, np.arange(0), Settings(fused=True))
    at = Iterate(np.array([2, 5, 9]), np.ones(3))
    y, rows = run._target()
    done = problem.gradient.iterated(
        y,
        rows,
        3,
        run.kept,
        run.barred,
        at.columns,
        at.values,
        0.9,
        0.99,
        15,
        10,
        1e-3,
        80,
        1e-9,
        6,
    )
    assert done is not None
    new, stays, loss = run.iterate(at)
    assert stays == np.array_equal(new.columns, at.columns)
    assert new.moved is not None
    assert new.moved[0] == pytest.approx(np.linalg.norm(new.dense(run.d) - at.dense(run.d)))
    assert new.moved[1] == len(np.union1d(new.columns, at.columns))
    assert loss == pytest.approx(problem.robust_loss(run.predictor(new)), rel=ROUNDING)


def test_secants_solve_a_quadratic_problem_of_few_coordinates_exactly() -> None:
    rng = np.random.default_rng(2)
    H = np.diag([1.0, 3.0, 10.0])
    goal = rng.normal(size=3)
    past, point = Secants(3), np.zeros(3)
    for _ in range(5):
        slope = H @ (point - goal)
        move = past.move(point, slope, 0.05)
        past.add(point, slope)
        point = point + move
    assert np.abs(point - goal).max() < 1e-6


@njit  # type: ignore[untyped-decorator]
def products(x: Any, y: Any, longer_x: Any, longer_y: Any) -> Any:
    return dot(x, y), dot_from(0, x, y), dot_from(len(x), longer_x, longer_y)


def test_products_of_parts_are_those_of_wholes() -> None:
    rng = np.random.default_rng(4)
    for a in range(1, 40):
        x, y = rng.normal(size=a), rng.normal(size=a)
        assert len(set(products(x, y, np.r_[y, x], np.r_[x, y]))) == 1


def test_secants_that_repeat_each_other_do_no_harm() -> None:
    past = Secants(2)
    for _ in range(9):
        past.add(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    move = past.move(np.zeros(2), np.array([0.0, 4.0]), 0.1)
    assert np.isfinite(move).all()


def left_by_neighbors(S: Any, graph: Any) -> Any:
    lists = [near for _, near, *_ in _regressions(S, graph)]
    degrees = np.array([len(near) for near in lists])
    return _residual_variances(S, degrees, np.concatenate(lists).astype(np.int64))


def test_variances_left_by_neighbors_are_those_of_regressions() -> None:
    rng = np.random.default_rng(3)
    S = np.corrcoef(rng.normal(size=(40, 60)) + rng.normal(size=60))
    graph = sparse.random_array((40, 40), density=0.2, rng=4).astype(bool)
    graph = sparse.csr_array(graph + graph.T + sparse.eye_array(40, dtype=bool))
    wanted = [left for *_, left in _regressions(S, graph)]
    np.testing.assert_allclose(left_by_neighbors(S, graph), wanted, rtol=ROUNDING)
    # Two equal variables: the factorization fails at the second, and the regression uses the first.
    S[1], S[:, 1] = S[0], S[:, 0]
    S[1, 1] = 1.0
    both = np.zeros((40, 40), dtype=bool)
    both[5, :2] = both[:2, 5] = True
    left = left_by_neighbors(S, sparse.csr_array(both))
    assert left[5] == pytest.approx(1.0 - S[0, 5] ** 2, rel=1e-6)
