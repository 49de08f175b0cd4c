"""Graphs from a covariance matrix, plain or robust: what robust neighborhood selection is compared with."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from robustsparse.base.checks import check_choice
from robustsparse.base.threads import threads_for
from robustsparse.base.types import Array
from robustsparse.baselines.correlations import (
    check_epsilon,
    covariance_of,
    kendall_correlation,
    mad_scales,
    pearson,
    positive_definite,
    robust_standardized,
    spearman_correlation,
    trimmed_covariance,
)
from robustsparse.baselines.lasso_paths import Penalties, lambda_path, lasso_paths
from robustsparse.baselines.solvers import (
    clime_lambdas,
    clime_path,
    glasso_path,
    larger_of_both,
    smaller_of_both,
)
from robustsparse.design.variables import Variables, variables
from robustsparse.graph.path import graph_from_path
from robustsparse.graph.result import GraphResult

Solver = Literal["clime", "glasso"]

# Precision matrices beyond the density that is of interest cost most of the time: the lasso's last penalty is 2% of
# the first, CLIME's, whose graphs fill sooner, 5%.
LASSO_RATIO, CLIME_RATIO = 0.02, 0.05
# Rows for each neighbor of a node and each logarithm of the number of nodes, of the largest graphs that the extended
# BIC compares on a matrix whose eigenvalues had to be raised: there, more neighbors explain any node.
_ROWS_PER_NEIGHBOR = 4


def neighborhood_lasso(
    data: Any,
    *,
    rule: Literal["or", "and"] = "or",
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 40,
    lambda_ratio: float = LASSO_RATIO,
    max_edges: int | None = None,
    n_jobs: int | None = None,
) -> GraphResult:
    """Neighborhood selection: the lasso of every variable on all others.

    Meinshausen and Bühlmann (2006), Annals of Statistics 34, 1436-1462; the "Vanilla NS" of the paper, and on the
    good rows alone its "Oracle NS". Checked against ``huge(method = "mb")`` of the R package huge 1.3.5. It has no
    protection against bad rows.

    Parameters
    ----------
    data : DataFrame or array (n, d)
        Variables, standardized inside; rows with missing values are left out.
    rule : {"or", "and"}
        Whether one of the two regressions must select a pair, or both.
    lambdas : sequence of float, optional
        Penalties on the scale of correlations; by default `n_lambdas` of them from the smallest that leaves the graph
        empty down to `lambda_ratio` times that.
    n_lambdas, lambda_ratio : int, float
        Length and reach of the default path.
    max_edges : int, optional
        Keep this many of the strongest edges; by default the step with the smallest extended BIC.
    n_jobs : int, optional
        Number of threads; all cores by default. The result does not depend on it.

    Returns
    -------
    GraphResult

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.graph(n=400, d=30, epsilon=0.0, rng=1)
    >>> rs.baselines.neighborhood_lasso(sim.data).roc(sim.adjacency).auc > 0.95
    True
    """
    check_choice("rule", rule, ("or", "and"))
    got = variables(data)
    S = pearson(got.X)
    values = Penalties(lambdas, n_lambdas, lambda_ratio).values(partial(lambda_path, S))
    combine = larger_of_both if rule == "or" else smaller_of_both
    matrices = [combine(B) for B in lasso_paths(S, values, threads=threads_for(n_jobs))]
    return _graph(got, matrices, values, S, "neighborhood lasso", max_edges, rule=rule)


def glasso(
    data: Any,
    *,
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 40,
    lambda_ratio: float = LASSO_RATIO,
    max_edges: int | None = None,
) -> GraphResult:
    """Graphical lasso: the penalized likelihood of a normal distribution.

    Friedman, Hastie and Tibshirani (2008), Biostatistics 9, 432-441, on correlations, without a penalty on the
    diagonal. Checked against the R package glasso 1.11. It has no protection against bad rows.

    Parameters
    ----------
    data, lambdas, n_lambdas, lambda_ratio, max_edges
        As in `neighborhood_lasso`.

    Returns
    -------
    GraphResult

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.graph(n=400, d=30, epsilon=0.0, rng=1)
    >>> rs.baselines.glasso(sim.data, max_edges=20).n_edges
    20
    """
    got = variables(data)
    penalties = Penalties(lambdas, n_lambdas, lambda_ratio)
    return _by_glasso(got, pearson(got.X), "graphical lasso", penalties, max_edges)


def clime(
    data: Any,
    *,
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 40,
    lambda_ratio: float = CLIME_RATIO,
    max_edges: int | None = None,
    n_jobs: int | None = None,
) -> GraphResult:
    """CLIME: the sparsest matrix that nearly inverts the correlation matrix.

    Cai, Liu and Luo (2011), Journal of the American Statistical Association 106, 594-607: linear programs, solved
    exactly (`solvers.clime_path`); of the two entries of a pair the smaller counts. Checked against linear programs
    solved one by one with HiGHS. It has no protection against bad rows.

    Parameters
    ----------
    data, max_edges, n_jobs
        As in `neighborhood_lasso`.
    lambdas : sequence of float, optional
        Largest errors of ``S Omega - I`` that are allowed; by default `n_lambdas` of them from the smallest that leaves
        the graph empty down to `lambda_ratio` times that. With a singular S there is no solution below some value,
        where the path ends.
    n_lambdas, lambda_ratio : int, float
        Length and reach of the default path.

    Returns
    -------
    GraphResult

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.graph(n=400, d=30, epsilon=0.0, rng=1)
    >>> rs.baselines.clime(sim.data).roc(sim.adjacency).auc > 0.95
    True
    """
    got = variables(data)
    penalties = Penalties(lambdas, n_lambdas, lambda_ratio)
    return _by_clime(got, pearson(got.X), "CLIME", penalties, max_edges, n_jobs)


def rclime(
    data: Any,
    *,
    epsilon: float = 0.1,
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 40,
    lambda_ratio: float = CLIME_RATIO,
    max_edges: int | None = None,
    n_jobs: int | None = None,
) -> GraphResult:
    """Robust CLIME: CLIME on a covariance matrix of trimmed inner products.

    Wang and Gu (2017), "Robust Gaussian graphical model estimation with arbitrary corruption", ICML, PMLR 70,
    3617-3626: for each pair of variables the ``epsilon n`` largest of the products of their values, in absolute value,
    are left out of the mean (the trimmed inner product of Chen, Caramanis and Mannor 2013). The paper takes
    variables with mean 0; here they are centered and scaled by median and median absolute deviation first. CLIME does
    not need a positive semidefinite matrix and takes the trimmed one as it is; partial correlations come from one with
    its negative eigenvalues raised to 1e-4 of the mean variance, and the extended BIC then compares sparse graphs only,
    of a mean degree up to ``n / (4 log d)``. Checked against sums written out by hand, and like `clime`.

    Parameters
    ----------
    data, lambdas, n_lambdas, lambda_ratio, max_edges, n_jobs
        As in `clime`.
    epsilon : float
        Fraction of bad rows to survive.

    Returns
    -------
    GraphResult

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.graph(n=400, d=30, epsilon=0.0, rng=1)
    >>> rs.baselines.rclime(sim.data, epsilon=0.05).roc(sim.adjacency).auc > 0.9
    True
    """
    check_epsilon(epsilon)
    got = variables(data)
    S = trimmed_covariance(robust_standardized(got.X), epsilon)
    penalties = Penalties(lambdas, n_lambdas, lambda_ratio)
    return _by_clime(got, S, "robust CLIME", penalties, max_edges, n_jobs)


def skeptic(
    data: Any,
    *,
    correlation: Literal["kendall", "spearman"] = "kendall",
    solver: Solver = "clime",
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 40,
    lambda_ratio: float | None = None,
    max_edges: int | None = None,
    n_jobs: int | None = None,
) -> GraphResult:
    """Nonparanormal SKEPTIC: a graph from rank correlations, for any monotone transformations of normal variables.

    Liu, Han, Yuan, Lafferty and Wasserman (2012), Annals of Statistics 40, 2293-2326: ``sin(pi tau / 2)`` of Kendall's
    tau or ``2 sin(pi rho / 6)`` of Spearman's rho, given to CLIME, as the paper compares it, or to the graphical
    lasso. The matrix of Spearman's rho was checked against ``huge.npn(npn.func = "skeptic")`` of the R package huge
    1.3.5, that of Kendall's tau against R's ``cor``. It may be indefinite, which CLIME allows; for the graphical lasso
    negative eigenvalues are raised to 1e-4 and the result is scaled back to ones on the diagonal. The extended BIC then
    compares sparse graphs only, as in `rclime`.

    Parameters
    ----------
    data, lambdas, n_lambdas, max_edges, n_jobs
        As in `clime`.
    correlation : {"kendall", "spearman"}
        Rank correlation.
    solver : {"clime", "glasso"}
        What makes a graph of the correlations.
    lambda_ratio : float, optional
        Reach of the default path; the solver's own default.

    Returns
    -------
    GraphResult

    Examples
    --------
    >>> import numpy as np
    >>> import robustsparse as rs
    >>> sim = rs.simulate.graph(n=400, d=30, epsilon=0.0, rng=1)
    >>> bent = np.exp(3 * sim.data)
    >>> rs.baselines.skeptic(bent).roc(sim.adjacency).auc > 0.95
    True
    """
    check_choice("correlation", correlation, ("kendall", "spearman"))
    got = variables(data)
    measure = kendall_correlation if correlation == "kendall" else spearman_correlation
    method = f"SKEPTIC ({correlation}, {solver})"
    penalties = _penalties_of(solver, lambdas, n_lambdas, lambda_ratio)
    return _by_solver(solver, got, measure(got.X), method, penalties, max_edges, n_jobs)


def spearman(
    data: Any,
    *,
    solver: Solver = "clime",
    lambdas: ArrayLike | None = None,
    n_lambdas: int = 40,
    lambda_ratio: float | None = None,
    max_edges: int | None = None,
    n_jobs: int | None = None,
) -> GraphResult:
    """Graph from Spearman's correlations and median absolute deviations.

    Loh and Tan (2018), Electronic Journal of Statistics 12, 1429-1467: the covariance matrix
    ``s_i s_j 2 sin(pi rho_ij / 6)`` with the median absolute deviations s, given to CLIME, as the paper compares it, or
    to the graphical lasso, for which negative eigenvalues are raised as in `skeptic`. The correlations were checked as
    in `skeptic`. Covariances, unlike correlations, depend on the units of the variables: bring them to like scales
    first. Scales whose squares are no numbers are divided by the largest.

    Parameters
    ----------
    data, solver, lambdas, n_lambdas, lambda_ratio, max_edges, n_jobs
        As in `skeptic`.

    Returns
    -------
    GraphResult

    Examples
    --------
    >>> import robustsparse as rs
    >>> sim = rs.simulate.graph(n=400, d=30, epsilon=0.0, rng=1)
    >>> rs.baselines.spearman(sim.data, solver="glasso").roc(sim.adjacency).auc > 0.95
    True
    """
    got = variables(data)
    S = covariance_of(spearman_correlation(got.X), mad_scales(got.X))
    method = f"Spearman correlations with MAD scales ({solver})"
    penalties = _penalties_of(solver, lambdas, n_lambdas, lambda_ratio)
    return _by_solver(solver, got, S, method, penalties, max_edges, n_jobs)


def _penalties_of(
    solver: str, lambdas: ArrayLike | None, n_lambdas: int, lambda_ratio: float | None
) -> Penalties:
    """Penalties that reach as far as asked for, or as the solver's do by default."""
    ratios = {"clime": CLIME_RATIO, "glasso": LASSO_RATIO}
    check_choice("solver", solver, tuple(ratios))
    return Penalties(lambdas, n_lambdas, ratios[solver] if lambda_ratio is None else lambda_ratio)


def _by_solver(
    solver: str, got: Variables, S: Array, method: str, penalties: Penalties,
    max_edges: int | None, n_jobs: int | None,
) -> GraphResult:  # fmt: skip
    if solver == "clime":
        return _by_clime(got, S, method, penalties, max_edges, n_jobs)
    return _by_glasso(got, S, method, penalties, max_edges)


def _by_clime(
    got: Variables, S: Array, method: str, penalties: Penalties, max_edges: int | None,
    n_jobs: int | None,
) -> GraphResult:  # fmt: skip
    values = penalties.values(partial(clime_lambdas, S))
    found = clime_path(S, values, threads=threads_for(n_jobs))
    matrices = [smaller_of_both(matrix) for matrix in found]
    reached = values[: len(found)]
    notes = () if len(found) == len(values) else (f"no solution below lambda = {reached[-1]:.4g}",)
    # The linear programs take S as it is; partial correlations need a matrix that is positive definite.
    S, repaired = positive_definite(S)
    return _graph(got, matrices, reached, S, method, max_edges, notes=notes, repaired=repaired)


def _by_glasso(
    got: Variables, S: Array, method: str, penalties: Penalties, max_edges: int | None
) -> GraphResult:
    S, repaired = positive_definite(S)
    values = penalties.values(partial(lambda_path, S))
    found = list(glasso_path(S, values))
    return _graph(got, found, values, S, method, max_edges, repaired=repaired)


def _graph(
    got: Variables, matrices: Sequence[Array], values: Array, S: Array, method: str,
    max_edges: int | None, *, rule: str | None = None, notes: tuple[str, ...] = (),
    repaired: bool = False,
) -> GraphResult:  # fmt: skip
    most = _largest_compared(*got.X.shape) if repaired else None
    if repaired:
        compared = (
            "" if max_edges is not None else f"; the extended BIC compared up to {most:,} edges"
        )
        notes = (*notes, f"negative eigenvalues of the robust matrix were raised{compared}")
    return graph_from_path(
        got.nodes, matrices, values.tolist(), S, method=method, nobs=len(got.X), max_edges=max_edges,
        compare_up_to=most, rule=rule, notes=(*got.notes, *notes),
    )  # fmt: skip


def _largest_compared(n: int, d: int) -> int:
    """Number of edges at which n rows are a few for each neighbor of a node among d."""
    return max(int(0.5 * d * n / (_ROWS_PER_NEIGHBOR * np.log(d))), 1)
