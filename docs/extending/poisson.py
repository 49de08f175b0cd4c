"""A family from outside the package: counts with a log link, refitted by a bounded-influence Poisson regression."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import xlogy

from robustsparse import DataError
from robustsparse.base.types import Array
from robustsparse.design.response import Numbers, Response
from robustsparse.regression.family import Chosen, Family
from robustsparse.robust.mm import Refit

# Means beyond these are no counts that anybody fits, and would overflow.
_LARGEST_LOG = 12.0
# Pearson residuals beyond this are clipped: 95% efficiency at large means.
_HUBER = 1.345
_ITERATIONS, _TOL = 100, 1e-10


def _mean(eta: Array) -> Array:
    return np.exp(np.clip(eta, -_LARGEST_LOG, _LARGEST_LOG))


@dataclass(frozen=True)
class PoissonLoss:
    """Negative log-likelihood of counts, up to what does not depend on the model."""

    label = "Poisson"

    def value(self, y: Array, eta: Array) -> Array:
        """Loss of each row."""
        return _mean(eta) - y * np.clip(eta, -_LARGEST_LOG, _LARGEST_LOG)

    def score(self, y: Array, eta: Array) -> Array:
        """Fitted mean minus count."""
        return _mean(eta) - y

    def curvature(self, y: Array, eta: Array) -> Array:
        """Curvature at a mean that covers the count as well, for want of a quadratic above the loss."""
        return np.maximum(_mean(eta), y) + 1.0


@dataclass(frozen=True)
class Counts(Numbers):
    """Whole numbers from zero."""

    family: str = "poisson"

    def code(self, values: pd.Series, name: str) -> Response:
        """Numbers, checked."""
        coded = super().code(values, name)
        wrong = (coded.values < 0) | (coded.values != np.rint(coded.values))
        if wrong.any():
            bad = coded.values[wrong][0]
            raise DataError(
                f"response {name!r} must hold counts, but it holds {bad:g}; see family='gaussian'."
            )
        return coded


@dataclass(frozen=True)
class Poisson(Family):
    """Counts, such as accidents or visits."""

    name = "poisson"
    losses = (PoissonLoss,)
    coding = Counts()
    radius = 3.0
    tol = 1e-5
    path_tol = 1e-3
    reject = 5.0
    far_rows_out = True
    residual_kind = "deviance"
    mean_name = "fitted count"

    def mean(self, eta: Array) -> Array:
        """Expected count."""
        return _mean(eta)

    def residuals(self, y: Array, eta: Array) -> Array:
        """Pearson residuals."""
        return (y - _mean(eta)) / np.sqrt(_mean(eta))

    def unit_deviance(self, y: Array, eta: Array) -> Array:
        """Twice the distance of the log-likelihoods at the fitted mean and at the count."""
        mean = _mean(eta)
        return 2.0 * (xlogy(y, y / mean) - (y - mean))

    def draw(self, eta: Array, rng: np.random.Generator) -> Array:
        """Counts by chance."""
        return rng.poisson(_mean(eta)).astype(np.float64)

    def refit(self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator) -> Refit:
        """Iteratively reweighted least squares, with large Pearson residuals clipped."""
        A, prior = rows.A, np.ones(len(rows.y)) if rows.weights is None else rows.weights
        coef, move, steps = start.copy(), np.ones(1), 0
        while np.abs(move).max(initial=0.0) >= _TOL and steps < _ITERATIONS:
            move = np.linalg.lstsq(*self._normal(rows, coef, prior), rcond=None)[0]
            coef, steps = coef + move, steps + 1
        resid = self.residuals(rows.y, rows.predictor(coef))
        weights = np.minimum(1.0, _HUBER / np.maximum(np.abs(resid), _HUBER))
        bread, _ = self._normal(rows, coef, prior)
        scores = A * (prior * weights * resid * np.sqrt(_mean(rows.predictor(coef))))[:, None]
        inverse = np.linalg.pinv(bread)
        cov = inverse @ (scores.T @ scores) @ inverse
        return Refit(coef, 1.0, weights, cov, resid, steps < _ITERATIONS, steps)

    def _normal(self, rows: Chosen, coef: Array, prior: Array) -> tuple[Array, Array]:
        """Information and score of the weighted rows."""
        eta = rows.predictor(coef)
        resid = self.residuals(rows.y, eta)
        weights = prior * np.minimum(1.0, _HUBER / np.maximum(np.abs(resid), _HUBER))
        mean = _mean(eta)
        return (rows.A.T * (weights * mean)) @ rows.A, rows.A.T @ (weights * (rows.y - mean))

    def misfit(self, rows: Chosen, start: Array) -> float:
        """Huber's loss of the Pearson residuals after a refit, and the log-likelihood's own normalization."""
        refit = self.refit(rows, start, 0, np.random.default_rng(0))
        size = np.abs(refit.resid)
        inner = np.minimum(size, _HUBER)
        prior = np.ones(len(size)) if rows.weights is None else rows.weights
        spread = np.log(_mean(rows.predictor(refit.coef)))
        return float((prior * (inner * (2.0 * size - inner) + spread)).sum())

    def score(self, observed: Array, predicted: Array) -> float:
        """Median absolute error, relative to that of the median count, subtracted from one."""
        plain = np.median(np.abs(observed - np.median(observed)))
        return 1.0 - float(np.median(np.abs(observed - predicted)) / max(plain, 1e-300))

    def explained(self, fitted: Array, resid: Array, weights: Array) -> float:
        """Share of the weighted Pearson statistic that the model explains."""
        y = fitted + resid
        level = np.average(y, weights=weights)
        return 1.0 - float(
            (weights * resid**2 / fitted).sum() / (weights * (y - level) ** 2 / level).sum()
        )
