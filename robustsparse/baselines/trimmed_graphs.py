"""Trimmed graphical lasso: the likelihood of the rows that fit best."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse

from robustsparse.base.checks import check_count
from robustsparse.base.types import Array, Indices
from robustsparse.baselines.correlations import check_epsilon, robust_standardized, with_variance
from robustsparse.baselines.graphs import LASSO_RATIO
from robustsparse.baselines.lasso_paths import Penalties, lambda_path
from robustsparse.baselines.solvers import glasso_path
from robustsparse.design.variables import variables
from robustsparse.graph.neighborhoods import graph_criterion
from robustsparse.graph.path import best_step, graph_from_path
from robustsparse.graph.result import GraphResult


@dataclass(frozen=True)
class Trimmed:
    """The trimmed graphical lasso at one penalty.

    Attributes
    ----------
    precision, covariance : array (d, d)
        Precision matrix, and covariance matrix of the kept rows, which it rests on.
    kept : array (h,)
        Numbers of the kept rows.
    objectives : tuple of float
        What is minimized, after each change of the rows; never rises.
    """

    precision: Array
    covariance: Array
    kept: Indices
    objectives: tuple[float, ...]


def trimmed_glasso(
    data: Any,
    *,
    epsilon: float = 0.1,
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 30,
    lambda_ratio: float = LASSO_RATIO,
    max_edges: int | None = None,
    max_iter: int = 20,
) -> GraphResult:
    """Trimmed graphical lasso: the graphical lasso of the ``(1 - epsilon) n`` rows that it fits best.

    Yang and Lozano (2015), "Robust Gaussian graphical modeling with the trimmed graphical lasso", NIPS 28, 2602-2610.
    At each penalty the rows with the smallest distances ``(x - m)' Omega (x - m)`` and the graphical lasso of these
    rows are found in turn until they agree; the next penalty starts from there. The first rows are those nearest to
    the median. The paper takes variables with mean 0; here they are standardized by median and median absolute
    deviation, and the mean of the kept rows is subtracted. Checked: the objective falls at every step, and with
    ``epsilon=0`` it is the graphical lasso.

    Parameters
    ----------
    data, lambdas, n_lambdas, lambda_ratio, max_edges
        As in `neighborhood_lasso`.
    epsilon : float
        Fraction of the rows to leave out.
    max_iter : int
        Largest number of changes of the rows at each penalty.

    Returns
    -------
    GraphResult
        `row_weights` are 0 for the rows that the chosen step leaves out; with `max_edges`, the first step that has so
        many edges.

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.graph(n=200, d=30, epsilon=0.1, rng=1)
    >>> graph = rs.baselines.trimmed_glasso(sim.data)
    >>> bool((graph.row_weights[sim.outlier] == 0).all())
    True
    """
    check_epsilon(epsilon)
    check_count("max_iter", max_iter, 1)
    got = variables(data)
    Z = robust_standardized(got.X)
    h = int(np.floor((1.0 - epsilon) * len(Z)))
    first = np.sort(np.argsort((Z**2).sum(axis=1), kind="stable")[:h])
    penalties = Penalties(lambdas, n_lambdas, lambda_ratio)
    values = penalties.values(partial(lambda_path, _covariance(Z, first)))
    fits = trimmed_glasso_path(Z, values, first, max_iter)
    criterion = [_criterion(fit, h) for fit in fits]
    graph = graph_from_path(
        got.nodes, [fit.precision for fit in fits], values.tolist(), fits[-1].covariance,
        method=f"trimmed graphical lasso ({h} of {len(Z)} rows)", nobs=len(Z), max_edges=max_edges,
        columns={"criterion": criterion}, notes=got.notes,
    )  # fmt: skip
    place = best_step(graph.path) if max_edges is None else _first_step_with(graph)
    weights = pd.Series(np.isin(np.arange(len(Z)), fits[place].kept) * 1.0, got.rows, name="weight")
    return replace(graph, covariance=fits[place].covariance, row_weights=weights)


def _first_step_with(graph: GraphResult) -> int:
    """First step of the path with as many edges as the graph, or else the last."""
    # Pairs may leave the path again, so that the ranking has more of them than any step.
    enough = np.flatnonzero(graph.path["n_edges"].to_numpy() >= graph.n_edges)
    return int(enough[0]) if len(enough) else len(graph.path) - 1


def trimmed_glasso_path(Z: Array, values: Array, kept: Indices, max_iter: int) -> list[Trimmed]:
    """Trimmed graphical lasso along descending penalties, each from the rows of the last.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(50, 3))
    >>> fits = trimmed_glasso_path(Z, np.array([0.2, 0.1]), np.arange(45), max_iter=20)
    >>> [len(fit.kept) for fit in fits]
    [45, 45]
    """
    fits: list[Trimmed] = []
    for penalty in values:
        fits.append(_alternate(Z, float(penalty), kept, max_iter))
        kept = fits[-1].kept
    return fits


def _alternate(Z: Array, penalty: float, kept: Indices, max_iter: int) -> Trimmed:
    """Graphical lasso of the kept rows, and rows nearest to it, until the rows stay."""
    objectives: list[float] = []
    while True:
        S = _covariance(Z, kept)
        omega = glasso_path(S, [penalty])[0]
        objectives.append(_objective(S, omega, penalty))
        near = _nearest(Z, kept, omega)
        if len(objectives) >= max_iter or np.array_equal(near, kept):
            return Trimmed(omega, S, kept, tuple(objectives))
        kept = near


def _covariance(Z: Array, kept: Indices) -> Array:
    return with_variance(np.cov(Z[kept].T, bias=True))


def _nearest(Z: Array, kept: Indices, omega: Array) -> Indices:
    """The rows nearest to the mean of the kept ones in the metric of omega, in their own order."""
    deviation = Z - Z[kept].mean(axis=0)
    distance = np.einsum("ij,ij->i", deviation @ omega, deviation)
    return np.sort(np.argsort(distance, kind="stable")[: len(kept)])


def _objective(S: Array, omega: Array, penalty: float) -> float:
    off = np.abs(omega).sum() - np.trace(omega)
    return float((S * omega).sum() - np.linalg.slogdet(omega)[1] + penalty * off)


def _criterion(fit: Trimmed, h: int) -> float:
    edges = fit.precision != 0
    np.fill_diagonal(edges, False)
    return graph_criterion(fit.covariance, sparse.csr_array(edges), h)
