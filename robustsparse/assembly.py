"""From a fit in standardized units to a labelled result on the scale of the data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from robustsparse.automatic import REJECT, Fitted, beyond_scale, residual_unit
from robustsparse.design import Dropped
from robustsparse.errors import ContaminationWarning, warn_user
from robustsparse.gradients import GradientEstimator, MedianOfMeans, Trimmed
from robustsparse.losses import Huber
from robustsparse.options import Options
from robustsparse.preparation import Prepared
from robustsparse.response import Response
from robustsparse.results import INTERCEPT, RHTResult
from robustsparse.solver import warn_unsettled

Array = NDArray[np.float64]

# Part of good rows that may lie beyond three scales of the residuals.
_GOOD_FLAGGED = 0.01
# Share of the blocks that bad rows must reach before a median of means is called broken.
_SPOILED_BLOCKS = 0.65


class ArrayMeta:
    """What a design would say of a fit to arrays."""

    spec = None
    references: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, response: Response, names: tuple[str, ...], n: int, offset: Any) -> None:
        self.response, self.names, self.offset = response, names, offset
        self.rows = pd.RangeIndex(n)
        self.dropped = Dropped(0, 0, pd.Index([]), {})


def assemble(data: Prepared, fitted: Fitted, options: Options, meta: Any) -> RHTResult:
    """The fit on the data's own scale, labelled."""
    raw, constant = data.to_data(fitted.coef)
    names = [INTERCEPT, *meta.names] if data.intercept else list(meta.names)
    params = pd.Series(
        np.append(constant, raw) if data.intercept else raw, index=names, name="coef"
    )
    frame = _row_frame(data, fitted, meta)
    _warn_if_worse(frame, options.estimator, data)
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
    )


_HISTORY = ["iteration", "change", "step", "size", "entered", "left", "loss"]


def _row_frame(data: Prepared, fitted: Fitted, meta: Any) -> pd.DataFrame:
    """Fitted values, residuals, weights and flags by row label, in the data's units."""
    eta = data.predictor(fitted.coef)
    observed = meta.response.values
    if data.binary:
        prediction = expit(eta)
        spread = np.sqrt(np.maximum(prediction * (1.0 - prediction), 1e-12))
        standard = (observed - prediction) / spread
    else:
        prediction = eta * data.unit + data.location
        standard = fitted.resid / residual_unit(data, fitted.scale)
    judged, scale = (standard, 1.0) if data.binary else (fitted.resid, fitted.scale)
    response = beyond_scale(data, judged, scale)
    far = fitted.leverage.flags
    flag = np.select([response & far, response, far], ["both", "response", "leverage"], "")
    return pd.DataFrame(
        {
            "link": eta if data.binary else prediction,
            "fitted": prediction,
            "resid": observed - prediction,
            "std_resid": standard,
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


def _warn_if_worse(frame: pd.DataFrame, estimator: GradientEstimator, data: Prepared) -> None:
    """Warn if more rows look bad than the gradient estimator was told to survive."""
    if isinstance(estimator, Trimmed):
        trimmed = estimator.count(data.n)
        # Huber's loss bounds what a response can do, whatever the gradient estimator.
        harmful = ["both"] if isinstance(data.loss, Huber) else ["response", "both"]
        bad = int(frame["flag"].isin(harmful).sum())
        # Of good rows, too, a few are beyond three scales.
        if bad <= max(trimmed, _GOOD_FLAGGED * data.n, 1):
            return
        text = f"trims {trimmed} at each end; fit again with a larger epsilon"
    elif isinstance(estimator, MedianOfMeans):
        blocks = estimator.count(data.n, data.d)
        bad = _spoiling(frame, blocks)
        if bad <= _SPOILED_BLOCKS * blocks:
            return
        text = (
            f"has {blocks} blocks and breaks when half of them hold such a row; if they are not just heavy tails, use "
            f"MedianOfMeans(blocks={4 * bad + 15}) or estimator='trim'"
        )
    else:
        return
    warn_user(
        f"{bad} of {data.n} rows do not fit the model, and the gradient estimator {text}.",
        ContaminationWarning,
    )


def _spoiling(frame: pd.DataFrame, blocks: int) -> int:
    """Number of rows that spoil a block, moving its mean by three scales alone; heavy tails have few of them."""
    return int((frame["std_resid"].abs() > REJECT * len(frame) / blocks).sum())
