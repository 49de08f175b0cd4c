"""Compiled steps and iterations against the same in Python."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from robustsparse import simulate
from robustsparse.algorithm.bound import FullGradient
from robustsparse.algorithm.fused import fused_for
from robustsparse.algorithm.gradients import Trimmed
from robustsparse.algorithm.iteration import Descent, Iterate, Secants
from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve
from robustsparse.base.types import Array
from robustsparse.graph.neighborhoods import _regressions, _residual_variances
from robustsparse.kernels.vectors import dot, dot_from

# Sums in another order; after many steps of a secant method the differences have grown.
ROUNDING, STEPS = 1e-9, 1e-6


def case(seed: int, attack: str = "paper", **rows: Any) -> Problem:
    sim = simulate.linear(n=150, d=200, k=4, sigma=0.3, attack=attack, rng=seed)
    XT = np.ascontiguousarray(sim.X.T)
    bound = Trimmed(0.2).shared(XT, screened=True)
    assert bound is not None
    return Problem(bound, sim.y, Squared(), **rows)


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
def test_whole_iterations_are_those_of_python(keep: list[int], barred: tuple[int, ...]) -> None:
    rows = {"weights": weights(167), "barred": barred}
    for seed, attack in enumerate(["paper", "leverage", "equal_far", "flip_y"]):
        for k in (1, 2, 4):
            # Each iterate is left by both: along whole runs the least rounding may decide for another support.
            plain, fused = (
                Descent(case(seed, attack, **rows), k, np.array(keep, dtype=np.int64), settings)
                for settings in (Settings(), Settings(fused=True))
            )
            plain.settings = fused.settings
            plain._fused = None
            at = plain.iterate(Iterate(plain.keep, np.zeros(len(keep))))[0]
            fused.problem.gradient.begin(fused.problem.score(fused.predictor(at)))
            for _ in range(6):
                new, stays, loss = plain.iterate(at)
                other = fused._iterated(replace(at))
                assert other is not None
                assert other.stays == stays
                assert other.loss == pytest.approx(loss, rel=STEPS)
                np.testing.assert_array_equal(other.columns, new.columns)
                np.testing.assert_allclose(other.values, new.values, rtol=STEPS, atol=STEPS)
                assert not set(barred) & set(other.columns.tolist())
                if stays:
                    break
                # At rest the step is a quotient of roundings.
                assert other.step == pytest.approx(new.step, rel=STEPS)
                at = new


def test_whole_runs_end_where_those_of_python_do() -> None:
    for seed in range(4):
        found = [
            solve(case(seed), 4, settings=settings, warn=False)
            for settings in (Settings(), Settings(fused=True))
        ]
        assert found[0].reason == found[1].reason == "settled"
        np.testing.assert_allclose(found[1].coef, found[0].coef, rtol=STEPS, atol=STEPS)


def test_compiled_iterations_are_used() -> None:
    problem = case(0)
    problem.gradient.begin(problem.score(np.zeros(len(problem.y))))
    run = Descent(problem, 3, np.arange(0), Settings(fused=True))
    at = Iterate(np.array([2, 5, 9]), np.ones(3))
    assert run._iterated(at) is not None
    new, stays, loss = run.iterate(at)
    assert stays == np.array_equal(new.columns, at.columns)
    assert new.moved is not None
    assert new.moved[0] == pytest.approx(np.linalg.norm(new.dense(run.d) - at.dense(run.d)))
    assert new.moved[1] == len(np.union1d(new.columns, at.columns))
    assert loss == pytest.approx(problem.robust_loss(run.predictor(new)), rel=ROUNDING)


class Tilted(Squared):
    """A loss of the user's, derived from one that has compiled steps, with other scores."""

    def score(self, y: Array, eta: Array) -> Array:
        return eta - y + 0.1


@pytest.mark.parametrize(
    "change",
    [{"loss": Tilted()}, {"gradient": FullGradient(np.ones((3, 5)), Trimmed(0.2))}],
    ids=["loss", "gradient"],
)
def test_other_losses_and_gradients_are_left_to_python(change: dict[str, Any]) -> None:
    assert fused_for(case(0), Settings()) is not None
    assert fused_for(replace(case(0), **change), Settings()) is None
    assert fused_for(case(0), Settings(radius=1.0)) is None


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
