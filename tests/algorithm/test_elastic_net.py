"""Elastic net paths against the equations of their minimum."""

import numpy as np
import pytest

from robustsparse.algorithm.elastic_net import Net, net_path
from robustsparse.algorithm.losses import Huber, Logistic, Loss, Squared
from robustsparse.base.types import Array

# Gradients may miss the penalty by this part of it: paths are there to be compared.
EQUATIONS = 0.02


def make(loss: Loss, n: int, d: int, seed: int, mixing: float = 0.5) -> Net:
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(3, n))
    XT = np.vstack([rng.normal(size=(d, 3)) @ shared + rng.normal(size=(d, n)), np.ones(n)])
    XT[:d] /= XT[:d].std(axis=1, keepdims=True)
    eta = 1.5 * XT[0] - XT[1] + XT[2] + 0.5
    noisy = eta + rng.normal(size=n)
    y = (noisy > 0).astype(float) if isinstance(loss, Logistic) else noisy
    free = np.ones(d + 1, dtype=bool)
    # One predictor is kept beside the intercept.
    keep = np.array([2, d])
    free[keep] = False
    weights = rng.uniform(0.5, 1.5, n)
    return Net(XT, y, loss, weights, 0.1 * rng.normal(size=n), keep, free, mixing)


def gradient(net: Net, coef: Array) -> Array:
    share = net.weights / net.weights.sum()
    return -(net.XT @ (share * net.loss.score(net.y, coef @ net.XT + net.offset)))


@pytest.mark.parametrize("mixing", [1.0, 0.5])
@pytest.mark.parametrize(("n", "d"), [(120, 15), (50, 700)])
@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Logistic()])
def test_every_model_of_a_path_is_a_minimum(loss: Loss, n: int, d: int, mixing: float) -> None:
    net = make(loss, n, d, seed=n, mixing=mixing)
    penalties = net.largest_penalty() * np.geomspace(1.0, 0.05, 8)
    for penalty, coef in zip(penalties, net_path(net, penalties), strict=True):
        slack = EQUATIONS * penalties[0] * mixing
        left = gradient(net, coef)
        assert np.abs(left[net.keep]).max() <= slack
        left = left - penalty * (1.0 - mixing) * coef
        inside = net.free & (coef != 0)
        assert (
            np.abs(left[inside] - penalty * mixing * np.sign(coef[inside])).max(initial=0) <= slack
        )
        assert np.abs(left[net.free]).max() <= penalty * mixing + slack


def test_the_largest_penalty_is_where_the_first_term_enters() -> None:
    net = make(Squared(), 80, 20, seed=1)
    top = net.largest_penalty()
    sizes = (net_path(net, [1.001 * top, 0.98 * top])[:, net.free] != 0).sum(axis=1)
    assert sizes.tolist() == [0, 1]


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_rows_of_no_weight_are_left_out(loss: Loss) -> None:
    net = make(loss, 90, 12, seed=3)
    out = np.arange(90) % 3 == 0
    part = Net(
        net.XT[:, ~out].copy(), net.y[~out], loss, net.weights[~out], net.offset[~out], net.keep,
        net.free, net.mixing,
    )  # fmt: skip
    penalties = part.largest_penalty() * np.geomspace(1.0, 0.1, 5)
    np.testing.assert_allclose(
        net_path(net.without(out), penalties), net_path(part, penalties), atol=1e-4
    )


def test_separated_classes_have_finite_coefficients() -> None:
    net = make(Logistic(), 60, 10, seed=5)
    apart = Net(
        net.XT, (net.XT[0] > 0).astype(float), Logistic(), net.weights, 0 * net.offset, net.keep,
        net.free, 0.5,
    )  # fmt: skip
    coef = net_path(apart, apart.largest_penalty() * np.geomspace(1.0, 1e-4, 20))
    assert np.isfinite(coef).all()
    assert np.abs(coef[-1]).argmax() == 0
