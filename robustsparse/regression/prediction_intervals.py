"""Standard errors of predictions, and intervals for the mean of new rows and for their responses."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array
from robustsparse.design.frames import INTERCEPT
from robustsparse.regression.members import Member
from robustsparse.regression.predictions import NewRows, typed
from robustsparse.regression.tables import covariance
from robustsparse.regression.wald import quantile

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult

# Step of the linear predictor by which the slope of the fitted response is measured.
_STEP = 1e-5


def check_interval(fit: "RHTResult", interval: str, type: str, na_action: str) -> None:
    """Refuse intervals that would promise too much."""
    if type == "class":
        raise ParameterError(
            "type='class' has neither se nor interval; type='response' has those of the probability."
        )
    if na_action == "impute":
        raise ParameterError(
            "se and interval are not for na_action='impute': how far off imputed inputs are would be left out of them. "
            "Drop the rows with missing inputs first."
        )
    if interval == "confidence" and fit.goal == "predict":
        raise ParameterError(
            "se and interval='confidence' need standard errors, which a model that is shrunken for prediction has not: "
            "its coefficients are biased. interval='prediction' has the error of rows that were left out; or fit with "
            "goal='select'."
        )
    if interval == "prediction" and not fit.made.kind.has_scale:
        raise ParameterError(
            f"interval='prediction' is for a response with a scale; a new response of the {fit.family} family is one "
            "of its values, not a number in an interval. interval='confidence' is that of its mean."
        )


def with_interval(
    fit: "RHTResult",
    rows: NewRows,
    model: Member,
    eta: "pd.Series[float]",
    interval: str,
    type: str,
    level: float,
) -> pd.DataFrame:
    """Predictions by row label with `se`, and the ends `lower` and `upper` of intervals.

    The ends are those of the linear predictor, brought to the scale of the response.
    """
    se, df = _errors(fit, rows, model)
    error = se if interval == "confidence" else np.hypot(np.nan_to_num(se), _spread(fit, model))
    margin = quantile(level, df) * error
    low, high = (typed(fit, eta + sign * margin, type).to_numpy() for sign in (-1.0, 1.0))
    return pd.DataFrame(
        {
            "prediction": typed(fit, eta, type),
            "se": se if type == "link" else se * _slope(fit, eta),
            "lower": low,
            "upper": high,
        },
        index=eta.index,
    )


def _errors(fit: "RHTResult", rows: NewRows, model: Member) -> tuple[Array, float | None]:
    """Standard errors (n,) of the linear predictors, and degrees of freedom; unknown where the model is shrunken."""
    if fit.goal == "predict":
        return np.full(len(rows.index), np.nan), float(fit.row_weights.sum())
    cov = covariance(model)
    A = np.column_stack([np.ones(len(rows.X)), rows.X]) if fit.intercept else rows.X
    names = [INTERCEPT, *rows.names] if fit.intercept else rows.names
    known = cov.loc[names, names].to_numpy()
    # Rounding can leave a variance of nothing below zero.
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", A, known, A), 0.0)), model.df_resid


def _slope(fit: "RHTResult", eta: "pd.Series[float]") -> Array:
    """Derivative (n,) of the fitted response by the linear predictor."""
    at = np.asarray(eta, dtype=np.float64)
    low, high = (fit.made.kind.mean(at + step) for step in (-_STEP, _STEP))
    return np.asarray((high - low) / (2.0 * _STEP))


def _spread(fit: "RHTResult", model: Member) -> float:
    """Standard deviation of a new response."""
    if model.spread is not None:
        return model.spread
    if fit.goal == "predict":
        raise ParameterError(
            "interval='prediction' of a shrunken model needs the error of rows that were left out, which is known for "
            "the squared loss alone, and not of a model from an earlier version; fit again with loss='squared'."
        )
    # Models of earlier versions know the robust scale alone.
    return model.scale
