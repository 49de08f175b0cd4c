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
from robustsparse.algorithm.solver import solve

# Columns and rows.
TINY, MIDDLE, LARGE, TALL = (1 << 5, 1 << 5), (1 << 9, 1 << 9), (1 << 11, 1 << 11), (20, 1 << 18)


@pytest.mark.parametrize("step", ["auto", 0.3])
@pytest.mark.parametrize("fused", [False, True])
def test_runs_are_those_with_screening_to_the_last_bit(step: float | str, fused: bool) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        XT = rng.normal(size=(120, 90))
        y = XT[3] - XT[70] + 0.5 * rng.normal(size=90)
        y[:8] = 30.0
        fits = []
        for screened in (True, False):
            bound = Trimmed(0.2).shared(XT, screened=screened)
            assert bound is not None
            settings = Settings(step, max_iter=30, fused=fused)
            fits.append(solve(Problem(bound, y, Squared()), 6, settings=settings, warn=False))
        assert isinstance(bound, PlainTrim)
        np.testing.assert_array_equal(fits[0].support, fits[1].support)
        # Whole iterations in compiled code add up in another order.
        tolerance = 1e-9 if fused else 0.0
        np.testing.assert_allclose(fits[0].coef, fits[1].coef, rtol=0, atol=tolerance)


def test_a_few_small_designs_do_without_what_is_not_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "is_compiled", lambda kernel: False)
    monkeypatch.setattr(plain_trimmed, "_unscreened", count())
    few = [is_screened(*MIDDLE) for _ in range(plain_trimmed._UNSCREENED + 2)]
    assert few == [False] * plain_trimmed._UNSCREENED + [True, True]
    assert not is_screened(*TINY)
    assert is_screened(*LARGE)
    assert not is_screened(*TALL)


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
