"""From a fit in standardized units to a labelled result on the scale of the data."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from robustsparse.algorithm.solver import warn_unsettled
from robustsparse.base.types import Array, Mask
from robustsparse.design.frames import INTERCEPT, Dropped
from robustsparse.design.response import Response
from robustsparse.regression.fit.as_printed import fit_prepared
from robustsparse.regression.fit.automatic import Fitted, response_flags, standard_residuals
from robustsparse.regression.fit.contamination import estimate_epsilon, warn_if_worse
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.standardized import Prepared
from robustsparse.regression.result import RHTResult


class ArrayMeta:
    """What a design would say of a fit to arrays."""

    spec = None
    references: dict[str, object] = {}  # noqa: RUF012

    def __init__(
        self, response: Response, names: tuple[str, ...], counts: Mask, offset: Any
    ) -> None:
        self.response, self.names, self.offset = response, names, offset
        rows = pd.RangeIndex(len(counts))
        self.rows = rows if counts.all() else rows[counts]
        self.dropped = Dropped(0, 0, rows[~counts], {}, int((~counts).sum()))


def fit_and_assemble(data: Prepared, options: Options, meta: Any) -> RHTResult:
    """The whole fit of a standardized problem, on the data's own scale, labelled."""
    settled, share = estimate_epsilon(data, options)
    fitted = fit_prepared(data, settled)
    return replace(assemble(data, fitted, settled, meta), bad_share=share)


def assemble(data: Prepared, fitted: Fitted, options: Options, meta: Any) -> RHTResult:
    """The fit on the data's own scale, labelled."""
    raw, constant = data.to_data(fitted.coef)
    names = [INTERCEPT, *meta.names] if data.intercept else list(meta.names)
    params = pd.Series(
        np.append(constant, raw) if data.intercept else raw, index=names, name="coef"
    )
    frame = _row_frame(data, fitted, meta)
    warn_if_worse(data, fitted, options)
    solution = fitted.solution
    warn_unsettled(solution)
    forced = [meta.names[j] for j in data.keep if j < data.d]
    return RHTResult(
        params=params,
        k=len(solution.support),
        nobs=data.n,
        fittedvalues=frame["fitted"].rename("fitted"),
        resid=frame["resid"].rename("resid"),
        scale=1.0 if data.binary else fitted.scale * data.unit,
        row_weights=frame["weight"].rename("weight"),
        diagnostics=frame,
        converged=solution.converged,
        n_iter=solution.n_iter,
        history=pd.DataFrame(solution.history, columns=_HISTORY),
        path=_path_frame(fitted.path, meta.names),
        cv=None if fitted.choice is None else fitted.choice.table,
        formula=None if meta.spec is None else meta.spec.formula,
        family=options.family,
        estimator=options.estimator,
        loss=options.loss,
        cov=_covariance(data, fitted, meta.names),
        select="given" if fitted.choice is None else options.select,
        step=solution.step,
        refitted=options.refit,
        kept=tuple(forced),
        dropped=meta.dropped,
        classes=meta.response.classes,
        references=dict(meta.references),
        constant=tuple(np.array(meta.names, dtype=object)[data.scaling.constant]),
        spec=meta.spec,
        offset_given=meta.offset is not None,
        intercept=data.intercept,
        epsilon=options.epsilon,
    )


_HISTORY = ["iteration", "change", "step", "size", "entered", "left", "loss"]


def _row_frame(data: Prepared, fitted: Fitted, meta: Any) -> pd.DataFrame:
    """Fitted values, residuals, weights and flags by row label, in the data's units."""
    eta = data.predictor(fitted.coef)
    observed = meta.response.values
    prediction = expit(eta) if data.binary else eta * data.unit + data.location
    response, far = response_flags(data, fitted), fitted.leverage.flags
    flag = np.select([response & far, response, far], ["both", "response", "leverage"], "")
    return pd.DataFrame(
        {
            "link": eta if data.binary else prediction,
            "fitted": prediction,
            "resid": observed - prediction,
            "std_resid": standard_residuals(data, fitted),
            "weight": fitted.weights,
            "distance": fitted.leverage.distances,
            "distance_cutoff": fitted.leverage.cutoff,
            "flag": flag.astype(object),
        },
        index=meta.rows,
    )


def _path_frame(fits: dict[int, Array], names: Sequence[str]) -> pd.DataFrame:
    """Terms selected anywhere on the path, by k."""
    table = np.column_stack([coef[: len(names)] for coef in fits.values()])
    rows = np.flatnonzero((table != 0).any(axis=1))
    index = pd.Index(np.array([names[int(j)] for j in rows], dtype=object), name="term")
    return pd.DataFrame(table[rows], index=index, columns=pd.Index(list(fits), name="k"))


def _covariance(data: Prepared, fitted: Fitted, names: Sequence[str]) -> pd.DataFrame | None:
    """Covariance of the active coefficients on the data's own scale."""
    if fitted.cov is None:
        return None
    active = fitted.active
    slopes = active[active < data.d]
    transform = np.zeros((len(active), len(active)))
    place = np.arange(len(slopes))
    transform[place, place] = data.unit / data.scaling.scale[slopes]
    labels = [names[j] for j in slopes]
    if data.intercept:
        transform[-1, -1] = data.unit
        transform[-1, place] = -transform[place, place] * data.scaling.location[slopes]
        labels = [*labels, INTERCEPT]
    # In units that are far from one, squares can leave the range of numbers.
    with np.errstate(over="ignore", invalid="ignore"):
        cov = transform @ fitted.cov @ transform.T
    return pd.DataFrame(cov, index=labels, columns=labels)
