"""Nets and ridges from inner products against those from rows."""

from dataclasses import replace

import numpy as np
import pytest

from robustsparse.algorithm.elastic_net import Descent, Net
from robustsparse.algorithm.gram_net import GramDescent, left_out_equations
from robustsparse.algorithm.losses import Squared
from robustsparse.base.types import Places

# Both solve the equations of a minimum up to this part of the largest coefficient.
CLOSE = 5e-3


def make(seed: int, n: int = 80, d: int = 12) -> tuple[Net, list[Places]]:
    rng = np.random.default_rng(seed)
    XT = np.vstack([rng.normal(size=(d, n)), np.ones(n)])
    XT[1] += 0.8 * XT[0]
    y = 1.5 * XT[0] - XT[3] + 3.0 + rng.normal(size=n)
    free = np.ones(d + 1, dtype=bool)
    keep = np.array([2, d])
    free[keep] = False
    weights, offset = rng.uniform(0.5, 1.5, n), 0.1 * rng.normal(size=n)
    fold = rng.permutation(n) % 4
    net = Net(XT, y, Squared(), weights, offset, keep, free, 0.5)
    return net, [np.flatnonzero(fold == f) for f in range(4)]


@pytest.mark.parametrize("mixing", [0.5, 0.1])
def test_paths_are_those_of_the_rows(mixing: float) -> None:
    net, folds = make(1)
    net = replace(net, mixing=mixing)
    masks = [np.isin(np.arange(80), rows) for rows in folds]
    by_rows = Descent([net, *map(net.without, masks)])
    by_products = GramDescent(net, left_out_equations(net, folds))
    top = by_products.largest_penalty()
    assert top == pytest.approx(by_rows.largest_penalty())
    for part in (0.9, 0.5, 0.1, 0.01):
        one, other = by_rows.to(part * top), by_products.to(part * top)
        np.testing.assert_allclose(one, other, atol=CLOSE * np.abs(one).max())
    np.testing.assert_allclose(by_products.losses(), by_rows.losses(), rtol=1e-3)


def test_a_ridge_solves_its_equations_in_every_fold() -> None:
    net, folds = make(2)
    ridge = replace(net, mixing=0.0)
    models = GramDescent(ridge, left_out_equations(ridge, folds)).to(0.3)
    for coef, out in zip(models, [folds[0][:0], *folds], strict=True):
        share = net.weights.copy()
        share[out] = 0.0
        share /= share.sum()
        left = net.XT @ (share * (net.y - net.offset - coef @ net.XT))
        np.testing.assert_allclose(left, 0.3 * coef * net.free, atol=1e-10)
