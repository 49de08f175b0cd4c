"""From a fit in standardized units to a labelled result on the scale of the data."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from robustsparse.algorithm.estimator import as_given
from robustsparse.base.errors import DataError
from robustsparse.base.types import Array
from robustsparse.design.design import Design
from robustsparse.design.frames import INTERCEPT
from robustsparse.regression.fit.contamination import BadShare
from robustsparse.regression.fit.copies import near_copies
from robustsparse.regression.fit.fitted import Fitted, response_flags, standard_residuals
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.made import Made
from robustsparse.regression.result import RHTResult


def label(
    problem: Standardized,
    fitted: Fitted,
    options: Options,
    design: Design,
    share: BadShare | None = None,
) -> RHTResult:
    """The fit on the data's own scale, labelled."""
    raw, constant = problem.to_data(fitted.coef)
    names = [INTERCEPT, *design.names] if problem.intercept else list(design.names)
    params = pd.Series(
        np.append(constant, raw) if problem.intercept else raw, index=names, name="coef"
    )
    solution = fitted.solution
    return RHTResult(
        params=params,
        k=len(solution.support),
        scale=fitted.scale * problem.unit if options.family.has_scale else 1.0,
        diagnostics=_row_frame(problem, fitted, design),
        converged=solution.converged,
        n_iter=solution.n_iter,
        history=pd.DataFrame(solution.history, columns=_HISTORY),
        path=_path_frame(fitted.path, design.names),
        cv=None if fitted.choice is None else fitted.choice.table,
        formula=None if design.spec is None else design.spec.formula,
        estimator=as_given(options.estimator),
        loss=options.loss,
        cov=_covariance(problem, fitted, design.names),
        intercept=problem.intercept,
        epsilon=options.epsilon,
        bad_share=share,
        made=Made(
            kind=options.family,
            select=_chosen_by(fitted, options),
            goal=options.goal,
            step=solution.step,
            refitted=options.refit and options.goal == "select",
            kept=tuple(design.names[j] for j in problem.keep if j < problem.d),
            dropped=design.dropped,
            classes=design.response.classes,
            references=dict(design.references),
            constant=tuple(np.array(design.names, dtype=object)[problem.scaling.constant]),
            copies=_copies(problem, fitted, design.names) if options.goal == "select" else {},
            spec=design.spec,
            offset_given=design.offset is not None,
        ),
    )


def _chosen_by(fitted: Fitted, options: Options) -> str:
    if fitted.choice is None:
        return "given"
    return "cv" if options.goal == "predict" else options.select


def _copies(
    problem: Standardized, fitted: Fitted, names: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Names of selected terms with those that they could be exchanged for."""
    found = near_copies(problem, fitted)
    return {names[j]: tuple(names[other] for other in others) for j, others in found.items()}


_HISTORY = ["iteration", "change", "step", "size", "entered", "left", "loss"]


def _row_frame(problem: Standardized, fitted: Fitted, design: Design) -> pd.DataFrame:
    """Fitted values, residuals, weights and flags by row label, in the data's units."""
    with np.errstate(over="ignore"):
        link = problem.predictor(fitted.coef) * problem.unit + problem.location
        prediction = problem.family.mean(link)
    beyond = np.flatnonzero(~np.isfinite(prediction))
    if len(beyond):
        raise DataError(
            f"the fitted value of row {design.rows[beyond[0]]!r} is too large for a number; divide the response by a "
            "constant, or drop this row."
        )
    response, far = response_flags(problem, fitted), fitted.leverage.flags
    flag = np.select([response & far, response, far], ["both", "response", "leverage"], "")
    return pd.DataFrame(
        {
            "link": link,
            "fitted": prediction,
            "resid": design.response.values - prediction,
            "std_resid": standard_residuals(problem, fitted),
            "weight": fitted.weights,
            "distance": fitted.leverage.distances,
            "distance_cutoff": fitted.leverage.cutoff,
            "flag": flag.astype(object),
        },
        index=design.rows,
    )


def _path_frame(fits: dict[int, Array], names: Sequence[str]) -> pd.DataFrame:
    """Terms selected anywhere on the path, by k."""
    table = np.column_stack([coef[: len(names)] for coef in fits.values()])
    rows = np.flatnonzero((table != 0).any(axis=1))
    index = pd.Index(np.array([names[int(j)] for j in rows], dtype=object), name="term")
    return pd.DataFrame(table[rows], index=index, columns=pd.Index(list(fits), name="k"))


def _covariance(problem: Standardized, fitted: Fitted, names: Sequence[str]) -> pd.DataFrame | None:
    """Covariance of the active coefficients on the data's own scale."""
    if fitted.cov is None:
        return None
    active = fitted.active
    slopes = active[active < problem.d]
    transform = np.zeros((len(active), len(active)))
    place = np.arange(len(slopes))
    transform[place, place] = problem.unit / problem.scaling.scale[slopes]
    labels = [names[j] for j in slopes]
    if problem.intercept:
        transform[-1, -1] = problem.unit
        transform[-1, place] = -transform[place, place] * problem.scaling.location[slopes]
        labels = [*labels, INTERCEPT]
    # In units that are far from one, squares can leave the range of numbers.
    with np.errstate(over="ignore", invalid="ignore"):
        cov = transform @ fitted.cov @ transform.T
    return pd.DataFrame(cov, index=labels, columns=labels)
