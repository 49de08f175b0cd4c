"""Residuals of a fit: of the response, Pearson's and of the deviance."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from robustsparse.base.types import Array
from robustsparse.regression.family import Family
from robustsparse.report.plots import Drawn

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult

KINDS = ("response", "pearson", "deviance")
_NAMES = {"pearson": "Pearson residual", "deviance": "deviance residual"}


def residuals_of(family: Family, y: Array, eta: Array, kind: str) -> Array:
    """Residuals (n,) of a response at linear predictors."""
    if kind == "response":
        return np.asarray(y - family.mean(eta))
    if kind == "pearson":
        return family.residuals(y, eta)
    # Rounding can leave a deviance just below zero.
    size = np.sqrt(np.maximum(family.unit_deviance(y, eta), 0.0))
    return np.asarray(np.sign(y - family.mean(eta)) * size)


def observed(result: "RHTResult") -> Array:
    """The coded response (n,) of the rows of a fit."""
    y = np.asarray(result.fittedvalues + result.resid, dtype=np.float64)
    return y if result.classes is None else np.rint(y)


def residual_series(result: "RHTResult", kind: str) -> "pd.Series[float]":
    """Residuals by row label."""
    if kind == "response":
        return result.resid.copy()
    link = result.diagnostics["link"].to_numpy()
    values = residuals_of(result.made.kind, observed(result), link, kind)
    return pd.Series(values, index=result.diagnostics.index, name="resid")


def drawn(result: "RHTResult", kind: str) -> tuple[pd.DataFrame, Drawn]:
    """What the diagnostics draw of a family whose residuals have no scale: the rows, and what they are called."""
    family, name = result.made.kind, _NAMES[kind]
    link = result.diagnostics["link"].to_numpy()
    values = residual_series(result, kind)
    frame = result.diagnostics.assign(resid=values, std_resid=values)
    random = family.draw(link, np.random.default_rng(0)) is not None
    sample = partial(_sampled, family, link, kind) if random else None
    return frame, Drawn(name, name, family.mean_name, family.mean_bounds, sample)


def _sampled(family: Family, eta: Array, kind: str, rng: np.random.Generator) -> Array:
    """Residuals of a response that the model made."""
    y = family.draw(eta, rng)
    assert y is not None
    return residuals_of(family, y, eta, kind)
