"""Data with what a fit says of each row beside them."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from robustsparse.base.errors import DataError, UnseenLevelError
from robustsparse.base.text import listed
from robustsparse.base.types import Mask, Places
from robustsparse.design.fingerprint import column_numbers
from robustsparse.design.frames import as_frame
from robustsparse.regression.residuals import observed

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult

# Columns of the diagnostics and what they are called beside those of the data.
_ADDED = {
    "fitted": ".fitted",
    "resid": ".resid",
    "std_resid": ".std_resid",
    "weight": ".weight",
    "flag": ".flag",
}
# A response that is not the same to so many digits is another one.
_SAME = 1e-9


def augmented(fit: "RHTResult", data: dict[str, Any]) -> pd.DataFrame:
    """A frame of the data of a fit, given as arguments of its call, with what the fit says of each row."""
    frame = _frame(fit, data)
    taken = [name for name in (*_ADDED.values(), ".outlier") if name in frame]
    if taken:
        raise DataError(f"the data have a column {taken[0]!r} already; rename it.")
    rows = _aligned(fit, frame)
    _check_predictors(fit, data, frame)
    added = rows[list(_ADDED)].rename(columns=_ADDED)
    flag = added[".flag"]
    added[".outlier"] = (flag != "").astype("boolean").where(flag.notna())
    return pd.concat([frame, added.set_axis(frame.index)], axis=1)


def _frame(fit: "RHTResult", data: dict[str, Any]) -> pd.DataFrame:
    """The data as a frame; of an array the selected columns, since there may be many."""
    if fit.spec is not None:
        return as_frame(data["data"])
    y = np.asarray(data["y"]).ravel()
    if fit.made.by_name and hasattr(data["X"], "columns"):
        return as_frame(data["X"]).assign(y=y)
    places = fit.params.index.get_indexer(pd.Index(fit.support())) - int(fit.intercept)
    X = data["X"][:, places]
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return pd.DataFrame(dense, columns=fit.support()).assign(y=y)


def _aligned(fit: "RHTResult", frame: pd.DataFrame) -> pd.DataFrame:
    """Diagnostics for each row of a frame, missing for rows that the fit did not use."""
    rows = fit.diagnostics
    if not rows.index.equals(frame.index):
        if not frame.index.is_unique:
            raise DataError(
                "rows of the data share labels, and not all of them were used, so that it cannot be told which; fit to "
                "data.reset_index(drop=True)."
            )
        lost = rows.index.difference(frame.index, sort=False)
        if len(lost):
            raise DataError(
                f"the data lack rows of the fit, the first being {lost[0]!r}; pass the data of the fit."
            )
    table = rows if rows.index.equals(frame.index) else rows.reindex(frame.index)
    _check_response(fit, frame, table["fitted"].notna().to_numpy())
    return table


def _check_response(fit: "RHTResult", frame: pd.DataFrame, used: Mask) -> None:
    """Raise if the response is not that of the fit."""
    now = fit._observed(frame, None if fit.spec is not None else frame["y"])[used]
    then, labels = observed(fit), frame.index[used]
    if not labels.equals(fit.diagnostics.index):
        then = then[fit.diagnostics.index.get_indexer(labels)]
    other = np.flatnonzero(~np.isclose(now, then, rtol=_SAME, atol=_SAME * fit.scale))
    if len(other):
        first = other[0]
        raise DataError(
            f"the data are not those of the fit: the response of row {labels[first]!r} is {now[first]:g}, and was "
            f"{then[first]:g}. Pass the data of the fit; predict() is for others."
        )


def _check_predictors(fit: "RHTResult", data: dict[str, Any], frame: pd.DataFrame) -> None:
    """Raise if predictors are not those of the fit, selected or not."""
    before = fit.made.fingerprint
    # Cells that were imputed are no part of the data, and what earlier versions fitted to is not known.
    if before is None or fit.made.imputation is not None:
        return
    X = _predictors(fit, data, frame, _places(fit, frame))
    if X is None or X.shape[1] != len(before.columns):
        return
    names = fit.params.index[int(fit.intercept) :]
    changed = list(names[column_numbers(X) != before.columns])
    if changed:
        raise DataError(
            f"the data are not those of the fit: they differ in {listed(changed, quote=False)}. Pass the data of the "
            "fit; predict() is for others."
        )


def _places(fit: "RHTResult", frame: pd.DataFrame) -> Places:
    """Where the rows of the fit, in their order, are in a frame."""
    rows = fit.diagnostics.index
    return np.arange(len(rows)) if rows.equals(frame.index) else frame.index.get_indexer(rows)


def _predictors(fit: "RHTResult", data: dict[str, Any], frame: pd.DataFrame, places: Places) -> Any:
    """The design of the rows of the fit, of the data given; None of arrays that are not in memory."""
    if fit.spec is not None:
        try:
            # All rows, since a term may look at others, as lag(x) does.
            return fit.spec.matrix(frame)[0][places]
        except UnseenLevelError:
            return fit.spec.matrix(frame.iloc[places])[0]
    if fit.made.by_name and hasattr(data["X"], "columns"):
        names = fit.params.index[int(fit.intercept) :]
        return as_frame(data["X"]).rename(columns=str)[list(names)].to_numpy()[places]
    X = data["X"]
    if sparse.issparse(X):
        return X.tocsr()[places]
    return X[places] if isinstance(X, np.ndarray) else None
