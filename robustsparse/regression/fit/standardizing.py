"""From raw arrays to a standardized problem."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robustsparse.algorithm.losses import Loss
from robustsparse.base.checks import LARGEST
from robustsparse.base.errors import DataError
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.design.bases import Bases
from robustsparse.regression.family import Family
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.robust.scales import ROUNDED_MAD_TO_SD
from robustsparse.robust.standardize import Scaling, standardize


def standardized(
    X: Any,
    y: Array,
    loss: Loss,
    *,
    family: Family,
    how: str,
    intercept: bool = True,
    keep: Indices | None = None,
    weights: Array | None = None,
    offset: Array | None = None,
    groups: Indices | None = None,
    coded: Mask | None = None,
    bases: Bases | None = None,
    names: Sequence[str] | None = None,
    threads: int = 1,
) -> Standardized:
    """Standardize a design and its response.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
        Design, without a column of ones.
    y : array (n,)
        Response (0/1 for the logistic loss).
    loss : Loss
        Loss; the response is scaled only if it says that this just scales the loss.
    family : Family
        Kind of response.
    how : str
        Scale of the columns, see `standardize`.
    intercept : bool
        Whether to add an intercept; without one nothing is centered.
    keep : array of int, optional
        Columns that are never thresholded.
    weights, offset : array (n,), optional
        Multipliers of the rows; known part of the predictor.
    groups : array of int (d,), optional
        Number of each column's group, see `Standardized`.
    coded : bool array (d,), optional
        Columns that were made of others, see `standardize`.
    bases : Bases, optional
        Variables of splines and polynomials.
    names : sequence of str, optional
        Column names for error messages.
    threads : int
        Threads for large designs.
    """
    # Scaled values of single precision are as good as the data were, and take half the memory.
    precision = np.float32 if X.dtype == np.float32 else np.float64
    XT, scaling = standardize(
        X, how, center=intercept, ones=intercept, names=names, threads=threads, dtype=precision,
        coded=coded,
    )  # fmt: skip
    problem = with_response(
        XT, scaling, y, loss, family=family, how=how, intercept=intercept, keep=keep, weights=weights,
        offset=offset, groups=groups, names=names,
    )  # fmt: skip
    if bases is None:
        return problem
    variables = standardize(bases.variables, how, dtype=precision)[0]
    return replace(problem, spread=bases.columns, variables=variables)


def with_response(
    XT: Array,
    scaling: Scaling,
    y: Array,
    loss: Loss,
    *,
    family: Family,
    how: str,
    intercept: bool = True,
    keep: Indices | None = None,
    weights: Array | None = None,
    offset: Array | None = None,
    groups: Indices | None = None,
    names: Sequence[str] | None = None,
) -> Standardized:
    """The problem of a standardized design, which has its column of ones, and a response; see `standardized`."""
    target = y if offset is None else y - offset
    location, unit = _response_scale(target, loss, intercept) if family.has_scale else (0.0, 1.0)
    check_units(scaling, unit, names)
    forced = np.zeros(0, dtype=np.int64) if keep is None else np.asarray(keep, dtype=np.int64)
    forced = forced[~scaling.constant[forced]]
    if intercept:
        forced = np.append(forced, XT.shape[0] - 1)
    scaled_offset = None if offset is None else offset / unit
    return Standardized(
        XT, (y - location) / unit, loss, scaling, location, unit, intercept, forced,
        _relative(weights), scaled_offset, family, groups, by_mad=how == "mad",
    )  # fmt: skip


def check_units(scaling: Scaling, unit: float, names: Sequence[str] | None) -> None:
    """Raise if a coefficient of size one would be no number in the data's own units."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = unit / scaling.scale * np.maximum(np.abs(scaling.location), 1.0)
    beyond = np.flatnonzero(~(largest <= LARGEST) & ~scaling.constant)
    if len(beyond):
        place = int(beyond[0])
        name = f"x{place + 1}" if names is None else names[place]
        raise DataError(
            f"column {name!r} of X is so small beside the response (their scales are {scaling.scale[place]:.3g} and "
            f"{unit:.3g}) that its coefficient cannot be written as a number; multiply the column by a constant."
        )


def require_variation(
    scaling: Scaling, names: Sequence[str], single: Mapping[str, object] | None = None
) -> None:
    """Raise if all predictors are the same in all rows; `single` are factors with one level, which have no column."""
    single = single or {}
    if not scaling.constant.all() or not len(scaling.constant) + len(single):
        return
    told = [f"{name!r} is {value:.6g}" for name, value in zip(names, scaling.location, strict=True)]
    told += [f"{name!r} has one level, {level!r}" for name, level in single.items()]
    raise DataError(
        "every predictor is constant in the rows in use, so there is nothing to select from: "
        f"{listed(told, quote=False)}. Add columns that vary, or look at the rows that were left out, if any were."
    )


def _response_scale(y: Array, loss: Loss, intercept: bool) -> tuple[float, float]:
    """Location and scale of a response whose loss scales with it; (0, 1) otherwise."""
    if not getattr(loss, "scales_with_response", False):
        return 0.0, 1.0
    location = float(np.median(y)) if intercept else 0.0
    deviation = np.abs(y - location)
    # A response with most values equal has no MAD; its mean deviation will do, or 1 if it is
    # constant.
    mad = float(np.median(deviation)) * ROUNDED_MAD_TO_SD
    return location, mad or float(deviation.mean()) or 1.0


def _relative(weights: Array | None) -> Array | None:
    """Weights with mean one, so that losses stay comparable with unweighted ones."""
    return None if weights is None else weights / weights.mean()
