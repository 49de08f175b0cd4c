"""Trimmed means without screening against those with it, and when which of them is used."""

import pickle
from itertools import count

import numpy as np
import pytest

from robustsparse import kernels
from robustsparse.algorithm import plain_trimmed
from robustsparse.algorithm.gradients import Trimmed
from robustsparse.algorithm.losses import Squared
from robustsparse.algorithm.plain_trimmed import PlainTrim, is_screened
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import RHTFit, solve
from robustsparse.base.types import Array

# Columns and rows.
TINY, MIDDLE, LARGE, TALL = (1 << 5, 1 << 5), (1 << 9, 1 << 9), (1 << 11, 1 << 11), (20, 1 << 18)


# Whole iterations in compiled code add up in another order.
REORDERED = 1e-9
ITERATIONS = 30


def problem(seed: int) -> tuple[Array, Array]:
    """A design, transposed, and a response of which some are far out."""
    rng = np.random.default_rng(seed)
    XT = rng.normal(size=(120, 90))
    y = XT[3] - XT[70] + 0.5 * rng.normal(size=90)
    y[:8] = 30.0
    return XT, y


def run(XT: Array, y: Array, screened: bool, settings: Settings, start: Array | None) -> RHTFit:
    bound = Trimmed(0.2).shared(XT, screened=screened)
    assert isinstance(bound, PlainTrim) != screened
    return solve(Problem(bound, y, Squared()), 6, settings=settings, start=start, warn=False)


@pytest.mark.parametrize("step", ["auto", 0.3])
def test_runs_are_those_with_screening_to_the_last_bit(step: float | str) -> None:
    settings = Settings(step, max_iter=ITERATIONS, fused=False)
    for seed in range(5):
        one, other = (run(*problem(seed), screened, settings, None) for screened in (True, False))
        np.testing.assert_array_equal(one.support, other.support)
        np.testing.assert_array_equal(one.coef, other.coef)


@pytest.mark.parametrize("step", ["auto", 0.3])
def test_compiled_iterations_are_those_without_screening(step: float | str) -> None:
    # One by one: rounding may lead long runs that have not settled to other columns.
    settings = Settings(step, max_iter=1, fused=True)
    for seed in range(5):
        start = np.zeros(120)
        for _ in range(ITERATIONS):
            one, other = (run(*problem(seed), some, settings, start) for some in (True, False))
            np.testing.assert_allclose(one.coef, other.coef, rtol=0, atol=REORDERED)
            start = other.coef


def test_a_few_small_designs_do_without_what_is_not_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "is_compiled", lambda kernel: False)
    monkeypatch.setattr(plain_trimmed, "_unscreened", count())
    few = [is_screened(*MIDDLE) for _ in range(plain_trimmed._UNSCREENED + 2)]
    assert few == [False] * plain_trimmed._UNSCREENED + [True, True]
    assert not is_screened(*TINY)
    assert is_screened(*LARGE)
    assert is_screened(*TALL)


def test_what_is_compiled_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "is_compiled", lambda kernel: True)
    monkeypatch.setattr(plain_trimmed, "_unscreened", count())
    assert is_screened(*MIDDLE)
    assert not is_screened(*TINY)


def test_it_can_go_to_another_process() -> None:
    XT = np.random.default_rng(0).normal(size=(20, 30))
    bound = pickle.loads(pickle.dumps(Trimmed(0.2).bind(XT)))
    bound.begin(XT[0])
    found, values = bound.survivors(np.zeros(20, dtype=bool), 3, 0.0)
    assert found.tolist() == list(range(20))
    np.testing.assert_array_equal(values, Trimmed(0.2)(XT.T, XT[0]))
