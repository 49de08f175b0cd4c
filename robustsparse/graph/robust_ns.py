"""`robust_ns`: Robust Neighborhood Selection, the paper's Algorithm 2."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from robustsparse.algorithm.gradients import EstimatorLike
from robustsparse.base.checkpoint import Checkpoint
from robustsparse.base.compiling import tell_of_compiling
from robustsparse.base.errors import DataError, DataWarning, warn_user
from robustsparse.base.matrices import canonical
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Mask
from robustsparse.design.stores.sizes import available, bytes_of
from robustsparse.design.variables import NaAction, Variables, variables
from robustsparse.graph.adjacency import entry_ranking
from robustsparse.graph.cuts import better_order, compared_cuts
from robustsparse.graph.factors import without_factors
from robustsparse.graph.jobs import fit_nodes, rank_pairs
from robustsparse.graph.neighborhoods import graph_criterion
from robustsparse.graph.nodes import both_directions
from robustsparse.graph.options import Plan, Request, make_plan
from robustsparse.graph.ranking import SUBSAMPLES, Ranking
from robustsparse.graph.result import GraphResult
from robustsparse.graph.rows import TrustedRows, all_rows, trusted_rows
from robustsparse.robust import standardize as scaling

# Bytes for each pair of nodes: correlations of all rows and of subsamples, in double precision.
_PAIR_BYTES = 24
# Largest instability of a graph that is chosen by stability: the bound that is usual in that approach.
_INSTABILITY = 0.05
# Warn if gaps cost more than this share of the rows.
_MANY_LEFT_OUT = 0.1


def robust_ns(
    data: Any,
    formula: str | None = None,
    *,
    k: int | Sequence[int] | Literal["auto"] = "auto",
    estimator: EstimatorLike = "trim",
    rule: Literal["or", "and"] = "or",
    max_edges: int | None = None,
    select: Literal["ebic", "stars"] = "ebic",
    factors: int = 0,
    screen: bool = True,
    epsilon: float = 0.1,
    standardize: bool | Literal["scores", "mad", "blocks", "winsor", "sd"] = True,
    step: float | Literal["auto"] = "auto",
    max_iter: int | None = None,
    tol: float | None = None,
    na_action: NaAction = "drop",
    context: Mapping[str, Any] | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    verbose: bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    memory: str | int | None = None,
) -> GraphResult:
    """Estimate which variables depend on each other given all the others, from rows that cannot all be trusted.

    Robust Neighborhood Selection (the paper's Algorithm 2): every variable is regressed on all the others by Robust
    Hard Thresholding, and two variables are tied if one of them is among the other's neighbors.

    Parameters
    ----------
    data : DataFrame, array or sparse matrix (n, d)
        Rows of variables; never changed.
    formula : str, optional
        One-sided formula that names the variables, such as ``"~ a + log(b)"`` or ``"~ . - id"``.
    k : "auto", int or sequence of int
        Neighbors of each variable along the path of Algorithm 2. With a number the graph is that of this k, with a
        sequence the best of the path by the extended BIC. With "auto" it is a cut of the ranking, see `select`.
    estimator : {"trim", "mom", "mean", "geomom", "catoni", "filter"} or callable
        Robust average of the gradient in Algorithm 2, as in `rht`; it makes the graphs along the path.
    rule : {"or", "and"}
        Whether one of the two directions of a pair makes an edge along the path, or both are needed; in the ranking,
        whether the directions are averaged or the stronger one counts (whichever has the better graph by the extended
        BIC), or the weaker one.
    max_edges : int, optional
        Take the graph of this many edges, the strongest of the ranking.
    select : {"ebic", "stars"}
        How many edges, if neither k nor `max_edges` says it: by an extended BIC of the neighborhoods, which errs on
        the side of few, or the most whose selection is stable over subsamples (StARS, instability at most 0.05), which
        with hundreds of variables finds edges in noise.
    factors : int
        Number of robust principal factors that are partialled out first, as the market of stocks, or the difference
        between two populations: what all variables share ties every pair, and no sparse graph describes it. The graph,
        its partial correlations and its covariance are then of what the factors leave.
    screen : bool
        Judge rows and cells on all variables first, fit the trusted rows, and rank edges by hard thresholding averaged
        over subsamples of them. False is the paper's algorithm on all rows as they are.
    epsilon : float
        Fraction of bad rows that the gradient survives. With screening a "trim" asked for by name trims at most 2%
        at each end: the bad rows are out.
    standardize : bool or {"scores", "mad", "blocks", "winsor", "sd"}
        Scale of the variables along the path. True is "scores", the ranks as normal quantiles, if the rows are
        screened, otherwise "mad". The ranking always rests on scores.
    step, max_iter, tol
        As in `rht`, for the fits along the path.
    na_action : {"drop", "raise", "impute"}
        Rows with missing or infinite values are counted and dropped, or refused, or kept: "impute" fills their gaps
        with what the nearest variables let expect. A formula must then name columns as they are.
    context : dict, optional
        Names that the formula may use beside the columns.
    rng : int, Generator or None
        Random numbers; None is a fixed seed, so that the same call gives the same graph.
    n_jobs : int, optional
        Workers; all cores by default. The graph does not depend on it.
    verbose : bool, optional
        Show progress. By default nothing is shown but that code compiles, when an installation is used first; False
        leaves that out as well.
    checkpoint : path, optional
        Folder for finished parts: the same call with the same folder goes on where a killed one stopped.
    memory : str or int, optional
        What the matrices of all pairs may take, as in ``"4GB"``; all that is left by default. Graphs of so many nodes
        that they would take more are refused.

    Returns
    -------
    GraphResult

    Notes
    -----
    Algorithm 2 as printed trims each coordinate by itself. Outlying rows that are shifted in all variables a little
    pass such a trim and tie all pairs alike, so by default rows are first judged on all variables together: rows whose
    size exceeds the others' and whose direction other such rows share are rejected, and so are rows that lie together
    in a direction in which what the nearest variables leave of the others does not reach, or lie in directions in
    which the others hardly vary; other large rows are brought to the size of the rest. Single cells count as
    errors, and as what the nearest variables let expect, if they lie apart from their variable, or if neighbors
    expect too little of the ends of the variables and nothing of the kind of such a cell. If they still expect too
    little there, scores are cut off where the ends begin. Rejected rows need not be errors: a small group of another
    kind looks the same. More than a quarter of the rows are no such group, nor are the extremes of a factor that all
    rows share. Then edges are ranked by hard thresholding of every variable on the others, from correlations of
    normal scores, averaged over 40 subsamples of the trusted rows.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.graph(200, 30, kind="band", v=0.6, rng=1)
    >>> graph = rs.robust_ns(sim.data, max_edges=25)
    >>> graph
    <GraphResult: robust neighborhood selection, 30 nodes, 25 edges (25 strongest edges)>
    >>> graph.roc(sim.adjacency).auc > 0.95
    True
    """
    tell_of_compiling(verbose)
    table = variables(data, formula, na_action=na_action, context=context)
    _warn_of_loss(table, na_action)
    _require_room(table.X.shape[1], available() if memory is None else bytes_of(memory))
    asked = Request(
        k=k, estimator=estimator, rule=rule, max_edges=max_edges, select=select, factors=factors,
        screen=screen, epsilon=epsilon, standardize=standardize, step=step, max_iter=max_iter, tol=tol, rng=rng,
        n_jobs=n_jobs, verbose=verbose,
    )  # fmt: skip
    plan = make_plan(asked, *table.X.shape)
    digest = "" if checkpoint is None else plan.digest(table.X, table.missing)
    with Checkpoint.open(checkpoint, digest) as store:
        return _estimated(table, plan, store)


def _require_room(d: int, memory: int) -> None:
    """Refuse a graph whose matrices of all pairs do not fit."""
    needed = _PAIR_BYTES * d * d
    if needed > memory:
        most = int((memory / _PAIR_BYTES) ** 0.5)
        raise DataError(
            f"a graph of {d} nodes has matrices of all pairs that take {needed / 1e9:.3g} GB, more than the "
            f"{memory / 1e9:.3g} GB there are: choose at most {most} of the variables, or raise memory=."
        )


def _estimated(table: Variables, plan: Plan, store: Checkpoint) -> GraphResult:
    """The graph of the variables: rows judged, pairs ranked, nodes fitted."""
    table = _given_factors(table, plan)
    _, units, rows = _judged(table, plan)
    covariance, n = rows.correlations(threads=plan.threads), len(rows.kept)
    ranking = None
    if plan.screen:
        ranking = rank_pairs(rows, covariance, plan, store)
        ranking = better_order(ranking, covariance, n, plan.threads)
    start = covariance if plan.screen else None
    coef = fit_nodes(_for_fits(table, units, rows, plan), start, plan, store)
    sizes = [both_directions(values, plan.rule) for values in coef]
    steps = tuple(canonical(size > 0) for size in sizes)
    graph = GraphResult(
        nodes=table.nodes,
        ranking=_with_pairs_of_path(
            None if ranking is None else ranking.scores, entry_ranking(sizes)
        ),
        adjacency=steps[-1],
        covariance=covariance,
        steps=steps,
        path=pd.DataFrame(
            {"n_edges": [step.nnz // 2 for step in steps]}, index=pd.Index(plan.ks, name="k")
        ),
        k=None,
        rule=plan.rule,
        method="robust neighborhood selection",
        nobs=len(table.X),
        chosen="",
        row_weights=(
            pd.Series(rows.weights, index=table.rows, name="weight") if plan.screen else None
        ),
        stability=None if ranking is None else ranking.stability,
        notes=_notes(table, units.constant, rows, plan),
    )
    return _choose(graph, plan, ranking, n)


def _judged(table: Variables, plan: Plan) -> tuple[Array, scaling.Scaling, TrustedRows]:
    """Standardized variables (d, n), their units, and how far their rows are trusted."""
    Z, units = scaling.standardize(table.X, "mad", names=table.nodes, threads=plan.threads)
    missing = None if table.missing is None else np.ascontiguousarray(table.missing.T)
    return Z, units, (trusted_rows if plan.screen else all_rows)(Z, plan.threads, missing)


def _given_factors(table: Variables, plan: Plan) -> Variables:
    """The variables without their leading factors, if some are to be partialled out."""
    if not plan.factors:
        return table
    Z, _, rows = _judged(table, plan)
    left, share = without_factors(Z, rows, plan.factors, plan.threads)
    what = "factor was" if plan.factors == 1 else "factors were"
    note = (
        f"{plan.factors} robust principal {what} partialled out first: {share:.0%} of the variance"
    )
    return replace(table, X=np.asfortranarray(left.T), notes=(*table.notes, note))


def _warn_of_loss(table: Variables, na_action: NaAction) -> None:
    """Warn if the gaps of few cells cost many rows."""
    n = len(table.X) + table.left_out
    if na_action == "drop" and table.left_out > _MANY_LEFT_OUT * n:
        warn_user(
            f"{table.left_out:,} of {n:,} rows have missing or infinite values and were left out; "
            'na_action="impute" keeps them and fills the gaps from the other variables.',
            DataWarning,
        )


def _for_fits(table: Variables, units: scaling.Scaling, rows: TrustedRows, plan: Plan) -> Array:
    """Variables (d, m) that the nodes are fitted on: the trusted rows, large ones at the size of the others."""
    if plan.how == "scores":
        values = rows.values
    elif plan.how == "mad":
        values = rows.standard
    else:
        X = _imputed(table, units, rows)
        values, _ = scaling.standardize(X, plan.how, names=table.nodes, threads=plan.threads)
    return np.asarray(values[:, rows.kept] * np.sqrt(rows.weights[rows.kept]))


def _imputed(table: Variables, units: scaling.Scaling, rows: TrustedRows) -> Array:
    """The variables (n, d) in their own units, with what doubtful cells should have been."""
    doubtful = rows.errors.T if table.missing is None else rows.errors.T | table.missing
    if not doubtful.any():
        return table.X
    return np.where(doubtful, units.location + units.scale * rows.standard.T, table.X)


def _with_pairs_of_path(ranking: Any, along_path: Any) -> Any:
    """The ranking, with pairs that came up on the path alone at its end."""
    if ranking is None or not ranking.nnz:
        return along_path
    rest = sparse.csr_array(along_path * (ranking.toarray() == 0))
    return canonical(ranking + rest * (0.5 * ranking.data.min()))


def _notes(table: Variables, constant: Mask, rows: TrustedRows, plan: Plan) -> tuple[str, ...]:
    words = plan.estimator.words(len(rows.kept), len(table.nodes) - 1)
    notes = [*table.notes]
    if table.missing is not None:
        were = "was" if table.missing.sum() == 1 else "were"
        notes.append(
            f"{_cells(table.missing, 'missing ')} {were} imputed from the nearest variables, "
            f"in {_where(table, table.missing)}"
        )
    notes.append(f"graphs along the path: Algorithm 2 with the {words}")
    if plan.screen:
        notes.append(
            f"ranking: hard thresholding averaged over {SUBSAMPLES} subsamples of the trusted rows"
        )
    if constant.any():
        names = [table.nodes[j] for j in np.flatnonzero(constant)]
        notes.append(f"constant and tied to nothing: {listed(names)}")
    if rows.errors.any():
        notes.append(
            f"{_cells(rows.errors.T, '')} are out of line with their variable or its neighbors and count as the "
            f"nearest variables let expect, in {_where(table, rows.errors.T)}"
        )
    if rows.cut is not None:
        notes.append(
            "the ends of the variables hold errors that cannot be told from good values, since neighbors expect too "
            f"little there: normal scores are cut off at ±{rows.cut:g}"
        )
    return tuple(notes)


def _cells(found: Mask, kind: str) -> str:
    """Number of cells (n, d) of a kind, and their share."""
    count = int(found.sum())
    return f"{count:,} {kind}{'cell' if count == 1 else 'cells'} ({count / found.size:.1%})"


def _where(table: Variables, found: Mask) -> str:
    return listed(table.nodes[j] for j in np.flatnonzero(found.any(axis=0)))


def _choose(graph: GraphResult, plan: Plan, ranking: Ranking | None, n: int) -> GraphResult:
    """The graph that was asked for, or the best by the criterion that was."""
    cuts = compared_cuts(graph.ranking, ranking, graph.covariance, n)
    graph = replace(graph, cuts=cuts)
    if plan.max_edges is not None:
        return graph.up_to(plan.max_edges)
    if plan.k is not None:
        return graph.at(k=plan.k)
    if plan.along_path:
        return _best_of_path(graph, n)
    if plan.select == "stars":
        # Instability may fall again as graphs grow: the first graph beyond the bound ends the choice.
        steady = np.maximum.accumulate(cuts["instability"].to_numpy()) <= _INSTABILITY
        best, why = cuts.index[np.flatnonzero(steady)[-1] if steady.any() else 0], "by stability"
    else:
        best, why = cuts["criterion"].idxmin(), "by the extended BIC"
    best = graph.at(n_edges=int(best))
    return replace(best, chosen=f"{best.chosen} {why}")


def _best_of_path(graph: GraphResult, n: int) -> GraphResult:
    """The graph of the path with the smallest extended BIC."""
    criterion = [graph_criterion(graph.covariance, step, n) for step in graph.steps]
    graph = replace(graph, path=graph.path.assign(criterion=criterion))
    best = graph.at(k=int(graph.path.index[int(np.argmin(criterion))]))
    return replace(best, chosen=f"{best.chosen} by the extended BIC")
