"""Estimates of a model with standard errors, statistics and intervals, as tables."""

import numpy as np
import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.regression.members import Member
from robustsparse.regression.wald import p_values, quantile


def covariance(model: Member) -> pd.DataFrame:
    """Covariance of the coefficients, in their order."""
    if model.cov is None:
        raise ParameterError(
            "standard errors come from the robust refit; fit with refit=True and goal='select' to have them."
        )
    names = model.params.index
    return model.cov.loc[names, names]


def tidy_table(model: Member, level: float) -> pd.DataFrame:
    """Terms with estimate, std_error, statistic, p_value, low, high; only the estimates without a refit."""
    estimate = model.params.to_numpy()
    frame = pd.DataFrame({"term": model.params.index, "estimate": estimate})
    if model.cov is None:
        return frame
    # Rounding can leave a variance of nothing below zero.
    se = np.sqrt(np.maximum(np.diag(covariance(model)), 0.0))
    # Without any noise there is nothing to measure an estimate by.
    statistic = np.divide(estimate, se, out=np.full(len(se), np.nan), where=se > 0)
    margin = quantile(level, model.df_resid) * se
    return frame.assign(
        std_error=se,
        statistic=statistic,
        p_value=p_values(statistic, model.df_resid),
        low=estimate - margin,
        high=estimate + margin,
    )
