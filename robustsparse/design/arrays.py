"""Arrays given for a design: names, response, weights and offset, checked."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from robustsparse.base.checks import (
    FEWEST_ROWS,
    as_array,
    as_vector,
    check_choice,
    check_count,
    check_finite_columns,
    check_weights,
)
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.text import did_you_mean, listed
from robustsparse.base.types import Array, Mask
from robustsparse.design.bases import Bases
from robustsparse.design.clusters import as_clusters
from robustsparse.design.design import Design
from robustsparse.design.frames import INTERCEPT
from robustsparse.design.gaps import NA_ACTIONS, Gaps, fill_gaps
from robustsparse.design.groups import column_groups
from robustsparse.design.labelled import labelled, require_same_rows
from robustsparse.design.response import Coding, Response
from robustsparse.design.row_audit import Dropped


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


class _Found:
    """Columns of an array by what a user may call them: a number or a name."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names, self.places = names, {name: j for j, name in enumerate(names)}

    def __call__(self, argument: str, item: Any) -> int:
        """The column that an item of an argument stands for."""
        if not isinstance(item, str):
            return check_count(argument, item, 0, len(self.names) - 1)
        if item not in self.places:
            hint = did_you_mean(item, self.names) or f"; it has {listed(self.names, quote=False)}."
            raise ParameterError(f"{argument} names {item!r}, which is no column of X{hint}")
        return self.places[item]


def kept_columns(keep: Sequence[Any] | None, names: tuple[str, ...]) -> Mask:
    """Columns (d,) that are never thresholded, given by number or name.

    Examples
    --------
    >>> kept_columns([0, "b"], ("a", "b", "c")).tolist()
    [True, True, False]
    """
    return np.zeros(len(names), dtype=bool) if keep is None else _kept(keep, _Found(names))


def _kept(keep: Sequence[Any] | None, found: _Found) -> Mask:
    """Columns (d,) that are never thresholded, given by number or name."""
    kept = np.zeros(len(found.names), dtype=bool)
    if keep is None:
        return kept
    items = [keep] if isinstance(keep, str) or np.isscalar(keep) else list(keep)
    for item in items:
        kept[found("keep", item)] = True
    return kept


def array_design(
    X: Any,
    y: Any,
    *,
    coding: Coding,
    names: Sequence[str] | None = None,
    intercept: bool = True,
    keep: Sequence[Any] | None = None,
    groups: Any = None,
    coded: Mask | None = None,
    bases: Bases | None = None,
    weights: Any = None,
    offset: Any = None,
    cluster: Any = None,
    na_action: Literal["raise", "drop", "impute"] = "raise",
) -> Design:
    """Check arrays, or a frame of numbers, and take the rows that count.

    Those of weight 0 have no part in a fit, whatever they hold.
    """
    check_choice("na_action", na_action, NA_ACTIONS)
    if getattr(X, "ndim", None) == 1 and getattr(y, "ndim", None) == 2:
        raise DataError("X is one column and y several; the design comes first: rht_fit(X, y).")
    X, given, index = labelled(X, names)
    for name, value in (("y", y), ("weights", weights), ("offset", offset)):
        require_same_rows(name, value, index)
    n, d = X.shape
    labels = array_names(given, d)
    values = None if weights is None else as_vector("weights", weights, n)
    if values is not None:
        check_weights(values, range(n) if index is None else index)
    counted = np.ones(n, dtype=bool) if values is None else values > 0
    counts = counted if na_action == "raise" else counted & _present(X, y, na_action)
    if not counts.all():
        X = X.tocsr()[counts] if sparse.issparse(X) else X[counts]
        if not sparse.issparse(X) and na_action == "raise":
            check_finite_columns(X.T, 0, labels, np.flatnonzero(counts))
    X, gaps = _without_gaps(X, labels) if na_action == "impute" else (X, None)
    rows = pd.RangeIndex(n) if index is None else index
    found = _Found(labels)
    kept = _kept(keep, found)
    return Design(
        X=X,
        response=array_response(y, counts, coding),
        names=labels,
        intercept=bool(intercept),
        rows=rows if counts.all() else rows[counts],
        dropped=Dropped(
            int((counted & ~counts).sum()), 0, rows[~counts], {}, int((~counted).sum())
        ),
        weights=None if values is None else values[counts],
        offset=None if offset is None else _numbers("offset", offset, counts),
        keep=kept,
        coded=coded,
        bases=None if bases is None else bases.rows(counts),
        gaps=gaps,
        clusters=None if cluster is None else as_clusters(cluster, n, index).rows(counts),
        by_name=given is not None,
        groups=column_groups(groups, labels, lambda item: [found("groups", item)], kept),
    )


def _present(X: Any, y: Any, na_action: str) -> Mask:
    """Rows that can be used: the response is there, and unless they are to be imputed the predictors are."""
    given = y if isinstance(y, pd.Series) else pd.Series(np.asarray(y).ravel())
    there = given.notna().to_numpy()
    if given.dtype.kind == "f":
        there = there & np.isfinite(given.to_numpy())
    if len(there) != X.shape[0]:
        # Said better where the response is read.
        return np.ones(X.shape[0], dtype=bool)
    if sparse.issparse(X):
        broken = np.unique(X.tocoo().row[~np.isfinite(X.tocoo().data)])
        if len(broken) and na_action == "impute":
            raise DataError("X is sparse and has missing values; make it dense to impute them.")
        return np.where(np.isin(np.arange(len(there)), broken), False, there)
    if na_action == "impute":
        empty = np.asarray(~np.isfinite(X).any(axis=1))
    else:
        empty = np.asarray(~np.isfinite(X).all(axis=1))
    return np.asarray(there & ~empty)


def _without_gaps(X: Any, names: Sequence[str]) -> tuple[Any, Gaps]:
    """A copy of X with stand-ins for missing cells, and where these are; X itself if there are none."""
    nowhere = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if sparse.issparse(X) or np.isfinite(X).all():
        return X, nowhere
    precision: Any = np.float32 if X.dtype == np.float32 else np.float64
    flipped: Array = np.array(X.T, dtype=precision, order="C")
    gaps = fill_gaps(flipped, names)
    return flipped.T, gaps


def _numbers(name: str, values: Any, counts: Mask) -> Array:
    """Finite values of the rows that count."""
    given = as_array(name, values)
    given = given.ravel() if given.ndim == 2 and 1 in given.shape else given
    if given.shape == counts.shape and not counts.all():
        # Zeros in the place of the others, so that errors name rows as the caller counts them.
        given = given.copy()
        given[~counts] = 0
    return as_vector(name, given, len(counts))[counts]


def array_response(y: Any, counts: Mask, coding: Coding) -> Response:
    """Response of the rows that count, coded like that of a formula."""
    values = pd.Series(_numbers("y", y, counts)) if coding.numeric else _labels(y, counts)
    return coding.code(values, "y")


def _labels(y: Any, counts: Mask) -> "pd.Series[Any]":
    """Labels of the rows that count."""
    # The order of categories says which is the event, and an array would lose it, as it would a mask.
    own = isinstance(getattr(y, "dtype", None), pd.CategoricalDtype) or np.ma.isMaskedArray(y)
    values = pd.Series(y) if own else np.asarray(y)
    values = values.ravel() if values.ndim == 2 and 1 in values.shape else values
    if values.shape != counts.shape:
        raise DataError(
            f"y has shape {values.shape}; it needs one value for each of the {len(counts)} rows of X."
        )
    series = pd.Series(values[counts]).reset_index(drop=True)
    if series.isna().any():
        raise DataError(
            f"y has {int(series.isna().sum())} missing value(s); drop or impute these rows first."
        )
    return series
