"""Algorithm 1: recovery, exactness of screening, and everything that can go wrong with a step."""

import itertools
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robustsparse import simulate
from robustsparse.algorithm.estimator import GradientEstimator
from robustsparse.algorithm.gradients import Array, Mean, MedianOfMeans, Trimmed, as_estimator
from robustsparse.algorithm.iteration import Descent, Iterate, largest
from robustsparse.algorithm.losses import Huber, Logistic, Loss, Squared
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import RHTFit, _Guard, solve, solve_down
from robustsparse.base.errors import ConvergenceWarning, ParameterError

# The paper's experiment without noise is recovered up to rounding.
RECOVERED = 1e-10
# Two runs that agree in exact arithmetic, both stopped at a relative change of 1e-10.
SETTLED = 1e-8


def small(seed: int = 0, n: int = 120, d: int = 80, noise: float = 0.1) -> tuple[Array, Array]:
    """Transposed design and response; columns 3, 10 and 40 carry 3, -2 and 1.5."""
    rng = np.random.default_rng(seed)
    XT = rng.normal(size=(d, n))
    y = 3.0 * XT[3] - 2.0 * XT[10] + 1.5 * XT[40] + noise * rng.normal(size=n)
    return XT, y


def labels(XT: Array, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    eta = 2.0 * XT[3] - 2.0 * XT[10]
    return (rng.random(XT.shape[1]) < 1.0 / (1.0 + np.exp(-eta))).astype(float)


def problem(
    XT: Array,
    y: Array,
    estimator: GradientEstimator | None = None,
    loss: Loss | None = None,
    **rows: Any,
) -> Problem:
    made = as_estimator(estimator or Trimmed(0.1))
    # These designs are so small that they would not be screened.
    bound = made.shared(XT, screened=True) or made.bind(XT)
    return Problem(bound, y, loss or Squared(), **rows)


def iterates(data: Problem, k: int, **options: Any) -> tuple[list[Array], RHTFit]:
    seen: list[Array] = []
    fit = solve(data, k, callback=seen.append, warn=False, **options)
    return seen, fit


# -- recovery


class TestRecovery:
    @pytest.mark.parametrize("k", [5, 10])
    @pytest.mark.parametrize("step", ["auto", 0.5])
    def test_without_noise_the_truth_is_found_to_the_last_digits(
        self, k: int, step: float | str
    ) -> None:
        for seed in range(4 if step == "auto" else 1):
            sim = simulate.linear(sigma=0.0, rng=seed)
            XT = np.ascontiguousarray(sim.X.T)
            settings = Settings(step, max_iter=300, tol=1e-13)
            fit = solve(problem(XT, sim.y, Trimmed(0.1)), k, settings=settings, warn=False)
            assert np.linalg.norm(fit.coef - sim.beta) <= RECOVERED

    @pytest.mark.parametrize("loss", [Squared(), Huber(), Huber(0.5)])
    @pytest.mark.parametrize(
        "estimator",
        [Trimmed(0.2), MedianOfMeans(15, redraw=False), MedianOfMeans(15), Mean()],
    )
    def test_every_estimator_and_loss_finds_a_clear_support(
        self, estimator: GradientEstimator, loss: Loss
    ) -> None:
        XT, y = small()
        fit = solve(problem(XT, y, estimator, loss), 3)
        assert fit.converged
        assert fit.support.tolist() == [3, 10, 40]
        np.testing.assert_allclose(fit.coef[fit.support], [3.0, -2.0, 1.5], atol=0.1)

    def test_logistic(self) -> None:
        XT, _ = small(n=400)
        fit = solve(problem(XT, labels(XT), loss=Logistic()), 2)
        assert sorted(fit.support.tolist()) == [3, 10]
        assert fit.coef[3] > 0 > fit.coef[10]

    @pytest.mark.parametrize("wild", [1e3, 1e8, 1e20, 1e100])
    def test_gross_rows_are_survived(self, wild: float) -> None:
        XT, y = small()
        XT[:, :8] *= wild
        y[:8] = -wild
        fit = solve(problem(XT, y, Trimmed(0.15)), 3)
        assert fit.support.tolist() == [3, 10, 40]
        np.testing.assert_allclose(fit.coef[fit.support], [3.0, -2.0, 1.5], atol=0.15)


# -- screening changes nothing


# What rounding may add up to over a few hundred steps; later it may decide between two supports.
COMPILED, FEW = 1e-7, 8
PLAIN: list[tuple[GradientEstimator, GradientEstimator]] = [
    (Trimmed(0.2), lambda X, score: Trimmed(0.2)(X, score)),
    (
        MedianOfMeans(21, redraw=False, rng=3),
        lambda X, score: MedianOfMeans(21, redraw=False, rng=3)(X, score),
    ),
]


def compiled(estimator: GradientEstimator, step: float | str, loss: Loss) -> bool:
    """Whether steps on the support are compiled; these sum in another order than numpy."""
    return step == "auto" and isinstance(estimator, Trimmed) and isinstance(loss, Squared)


def assert_begin_alike(first: list[Array], second: list[Array]) -> None:
    np.testing.assert_allclose(first[:FEW], second[:FEW], rtol=COMPILED, atol=COMPILED)


class TestScreeningChangesNothing:
    @pytest.mark.parametrize("step", ["auto", 0.5, 0.1])
    @pytest.mark.parametrize("loss", [Squared(), Huber(), Logistic()])
    @pytest.mark.parametrize(("screened", "plain"), PLAIN, ids=["trim", "blocks"])
    def test_iterates_are_equal_to_the_last_bit(
        self,
        screened: GradientEstimator,
        plain: GradientEstimator,
        loss: Loss,
        step: float | str,
    ) -> None:
        settings = Settings(step, max_iter=40)
        for seed, k in [(0, 3), (1, 8), (2, 40)]:
            sim = simulate.linear(n=150, d=250, k=5, sigma=0.3, rng=seed)
            XT = np.ascontiguousarray(sim.X.T)
            y = (sim.y > 0).astype(float) if isinstance(loss, Logistic) else sim.y
            first, one = iterates(problem(XT, y, screened, loss), k, settings=settings)
            second, two = iterates(problem(XT, y, plain, loss), k, settings=settings)
            if compiled(screened, step, loss):
                assert_begin_alike(first, second)
                continue
            assert len(first) == len(second) > 1
            assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
            assert one.history == two.history
            assert np.array_equal(one.coef, two.coef)

    @pytest.mark.parametrize("kind", ["ties", "duplicates", "leverage", "sparse"])
    def test_also_on_difficult_designs(self, kind: str) -> None:
        rng = np.random.default_rng(5)
        XT = rng.normal(size=(120, 90))
        if kind == "ties":
            XT = rng.integers(-2, 3, (120, 90)).astype(float)
        elif kind == "duplicates":
            XT = XT[rng.integers(0, 30, 120)]
        elif kind == "leverage":
            XT[:, :9] *= 1e6
        else:
            XT *= rng.random((120, 90)) < 0.2
        y = XT[:4].sum(axis=0) + 0.2 * rng.normal(size=90)
        y[:9] = -y[:9]
        for (screened, plain), step in itertools.product(PLAIN, ["auto", 0.3]):
            settings = Settings(step, max_iter=30)
            keep = np.array([2, 50])
            first, _ = iterates(problem(XT, y, screened), 6, keep=keep, settings=settings)
            second, _ = iterates(problem(XT, y, plain), 6, keep=keep, settings=settings)
            if compiled(screened, step, Squared()):
                assert_begin_alike(first, second)
                continue
            assert len(first) == len(second)
            assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


# -- the threshold


class TestLargest:
    @pytest.mark.parametrize("size", [5, 200])
    def test_ties_go_to_the_lowest_column(self, size: int) -> None:
        rng = np.random.default_rng(0)
        columns = rng.permutation(size)
        values = rng.choice([-2.0, 2.0], size)
        chosen = columns[largest(columns, values, 3)]
        assert sorted(chosen.tolist()) == [0, 1, 2]

    @pytest.mark.parametrize("size", [3, 30, 1000])
    def test_against_sorting(self, size: int) -> None:
        rng = np.random.default_rng(size)
        for k in (0, 1, 7, size, size + 5):
            values = np.round(rng.normal(size=size), 1)
            columns = np.arange(size)
            order = np.lexsort((columns, -np.abs(values)))[:k]
            expected = sorted(j for j in order if values[j] != 0)
            assert largest(columns, values, k).tolist() == expected

    def test_zeros_are_not_chosen(self) -> None:
        assert largest(np.arange(4), np.array([0.0, 1.0, 0.0, -0.0]), 3).tolist() == [1]


class TestThreshold:
    def test_duplicate_columns_go_to_the_lowest(self) -> None:
        XT, _ = small()
        XT[60] = XT[3]
        y = 3.0 * XT[3]
        for step in ("auto", 0.5):
            fit = solve(problem(XT, y), 1, settings=Settings(step))
            assert fit.support.tolist() == [3]

    @pytest.mark.parametrize("step", ["auto", 0.4])
    def test_kept_columns_are_never_dropped_and_do_not_count(self, step: float | str) -> None:
        XT, y = small()
        keep = np.array([70, 5])
        seen, fit = iterates(problem(XT, y), 3, keep=keep, settings=Settings(step))
        assert fit.support.tolist() == [3, 10, 40]
        assert fit.coef[70] != 0.0
        assert fit.coef[5] != 0.0
        for coef in seen:
            assert np.count_nonzero(np.delete(coef, keep)) <= 3
            assert coef[keep].all()

    def test_kept_columns_may_be_named_twice(self) -> None:
        XT, y = small()
        once = solve(problem(XT, y), 3, keep=np.array([5, 70]))
        twice = solve(problem(XT, y), 3, keep=np.array([70, 5, 5]))
        assert np.array_equal(once.coef, twice.coef)

    def test_a_strong_kept_column_leaves_k_places(self) -> None:
        XT, y = small()
        fit = solve(problem(XT, y), 2, keep=np.array([3]))
        assert fit.support.tolist() == [10, 40]
        assert fit.coef[3] == pytest.approx(3.0, abs=0.1)

    @pytest.mark.parametrize("k", [80, 200])
    def test_k_of_all_columns_and_more(self, k: int) -> None:
        XT, y = small(n=400)
        fit = solve(problem(XT, y), k)
        assert len(fit.support) == 80
        np.testing.assert_allclose(fit.coef[[3, 10, 40]], [3.0, -2.0, 1.5], atol=0.1)

    @pytest.mark.parametrize("step", ["auto", 0.5])
    @pytest.mark.parametrize("start", [None, np.ones(80)])
    def test_k_of_zero(self, step: float | str, start: Array | None) -> None:
        XT, y = small()
        fit = solve(problem(XT, y), 0, settings=Settings(step), start=start)
        assert fit.converged
        assert not fit.coef.any()
        assert fit.support.tolist() == []

    def test_k_of_zero_with_a_kept_column(self) -> None:
        XT, y = small()
        fit = solve(problem(XT, y, Mean()), 0, keep=np.array([3]))
        assert fit.coef[3] == pytest.approx(XT[3] @ y / (XT[3] @ XT[3]), rel=SETTLED)


# -- radius


class TestRadius:
    @pytest.mark.parametrize("step", ["auto", 0.5])
    def test_no_iterate_leaves_the_ball(self, step: float | str) -> None:
        XT, y = small()
        settings = Settings(step, radius=1.25)
        seen, fit = iterates(problem(XT, y), 3, keep=np.array([3]), settings=settings)
        assert fit.converged
        for coef in seen:
            assert np.linalg.norm(np.delete(coef, 3)) <= 1.25 * (1 + 1e-12)
        assert np.linalg.norm(np.delete(fit.coef, 3)) == pytest.approx(1.25)
        # The kept column is free of the ball.
        assert fit.coef[3] == pytest.approx(3.0, abs=0.5)

    def test_a_large_ball_changes_nothing(self) -> None:
        XT, y = small()
        free = solve(problem(XT, y), 3)
        fit = solve(problem(XT, y), 3, settings=Settings(radius=100.0))
        np.testing.assert_allclose(fit.coef, free.coef, atol=SETTLED)


# -- steps and convergence


def warning_of(data: Problem, k: int, **settings: Any) -> tuple[RHTFit, str]:
    with pytest.warns(ConvergenceWarning) as caught:
        fit = solve(data, k, settings=Settings(**settings))
    assert len(caught) == 1
    return fit, str(caught[0].message)


class TestConvergence:
    @pytest.mark.parametrize("step", [3.0, 10.0, 1e6])
    @pytest.mark.parametrize("loss", [Squared(), Huber()])
    def test_a_far_too_long_step_is_halved_and_reported(self, step: float, loss: Loss) -> None:
        XT, y = small()
        fit, message = warning_of(problem(XT, y, loss=loss), 3, step=step, max_iter=300)
        assert 'step="auto"' in message or "max_iter" in message
        assert np.linalg.norm(fit.coef) < 10.0
        assert fit.step < step

    def test_step_of_ten_names_the_remedy_and_still_finds_the_answer(self) -> None:
        XT, y = small()
        fit, message = warning_of(problem(XT, y), 3, step=10.0, max_iter=300)
        assert 'use step="auto"' in message
        np.testing.assert_allclose(fit.coef, solve(problem(XT, y), 3).coef, atol=SETTLED)

    def test_a_step_beyond_repair_ends_at_the_start(self) -> None:
        XT, y = small()
        fit, message = warning_of(problem(XT, y), 3, step=1e300)
        assert not fit.converged
        assert fit.reason == "diverged"
        assert not fit.coef.any()
        assert 'use step="auto"' in message

    @pytest.mark.parametrize(("halvings", "repaired"), [(0, True), (40, True), (41, False)])
    def test_a_step_is_halved_forty_times_at_most(self, halvings: int, repaired: bool) -> None:
        """One column of signs: a step of 1.5 leaves half the error at each iteration, one of 3 twice of it."""
        signs = np.resize([1.0, -1.0], (1, 10))
        data = problem(signs, 2.0 * signs[0], Mean())
        settings = Settings(1.5 * 2.0**halvings, max_iter=200)
        fit = solve(data, 1, settings=settings, warn=False)
        assert fit.converged == repaired
        reasons = {0: "settled", 40: "step reduced", 41: "diverged"}
        assert fit.reason == reasons[halvings]
        assert fit.coef[0] == pytest.approx(2.0 if repaired else 0.0, rel=SETTLED)
        if repaired:
            assert fit.step == 1.5

    def test_a_run_without_iterations_ends_where_it_starts(self) -> None:
        XT, y = small()
        start = np.zeros(80)
        start[10:50] = np.resize([1.0, -2.0, -1.0, 2.0], 40)
        fit = solve(problem(XT, y), 40, start=start, settings=Settings(max_iter=0), warn=False)
        assert np.array_equal(fit.coef, start)
        # Coefficients of the same size are listed by column.
        assert fit.support.tolist() == [*range(11, 50, 2), *range(10, 50, 2)]
        assert (fit.converged, fit.reason, fit.n_iter) == (False, "iterations", 0)
        with pytest.warns(ConvergenceWarning, match="0 iterations, no step was possible, "):
            solve(problem(XT, y), 40, settings=Settings(max_iter=0))

    def test_a_support_met_three_times_is_a_cycle_and_its_best_member_the_answer(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        XT, y = small()
        tour = itertools.cycle([(3, 1.0), (7, 3.0), (10, 2.0)])

        def iterate(self: Descent, at: Iterate) -> tuple[Iterate, bool, float]:
            column, loss = next(tour)
            return Iterate(np.array([column]), np.array([0.5])), False, loss

        monkeypatch.setattr(Descent, "iterate", iterate)
        data = problem(XT, y)
        seen, fit = iterates(data, 1)
        assert [int(np.flatnonzero(coef)[0]) for coef in seen] == [3, 7, 10, 3, 7, 10, 3]
        assert (fit.reason, fit.converged) == ("cycle", True)
        assert fit.support.tolist() == [3]
        # To the end on its own column, and with the loss there.
        bound = Trimmed(0.1).bind(XT)
        bound.begin(fit.coef @ XT - y)
        assert np.abs(bound.at(fit.support)).max() < SETTLED
        assert fit.loss == pytest.approx(data.robust_loss(fit.coef @ XT), rel=1e-9)

    @pytest.mark.parametrize("step", [1e300, 1e308])
    def test_steps_beyond_all_numbers_are_no_errors(self, step: float) -> None:
        XT, y = small()
        fit = solve(problem(XT, 1e3 * y, Mean()), 3, settings=Settings(step), warn=False)
        assert fit.reason == "diverged"

    def test_too_few_iterations(self) -> None:
        XT, y = small()
        fit, message = warning_of(problem(XT, y), 3, max_iter=1)
        assert not fit.converged
        assert fit.n_iter == 1
        assert "1 iterations" in message
        assert "max_iter" in message

    def test_a_warning_says_how_the_run_ended(self) -> None:
        XT, y = small()
        fit, message = warning_of(problem(XT, y), 3, max_iter=2)
        last = fit.history[-1].change
        assert f"did not settle (2 iterations, last relative change {last:.1e}, step" in message
        fit, message = warning_of(problem(XT, y), 3, step=10.0, max_iter=300)
        assert (fit.converged, fit.reason) == (True, "step reduced")
        assert f"settled only with a shorter step ({fit.n_iter} iterations" in message

    @pytest.mark.parametrize(("step", "reason"), [(0.5, "redrawn"), (50.0, "step reduced")])
    def test_steps_of_fixed_length_do_not_settle_on_fresh_blocks(
        self, step: float, reason: str
    ) -> None:
        XT, y = small()
        data = problem(XT, y, MedianOfMeans(15, rng=2))
        fit, message = warning_of(data, 3, step=step, max_iter=60)
        assert (fit.converged, fit.reason) == (False, reason)
        assert ("redraw=False" in message) == (reason == "redrawn")
        assert fit.support.tolist() == [3, 10, 40]

    def test_warnings_can_be_switched_off(self) -> None:
        XT, y = small()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not solve(problem(XT, y), 3, settings=Settings(max_iter=1), warn=False).converged

    def test_warning_points_out_of_the_solver(self) -> None:
        XT, y = small()

        def entry_point() -> None:
            solve(problem(XT, y), 3, settings=Settings(max_iter=1))

        with pytest.warns(ConvergenceWarning) as caught:
            entry_point()
        assert caught[0].filename == __file__

    def test_auto_and_a_small_fixed_step_meet(self) -> None:
        XT, y = small()
        for loss in (Squared(), Huber(3.0)):
            auto = solve(problem(XT, y, loss=loss), 3)
            fixed = solve(problem(XT, y, loss=loss), 3, settings=Settings(0.3, max_iter=1000))
            np.testing.assert_allclose(fixed.coef, auto.coef, atol=SETTLED)

    @pytest.mark.parametrize("factor", [1e-90, 1e-6, 1e6, 1e90])
    def test_auto_step_does_not_depend_on_units(self, factor: float) -> None:
        XT, y = small()
        fit = solve(problem(XT, factor * y), 3)
        expected = factor * solve(problem(XT, y), 3).coef
        np.testing.assert_allclose(fit.coef, expected, rtol=SETTLED, atol=0)
        # Columns in other units: the coefficients follow, the fitted values stay.
        other = solve(problem(1e3 * XT, y), 3)
        np.testing.assert_allclose(1e3 * other.coef @ XT, fit.coef @ XT / factor, atol=1e-6)

    def test_a_solution_is_where_the_robust_gradient_vanishes(self) -> None:
        XT, y = small(noise=0.5)
        for estimator in (Trimmed(0.2), MedianOfMeans(15, redraw=False)):
            fit = solve(problem(XT, y, estimator), 3)
            bound = as_estimator(estimator).bind(XT)
            bound.begin(fit.coef @ XT - y)
            assert np.abs(bound.at(fit.support)).max() < 1e-8

    @pytest.mark.parametrize("step", ["auto", 0.5])
    def test_warm_start_at_the_solution_settles_at_once(self, step: float | str) -> None:
        XT, y = small()
        fit = solve(problem(XT, y), 3)
        again = solve(problem(XT, y), 3, start=fit.coef, settings=Settings(step))
        assert again.converged
        assert again.n_iter <= 2
        np.testing.assert_allclose(again.coef, fit.coef, atol=SETTLED)

    def test_warm_start_with_too_many_coefficients_keeps_the_largest(self) -> None:
        XT, y = small()
        start = np.linspace(0.0, 1.0, 80)
        seen, fit = iterates(problem(XT, y), 3, start=start)
        assert fit.support.tolist() == [3, 10, 40]
        assert all(np.count_nonzero(coef) <= 3 for coef in seen)

    @pytest.mark.parametrize("step", ["auto", 0.5])
    def test_a_start_brings_its_kept_columns_along(self, step: float | str) -> None:
        XT, y = small()
        start = np.zeros(80, dtype=np.int64)
        start[[5, 3, 10]], keep = [7, 3, -2], np.array([5, 60])
        nowhere = Settings(step, max_iter=0)
        fit = solve(problem(XT, y), 1, start=start, keep=keep, settings=nowhere, warn=False)
        # The kept ones do not count, of the others the largest is left.
        assert np.flatnonzero(fit.coef).tolist() == [3, 5]
        assert fit.coef[[3, 5]].tolist() == [3.0, 7.0]
        assert fit.support.tolist() == [3]
        assert fit.coef.dtype == np.float64

    def test_start_is_not_changed(self) -> None:
        XT, y = small()
        start = np.linspace(0.0, 1.0, 80)
        before = start.copy(), XT.copy(), y.copy()
        solve(problem(XT, y), 3, start=start)
        for now, then in zip((start, XT, y), before, strict=True):
            assert np.array_equal(now, then)

    @pytest.mark.parametrize(
        "estimator", [Trimmed(0.2), MedianOfMeans(25, redraw=False), MedianOfMeans(25)]
    )
    def test_computed_steps_do_not_run_away(self, estimator: GradientEstimator) -> None:
        """Heavy tails and k near n/2: the robust curvature is no guide to the step there."""
        for seed in range(3):
            sim = simulate.linear(n=100, d=200, k=5, design="lognormal", attack=None, rng=seed)
            XT = np.ascontiguousarray(sim.X.T)
            data = problem(XT, sim.y, estimator)
            ground = data.robust_loss(np.zeros(100))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                fit = solve(data, 40)
            # Fresh blocks measure the same loss differently.
            assert max(row.loss for row in fit.history) <= 20 * ground
            assert fit.converged or len(caught) == 1
            assert np.linalg.norm(fit.coef) < 1e3

    def test_a_change_of_support_does_not_overshoot(self) -> None:
        """Over seeds, on correlated columns, no iterate is worse than the first by more than 5%."""
        for seed, k in itertools.product(range(5), [5, 20]):
            sim = simulate.linear(n=100, d=300, correlation=0.9, rng=seed)
            data = problem(np.ascontiguousarray(sim.X.T), sim.y, Trimmed(0.15))
            fit = solve(data, k, settings=Settings(max_iter=30), warn=False)
            losses = [row.loss for row in fit.history]
            assert max(losses) <= 1.05 * losses[0]

    @pytest.mark.parametrize("step", ["auto", 1.0])
    def test_a_tolerance_of_zero_asks_for_iterates_that_stay(self, step: float | str) -> None:
        signs = np.resize([1.0, -1.0], (1, 10))
        data = problem(signs, 2.0 * signs[0], Mean())
        fit = solve(data, 1, settings=Settings(step, tol=0.0))
        assert (fit.converged, fit.reason, fit.coef[0]) == (True, "settled", 2.0)
        assert fit.history[-1].change == 0.0

    def test_a_run_that_grew_goes_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        XT, y = small()
        calls, iterate = itertools.count(), Descent.iterate

        def wild_at_first(self: Descent, at: Iterate) -> tuple[Iterate, bool, float]:
            new, stays, loss = iterate(self, at)
            return (new, stays, 1e9) if next(calls) < 2 else (new, stays, loss)

        wanted = solve(problem(XT, y), 3)
        monkeypatch.setattr(Descent, "iterate", wild_at_first)
        fit = solve(problem(XT, y), 3)
        assert (fit.converged, fit.reason) == (True, "settled")
        np.testing.assert_allclose(fit.coef, wanted.coef, atol=SETTLED)

    def test_iterates_from_before_a_growth_are_not_averaged(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        XT, y = small()
        calls, loosely = itertools.count(), Descent.loosely

        def wild_once(self: Descent, at: Iterate) -> Iterate:
            new = loosely(self, at)
            return replace(new, values=1e9 * new.values) if next(calls) == 2 else new

        monkeypatch.setattr(Descent, "loosely", wild_once)
        seen, fit = iterates(problem(XT, y, MedianOfMeans(15, rng=2)), 3)
        # Two before, then five of the same support.
        assert (len(seen), fit.reason) == (7, "settled")
        np.testing.assert_allclose(fit.coef, np.mean(seen[-5:], axis=0), atol=RECOVERED)

    def test_a_warm_start_counts_with_fresh_blocks(self) -> None:
        XT, y = small()
        start = solve(problem(XT, y), 3).coef
        fit = solve(problem(XT, y, MedianOfMeans(15, rng=2)), 3, start=start)
        assert (fit.n_iter, fit.support.tolist()) == (5, [3, 10, 40])
        none = Settings(max_iter=0)
        data = problem(XT, y, MedianOfMeans(15, rng=2))
        assert np.array_equal(solve(data, 3, start=start, settings=none, warn=False).coef, start)

    def test_a_run_with_fresh_blocks_ends_when_the_support_stayed_five_times(self) -> None:
        XT, y = small()
        seen, fit = iterates(problem(XT, y, MedianOfMeans(15, rng=2)), 3)
        stayed = [row.entered + row.left == 0 for row in fit.history]
        assert (fit.reason, fit.converged) == ("settled", True)
        assert stayed[-4:] == [True] * 4
        assert not any(stayed[:-4])
        np.testing.assert_allclose(fit.coef, np.mean(seen[-5:], axis=0), atol=RECOVERED)
        assert fit.step == fit.history[-1].step

    def test_a_run_with_fresh_blocks_that_is_cut_short_averages_what_is_alike(self) -> None:
        XT, y = small()
        data = problem(XT, y, MedianOfMeans(15, rng=2))
        seen, fit = iterates(data, 3, settings=Settings(max_iter=3))
        assert (fit.reason, fit.converged) == ("iterations", False)
        alike = [coef for coef in seen if np.array_equal(coef != 0, seen[-1] != 0)]
        assert len(alike) > 1
        np.testing.assert_allclose(fit.coef, np.mean(alike, axis=0), atol=RECOVERED)

    def test_fresh_blocks_are_averaged_and_settle(self) -> None:
        XT, y = small()
        fit = solve(problem(XT, y, MedianOfMeans(15, rng=2)), 3)
        assert fit.converged
        assert fit.support.tolist() == [3, 10, 40]
        same = solve(problem(XT, y, MedianOfMeans(15, rng=2)), 3)
        assert np.array_equal(fit.coef, same.coef)


class TestDegenerate:
    @pytest.mark.parametrize("keep", [None, np.array([4])])
    @pytest.mark.parametrize("step", ["auto", 0.5])
    def test_zero_gradient(self, step: float | str, keep: Any) -> None:
        XT, y = small()
        for design, response in [(XT, 0.0 * y), (0.0 * XT, y)]:
            fit = solve(problem(design, response), 3, keep=keep, settings=Settings(step))
            assert fit.converged
            assert fit.n_iter == 1
            assert not fit.coef.any()

    @pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
    @pytest.mark.parametrize("estimator", [Trimmed(0.2), MedianOfMeans(3, redraw=False), Mean()])
    def test_very_few_rows(self, n: int, estimator: GradientEstimator) -> None:
        XT, y = small(n=n)
        fit = solve(problem(XT, y, estimator), 2, warn=False)
        assert np.isfinite(fit.coef).all()
        assert len(fit.support) <= 2

    def test_one_column(self) -> None:
        rng = np.random.default_rng(0)
        XT = rng.normal(size=(1, 40))
        fit = solve(problem(XT, 2.0 * XT[0], Trimmed(0.1)), 1)
        np.testing.assert_allclose(fit.coef, [2.0], rtol=1e-12)

    def test_more_places_than_columns_with_a_gradient(self) -> None:
        XT, y = small()
        XT[41:] = 0.0
        fit = solve(problem(XT, y), 60, warn=False)
        assert set(fit.support.tolist()) <= set(range(41))

    def test_weights_of_zero_everywhere(self) -> None:
        XT, y = small()
        fit = solve(problem(XT, y, weights=np.zeros(120)), 3)
        assert not fit.coef.any()


class TestSeparable:
    def data(self, estimator: GradientEstimator | None = None) -> Problem:
        XT, _ = small()
        y = (XT[3] > XT[10]).astype(float)
        return problem(XT, y, estimator, Logistic())

    @pytest.mark.parametrize("step", ["auto", 1.0])
    def test_a_radius_bounds_the_fit(self, step: float | str) -> None:
        fit = solve(self.data(), 2, settings=Settings(step, radius=5.0), warn=False)
        assert sorted(fit.support.tolist()) == [3, 10]
        assert np.linalg.norm(fit.coef) == pytest.approx(5.0)

    @pytest.mark.parametrize("step", ["auto", 1.0])
    @pytest.mark.parametrize("estimator", [Trimmed(0.1), Mean()])
    def test_without_one_it_stays_finite_and_classifies(
        self, step: float | str, estimator: GradientEstimator
    ) -> None:
        data = self.data(estimator)
        fit = solve(data, 2, settings=Settings(step), warn=False)
        assert np.isfinite(fit.coef).all()
        eta = fit.coef @ data.gradient.XT
        assert np.mean((eta > 0) == (data.y > 0.5)) > 0.95


# -- sample splitting


class TestSplit:
    def parts(self, count: int, n: int = 600) -> tuple[list[Problem], Array]:
        XT, y = small(n=n)
        parts = [problem(np.ascontiguousarray(XT[:, i::count]), y[i::count]) for i in range(count)]
        return parts, XT

    @pytest.mark.parametrize("step", ["auto", 0.5])
    def test_one_iteration_on_each_part(self, step: float | str) -> None:
        parts, _ = self.parts(6)
        seen, fit = iterates(parts, 3, settings=Settings(step))  # type: ignore[arg-type]
        assert len(seen) == fit.n_iter == 6
        assert fit.reason == "split"
        assert fit.support.tolist() == [3, 10, 40]

    def test_two_parts_are_the_fewest(self) -> None:
        parts, _ = self.parts(2)
        fit = solve(parts, 3, settings=Settings(0.5))
        assert (fit.n_iter, fit.reason, fit.converged) == (2, "split", True)
        whole, _ = self.parts(1)
        assert solve(whole, 3).reason == "settled"

    def test_iterations_are_those_of_the_parts_alone(self) -> None:
        parts, _ = self.parts(4)
        seen, fit = iterates(parts, 3, settings=Settings(0.5))  # type: ignore[arg-type]
        at, one = None, Settings(0.5, max_iter=1)
        for part, coef in zip(self.parts(4)[0], seen, strict=True):
            alone = solve(part, 3, start=at, settings=one, warn=False)
            np.testing.assert_allclose(coef, alone.coef, atol=RECOVERED)
            at = coef
        last = parts[-1]
        assert fit.loss == pytest.approx(last.robust_loss(fit.coef @ last.gradient.XT), rel=1e-9)
        assert fit.history[-1].loss == pytest.approx(fit.loss, rel=1e-9)

    def test_each_iteration_sees_only_its_part(self) -> None:
        """The first two iterates do not change when the third part does."""
        settings = Settings(0.5)
        clean, _ = iterates(self.parts(4)[0], 3, settings=settings)  # type: ignore[arg-type]
        parts, _ = self.parts(4)
        spoiled = Problem(parts[2].gradient, -parts[2].y, Squared())
        other, _ = iterates(
            [*parts[:2], spoiled, parts[3]],  # type: ignore[arg-type]
            3,
            settings=settings,
        )
        assert np.array_equal(clean[0], other[0])
        assert np.array_equal(clean[1], other[1])
        assert not np.array_equal(clean[2], other[2])

    def test_growth_is_measured_against_the_first_part(self) -> None:
        parts, _ = self.parts(4)
        spoiled = Problem(parts[-1].gradient, 100.0 * parts[-1].y, Squared())
        fit = solve([*parts[:-1], spoiled], 3, settings=Settings(0.5), warn=False)
        assert (fit.converged, fit.reason) == (False, "grown")

    def test_growth_is_reported(self) -> None:
        parts, _ = self.parts(10)
        with pytest.warns(ConvergenceWarning, match='use step="auto"'):
            fit = solve(parts, 3, settings=Settings(10.0))
        assert not fit.converged


def test_growth_is_measured_against_the_loss_of_no_coefficients_in_the_first_rows() -> None:
    XT, y = small(noise=0.0)
    first = problem(XT, y, offset=np.ones(len(y)))
    nothing = first.robust_loss(np.ones(len(y)))
    run = Descent(first, 3, np.arange(0), Settings())
    perfect = Iterate(np.array([3, 10, 40]), np.array([3.0, -2.0, 1.5]))
    other = Iterate(np.array([1]), np.array([0.1]))
    guard = _Guard(run, perfect)
    # A good start may be left for another support.
    assert not guard.grown(other, 9.0 * nothing)
    assert guard.best is perfect
    assert guard.grown(other, 11.0 * nothing)
    guard = _Guard(run, perfect)
    run.change(problem(XT, 100.0 * y))
    assert guard.grown(other, 11.0 * nothing)


class TestGuard:
    """When a run has left the ground, and where it goes on from."""

    start = Iterate(np.array([3]), np.array([1.0]))
    other = Iterate(np.array([10]), np.array([2.0]))

    def guard(self, step: float | str) -> _Guard:
        XT, y = small()
        guard = _Guard(Descent(problem(XT, y), 3, np.arange(0), Settings(step)), self.start)
        # A start no better than none, so that nothing else is to be compared with.
        nothing = guard.problem.robust_loss(np.zeros(len(y)))
        guard.first = guard.least = nothing
        return guard

    @pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
    def test_coefficients_that_are_no_numbers_have_grown_whatever_their_loss(
        self, bad: float
    ) -> None:
        guard = self.guard("auto")
        assert guard.grown(Iterate(np.array([3]), np.array([bad])), 0.0)
        assert guard.best is self.start

    def test_ten_times_the_first_loss_is_not_growth_yet(self) -> None:
        guard = self.guard("auto")
        assert not guard.grown(self.other, 10.0 * guard.first)
        assert guard.grown(self.other, np.nextafter(10.0 * guard.first, np.inf))
        assert guard.grown(self.other, np.nan)
        assert guard.best is self.start
        # A good start may be left for what is no worse than ten times the loss of no coefficients.
        guard, nothing = self.guard("auto"), guard.first
        guard.first = guard.least = 0.01 * nothing
        assert not guard.grown(self.other, 10.0 * nothing)
        assert guard.grown(self.other, np.nextafter(10.0 * nothing, np.inf))

    def test_of_iterates_of_the_same_loss_the_last_is_the_best(self) -> None:
        guard = self.guard("auto")
        assert not guard.grown(self.other, guard.least)
        assert guard.best is self.other

    @pytest.mark.parametrize(("step", "reason"), [("auto", "unsteady"), (0.8, "step reduced")])
    def test_a_run_that_grew_goes_back_to_its_best_iterate(
        self, step: float | str, reason: str
    ) -> None:
        guard = self.guard(step)
        share = guard.run.share
        assert not guard.grown(self.other, 0.5 * guard.first)
        assert not guard.grown(self.start, 0.6 * guard.first)
        for times in (1, 2):
            assert guard.back() is self.other
            assert guard.backoffs == times
            assert guard.run.share == share / 2**times
            assert guard.run.settings.step == (step if step == "auto" else 0.8 / 2**times)
        fit = guard.finish(self.start)
        assert (fit.support.tolist(), fit.converged, fit.reason) == ([10], False, reason)

    @pytest.mark.parametrize("step", ["auto", 0.8])
    def test_a_run_that_did_not_grow_ends_where_it_is(self, step: float | str) -> None:
        fit = self.guard(step).finish(self.other)
        assert (fit.support.tolist(), fit.converged, fit.reason) == ([10], False, "iterations")


# -- offset and weights


class TestRows:
    def test_offset_is_part_of_the_predictor(self) -> None:
        XT, y = small()
        offset = np.linspace(-5.0, 5.0, 120)
        plain = solve(problem(XT, y), 3)
        fit = solve(problem(XT, y + offset, offset=offset), 3)
        np.testing.assert_allclose(fit.coef, plain.coef, atol=SETTLED)

    @pytest.mark.parametrize("loss", [Squared(), Huber(0.2), Logistic()])
    def test_whole_weights_are_repeated_rows_to_the_mean(self, loss: Loss) -> None:
        rng = np.random.default_rng(3)
        XT, y = small(noise=0.5)
        if isinstance(loss, Logistic):
            y = labels(XT)
        weights = rng.integers(0, 4, 120)
        rows = np.repeat(np.arange(120), weights)
        weighted = solve(problem(XT, y, Mean(), loss, weights=weights.astype(float)), 3)
        repeated = solve(problem(np.ascontiguousarray(XT[:, rows]), y[rows], Mean(), loss), 3)
        np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-6)

    def test_rows_of_weight_zero_do_not_matter(self) -> None:
        XT, y = small()
        weights = np.ones(120)
        weights[::5] = 0.0
        spoiled = y.copy()
        spoiled[::5] = 1e6
        settings = Settings(tol=1e-12)
        first = solve(problem(XT, y, Mean(), weights=weights), 3, settings=settings)
        second = solve(problem(XT, spoiled, Mean(), weights=weights), 3, settings=settings)
        np.testing.assert_allclose(first.coef, second.coef, atol=SETTLED)


# -- the user's own loss and estimator


class PseudoHuber:
    def value(self, y: Array, eta: Array) -> Array:
        return np.hypot(1.0, eta - y) - 1.0

    def score(self, y: Array, eta: Array) -> Array:
        return (eta - y) / np.hypot(1.0, eta - y)

    def curvature(self, y: Array, eta: Array) -> Array:
        return 1.0 / np.hypot(1.0, eta - y)


def geometric_median_of_means(X: Array, score: Array) -> Array:
    """A joint estimator: the point nearest to all block means at once (Weiszfeld's iterations)."""
    means = np.array([(X[b::11] * score[b::11, None]).mean(axis=0) for b in range(11)])
    center = np.median(means, axis=0)
    for _ in range(30):
        inverse = 1.0 / np.maximum(np.linalg.norm(means - center, axis=1), 1e-12)
        center = inverse @ means / inverse.sum()
    return np.asarray(center)


class TestOwn:
    @pytest.mark.parametrize("step", ["auto", 0.4])
    def test_loss(self, step: float | str) -> None:
        XT, y = small()
        y[:10] = 1e3
        settings = Settings(step, max_iter=400)
        fit = solve(problem(XT, y, Trimmed(0.15), PseudoHuber()), 3, settings=settings)
        assert fit.support.tolist() == [3, 10, 40]
        np.testing.assert_allclose(fit.coef[fit.support], [3.0, -2.0, 1.5], atol=0.15)

    @pytest.mark.parametrize("step", ["auto", 0.4])
    def test_joint_estimator(self, step: float | str) -> None:
        XT, y = small()
        y[:2] = 50.0
        settings = Settings(step, max_iter=400)
        fit = solve(problem(XT, y, geometric_median_of_means), 3, settings=settings, warn=False)
        assert fit.support.tolist() == [3, 10, 40]
        np.testing.assert_allclose(fit.coef[fit.support], [3.0, -2.0, 1.5], atol=0.3)

    @pytest.mark.parametrize("method", ["value", "score", "curvature"])
    @pytest.mark.parametrize("wrong", [lambda v: v[:1], lambda v: v[:, None], np.sum])
    def test_a_loss_of_the_wrong_shape_is_named(
        self, method: str, wrong: Callable[[Array], Any]
    ) -> None:
        class Broken(PseudoHuber):
            pass

        right = getattr(PseudoHuber(), method)
        setattr(Broken, method, lambda self, y, eta: wrong(right(y, eta)))
        XT, y = small()
        with pytest.raises(ParameterError, match="one number a row"):
            solve(problem(XT, y, loss=Broken()), 3)


# -- the record


class TestHistory:
    def test_columns(self) -> None:
        XT, y = small()
        seen, fit = iterates(problem(XT, y), 3, keep=np.array([7]))
        rows = fit.history
        assert [row.iteration for row in rows] == list(range(1, len(seen) + 1))
        assert all(row.step > 0 for row in rows)
        assert all(0 <= row.size <= 3 for row in rows)
        before = np.zeros(80)
        before[7] = np.nan  # a kept column is there from the start
        for coef, row in zip(seen, rows, strict=True):
            entered = (coef != 0) & (before == 0)
            left = (coef == 0) & (before != 0)
            assert (row.entered, row.left) == (entered.sum(), left.sum())
            move = coef - np.nan_to_num(before)
            expected = np.linalg.norm(move) / np.linalg.norm(coef)
            assert row.change == pytest.approx(expected, rel=1e-9, abs=1e-15)
            before = coef

    def test_loss_is_the_robust_mean_at_the_iterate(self) -> None:
        XT, y = small()
        y[:5] = 1e8
        seen, fit = iterates(problem(XT, y, Trimmed(0.1)), 3)
        for coef, row in zip(seen, fit.history, strict=True):
            losses = np.sort(0.5 * (coef @ XT - y) ** 2)[12:-12]
            assert row.loss == pytest.approx(losses.mean(), rel=1e-9)
        assert fit.history[-1].loss < 0.1

    @pytest.mark.parametrize(
        ("k", "options"),
        [
            (3, {}),
            (3, {"max_iter": 1}),
            (3, {"step": 0.5}),
            (3, {"step": 10.0}),
            (3, {"step": 1e300}),
            (3, {"radius": 1.0}),
            (0, {}),
        ],
    )
    def test_loss_of_a_fit_is_that_of_its_coefficients(
        self, k: int, options: dict[str, Any]
    ) -> None:
        XT, y = small()
        data = problem(XT, y)
        fit = solve(data, k, settings=Settings(**options), warn=False)
        assert fit.loss == pytest.approx(data.robust_loss(fit.coef @ XT), rel=1e-9)

    def test_support_is_ordered_by_size_without_kept_columns(self) -> None:
        XT, y = small()
        fit = solve(problem(XT, y), 5, keep=np.array([3]))
        sizes = np.abs(fit.coef[fit.support])
        assert (np.diff(sizes) <= 0).all()
        assert 3 not in fit.support
        assert set(np.flatnonzero(fit.coef)) == {3, *fit.support.tolist()}


# -- continuation


class TestSolveDown:
    @pytest.mark.parametrize(
        ("n", "d", "k", "keep", "sizes"),
        [
            (120, 80, 5, None, [20, 15, 10, 7, 5]),
            # No more than a third of the rows, nor than there are columns to choose from.
            (60, 80, 5, None, [20, 15, 10, 7, 5]),
            (59, 80, 5, None, [15, 10, 7, 5]),
            (120, 20, 5, None, [20, 15, 10, 7, 5]),
            (120, 19, 5, None, [15, 10, 7, 5]),
            (120, 20, 5, [3], [15, 10, 7, 5]),
            (120, 80, 1, None, [4, 3, 2, 1]),
            (120, 80, 0, None, [0]),
        ],
    )
    @pytest.mark.parametrize("settings", [None, Settings(max_iter=7, tol=1e-2)])
    def test_each_run_starts_from_one_with_more_coefficients(
        self,
        n: int,
        d: int,
        k: int,
        keep: list[int] | None,
        sizes: list[int],
        settings: Settings | None,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        runs: list[tuple[int, dict[str, Any], RHTFit]] = []

        def watched(data: Problem, size: int, **options: Any) -> RHTFit:
            fit = solve(data, size, **options | {"warn": False})
            runs.append((size, options, fit))
            return fit

        monkeypatch.setattr("robustsparse.algorithm.solver.solve", watched)
        rng = np.random.default_rng(0)
        XT = rng.normal(size=(d, n))
        data = problem(XT, XT[0] + rng.normal(size=n))
        kept = None if keep is None else np.array(keep)
        fit = solve_down(data, k, keep=kept, settings=settings)
        assert [size for size, _, _ in runs] == sizes
        assert fit is runs[-1][2]
        assert runs[0][1]["start"] is None
        for (_, options, _), (_, _, before) in zip(runs[1:], runs, strict=False):
            assert np.array_equal(options["start"], before.coef)
        # On the way down a few iterations will do, and nobody is told how they went.
        asked = settings or Settings()
        for _, options, _ in runs[:-1]:
            way = options["settings"]
            assert way.max_iter == min(asked.max_iter, 30)
            assert way.tol == max(asked.tol, 1e-4)
            assert not options["warn"]
        assert runs[-1][1]["settings"] == asked
        assert runs[-1][1]["warn"]
        assert all(options["keep"] is kept for _, options, _ in runs)

    def test_same_answer_where_the_problem_is_easy(self) -> None:
        XT, y = small()
        down = solve_down(problem(XT, y), 3)
        np.testing.assert_allclose(down.coef, solve(problem(XT, y), 3).coef, atol=SETTLED)

    @pytest.mark.parametrize("k", [0, 1, 40, 79, 80, 100])
    def test_any_k(self, k: int) -> None:
        XT, y = small()
        fit = solve_down(problem(XT, y), k, keep=np.array([0]), warn=False)
        assert len(fit.support) <= min(k, 79)
        assert np.isfinite(fit.coef).all()

    def test_it_finds_supports_that_a_direct_run_misses(self) -> None:
        """Over seeds, on correlated columns: more true predictors, never far fewer."""
        found = {solve: 0, solve_down: 0}
        for seed in range(12):
            sim = simulate.linear(n=100, d=300, k=8, sigma=0.5, correlation=0.7, rng=seed)
            XT = np.ascontiguousarray(sim.X.T)
            for run in found:
                fit = run(problem(XT, sim.y, Trimmed(0.2)), 8, warn=False)
                found[run] += np.isin(fit.support, np.flatnonzero(sim.beta)).sum()
        assert found[solve_down] > found[solve]


def test_a_loss_derived_from_the_squared_one_keeps_its_own_scores() -> None:
    class Lopsided(Squared):
        def score(self, y: Array, eta: Array) -> Array:
            return np.where(eta > y, 0.1, 1.0) * (eta - y)

    XT, y = small(noise=1.0)
    XT = np.vstack([XT, np.ones(XT.shape[1])])
    fits = [
        solve(problem(XT, y, Trimmed(0.02), loss), 3, keep=np.array([80]), warn=False)
        for loss in (Squared(), Lopsided())
    ]
    assert fits[1].coef[80] > fits[0].coef[80] + 0.3


@pytest.mark.parametrize("estimator", [Trimmed(0.1), Mean()])
def test_a_rough_run_ends_when_its_support_stays(estimator: GradientEstimator) -> None:
    """On columns so nearly collinear that a run to the end takes many iterations; the loss is nearly as low."""
    for seed in range(4):
        XT, y = small(seed)
        XT[11] = XT[10] + 0.02 * XT[11]
        XT[41] = XT[40] + 0.02 * XT[41]
        data = problem(XT, y, estimator)
        rough = solve(data, 6, settings=Settings(rough=True), warn=False)
        exact = solve(data, 6, warn=False)
        assert rough.converged
        assert sum(row.entered == 0 for row in rough.history) == 1
        assert rough.history[-1].entered == 0
        assert rough.loss <= 1.5 * exact.loss
