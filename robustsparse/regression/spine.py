"""How a fit is made: design, standardize, mend, choose, refit, label."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from robustsparse.algorithm.solver import warn_unsettled
from robustsparse.base.errors import (
    DataWarning,
    FormulaError,
    ParameterError,
    SelectionWarning,
    warn_user,
)
from robustsparse.base.text import listed
from robustsparse.base.threads import one_blas_thread
from robustsparse.base.types import Array
from robustsparse.design.arrays import array_design, require_rows
from robustsparse.design.bases import Bases
from robustsparse.design.design import Design
from robustsparse.design.fingerprint import Fingerprint
from robustsparse.design.frames import INTERCEPT
from robustsparse.design.gaps import LARGE_SHARE
from robustsparse.design.groups import group_ids
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.cells import Imputation, cell_table
from robustsparse.regression.fit.contamination import estimate_epsilon, warn_if_worse
from robustsparse.regression.fit.fit import fit_standardized
from robustsparse.regression.fit.mending import Mended, less_certain, mend, path_imputer
from robustsparse.regression.fit.models import Fitted
from robustsparse.regression.fit.options import Options, for_response, make_options
from robustsparse.regression.fit.rows import leverage, trust_in_rows
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.regression.fit.standardizing import require_variation, standardized
from robustsparse.regression.label import label
from robustsparse.regression.result import RHTResult
from robustsparse.regression.standard_errors import StandardErrors, require_order_of_time


def fit_formula(
    formula: str, data: Any, asked: Arguments, *, intercept: bool | None = None, **of_rows: Any
) -> RHTResult:
    """Fit a formula to a data frame; `of_rows` are the arguments of `rht` that a design is built with."""
    # Imported where it is used: fits to arrays need not wait for formulaic.
    from robustsparse.design.build import build_design

    options = make_options(asked)
    coding = options.family.coding
    # Nobody here holds the design, which can go once it is standardized.
    return told(
        design_outcome(build_design(formula, data, family=coding, **of_rows), options, intercept)
    )


def fit_arrays(X: Any, y: Any, asked: Arguments, **of_rows: Any) -> RHTResult:
    """Fit arrays; `of_rows` are the arguments of `rht_fit` that a design is built with."""
    options = make_options(asked)
    return told(
        design_outcome(array_design(X, y, coding=options.family.coding, **of_rows), options)
    )


def design_outcome(
    design: Design,
    options: Options,
    intercept: bool | None = None,
    fingerprint: Fingerprint | None = None,
) -> "Outcome":
    """The whole fit with what it was made of, nothing said of it yet.

    `intercept` overrules the design's own, and `fingerprint` is that of the data if they were given otherwise.
    """
    # Most products are of a few columns: on a core that is not free BLAS threads would wait for each other far longer
    # than the products take.
    with one_blas_thread():
        require_rows(len(design.rows))
        check_errors(design, options)
        _warn_of_loss(design)
        warn_of_constant(design)
        own = design.intercept if intercept is None else intercept
        problem = _standardized(design, options, own)
        require_variation(problem.scaling, design.names, design.single_levels)
        if options.refit:
            problem = _without_wide_terms(problem, design)
        mended = mend(problem, design.gaps, options.cells, design.coded)
        cells = cell_table(problem, design, mended)
        # The standardized copy is all that the fit needs; the design itself can go, under this name as well.
        fingerprint = fingerprint or Fingerprint.of(design)
        design = design.without_matrix()
        return fit_problem(problem, design, options, mended, cells, fingerprint)


@dataclass(frozen=True)
class Outcome:
    """A fit in the data's units and in those of the problem, with the options that it came to."""

    result: RHTResult
    problem: Standardized
    fitted: Fitted
    options: Options


def fit_problem(
    problem: Standardized,
    design: Design,
    options: Options,
    mended: Mended | None,
    cells: pd.DataFrame,
    fingerprint: Fingerprint | None,
) -> Outcome:
    """The fit of a standardized problem, labelled as its design says."""
    options = for_response(options, design.response.values)
    options, share = estimate_epsilon(problem, options)
    problem, fitted = _fitted(problem, mended, options)
    imputation = None
    if design.gaps is not None:
        imputer, read = path_imputer(problem, mended, fitted.path)
        imputation = Imputation(read, imputer)
    result = label(problem, fitted, options, design, share, cells, imputation, fingerprint)
    return Outcome(result, problem, fitted, options)


def told(outcome: Outcome) -> RHTResult:
    """The result, once the user was told what is to be said of it: of this fit, not of those on the way to it."""
    if outcome.fitted.doubt:
        warn_user(outcome.fitted.doubt, SelectionWarning)
    warn_if_worse(outcome.problem, outcome.fitted, outcome.options)
    warn_unsettled(outcome.fitted.solution)
    return outcome.result


def check_errors(design: Design, options: Options) -> None:
    """Refuse standard errors that there cannot be, before the fit."""
    errors = StandardErrors.of(options.cov, design.clusters)
    require_order_of_time(errors.kind, design.rows)
    if errors.kind != "sandwich" and (options.goal == "predict" or not options.refit):
        raise ParameterError(
            f"cov={errors.kind!r} is for standard errors, which come from the robust refit; fit with refit=True and "
            "goal='select'."
        )


def _fitted(
    problem: Standardized, mended: Mended | None, options: Options
) -> tuple[Standardized, Fitted]:
    """The fit, and the problem with rows that count as far as the cells are known that it rests on."""
    if mended is not None and options.refit and not options.split:
        # Which cells matter is told by an automatic fit, so that a model of a given size stays one of its members.
        first = fit_standardized(problem, replace(options, k="auto", select="ric", goal="select"))
        problem = less_certain(problem, mended, first.model)
    return problem, fit_standardized(problem, options)


def _warn_of_loss(design: Design) -> None:
    """Say it if many rows were dropped that could be kept."""
    lost = design.dropped.missing + design.dropped.infinite
    total = lost + design.n_given
    share = lost / total
    if design.gaps is None and share > LARGE_SHARE:
        worst = sorted(design.dropped.columns.items(), key=lambda item: -item[1])
        places = [f"{name} ({count})" for name, count in worst]
        where = f" in {listed(places, quote=False)}" if places else ""
        warn_user(
            f"{lost} of {total} rows were dropped for missing or infinite values{where}; "
            "na_action='impute' keeps every row whose response is there.",
            DataWarning,
        )


def warn_of_constant(design: Design) -> None:
    """Say it if there is nothing to explain."""
    y = design.response.values
    if (y == y[0]).all() and design.response.classes is None:
        warn_user(
            f"the response {design.response.name!r} has the same value, {y[0]:g}, in all {len(y)} rows in use: there "
            "is nothing to explain. Look at the column, and at the rows that were left out, if there were any.",
            DataWarning,
        )


def _without_wide_terms(problem: Standardized, design: Design) -> Standardized:
    """The problem without terms that have more columns than the rows can carry, of which the user is told."""
    if problem.terms is None or problem.groups is None:
        return problem
    labels = problem.groups.copy()
    for name, columns in design.groups.items():
        width = int((problem.terms.of[list(columns)] >= 0).sum())
        if width > max(problem.room, 1):
            labels[list(columns)] = -1
            warn_user(
                f"the term {name!r} has {width} columns, more than {problem.n} rows can carry in a robust refit, one "
                "for two rows; it cannot be selected. Merge some of its levels, or select its columns one by one "
                "(group_terms=False, or without groups).",
                SelectionWarning,
            )
    return replace(problem, groups=labels)


def trusted_rows(X: Any, y: Array, asked: Arguments, bases: Bases | None = None) -> Array:
    """How far the rows (n,) of a design are to be trusted, judged on all its columns, as a fit would."""
    options = make_options(asked)
    problem = standardized(
        X, y, options.loss, family=options.family, how=options.scale, threads=options.threads, bases=bases
    )  # fmt: skip
    return trust_in_rows(problem, leverage(problem), options.estimator)


def _standardized(design: Design, options: Options, intercept: bool) -> Standardized:
    if intercept and INTERCEPT in design.names:
        raise FormulaError(
            f"a column is called {INTERCEPT!r} like the intercept itself; rename it."
        )
    return standardized(
        design.X, design.response.values, options.loss, family=options.family, how=options.scale,
        intercept=bool(intercept), keep=np.flatnonzero(design.keep), weights=design.weights,
        offset=design.offset, groups=group_ids(design.groups, len(design.names)), coded=design.coded,
        bases=design.bases, names=design.names, threads=options.threads,
    )  # fmt: skip
