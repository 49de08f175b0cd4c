"""Lasso paths of linear and logistic models, of all rows or of those that fit best."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.losses import Loss
from robustsparse.base.types import Array, Indices, Places

# Equations of the minimum hold to this, in units of the standardized response.
TOLERANCE = 1e-6
MAX_SWEEPS = 5000
# Steps of majorization for a loss that is not quadratic; logistic paths take five to fifty.
MAX_MAJORIZATIONS = 200
# A change of the linear predictor below this ends them.
PREDICTOR_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Problem:
    """Rows and loss of a lasso.

    Attributes
    ----------
    XT : array (d, n)
        Standardized columns, one a row.
    y : array (n,)
        Response, in standardized units.
    loss : Loss
        Squared or logistic.
    intercept : bool
        Whether the model has one; it is not penalized.
    kept : int
        Rows that count: n for the lasso, fewer for the trimmed lasso.
    """

    XT: Array
    y: Array
    loss: Loss
    intercept: bool
    kept: int

    def rows(self, places: Places) -> "Problem":
        """The problem of some rows, as large a part of them kept."""
        kept = int(np.floor(self.kept / len(self.y) * len(places)))
        XT = np.ascontiguousarray(self.XT[:, places])
        return Problem(XT, self.y[places], self.loss, self.intercept, kept)


@dataclass
class Iterate:
    """Coefficients, and what they say of every row.

    Attributes
    ----------
    beta, constant : array (d,), float
        Coefficients and intercept.
    eta : array (n,)
        Linear predictor.
    weights : array (n,)
        1 for the rows that count, 0 for the others.
    objectives : list of float
        What is minimized, after each choice of the rows; never rises at one penalty.
    """

    beta: Array
    constant: float
    eta: Array
    weights: Array
    objectives: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class LassoPath:
    """Solutions along descending penalties.

    Attributes
    ----------
    lambdas : array (L,)
    coefs : array (L, d)
    constants : array (L,)
    weights : array (L, n)
        Rows that counted.
    objectives : tuple of tuples
        What was minimized at each penalty.
    """

    lambdas: Array
    coefs: Array
    constants: Array
    weights: Array
    objectives: tuple[tuple[float, ...], ...]

    def sizes(self) -> Indices:
        """Number of terms at each penalty."""
        return np.asarray((self.coefs != 0).sum(axis=1), dtype=np.int64)


def null_model(problem: Problem) -> Iterate:
    """The model without terms, of the rows that fit it best."""
    n = len(problem.y)
    state = Iterate(np.zeros(len(problem.XT)), 0.0, np.zeros(n), np.ones(n))
    # Larger than any gradient, so that only the intercept moves.
    alternate(problem, state, np.inf, max_iter=20)
    return state


def largest_penalty(problem: Problem) -> float:
    """The smallest penalty that leaves no term, for the rows that fit the null model best.

    Examples
    --------
    >>> from robustsparse.algorithm.losses import Squared
    >>> XT = np.array([[1.0, -1.0, 1.0, -1.0]])
    >>> largest_penalty(Problem(XT, np.array([3.0, 1.0, 3.0, 1.0]), Squared(), True, 4))
    1.0
    """
    state = null_model(problem)
    score = state.weights * problem.loss.score(problem.y, state.eta)
    return float(np.abs(problem.XT @ score).max() / problem.kept)


def fit_path(problem: Problem, lambdas: Sequence[float] | Array, max_iter: int = 20) -> LassoPath:
    """Fit at each penalty from the solution at the last.

    Examples
    --------
    >>> from robustsparse.algorithm.losses import Squared
    >>> XT = np.array([[1.0, -1.0, 1.0, -1.0]])
    >>> fit_path(Problem(XT, np.array([3.0, 1.0, 3.0, 1.0]), Squared(), True, 4), [1.0, 0.4]).coefs
    array([[0. ],
           [0.6]])
    """
    state = null_model(problem)
    coefs, constants, weights, objectives = [], [], [], []
    for penalty in lambdas:
        state.objectives = []
        alternate(problem, state, float(penalty), max_iter)
        coefs.append(state.beta.copy())
        constants.append(state.constant)
        weights.append(state.weights)
        objectives.append(tuple(state.objectives))
    return LassoPath(
        np.asarray(lambdas, dtype=np.float64), np.array(coefs), np.array(constants),
        np.array(weights), tuple(objectives),
    )  # fmt: skip


def alternate(problem: Problem, state: Iterate, penalty: float, max_iter: int) -> None:
    """Fit the rows with the smallest losses, and look which these are, until they stay."""
    for _ in range(max_iter):
        state.weights = best_rows(problem.loss.value(problem.y, state.eta), problem.kept)
        majorize(problem, state, penalty)
        losses = problem.loss.value(problem.y, state.eta)
        norm = np.abs(state.beta).sum()
        state.objectives.append(
            float(losses @ state.weights / problem.kept + (penalty * norm if norm else 0.0))
        )
        if np.array_equal(best_rows(losses, problem.kept), state.weights):
            return


def best_rows(losses: Array, kept: int) -> Array:
    """1 for the rows with the smallest losses, of ties the first, 0 for the others.

    Examples
    --------
    >>> best_rows(np.array([5.0, 0.0, 2.0, 2.0]), 2)
    array([0., 1., 1., 0.])
    """
    weights = np.zeros(len(losses))
    weights[np.argsort(losses, kind="stable")[:kept]] = 1.0
    return weights


def majorize(problem: Problem, state: Iterate, penalty: float) -> None:
    """Lasso of the rows that count: of a quadratic that lies above the loss, again and again."""
    for _ in range(MAX_MAJORIZATIONS):
        curvature = problem.loss.curvature(problem.y, state.eta)
        working = -problem.loss.score(problem.y, state.eta) / curvature
        left = working.copy()
        # An exhausted sweep limit leaves a descent step all the same, and the next round goes on from it.
        shift, _ = kernels.weighted_lasso(
            problem.XT, state.weights * curvature / problem.kept, left, penalty, state.beta,
            problem.intercept, TOLERANCE, MAX_SWEEPS,
        )  # fmt: skip
        state.constant += shift
        change = working - left
        state.eta = state.eta + change
        # Curvatures of 1 are those of the squared loss, which is its own majorizer.
        if (curvature == 1.0).all() or np.abs(change * state.weights).max() <= PREDICTOR_TOLERANCE:
            return
