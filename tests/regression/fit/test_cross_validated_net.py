"""Elastic nets whose penalty is chosen by cross-validation."""

import numpy as np
import pytest

from robustsparse.algorithm.losses import Logistic, Squared
from robustsparse.regression.binomial import Binomial
from robustsparse.regression.fit.cross_validated_net import cross_validated_net, deal_folds
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import standardized
from robustsparse.regression.gaussian import Gaussian


def make(family: str, seed: int = 0) -> Standardized:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 30))
    eta = 2.0 * X[:, 0] - X[:, 1] + rng.normal(size=90)
    if family == "binomial":
        y = (eta > 0).astype(float)
        return standardized(X, y, Logistic(), family=Binomial(), how="winsor")
    return standardized(X, eta, Squared(), family=Gaussian(), how="mad")


@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_the_value_is_the_mean_loss_of_rows_by_nets_that_did_not_see_them(family: str) -> None:
    problem = make(family)
    weights = np.where(np.arange(90) < 6, 0.0, 1.0)
    net = cross_validated_net(
        problem, weights, deal_folds(problem, weights, np.random.default_rng(1))
    )
    y = problem.y[net.used]
    assert net.used.sum() == len(net.eta_out) == len(net.fold) == 84
    # The bound of a gaussian loss follows from the whole path: only far rows can tell.
    lost = float(problem.loss.value(y, net.eta_out).mean())
    assert net.value[net.best] == pytest.approx(lost, rel=0.05)
    seen = problem.predictor(net.coefs[net.best])[net.used]
    assert float(problem.loss.value(y, seen).mean()) < lost


def test_classes_are_dealt_evenly_to_the_folds() -> None:
    problem = make("binomial")
    fold = deal_folds(problem, np.ones(90), np.random.default_rng(0))
    counts = np.array([np.bincount(fold[problem.y == c], minlength=5) for c in (0, 1)])
    assert (np.ptp(counts, axis=1) <= 1).all()


def test_the_path_ends_when_it_has_turned() -> None:
    problem = make("gaussian")
    ones = np.ones(90)
    net = cross_validated_net(problem, ones, deal_folds(problem, ones, np.random.default_rng(0)))
    assert net.best < len(net.value) - 1 < 32
