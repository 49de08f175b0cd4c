"""Ridges of any loss against the equations of their minimum."""

from dataclasses import replace

import numpy as np
import pytest

from robustsparse.algorithm.elastic_net import Net
from robustsparse.algorithm.losses import Huber, Logistic, Loss, Squared
from robustsparse.algorithm.ridge import RidgeDescent, turned


def make(loss: Loss, n: int, d: int, seed: int) -> Net:
    rng = np.random.default_rng(seed)
    XT = np.vstack([rng.normal(size=(d, n)), np.ones(n)])
    noisy = 1.5 * XT[0] - XT[1] + 0.5 + rng.normal(size=n)
    y = (noisy > 0).astype(float) if isinstance(loss, Logistic) else noisy
    free = np.ones(d + 1, dtype=bool)
    keep = np.array([1, d])
    free[keep] = False
    return Net(XT, y, loss, rng.uniform(0.5, 1.5, n), 0.1 * rng.normal(size=n), keep, free, 0.5)


@pytest.mark.parametrize(("n", "d"), [(90, 12), (40, 300)])
@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Logistic()])
def test_every_ridge_is_a_minimum(loss: Loss, n: int, d: int) -> None:
    net = make(loss, n, d, seed=n)
    few = turned(net)
    assert len(few.net.XT) <= min(n, d) + 2
    out = np.arange(n) % 4 == 0
    descent = RidgeDescent([few.net, few.net.without(out)])
    top = descent.largest_penalty()
    for penalty in top * np.geomspace(1.0, 1e-2, 5):
        for coef, rows in zip(few.back(descent.to(penalty)), (out | True, ~out), strict=True):
            share = np.where(rows, net.weights, 0.0) / net.weights[rows].sum()
            left = -net.XT @ (share * net.loss.score(net.y, coef @ net.XT + net.offset))
            np.testing.assert_allclose(left, penalty * coef * net.free, atol=2e-3)


def test_kept_columns_may_repeat_each_other() -> None:
    net = make(Logistic(), 60, 8, seed=3)
    twice = replace(net, XT=np.vstack([net.XT, np.ones(60)]), keep=np.array([1, 8, 9]),
                    free=np.append(net.free, False))  # fmt: skip
    one, other = (RidgeDescent([turned(some).net]).to(0.1)[0] for some in (net, twice))
    np.testing.assert_allclose(one[:7], other[:7], atol=1e-5)


def test_separated_classes_have_finite_coefficients() -> None:
    net = make(Logistic(), 50, 6, seed=5)
    apart = turned(replace(net, y=(net.XT[0] > 0).astype(float))).net
    descent = RidgeDescent([apart])
    for penalty in descent.largest_penalty() * np.geomspace(1.0, 1e-6, 10):
        coef = descent.to(penalty)[0]
    assert np.isfinite(coef).all()
    assert np.abs(coef).argmax() == 0
