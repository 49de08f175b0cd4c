"""How far a new response lies from its prediction."""

import numpy as np

from robustsparse.algorithm.losses import Squared
from robustsparse.base.types import Array
from robustsparse.regression.fit.models import Fitted, Model, response_flags
from robustsparse.regression.fit.standardized import Standardized

# Variance of a normal variable, of one that lies within three standard deviations: rows beyond are not counted.
_WITHIN_THREE = 0.9733


def spread_of(problem: Standardized, fitted: Fitted, model: Model) -> float | None:
    """Standard deviation of a new response about a model, in the data's units; None without a scale of residuals.

    A robust scale would be too large where many rows are bad, since it counts them as rows at its edge. A shrunken
    model fits its own rows too well: there the rows tell that were left out.
    """
    if not problem.family.has_scale:
        return None
    if fitted.goal == "predict":
        return _of_rows_left_out(problem, fitted, model)
    explained = ~response_flags(problem, model)
    return problem.unit * _corrected(problem.judged(model.resid)[explained], len(model.active))


def _corrected(resid: Array, coefficients: int) -> float:
    """Root mean square of residuals within three scales, as if none were beyond and no coefficient estimated."""
    freedom = max(len(resid) - coefficients, 1)
    return float(np.sqrt(resid @ resid / (freedom * _WITHIN_THREE)))


def _of_rows_left_out(problem: Standardized, fitted: Fitted, model: Model) -> float | None:
    if fitted.choice is None or type(problem.loss) is not Squared:
        return None
    loss = fitted.choice.table["value"].loc[[model.size]].to_numpy()[0]
    return problem.unit * float(np.sqrt(2.0 * loss))
