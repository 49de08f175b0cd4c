"""Estimates of a model with standard errors, statistics and intervals, as tables."""

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from robustsparse.base.errors import ParameterError
from robustsparse.regression.members import Member


def standard_errors(model: Member) -> "pd.Series[float]":
    """Standard errors of the coefficients, by term."""
    if model.cov is None:
        raise ParameterError(
            "standard errors come from the robust refit; fit with refit=True to have them."
        )
    # Rounding can leave a variance of nothing below zero.
    variances = np.maximum(np.diag(model.cov), 0.0)
    return pd.Series(np.sqrt(variances), index=model.cov.index)[model.params.index]


def tidy_table(model: Member, level: float) -> pd.DataFrame:
    """Terms with estimate, std_error, statistic, p_value, low, high; only the estimates without a refit."""
    estimate = model.params.to_numpy()
    frame = pd.DataFrame({"term": model.params.index, "estimate": estimate})
    if model.cov is None:
        return frame
    se = standard_errors(model).to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = estimate / se
    margin = ndtri(0.5 + 0.5 * level) * se
    return frame.assign(
        std_error=se,
        statistic=statistic,
        p_value=2.0 * ndtr(-np.abs(statistic)),
        low=estimate - margin,
        high=estimate + margin,
    )
