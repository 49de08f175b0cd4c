"""`RobustGraph`: robust graphs beside scikit-learn's covariance estimators."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.validation import validate_data

from robustsparse.algorithm.gradients import EstimatorLike
from robustsparse.base.checks import FEWEST_ROWS
from robustsparse.graph.covariance_selection import covariance_selection
from robustsparse.graph.robust_ns import robust_ns
from robustsparse.robust.standardize import standardize as standardized
from robustsparse.sklearn.inputs import as_seed, names_of

_SHARED = (
    "k", "estimator", "rule", "max_edges", "select", "screen", "epsilon", "standardize", "step", "max_iter", "tol",
    "n_jobs", "verbose",
)  # fmt: skip


class RobustGraph(EmpiricalCovariance):
    """Sparse inverse covariance from rows that cannot all be trusted, by Robust Neighborhood Selection.

    `robust_ns` as an estimator of scikit-learn, to stand where `GraphicalLasso` does: the graph tells which entries of
    the inverse covariance are zero, and the others are those of a normal distribution with these zeros and the robust
    correlations of the rows; location and scales are medians and MADs.

    Parameters
    ----------
    k, estimator, rule, max_edges, select, screen, epsilon, standardize, step, max_iter, tol, n_jobs, verbose
        As in `robustsparse.robust_ns`.
    random_state : int, RandomState, Generator or None
        Random numbers; None is a fixed seed.

    Attributes
    ----------
    covariance_, precision_ : array (d, d)
        Covariance and its inverse, which has the zeros of the graph.
    location_ : array (d,)
        Medians of the columns.
    graph_ : GraphResult
        The graph itself, with its edges, path and plots.
    row_weights_ : array (n,)
        How far each row was trusted; 0 = rejected.
    n_features_in_, feature_names_in_
        As scikit-learn has them.

    Examples
    --------
    >>> import robustsparse as rs
    >>> from robustsparse.sklearn import RobustGraph
    >>> sim = rs.simulate.graph(200, 10, kind="band", v=0.6, rng=1)
    >>> model = RobustGraph().fit(sim.data)
    >>> bool(((model.precision_ != 0).sum() - 10) / 2 == model.graph_.n_edges)
    True
    """

    def __init__(
        self,
        *,
        k: int | Sequence[int] | Literal["auto"] = "auto",
        estimator: EstimatorLike = "trim",
        rule: Literal["or", "and"] = "or",
        max_edges: int | None = None,
        select: Literal["ebic", "stars"] = "ebic",
        screen: bool = True,
        epsilon: float = 0.1,
        standardize: bool | Literal["scores", "mad", "blocks", "winsor", "sd"] = True,
        step: float | Literal["auto"] = "auto",
        max_iter: int | None = None,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__()
        self.k = k
        self.estimator = estimator
        self.rule = rule
        self.max_edges = max_edges
        self.select = select
        self.screen = screen
        self.epsilon = epsilon
        self.standardize = standardize
        self.step = step
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Estimate the graph and the covariance that has it.

        Parameters
        ----------
        X : array or data frame of numbers (n, d)
            Rows of variables.
        y : ignored
            Not used.

        Returns
        -------
        RobustGraph
            Itself.

        Examples
        --------
        >>> import robustsparse as rs
        >>> from robustsparse.sklearn import RobustGraph
        >>> RobustGraph().fit(rs.simulate.graph(n=100, d=10, rng=1).X).covariance_.shape
        (10, 10)
        """
        X = validate_data(
            self, X, dtype=np.float64, ensure_min_samples=FEWEST_ROWS, ensure_min_features=2
        )
        options = {name: getattr(self, name) for name in _SHARED}
        names = names_of(self)
        data = X if names is None else pd.DataFrame(X, columns=names, copy=False)
        self.graph_ = robust_ns(data, rng=as_seed(self.random_state), **options)
        _, units = standardized(X, "mad")
        precision = covariance_selection(self.graph_.covariance, self.graph_.adjacency)
        self.precision_ = precision / np.outer(units.scale, units.scale)
        self.covariance_ = np.linalg.inv(precision) * np.outer(units.scale, units.scale)
        self.location_ = units.location
        weights = self.graph_.row_weights
        self.row_weights_ = np.ones(len(X)) if weights is None else weights.to_numpy()
        self.n_iter_ = 1
        return self
