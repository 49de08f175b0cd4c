"""What follows from the numbers of a fit: robust R², deviance explained, likelier labels, ranks of terms."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustsparse.design.response import Classes
from robustsparse.robust.scales import tau_scale

# What pandas says of its arrays.
Floats = NDArray[np.floating[Any]]


def robust_r2(observed: Floats, fitted: Floats) -> float:
    """1 - (τ of the residuals / τ of the response about its median)².

    Examples
    --------
    >>> y = np.arange(20.0)
    >>> robust_r2(y, y)
    1.0
    """
    total = tau_scale(observed - np.median(observed))
    left = tau_scale(observed - fitted) / total if total > 0 else float("nan")
    # A product can be infinite, where a power would be an error.
    return 1.0 - left * left


def deviance_explained(observed: Floats, probability: Floats, weights: Floats) -> float:
    """Share of the weighted deviance that probabilities explain beyond the weighted mean."""
    if not weights.any():
        return float("nan")
    base = np.full_like(probability, np.average(observed, weights=weights))
    total = _deviance(observed, base, weights)
    # Where only one class has weight there is nothing to explain.
    return 1.0 - _deviance(observed, probability, weights) / total if total > 0 else float("nan")


def _deviance(y: Floats, p: Floats, weights: Floats) -> float:
    right = np.clip(np.where(y == 1, p, 1.0 - p), 1e-300, 1.0)
    return float(-2.0 * (weights * np.log(right)).sum())


def path_rank(path: pd.DataFrame) -> "pd.Series[float]":
    """Rank of the terms of a path: by how many values of k keep them, then by the size of their coefficient."""
    sizes = path.abs()
    largest = sizes.to_numpy().max(initial=1e-300)
    rank: pd.Series[float] = (sizes > 0).sum(axis=1) + 0.5 * sizes.max(axis=1) / largest
    return rank


def likelier(probability: "pd.Series[float]", classes: Classes | None) -> "pd.Series[Any]":
    """The more probable of two labels, given the probability of the second; missing where that is."""
    labels = np.array([*(classes or ()), None], dtype=object)
    place = np.where(probability.isna(), 2, probability > 0.5).astype(int)
    return pd.Series(labels[place], index=probability.index, name="prediction").infer_objects()
