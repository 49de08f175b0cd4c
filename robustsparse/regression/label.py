"""From a fit in standardized units to a labelled result on the scale of the data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustsparse.algorithm.estimator import as_given
from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.errors import DataError
from robustsparse.base.types import Array
from robustsparse.design.design import Design
from robustsparse.design.fingerprint import Fingerprint
from robustsparse.design.frames import INTERCEPT
from robustsparse.design.groups import named
from robustsparse.regression.cells import Imputation
from robustsparse.regression.fit.contamination import BadShare
from robustsparse.regression.fit.copies import near_copies
from robustsparse.regression.fit.models import Fitted, Model, judged_residuals, response_flags
from robustsparse.regression.fit.options import Options
from robustsparse.regression.fit.rows import Leverage
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.made import Made
from robustsparse.regression.members import Member, Members
from robustsparse.regression.result import RHTResult
from robustsparse.regression.spread import spread_of
from robustsparse.regression.standard_errors import StandardErrors


def label(
    problem: Standardized,
    fitted: Fitted,
    options: Options,
    design: Design,
    share: BadShare | None,
    cells: pd.DataFrame,
    imputation: Imputation | None,
    fingerprint: Fingerprint | None,
) -> RHTResult:
    """The fit on the data's own scale, labelled."""
    solution = fitted.solution
    # What is needed to label another model later on must not hold the design.
    labels = _Labels(problem.without_rows(), design, fitted.leverage)
    errors = StandardErrors.of(options.cov, design.clusters)
    cov, df = labels.covariance(fitted.model, errors)
    result = RHTResult(
        params=labels.params(fitted.model),
        k=fitted.model.size,
        scale=labels.scale(fitted.model),
        diagnostics=labels.rows(fitted.model),
        converged=solution.converged,
        n_iter=solution.n_iter,
        history=pd.DataFrame(solution.history, columns=_HISTORY),
        path=_path_frame(fitted.path, design.names),
        cv=None if fitted.choice is None else fitted.choice.table,
        formula=None if design.spec is None else design.spec.formula,
        estimator=as_given(options.estimator),
        loss=options.loss,
        cov=cov,
        intercept=problem.intercept,
        epsilon=options.epsilon,
        bad_share=share,
        members=Members.of({}),
        made=Made(
            kind=options.family,
            select=_chosen_by(fitted, options),
            goal=fitted.goal,
            step=solution.step,
            refitted=options.refit and fitted.goal == "select",
            kept=tuple(design.names[j] for j in problem.keep if j < problem.d),
            dropped=design.dropped,
            classes=design.response.classes,
            references=dict(design.references),
            groups=named(design.groups, design.names) if fitted.goal == "select" else {},
            constant=(
                *np.array(design.names, dtype=object)[problem.scaling.constant],
                *design.single_levels,
            ),
            copies=_copies(problem, fitted, design.names) if fitted.goal == "select" else {},
            spec=design.spec,
            offset_given=design.offset is not None,
            reason=solution.reason,
            undecided=fitted.undecided and fitted.goal == "predict" and options.goal == "auto",
            taken_back=_taken_back(solution),
            cells=cells,
            imputation=imputation,
            by_name=design.by_name,
            fingerprint=fingerprint,
            errors=errors.kind,
            cluster=None
            if errors.clusters is None
            else (errors.clusters.name, errors.clusters.count),
        ),
        df_resid=df,
        spread=spread_of(problem, fitted, fitted.model),
    )

    def member(size: int, other: StandardErrors = errors) -> Member:
        model = fitted.models[size]
        cov, df = labels.covariance(model, other)
        return replace(
            result,
            params=labels.params(model),
            k=model.size,
            scale=labels.scale(model),
            diagnostics=labels.rows(model),
            cov=cov,
            df_resid=df,
            spread=spread_of(labels.problem, fitted, model),
        ).as_member()

    return replace(result, members=Members(fitted.models, member))


def _chosen_by(fitted: Fitted, options: Options) -> str:
    if fitted.choice is None:
        return "given"
    return "cv" if fitted.goal == "predict" else options.select


def _taken_back(solution: RHTFit) -> tuple[float, float] | None:
    if solution.ran_to is None:
        return None
    return solution.ran_to, float(np.linalg.norm(solution.coef[solution.support]))


def _copies(
    problem: Standardized, fitted: Fitted, names: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Names of selected terms with those that they could be exchanged for."""
    found = near_copies(problem, fitted)
    return {names[j]: tuple(names[other] for other in others) for j, others in found.items()}


_HISTORY = ["iteration", "change", "step", "size", "entered", "left", "loss"]


@dataclass(frozen=True)
class _Labels:
    """Models of one problem on the data's own scale.

    Attributes
    ----------
    problem : Standardized
        The problem, of which only the units are used.
    design : Design
        Names of columns and rows, and the response.
    far : Leverage
        How far out the rows are in the predictors.
    """

    problem: Standardized
    design: Design
    far: Leverage

    def params(self, model: Model) -> "pd.Series[float]":
        """Coefficients of all terms."""
        problem, names = self.problem, self.design.names
        raw, constant = problem.to_data(model.full(len(problem.XT)))
        if not problem.intercept:
            return pd.Series(raw, index=list(names), name="coef")
        return pd.Series(np.append(constant, raw), index=[INTERCEPT, *names], name="coef")

    def scale(self, model: Model) -> float:
        """Scale of the residuals."""
        return model.scale * self.problem.unit if self.problem.family.has_scale else 1.0

    def rows(self, model: Model) -> pd.DataFrame:
        """Fitted values, residuals, weights and flags by row label."""
        problem, design = self.problem, self.design
        with np.errstate(over="ignore"):
            link = model.eta * problem.unit + problem.location
            prediction = problem.family.mean(link)
        beyond = np.flatnonzero(~np.isfinite(prediction))
        if len(beyond):
            raise DataError(
                f"the fitted value of row {design.rows[beyond[0]]!r} is too large for a number; divide the response by "
                "a constant, or drop this row."
            )
        told = {} if model.wrong is None else {"wrong": np.array(model.wrong)}
        table = pd.DataFrame(
            {
                "link": link,
                "fitted": np.array(prediction),
                "resid": design.response.values - prediction,
                "std_resid": judged_residuals(problem, model),
                "weight": model.weights * (1.0 if problem.certainty is None else problem.certainty),
                "distance": np.array(self.far.distances),
                "distance_cutoff": self.far.cutoff,
                "flag": self._flags(model),
                **told,
            },
            index=design.rows,
            # All of them are its own; to gather them in one array would take as much memory again.
            copy=False,
        )
        return table if design.first is None else table.iloc[design.first]

    def _flags(self, model: Model) -> NDArray[np.object_]:
        """What is said of each row."""
        response, far = response_flags(self.problem, model), self.far.flags
        flag = np.full(len(far), "", dtype=object)
        flag[response], flag[far], flag[response & far] = "response", "leverage", "both"
        return flag

    def covariance(
        self, model: Model, errors: StandardErrors
    ) -> tuple[pd.DataFrame | None, float | None]:
        """Covariance of the active coefficients, and degrees of freedom of tests."""
        problem, active = self.problem, model.active
        known, df = errors.covariance(model)
        if known is None:
            return None, df
        slopes = active[active < problem.d]
        transform = np.zeros((len(active), len(active)))
        place = np.arange(len(slopes))
        transform[place, place] = problem.unit / problem.scaling.scale[slopes]
        labels = [self.design.names[j] for j in slopes]
        if problem.intercept:
            transform[-1, -1] = problem.unit
            transform[-1, place] = -transform[place, place] * problem.scaling.location[slopes]
            labels = [*labels, INTERCEPT]
        # In units that are far from one, squares can leave the range of numbers.
        with np.errstate(over="ignore", invalid="ignore"):
            cov = transform @ known @ transform.T
        return pd.DataFrame(cov, index=labels, columns=labels), df


def _path_frame(fits: dict[int, Array], names: Sequence[str]) -> pd.DataFrame:
    """Terms selected anywhere on the path, by k."""
    table = np.column_stack([coef[: len(names)] for coef in fits.values()])
    rows = np.flatnonzero((table != 0).any(axis=1))
    index = pd.Index(np.array([names[int(j)] for j in rows], dtype=object), name="term")
    return pd.DataFrame(table[rows], index=index, columns=pd.Index(list(fits), name="k"))
