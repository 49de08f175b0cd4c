"""Measured values: noise of one unknown scale, and MM-regression."""

from dataclasses import replace
from math import log
from typing import TYPE_CHECKING

import numpy as np

from robustsparse.algorithm.losses import Huber, Loss, Squared
from robustsparse.base.types import Array
from robustsparse.design.response import Numbers
from robustsparse.regression.family import Chosen, Family
from robustsparse.regression.measures import robust_r2
from robustsparse.robust.mm import Refit, mm_regression, mm_row_moves
from robustsparse.robust.row_moves import RowMoves
from robustsparse.robust.scales import MAD_TO_SD, column_medians, m_scale, tau_scale
from robustsparse.robust.skewness import side_limits

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult

# A scale, or a variance, this small is an exact fit; its logarithm would drown every penalty.
_EXACT, _EXACT_VARIANCE = 1e-10, 1e-20
# Residuals below this part of the response are rounding errors.
_ROUNDING = 1e-10


class Gaussian(Family):
    """Measured values with noise of one unknown scale."""

    name = "gaussian"
    losses = (Squared, Huber)
    coding = Numbers()
    has_scale = True
    residual_kind = "response"
    least_squares = True

    def mean(self, eta: Array) -> Array:
        """The predictor itself."""
        return eta

    def residuals(self, y: Array, eta: Array) -> Array:
        """What the model leaves."""
        return np.asarray(y - eta)

    def unit_deviance(self, y: Array, eta: Array) -> Array:
        """Squared residuals: as in R, the scale is no part of a deviance."""
        return np.square(self.residuals(y, eta))

    def refit(self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator) -> Refit:
        """MM-regression; without a column, the scale of the response."""
        return self._regression(rows, start, subsamples, rng, cov=True)

    def judge(self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator) -> Refit:
        """The same without a covariance."""
        return self._regression(rows, start, subsamples, rng, cov=False)

    def _regression(
        self, rows: Chosen, start: Array, subsamples: int, rng: np.random.Generator, *, cov: bool
    ) -> Refit:
        even = rows.even()
        if not len(start):
            scale = m_scale(even.target, prior_weights=even.weights)
            ones = np.ones(len(rows.y))
            return Refit(np.zeros(0), scale, ones, np.zeros((0, 0)), rows.target, True, 0)
        refit = mm_regression(
            even.A, even.target, starts=start[None, :], prior_weights=even.weights,
            subsamples=subsamples, rng=rng, cov=cov,
        )  # fmt: skip
        return refit if even is rows else replace(refit, resid=rows.target - rows.A @ refit.coef)

    def row_moves(self, rows: Chosen, refit: Refit) -> RowMoves:
        """Those of an MM-regression."""
        even = rows.even()
        if not len(refit.coef):
            return RowMoves.nothing(len(rows.y), 0)
        return mm_row_moves(even.A, even.target, refit, even.weights)

    def misfit(self, rows: Chosen, start: Array) -> float:
        """N log τ² with a τ-scale of the residuals of an MM-regression; with weights the M-scale."""
        rows = rows.even()
        resid = rows.target
        if len(start):
            resid = mm_regression(
                rows.A, resid, starts=start[None, :], prior_weights=rows.weights, subsamples=0,
                cov=False,
            ).resid  # fmt: skip
        weights = rows.weights
        scale = tau_scale(resid) if weights is None else m_scale(resid, prior_weights=weights)
        return 2.0 * len(resid) * log(max(scale, _EXACT))

    def trusted_misfit(self, rows: Chosen, start: Array) -> float:
        """N log σ² by least squares."""
        root = np.ones(len(rows.y)) if rows.weights is None else np.sqrt(rows.weights)
        A, target = root[:, None] * rows.A, root * rows.target
        resid = target - A @ np.linalg.lstsq(A, target, rcond=None)[0]
        n = len(target)
        return n * float(np.log(max(float(resid @ resid) / n, _EXACT_VARIANCE)))

    def scale_of(self, resid: Array) -> float:
        """M-scale."""
        return m_scale(resid)

    def bounded(self, loss: Loss, y: Array, eta: Array) -> Array:
        """Losses of residuals of at most `reject` scales of the best model's."""
        miss = eta - y
        edge = self.reject * MAD_TO_SD * float(column_medians(np.abs(miss).T).min())
        return loss.value(np.zeros_like(miss), np.clip(miss, -edge, edge))

    def judged(self, y: Array, eta: Array, resid: Array, scale: float) -> tuple[Array, float]:
        """In units of their scale, but at an exact fit of the size of rounding errors."""
        return resid, residual_unit(y, scale)

    def score(self, observed: Array, predicted: Array) -> float:
        """Robust R²."""
        return robust_r2(observed, predicted)

    def explained(self, fitted: Array, resid: Array, weights: Array) -> float:
        """Robust R²."""
        return robust_r2(fitted + resid, fitted)

    def tells(self, result: "RHTResult") -> list[tuple[str, str]]:
        """Robust scale and R²."""
        return [
            ("Robust scale", f"{result.scale:.4g}"),
            ("Robust R²", f"{result.explained:.3f}"),
        ]

    def notes(self, result: "RHTResult") -> list[str]:
        """Whether there is no noise, or noise with one long tail."""
        if result.scale > 0.0:
            return self._long_tail(result)
        return [
            "The model fits more than half of the rows without any error, so that there is no noise to judge the "
            "coefficients and the other rows by: a response that has one value in most rows, or one that was "
            "computed from the predictors."
        ]

    def _long_tail(self, result: "RHTResult") -> list[str]:
        """Where a row is flagged if residuals have one long tail."""
        below, above = side_limits(result.diagnostics["std_resid"].to_numpy(), self.reject)
        if below == above:
            return []
        where, length = ("above", above) if above > below else ("below", below)
        return [
            f"Residuals have a longer tail {where}: there a row is flagged beyond {length:.1f} scales, not "
            f"{self.reject:g}."
        ]


def residual_unit(y: Array, scale: float) -> float:
    """What residuals are measured in: their scale, but at an exact fit the size of rounding errors."""
    return max(scale, _ROUNDING * float(np.median(np.abs(y))), 1e-300)
