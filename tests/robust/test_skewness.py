"""Limits of residuals with one long tail."""

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.robust.skewness import side_limits


def test_symmetric_values_have_one_limit() -> None:
    rng = np.random.default_rng(0)
    draws = [rng.normal(size=300) for _ in range(200)] + [
        rng.standard_t(3, 300) for _ in range(200)
    ]
    changed = [side_limits(values, 3.0) != (3.0, 3.0) for values in draws]
    assert np.mean(changed) < 0.02


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_longer_tail_has_room(sign: float) -> None:
    rng = np.random.default_rng(1)
    outside = []
    for _ in range(50):
        values = sign * (rng.exponential(size=400) - 0.7) / 0.7
        below, above = side_limits(values, 3.0)
        assert (below if sign > 0 else above) == 3.0
        outside.append(np.mean((values < -below) | (values > above)))
    # With a limit of 3 on both sides it would be 0.06.
    assert np.mean(outside) < 0.045


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
def test_outliers_on_one_side_are_no_tail(share: float) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = rng.normal(size=300)
        values[: int(share * 300)] += 8.0
        assert side_limits(values, 3.0) == (3.0, 3.0)


def test_without_values_the_limit_stays() -> None:
    for values in (np.zeros(0), np.zeros(40), np.full(30, 9.0)):
        assert side_limits(values, 3.0) == (3.0, 3.0)


def test_skewed_noise_is_not_flagged_and_the_summary_says_so() -> None:
    shares, said = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(800, 10))
        fit = rs.rht_fit(X, X[:, 0] + rng.exponential(size=800), n_jobs=1)
        shares.append(len(fit.outliers("response")) / 800)
        said.append(
            "longer tail above: there a row is flagged beyond"
            in " ".join(str(fit.summary()).split())
        )
    # With a limit of 3 on both sides it would be 0.07.
    assert np.mean(shares) < 0.045
    assert sum(said) >= 4
