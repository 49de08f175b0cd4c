"""Fits to arrays: names, weights and response checked, then standardized, fitted and labelled."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from robustsparse.assembly import ArrayMeta, fit_and_assemble
from robustsparse.automatic import leverage, trust_in_rows
from robustsparse.checks import as_matrix, as_vector, check_count
from robustsparse.errors import DataError, ParameterError
from robustsparse.options import FEWEST_ROWS, for_response, make_options
from robustsparse.preparation import prepare
from robustsparse.response import Response, code_response
from robustsparse.results import INTERCEPT, RHTResult

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]


def fit_arrays(
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    family: Literal["gaussian", "binomial"] = "gaussian",
    intercept: bool = True,
    keep: Sequence[Any] | None = None,
    weights: Any = None,
    offset: Any = None,
    **arguments: Any,
) -> RHTResult:
    """Fit arrays, as `rht_fit` does, whose arguments these are."""
    options = make_options(family, **arguments)
    matrix, y, weights, offset, rows = rows_that_count(as_matrix(X), y, weights, offset)
    n, d = matrix.shape
    require_rows(n)
    labels = array_names(names, d)
    response = array_response(y, n, family)
    options = for_response(options, response.values)
    prepared = prepare(
        matrix, response.values, options.loss, how=options.how, intercept=bool(intercept),
        binary=family == "binomial",
        keep=array_keep(keep, labels), weights=weights, offset=offset,
        names=labels, threads=options.threads,
    )  # fmt: skip
    return fit_and_assemble(prepared, options, ArrayMeta(response, labels, rows, offset))


def trusted_rows(X: Any, y: Array, **arguments: Any) -> Array:
    """How far the rows (n,) of a design are to be trusted, judged on all its columns, as a fit would."""
    options = make_options(**arguments)
    prepared = prepare(
        X, y, options.loss, how=options.how, binary=options.family == "binomial",
        threads=options.threads,
    )  # fmt: skip
    return trust_in_rows(prepared, leverage(prepared), options.estimator)


def require_rows(n: int) -> None:
    """Refuse data with too few rows to tell bad ones from good ones."""
    if n < FEWEST_ROWS:
        raise DataError(f"there are {n} rows to fit; a robust fit needs at least {FEWEST_ROWS}.")


def array_names(names: Sequence[str] | None, d: int) -> tuple[str, ...]:
    """Names of the columns of an array, `x1` to `xd` if there are none."""
    if names is None:
        return tuple(f"x{j + 1}" for j in range(d))
    labels = tuple(str(name) for name in names)
    if len(labels) != d:
        raise ParameterError(f"names has {len(labels)} entries; X has {d} columns.")
    seen: set[str] = set()
    for label in labels:
        if label in seen or label == INTERCEPT:
            raise ParameterError(
                f"names holds {label!r} twice, or it is the intercept's; names must differ."
            )
        seen.add(label)
    return labels


def array_keep(keep: Sequence[Any] | None, names: tuple[str, ...]) -> NDArray[np.int64] | None:
    """Numbers of the columns that are never thresholded, given by number or name."""
    if keep is None:
        return None
    items = [keep] if isinstance(keep, str) or np.isscalar(keep) else list(keep)
    places = {name: j for j, name in enumerate(names)}
    for item in items:
        if isinstance(item, str) and item not in places:
            raise ParameterError(f"keep names {item!r}, which is no column of X.")
        if not isinstance(item, str):
            check_count("keep", item, 0, len(names) - 1)
    return np.unique([places[item] if isinstance(item, str) else int(item) for item in items])


def rows_that_count(
    X: Any, y: Any, weights: Any, offset: Any
) -> tuple[Any, Any, Array | None, Array | None, Rows]:
    """Arrays without the rows of weight 0, which have no part in a fit; weights and offset are checked.

    The last one tells of each row whether it counts.
    """
    n = X.shape[0]
    values = None if weights is None else as_vector("weights", weights, n)
    counts = np.ones(n, dtype=bool) if values is None else values > 0
    if values is not None and (values.min() < 0 or not counts.any()):
        raise DataError("weights must not be negative, and not all zero.")
    if values is not None and not counts.all():
        X = X.tocsr()[counts] if sparse.issparse(X) else X[counts]
        y, values = _part("y", y, counts), values[counts]
        offset = None if offset is None else _part("offset", offset, counts)
    return X, y, values, None if offset is None else as_vector("offset", offset, X.shape[0]), counts


def _part(name: str, values: Any, rows: Rows) -> Any:
    """Values of some rows."""
    own = values if _is_categorical(values) else np.asarray(values)
    if own.shape[:1] != rows.shape:
        raise DataError(
            f"{name} has shape {own.shape}; it needs one value for each of the {len(rows)} rows of X."
        )
    return own[rows]


def _is_categorical(values: Any) -> bool:
    return isinstance(getattr(values, "dtype", None), pd.CategoricalDtype)


def array_response(y: Any, n: int, family: Literal["gaussian", "binomial"]) -> Response:
    """Response of a fit to arrays, coded like that of a formula."""
    if family == "gaussian":
        return Response("y", as_vector("y", y, n), None)
    # The order of categories says which is the event, and an array would lose it.
    values = y if _is_categorical(y) else np.asarray(y)
    values = values.ravel() if values.ndim == 2 and 1 in values.shape else values
    if values.ndim != 1 or len(values) != n:
        raise DataError(
            f"y has shape {values.shape}; it needs one value for each of the {n} rows of X."
        )
    series = pd.Series(values).reset_index(drop=True)
    if series.isna().any():
        raise DataError(
            f"y has {int(series.isna().sum())} missing value(s); drop or impute these rows first."
        )
    return code_response(series, "y", "binomial")
