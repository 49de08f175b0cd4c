"""Fits to arrays: standardized, fitted and labelled."""

from collections.abc import Sequence
from typing import Any

from robustsparse.base.checks import (
    as_matrix,
)
from robustsparse.base.types import Array
from robustsparse.design.arrays import array_keep, array_names, require_rows, used_rows
from robustsparse.design.response import Family
from robustsparse.regression.fit.automatic import leverage, trust_in_rows
from robustsparse.regression.fit.options import for_response, make_options
from robustsparse.regression.fit.standardized import prepare
from robustsparse.regression.label import ArrayMeta, fit_and_assemble
from robustsparse.regression.result import RHTResult


def fit_arrays(
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    family: Family = "gaussian",
    intercept: bool = True,
    keep: Sequence[Any] | None = None,
    weights: Any = None,
    offset: Any = None,
    **arguments: Any,
) -> RHTResult:
    """Fit arrays, as `rht_fit` does, whose arguments these are."""
    options = make_options(family, **arguments)
    matrix = as_matrix(X)
    labels = array_names(names, matrix.shape[1])
    used = used_rows(matrix, y, weights, offset, labels, family)
    require_rows(used.X.shape[0])
    options = for_response(options, used.response.values)
    prepared = prepare(
        used.X, used.response.values, options.loss, how=options.how, intercept=bool(intercept),
        binary=family == "binomial",
        keep=array_keep(keep, labels), weights=used.weights, offset=used.offset,
        names=labels, threads=options.threads,
    )  # fmt: skip
    meta = ArrayMeta(used.response, labels, used.counts, used.offset)
    return fit_and_assemble(prepared, options, meta)


def trusted_rows(X: Any, y: Array, **arguments: Any) -> Array:
    """How far the rows (n,) of a design are to be trusted, judged on all its columns, as a fit would."""
    options = make_options(**arguments)
    prepared = prepare(
        X, y, options.loss, how=options.how, binary=options.family == "binomial",
        threads=options.threads,
    )  # fmt: skip
    return trust_in_rows(prepared, leverage(prepared), options.estimator)
