"""`rht` and `rht_fit`: Robust Hard Thresholding on data frames and on arrays."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

from robustsparse.algorithm.gradients import EstimatorLike
from robustsparse.algorithm.losses import LossLike
from robustsparse.algorithm.problem import StepLike
from robustsparse.algorithm.sparsity import Sparsity
from robustsparse.base.checks import Seed
from robustsparse.base.compiling import tell_of_compiling
from robustsparse.base.errors import ParameterError
from robustsparse.base.text import did_you_mean
from robustsparse.base.threads import threads_for
from robustsparse.design.groups import GroupsLike
from robustsparse.design.stores.opening import budget, kind_of, open_store
from robustsparse.regression.arguments import Arguments, Cells, Cov, Epsilon, Goal, Select
from robustsparse.regression.call import UPDATE, Before, Call
from robustsparse.regression.families import FamilyLike
from robustsparse.regression.keeping import copied
from robustsparse.regression.rerun import rerun
from robustsparse.regression.result import RHTResult
from robustsparse.regression.spine import fit_arrays, fit_formula
from robustsparse.robust.standardize import ScaleLike


def rht(
    formula: str,
    data: Any,
    family: FamilyLike = "gaussian",
    estimator: EstimatorLike = "trim",
    *,
    k: Sparsity = "auto",
    select: Select = "ric",
    goal: Goal = "auto",
    loss: LossLike | None = None,
    epsilon: Epsilon = 0.1,
    standardize: ScaleLike = True,
    step: StepLike = "auto",
    radius: float | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    refit: bool = True,
    split: int = False,
    intercept: bool | None = None,
    keep: str | Sequence[str] | None = None,
    groups: GroupsLike | None = None,
    group_terms: bool = True,
    weights: Any = None,
    offset: Any = None,
    cov: Cov = "sandwich",
    cluster: Any = None,
    na_action: Literal["drop", "raise", "impute"] = "drop",
    cells: Cells = "auto",
    context: Mapping[str, Any] | None = None,
    memory: str | int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    rng: Seed = None,
    n_jobs: int | None = None,
    verbose: bool | None = None,
    keep_data: bool = False,
) -> RHTResult:
    """Fit a sparse model to a data frame in which some rows cannot be trusted.

    Parameters
    ----------
    formula : str
        R-style formula, such as ``"y ~ ."`` or ``"log(y) ~ a * b + C(g) - 1"``. A formula is code:
        do not evaluate one from a source that you do not trust.
    data : pandas, polars or Dask DataFrame, or path of a parquet file or folder
        The data; never changed.
    family : {"gaussian", "binomial"} or Family
        Kind of response. For "binomial" any two labels do; the second in sorted order is the event.
    estimator : {"trim", "mom", "mean", "geomom", "catoni", "filter"} or callable
        Robust average of the gradient: trimmed mean against bad rows and heavy tails, median of means against heavy
        tails alone, no better there, plain mean (no protection), geometric median of means, Catoni's mean, a sparse
        filter against bad rows that shift many columns a little, an instance such as ``Trimmed(alpha=0.3)``, or any
        callable `(X, score) -> (d,)`.
    k : "auto", int or sequence of int
        Number of terms to select; chosen by `select` for "auto" or a sequence.
    select : {"ric", "ebic", "gic", "cv"}
        How k is chosen among the models of every size that are found on the trusted rows. "ric", the criterion of the
        package: the extended BIC, in which terms beside weak ones cost less. "ebic": k (log n + 2 log d), strict.
        "gic": k log d log log n, generous. "cv": robust five-fold cross-validation, the smallest k within one standard
        error of the best. For numbers and for two classes the models are best subsets, found by exchanges of columns;
        for other families a path of Algorithm 1. A model of a given k is the member of that size of the automatic path.
    goal : {"auto", "select", "predict"}
        "select": few terms, not shrunken, with standard errors. "predict": the rows are judged in the same way, and on
        those that are trusted an elastic net is fitted, whose penalty robust cross-validation chooses: more terms, all
        shrunken, and better predictions, above all of collinear data and of many weak terms. There are no standard
        errors then, k is the number of terms that are not zero, and a k that is given is the most there may be.
        "auto" selects, unless k is left open and the labels of two classes are too few to tell terms apart, whatever
        they say, as those of forty patients with thousands of genes: then it predicts, and the
        summary says so.
    loss : {"squared", "huber", "logistic"} or Loss, optional
        The family's own by default. It drives the selection; the refit is an MM-regression or a logistic
        regression that knows of wrong labels whatever the loss, so with a loss of your own there is no refit.
    epsilon : float or "auto"
        Fraction of bad rows to survive; twice that much is trimmed at each end, but at most a third
        of the rarer class. "auto" estimates it: a first fit that survives a fifth of bad rows says how
        many there are, and their upper confidence bound, but at least 0.05 and at most 0.25, is
        the epsilon of the fit; for the median of means the number of blocks follows from it.
    standardize : bool or {"mad", "blocks", "winsor", "sd"}
        Robust scale of the columns. True is "mad"; with the median of means "blocks"; for
        "binomial" "winsor".
    step : "auto", "search" or float
        Length of the step. "auto" computes it anew at each iteration from a robust curvature. A number runs the
        algorithm as the paper prints it, to its end. "search" does so with seven numbers, from two times to a quarter
        of the robust normalized step at zero, and keeps the run that ends at the lowest robust loss: the paper's
        algorithm for who does not know its step.
    radius : float, optional
        Bound on the l2 norm of the standardized coefficients in the iterations, not in the refit; 10 for "binomial".
    max_iter, tol : int, float
        Largest number of iterations, and the relative change at which they stop (1e-10; for
        "binomial" 1e-5).
    refit : bool
        Reject bad rows and refit robustly on the selected columns. False gives the thresholded
        estimate as it is; for "binomial", where trimming lets the iterates run away, the one of the
        lowest robust deviance on their way, which the summary says, unless `step` is a number.
    split : False or int
        Use fresh rows at each of this many iterations, as the paper's theory does.
    intercept : bool, optional
        As the formula says by default (``- 1`` removes it); True or False overrules it.
    keep : str or list of str, optional
        Terms that are never thresholded and do not count in k.
    groups : dict or sequence, optional
        What enters and leaves the model together and counts once in k: from the name of a group to a list of columns,
        terms or variables, or one label for each column, of which None is no group.
    group_terms : bool
        Whether all columns of a factor, a spline, a polynomial or an interaction enter and leave together, so that
        neither the reference level nor the basis decides which terms there are. False selects single columns.
    weights, offset : str or array, optional
        Columns or arrays: multipliers of the rows, of which 0 leaves a row out; known part of the linear predictor.
    cov : {"sandwich", "hc3", "cluster", "hac"}
        Standard errors, all of them on the selected terms and with the robust weights of the rows. "sandwich": for
        independent rows; for numbers each may have a spread of its own (HC3 of the robust regression), for two classes
        by the likelihood. "hc3": HC3 for both. "cluster": rows of a cluster depend on each other (CR3, with as many
        degrees of freedom as clusters less one). "hac": rows are in the order of time, and depend on those before
        (Newey and West, prewhitened, with a bandwidth that the data choose).
    cluster : str or array, optional
        A column, or a label for each row; asks for clustered standard errors. ``.`` does not stand for that column.
    na_action : {"drop", "raise", "impute"}
        Rows with missing or infinite values are counted and dropped, with a warning if they are more than a tenth; or
        refused. "impute" keeps every row whose response is there: a missing cell is set to its expectation given the
        cells of its row in the nearest columns, and the row counts for less the more the model rests on such cells.
    cells : "auto" or bool
        Whether single cells are judged too. "auto" finds cells that lie apart from the rest of their column where these
        are too many for a heavy tail and do not meet in the same rows, and treats them as if they were missing. True
        does so however few they are; False leaves every cell as it is. `fit.cells()` lists what was changed.
    context : dict, optional
        Names that the formula may use beside the columns.
    memory, client, checkpoint
        As in `rht_fit`, for Dask frames and for parquet files that do not fit: a formula only names columns then.
    rng : int, Generator or None
        Random numbers; None is a fixed seed, so that the same call gives the same answer.
    n_jobs : int, optional
        Number of threads; all cores by default. The result does not depend on it.
    verbose : bool, optional
        Show the progress of the path and of cross-validation on the standard error. By default nothing is shown there
        but that code compiles, when an installation is used first; False leaves that out as well.
    keep_data : bool
        Whether the result keeps a copy of the columns that it uses, for what fits again: intervals by "split" and
        "bootstrap", `cross_validate`, `update` and `augment`. Without it they read the data that the call was given,
        as long as these are in memory and have not changed. A copy goes into pickles, not into files of `save`.

    Returns
    -------
    RHTResult

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=120, d=200, k=3, epsilon=0.1, rng=4)
    >>> fit = rs.rht("y ~ .", sim.data)
    >>> sorted(fit.support()) == sorted(f"x{j + 1}" for j in sim.beta.nonzero()[0])
    True
    """
    tell_of_compiling(verbose)
    asked = Arguments(
        family=family, estimator=estimator, k=k, select=select, goal=goal, loss=loss, epsilon=epsilon,
        standardize=standardize, step=step, radius=radius, max_iter=max_iter, tol=tol, refit=refit,
        split=split, cells=cells, cov=cov, rng=rng, n_jobs=n_jobs, verbose=verbose,
    )  # fmt: skip
    of_rows = {
        "intercept": intercept, "keep": keep, "groups": groups, "group_terms": group_terms,
        "weights": weights, "offset": offset, "cluster": cluster, "na_action": na_action, "context": context,
    }  # fmt: skip
    # Who gave the data first is told so by the reader of formulas.
    if isinstance(formula, str) and (
        kind_of(data) == "dask frame" or isinstance(data, str | PathLike)
    ):
        # Imported where it is used: most fits are in memory.
        from robustsparse.regression.large.tables import fit_table, held_table

        table = held_table(data, memory, client is not None or checkpoint is not None)
        if table is None:
            result = fit_table(formula, data, asked, of_rows, memory, client, checkpoint)
            limits = {"memory": memory, "client": client}
            told = {"formula": formula, "data": data, **vars(asked), **of_rows, **limits}
            return remember(result, told, False)
        data = table
    result = fit_formula(formula, data, asked, **of_rows)
    call = {"formula": formula, "data": data, **vars(asked), **of_rows}
    return remember(result, call, keep_data)


def rht_fit(
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    family: FamilyLike = "gaussian",
    estimator: EstimatorLike = "trim",
    k: Sparsity = "auto",
    select: Select = "ric",
    goal: Goal = "auto",
    loss: LossLike | None = None,
    epsilon: Epsilon = 0.1,
    intercept: bool = True,
    standardize: ScaleLike = True,
    step: StepLike = "auto",
    radius: float | None = None,
    max_iter: int | None = None,
    tol: float | None = None,
    refit: bool = True,
    split: int = False,
    keep: Sequence[Any] | None = None,
    groups: GroupsLike | None = None,
    weights: Any = None,
    offset: Any = None,
    cov: Cov = "sandwich",
    cluster: Any = None,
    na_action: Literal["raise", "drop", "impute"] = "raise",
    cells: Cells = "auto",
    memory: str | int | None = None,
    client: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    rng: Seed = None,
    n_jobs: int | None = None,
    verbose: bool | None = None,
    keep_data: bool = False,
) -> RHTResult:
    """Fit a sparse model to arrays; see `rht` for the arguments that are not listed here.

    Parameters
    ----------
    X : array, memory map, scipy sparse matrix, frame of numbers, zarr or Dask array, Dask frame, or `open_bed(path)`
        Design (n, d), without a column of ones; never changed. One dense standardized copy is made, unless that takes
        more memory than there is or `memory` allows: then columns are read in blocks, as those of Dask always are, and
        the result is the same. A frame keeps the names of its columns and the labels of its rows; `predict` finds the
        columns of a frame by their names.
    y : array or Series (n,)
        Response; for "binomial" any two labels. A series beside a frame must have the same index.
    names : sequence of str, optional
        Names of the columns of an array; `x1` to `xd` by default.
    intercept : bool
        Whether the model has an intercept.
    keep : sequence of int or str, optional
        Columns, by number or name, that are never thresholded.
    groups : dict or sequence, optional
        What enters and leaves the model together and counts once in k: from the name of a group to a list of columns,
        by number or name, or one label for each column, of which None is no group.
    weights, offset : array (n,), optional
        Multipliers of the rows, of which 0 leaves a row out; known part of the linear predictor.
    cluster : array (n,), optional
        A label for each row; asks for clustered standard errors.
    na_action : {"raise", "drop", "impute"}
        Missing or infinite values are refused, or treated as in `rht`.
    memory : str or int, optional
        What a fit may hold, as in ``"4GB"``; by default half of the memory that is left. Data that need more are read
        in blocks of columns, in a few passes. Arrays that are in memory already are read so only if this is given.
    client : Dask client or object with a `map`, optional
        What runs the tasks of a pass, one a block. By default threads, and for Dask's arrays and frames the current
        client, if there is one. Other machines must be able to read the files.
    checkpoint : path, optional
        Folder that keeps every finished pass: the same call goes on from there if it was killed. With it the
        design is always read in blocks.
    family, estimator, k, select, goal, loss, epsilon, standardize, step, radius, max_iter, tol, refit,
    split, cells, cov, rng, n_jobs, verbose, keep_data
        As in `rht`.

    Returns
    -------
    RHTResult
        Rows are labelled 0 to n - 1, or as those of a data frame.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.linear(n=120, d=200, k=3, epsilon=0.1, rng=4)
    >>> fit = rs.rht_fit(sim.X, sim.y, k=3)
    >>> bool(abs(fit.coef(zeros=True).iloc[1:].to_numpy() - sim.beta).max() < 0.3)
    True

    Columns that enter and leave together:

    >>> sim = rs.simulate.linear(n=120, d=6, beta=[1.0, 1.0, 0.0, 0.0, 0.0, 2.0], rng=4)
    >>> fit = rs.rht_fit(sim.X, sim.y, groups={"left": [0, 1], "right": ["x3", "x4"]}, k=2)
    >>> fit.terms(), fit.support()
    (['x6', 'left'], ['x6', 'x1', 'x2'])
    """
    tell_of_compiling(verbose)
    asked = Arguments(
        family=family, estimator=estimator, k=k, select=select, goal=goal, loss=loss, epsilon=epsilon,
        standardize=standardize, step=step, radius=radius, max_iter=max_iter, tol=tol, refit=refit,
        split=split, cells=cells, cov=cov, rng=rng, n_jobs=n_jobs, verbose=verbose,
    )  # fmt: skip
    of_rows = {
        "names": names, "intercept": intercept, "keep": keep, "groups": groups,
        "weights": weights, "offset": offset, "cluster": cluster, "na_action": na_action,
    }  # fmt: skip
    held, store = open_store(X, memory, client, threads_for(n_jobs), blocks=checkpoint is not None)
    if store is None:
        own = {"names": X.names} if names is None and held is not X and hasattr(X, "names") else {}
        result = fit_arrays(held, y, asked, **{**of_rows, **own})
        return remember(result, {"X": X, "y": y, **vars(asked), **of_rows}, keep_data)
    if keep_data:
        raise ParameterError(
            "X is read in blocks of columns, and keep_data= would copy it; leave it."
        )
    # Imported where it is used: most fits are in memory.
    from robustsparse.regression.large.fit import Limits, fit_store

    result = fit_store(store, y, asked, Limits(budget(memory), checkpoint), **of_rows)
    limits = {"memory": memory, "client": client}
    return remember(result, {"X": X, "y": y, **vars(asked), **of_rows, **limits}, False)


def remember(result: RHTResult, arguments: dict[str, Any], keep_data: bool) -> RHTResult:
    """The result with the call that made it, so that it can be repeated on parts of the rows."""
    copies = copied(arguments, result.spec) if keep_data else None
    return replace(result, _call=Call.of(arguments, repeat_call, copies))


def repeat_call(method: str, before: Before, arguments: dict[str, Any]) -> Any:
    """What a method makes of a call: another fit, or what `rerun` knows."""
    if method != UPDATE:
        return rerun(method, before, arguments)
    fit = rht if "formula" in arguments else rht_fit
    known = inspect.signature(fit).parameters
    for name in arguments:
        if name not in known:
            hint = did_you_mean(name, list(known))
            raise ParameterError(f"{name!r} is no argument of {fit.__name__}(){hint}")
    return fit(**arguments)
