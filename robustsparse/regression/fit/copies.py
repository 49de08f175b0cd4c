"""Columns that a selected one could be exchanged for: which of near-copies was selected is chance."""

import numpy as np

from robustsparse.algorithm.products import weighted_squares
from robustsparse.base.least_squares import least_squares
from robustsparse.base.types import Array, Indices
from robustsparse.regression.fit.looks import CopyLook
from robustsparse.regression.fit.models import Fitted
from robustsparse.regression.fit.standardized import Standardized

# Copies correlate at least so much on the rows that are trusted, and the deviance may rise by so much: what one
# coefficient costs by AIC.
_ALIKE, _COST = 0.95, 2.0
# Columns that are tried for each selected one.
_TRIED = 10
# Entries of the design that are brought to double precision at a time.
_BLOCK = 1 << 16


def near_copies(problem: Standardized, fitted: Fitted) -> dict[int, list[int]]:
    """For selected columns the others that are nearly interchangeable with them, most alike first.

    The exchange is judged by the quadratic that touches the loss at the fit, on the rows that it trusts.
    """
    support = fitted.solution.support
    if not len(support) or not fitted.model.weights.any():
        return {}
    alike = _correlations(problem, fitted.model.weights, support)
    alike[fitted.model.active] = 0.0
    if problem.whole is not None:
        problem.whole.log.add(_look(problem, fitted.model.weights, support, alike))
    found = {int(j): _most(alike[:, place]) for place, j in enumerate(support)}
    if not any(map(len, found.values())):
        return {}
    rows = _Quadratic(problem, fitted)
    copies = {j: [c for c in some if rows.cost(j, c) <= _COST] for j, some in found.items()}
    return {j: some for j, some in copies.items() if some}


def _correlations(problem: Standardized, weights: Array, support: Indices) -> Array:
    """Sizes (p, support) of the correlations of all columns with the selected ones, 0 for those of larger terms."""
    share, chosen, length = _centered(problem, weights, support)
    out = sizes_of_correlations(problem.XT, share, chosen, length)
    if problem.terms is not None:
        shared = problem.terms.sizes[problem.terms.of] > 1
        out[shared | (problem.terms.of < 0)] = 0.0
        out[:, shared[support]] = 0.0
    return out


def _centered(
    problem: Standardized, weights: Array, support: Indices
) -> tuple[Array, Array, Array]:
    """Shares of the rows, the selected columns (n, support), centered, and their standard deviations."""
    share = weights / weights.sum()
    chosen = problem.columns(support)
    # Rows that do not count may hold values whose squares are no numbers.
    chosen = np.where(share[:, None] > 0, chosen, 0.0)
    chosen -= share @ chosen
    squares = np.array([share @ column**2 for column in chosen.T])
    return share, chosen, np.sqrt(squares)


def sizes_of_correlations(XT: Array, share: Array, chosen: Array, length: Array) -> Array:
    """Sizes (p, s) of the correlations of the columns of a transposed design with centered ones of given lengths."""
    out: Array = np.zeros((len(XT), len(length)))
    width = max(1, _BLOCK // len(share))
    shared = share[:, None] * chosen
    for first in range(0, len(out), width):
        part = slice(first, first + width)
        block = np.asarray(XT[part], dtype=np.float64)
        # A column whose squares are no numbers is no copy of another.
        with np.errstate(over="ignore", invalid="ignore"):
            square = weighted_squares(block, share) - (block @ share) ** 2
        spread = np.sqrt(np.where(np.isfinite(square), np.maximum(square, 0.0), 0.0))
        product = np.outer(spread, length)
        cross = np.abs(block @ shared)
        np.divide(cross, product, out=out[part], where=product > 0)
    return out


def _look(problem: Standardized, weights: Array, support: Indices, alike: Array) -> CopyLook:
    """What a column would have to reach to be tried as a copy of a selected one."""
    share, chosen, length = _centered(problem, weights, support)
    last = -np.sort(-alike, axis=0)[_TRIED - 1 : _TRIED]
    bars = np.maximum(last[0] if len(last) else 0.0, _ALIKE) * np.ones(len(support))
    return CopyLook(share, chosen, length, bars)


def _most(alike: Array) -> list[int]:
    """Columns that are alike enough, the most alike first."""
    order = np.argsort(-alike, kind="stable")[:_TRIED]
    return [int(j) for j in order if alike[j] >= _ALIKE]


class _Quadratic:
    """Weighted least squares that tells by how much the deviance rises with an exchange."""

    def __init__(self, problem: Standardized, fitted: Fitted) -> None:
        self.problem, self.active = problem, fitted.model.active
        loss, eta = problem.loss, fitted.model.eta
        given = 1.0 if problem.weights is None else problem.weights
        # Where a loss is flat its rows say nothing of an exchange.
        curvature = np.maximum(loss.curvature(problem.y, eta), 1e-12)
        self.root = np.sqrt(fitted.model.weights * given * curvature)
        fixed = 0.0 if problem.offset is None else problem.offset
        self.target = self.root * (eta - fixed - loss.score(problem.y, eta) / curvature)
        self.best = self._rss(self.active)
        self.unit = max(fitted.model.scale, 1e-150) ** 2 if problem.family.has_scale else 1.0

    def _rss(self, columns: Indices) -> float:
        A = self.root[:, None] * self.problem.columns(columns)
        left = self.target - A @ least_squares(A, self.target)
        return float(left @ left)

    def cost(self, out: int, into: int) -> float:
        """Rise of the deviance with a column in the place of another."""
        columns = np.where(self.active == out, into, self.active)
        return (self._rss(columns) - self.best) / self.unit
