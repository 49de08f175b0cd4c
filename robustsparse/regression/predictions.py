"""Predictions of new rows from the coefficients of a model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustsparse.base.checks import as_vector
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.types import Array, Indices
from robustsparse.design.labelled import is_frame, new_columns, require_same_rows
from robustsparse.regression.measures import likelier

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult


@dataclass(frozen=True, eq=False)
class NewRows:
    """New rows on the columns of a model whose coefficients are not zero.

    Attributes
    ----------
    X : array (n, used)
        The columns; not a number in rows with a missing input.
    index : Index (n,)
        Labels of the rows.
    offset : array (n,) or None
        Known part of the linear predictor.
    names : list of str
        Names of the columns.
    imputed : array (n,) or None
        How many cells of each row were imputed; None if they were not to be.
    """

    X: Array
    index: "pd.Index[Any]"
    offset: Array | None
    names: list[str]
    imputed: Indices | None = None


def used_columns(fit: "RHTResult", params: "pd.Series[float]") -> Indices:
    """Places of the columns of the design that coefficients of all terms need."""
    return np.flatnonzero(params.to_numpy()[int(fit.intercept) :])


def _names(fit: "RHTResult", used: Indices) -> list[str]:
    return list(fit.params.index[int(fit.intercept) :][used])


def new_rows(fit: "RHTResult", newdata: Any, params: "pd.Series[float]", given: Any) -> NewRows:
    """New data as a model needs them; `given` is the offset, for models that were given one as an array."""
    used = used_columns(fit, params)
    if fit.spec is not None:
        X, index = fit.spec.matrix(newdata, used)
        offset = fit.spec.offset(newdata)
    else:
        (X, index), offset = _columns(fit, newdata, used, used), None
        X[~np.isfinite(X).all(axis=1)] = np.nan
    return NewRows(X, index, _offset(fit, offset, given, index, newdata), _names(fit, used))


def imputed_rows(fit: "RHTResult", newdata: Any, params: "pd.Series[float]", given: Any) -> NewRows:
    """The same with missing cells imputed from the nearest columns."""
    imputation = require_imputation(fit)
    used = used_columns(fit, params)
    if fit.spec is not None:
        values, index = fit.spec.cells(newdata, imputation.columns, used)
        offset = fit.spec.offset(newdata)
    else:
        (values, index), offset = _columns(fit, newdata, imputation.columns, used), None
    X, imputed = imputation.fill(values, used)
    return NewRows(
        X, index, _offset(fit, offset, given, index, newdata), _names(fit, used), imputed
    )


def require_imputation(fit: "RHTResult") -> Any:
    """How missing cells of new rows are imputed; an error if the fit does not know."""
    if fit.made.imputation is None:
        raise ParameterError(
            "na_action='impute' needs a fit that knows how columns go together; fit with na_action='impute'."
        )
    return fit.made.imputation


def _columns(
    fit: "RHTResult", newdata: Any, wanted: Indices, needed: Indices
) -> tuple[Array, "pd.Index[Any]"]:
    """Columns of new rows of a fit to arrays, or to a frame of numbers, and labels of the rows."""
    names = list(fit.params.index[int(fit.intercept) :])
    return new_columns(newdata, names, fit.made.by_name, wanted, needed)


def _offset(
    fit: "RHTResult", offset: Array | None, given: Any, index: "pd.Index[Any]", newdata: Any
) -> Array | None:
    """The offset of new rows, from their data or as it is given."""
    if offset is not None and given is not None:
        raise ParameterError(
            "the offset of this model is a column, which newdata have; change it there, and leave offset= out."
        )
    if offset is None and given is not None:
        require_same_rows("offset", given, index if is_frame(newdata) else None, "newdata")
        offset = as_vector("offset", given, len(index))
    if offset is None and fit.offset_given:
        raise DataError(
            "this model was fitted with an offset given as an array, so new rows have none; pass theirs as "
            "predict(newdata, offset=...)."
        )
    return offset


def linear_predictor(
    fit: "RHTResult", rows: NewRows, params: "pd.Series[float]"
) -> "pd.Series[float]":
    """Linear predictor of new rows, by row label."""
    coef = params.to_numpy()[int(fit.intercept) :]
    eta = rows.X @ coef[np.flatnonzero(coef)] + (params.iloc[0] if fit.intercept else 0.0)
    shifted = eta if rows.offset is None else eta + rows.offset
    return pd.Series(shifted, index=rows.index, name="link")


def typed(fit: "RHTResult", eta: "pd.Series[float]", type: str) -> "pd.Series[Any]":
    """Predictions of a type from linear predictors."""
    if type == "link":
        return eta
    mean = pd.Series(
        fit.made.kind.mean(np.asarray(eta, dtype=np.float64)), index=eta.index, name="prediction"
    )
    return mean if type == "response" else likelier(mean, fit.classes)


def imputed_cells(fit: "RHTResult", rows: "pd.Index[Any]") -> Indices:
    """How many cells of the selected columns were imputed in each row (n,) of the fit itself."""
    table = fit.cells()
    labels = table.index[table["column"].isin(fit.support())]
    if not len(labels):
        return np.zeros(len(rows), dtype=np.int64)
    if not rows.is_unique:
        raise DataError(
            "rows of the fit share labels, so that it cannot be told which of them have imputed cells; pass the rows "
            "as newdata, or fit to data.reset_index(drop=True)."
        )
    return np.bincount(rows.get_indexer(labels), minlength=len(rows))
