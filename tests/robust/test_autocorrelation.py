"""Newey and West's covariance of a sum over rows in time."""

import numpy as np
import pytest

from robustsparse.robust.autocorrelation import newey_west


def autoregressive(rng: np.random.Generator, n: int, root: float) -> np.ndarray:
    errors = rng.normal(size=n + 100)
    series = np.zeros(n + 100)
    for t in range(1, n + 100):
        series[t] = root * series[t - 1] + errors[t]
    return series[100:]


@pytest.mark.parametrize("root", [0.0, 0.5, -0.4, 0.8])
def test_the_variance_of_a_sum_is_found(root: float) -> None:
    n, truth = 400, (1.0 / (1.0 - root)) ** 2
    found = [
        newey_west(autoregressive(np.random.default_rng(seed), n, root)[:, None]).covariance[0, 0]
        / n
        for seed in range(60)
    ]
    assert abs(np.median(found) / truth - 1.0) < 0.12


def test_more_dependence_leaves_fewer_degrees_of_freedom() -> None:
    freedom = [
        np.mean(
            [
                newey_west(autoregressive(np.random.default_rng(s), 200, root)[:, None]).freedom
                for s in range(20)
            ]
        )
        for root in (0.0, 0.5, 0.8)
    ]
    assert 100 > freedom[0] > freedom[1] > freedom[2] > 2


def test_units_and_signs_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    series = np.column_stack([autoregressive(rng, 150, root) for root in (0.2, 0.7, 0.5)])
    factor = np.array([1e-3, -1.0, 1e4])
    one, other = newey_west(series), newey_west(series * factor)
    np.testing.assert_allclose(
        other.covariance, one.covariance * np.outer(factor, factor), rtol=1e-9
    )
    assert other.bandwidth == pytest.approx(one.bandwidth)


def test_the_covariance_is_one() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found = newey_west(rng.normal(size=(25, 4)))
        assert np.linalg.eigvalsh(found.covariance).min() > -1e-9


def test_a_column_of_zeros_stays_zero() -> None:
    series = np.column_stack([np.zeros(50), np.random.default_rng(0).normal(size=50)])
    found = newey_west(series)
    assert not found.covariance[0].any()
    assert found.covariance[1, 1] > 0
