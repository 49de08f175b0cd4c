"""Cells that are missing or wrong: found, set to what the nearest columns tell, and trusted as far as these do."""

from dataclasses import dataclass, replace

import numpy as np

from robustsparse.base.types import Array, Indices, Mask
from robustsparse.design.gaps import Gaps
from robustsparse.regression.arguments import Cells
from robustsparse.regression.fit.models import Model
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.robust.imputation import Imputer
from robustsparse.robust.scales import MAD_TO_SD
from robustsparse.robust.standardize import standardize, two_valued
from robustsparse.robust.wrong_cells import single_errors, too_many

# The noise is this share of what a first fit leaves, at least, and is looked for by so many halvings.
_LEAST_NOISE, _HALVINGS = 0.01, 20
# What an exact fit has for noise, in squared scales of the response: products of such numbers are above zero.
_NO_NOISE = 1e-140
# Variance of the logistic distribution: how uncertain a label is whose linear predictor is known.
_LABEL_VARIANCE = np.pi**2 / 3.0


@dataclass(frozen=True, eq=False)
class Mended:
    """Cells that were filled, in units of the standardized design.

    Attributes
    ----------
    row, column : array of int (c,)
        Where they are.
    filled, error : array (c,)
        What they were set to, and the standard deviation of what that is off by.
    missing : bool array (c,)
        Whether the cell was missing; else it was judged wrong.
    """

    row: Indices
    column: Indices
    filled: Array
    error: Array
    missing: Mask


def mend(
    problem: Standardized, gaps: Gaps | None, cells: Cells, coded: Mask | None
) -> Mended | None:
    """Fill missing cells, and those that are judged wrong, in the memory of the problem; None if there are none.

    Parameters
    ----------
    problem : Standardized
        The problem, whose design is changed in place.
    gaps : pair of arrays or None
        Rows and columns of missing cells.
    cells : bool or "auto"
        Whether wrong cells are looked for.
    coded : bool array (d,) or None
        Columns that were made of others, in which no cell is judged by itself.
    """
    missing = gaps is not None and len(gaps[0]) > 0
    if not missing and (
        cells is False or (cells == "auto" and not too_many(problem.XT[: problem.d]))
    ):
        return None
    Z, location, scale = _robust_scores(problem)
    doubtful = np.zeros(Z.shape, dtype=bool)
    if gaps is not None:
        doubtful[gaps[1], gaps[0]] = True
    if cells is not False:
        doubtful |= _wrong(problem, Z, doubtful, coded, suspected=cells is True)
    columns = np.flatnonzero(doubtful.any(axis=1))
    if not len(columns):
        return None
    column, row, filled, error = Imputer.of(Z, doubtful, columns).fill(Z, doubtful)
    filled, error = location[column] + scale[column] * filled, scale[column] * error
    was_missing = np.zeros(Z.shape, dtype=bool)
    if gaps is not None:
        was_missing[gaps[1], gaps[0]] = True
    problem.XT[column, row] = filled
    return Mended(row, column, filled, error, was_missing[column, row])


def _robust_scores(problem: Standardized) -> tuple[Array, Array, Array]:
    """Predictors with median 0 and MAD 1, with their location and scale in units of the problem."""
    XT = problem.XT[: problem.d]
    if problem.intercept and problem.by_mad:
        return XT, np.zeros(len(XT)), np.ones(len(XT))
    Z, scaling = standardize(XT.T, "mad")
    return Z, scaling.location, scaling.scale


def _wrong(
    problem: Standardized, Z: Array, missing: Mask, coded: Mask | None, *, suspected: bool
) -> Mask:
    """Cells that are errors, in columns of numbers."""
    wrong = single_errors(Z, suspected=suspected) & ~missing
    some = np.flatnonzero(wrong.any(axis=1))
    if len(some):
        part = Z[some]
        wrong[some[two_valued(part, part.min(axis=1), part.max(axis=1))]] = False
    if coded is not None:
        wrong[coded] = False
    return wrong


def less_certain(problem: Standardized, mended: Mended, model: Model) -> Standardized:
    """The problem with rows that count for less where a model rests on cells that were filled.

    What a filled cell is off by adds to the residual; a row's weight is the share of its variance that is not due to
    that.
    """
    coef = model.full(len(problem.XT))
    variance = np.zeros(problem.n)
    np.add.at(variance, mended.row, (coef[mended.column] * mended.error) ** 2)
    usual = _noise_variance(model, variance) if problem.family.has_scale else _LABEL_VARIANCE
    certainty = usual / (usual + variance)
    return replace(problem.weighted_by(certainty), certainty=certainty)


def _noise_variance(model: Model, variance: Array) -> float:
    """Variance of residuals beside that of filled cells: with both, half of the residuals are within 0.67 spreads."""

    def too_small(own: float) -> bool:
        return bool(np.median(np.abs(model.resid) / np.sqrt(own + variance)) * MAD_TO_SD > 1.0)

    high = max(model.scale**2, _NO_NOISE)
    low = _LEAST_NOISE * high
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return high


def path_imputer(
    problem: Standardized, mended: Mended | None, path: dict[int, Array]
) -> tuple[Imputer, Indices]:
    """What fills the columns of a path in new rows, in the data's units, with the columns that it reads."""
    Z, location, scale = _robust_scores(problem)
    doubtful = np.zeros(Z.shape, dtype=bool)
    if mended is not None:
        doubtful[mended.column, mended.row] = True
    used = np.any([coef[: problem.d] != 0 for coef in path.values()], axis=0)
    used[problem.keep[problem.keep < problem.d]] = True
    imputer = Imputer.of(Z, doubtful, np.flatnonzero(used))
    units = problem.scaling
    few, read = imputer.in_units(units.location + units.scale * location, units.scale * scale).part(
        np.flatnonzero(used)
    )
    return few, read


def without_gaps(X: Array, gaps: Gaps | None) -> Array:
    """A design (n, d) whose missing cells are imputed once, for fits to parts of its rows."""
    if gaps is None or not len(gaps[0]):
        return X
    Z, scaling = standardize(X, "mad")
    doubtful = np.zeros(Z.shape, dtype=bool)
    doubtful[gaps[1], gaps[0]] = True
    column, row, filled, _ = Imputer.of(Z, doubtful, np.unique(gaps[1])).fill(Z, doubtful)
    flipped = np.array(X.T)
    flipped[column, row] = scaling.location[column] + scaling.scale[column] * filled
    return flipped.T
