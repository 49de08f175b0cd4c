"""Hard thresholding whose steps are least squares, for the squared loss on rows that are to be trusted.

Steps along the gradient of nearly collinear columns are so short that thousands would be needed; least squares on a few
columns takes one (subspace pursuit, Dai and Milenkovic, 2009).
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from robustsparse.algorithm.gradients import Mean
from robustsparse.algorithm.iteration import largest
from robustsparse.algorithm.products import BLOCK
from robustsparse.algorithm.solver import RHTFit
from robustsparse.base.row_slices import row_slices
from robustsparse.base.types import Array, Indices
from robustsparse.regression.fit.standardized import Standardized
from robustsparse.robust.subspaces import bounded

# Steps at most, and the part by which each must lower the sum of squares.
_STEPS, _LOWER = 10, 1e-6
# Columns that enter at a time, at least and as a share of k.
_FEWEST, _SHARE = 5, 1 / 3
# Relative ridge of the normal equations, so that columns may repeat each other.
_RIDGE = 1e-10
# A run that asks for the plain gradient (p,) at scores (n,), and ends with a fit.
Asking = Generator[Array, Array, RHTFit]


@dataclass(frozen=True)
class _Equations:
    """Normal equations of some columns.

    Attributes
    ----------
    products : array (a, a)
        Correlations of the columns.
    unit, target : array (a,)
        Their lengths, and their inner products with the target.
    limit : callable
        Keeps their values within what can be squared.
    """

    products: Array
    unit: Array
    target: Array
    limit: Callable[[Array], Array]

    def only(self, places: Indices) -> "_Equations":
        """Those of some of the columns."""
        products = self.products[np.ix_(places, places)]
        return _Equations(products, self.unit[places], self.target[places], self.limit)


@dataclass(frozen=True)
class _Squares:
    """Least squares on some columns and the kept ones.

    Attributes
    ----------
    support : array of int (a,)
        The columns without the kept ones.
    coef : array (a + kept,)
        Coefficients, those of the kept columns last.
    cost : array (a,)
        By how much the squares grow without each column of the support.
    resid : array (n,)
        Residuals times the roots of the weights.
    left : float
        Sum of their squares.
    equations : _Equations
        What they were found from.
    """

    support: Indices
    coef: Array
    cost: Array
    resid: Array
    left: float
    equations: _Equations


def pursue(problem: Standardized, coef: Array, k: int) -> RHTFit:
    """Least squares on the k columns that pursuit comes to, from the largest of given coefficients.

    Columns of the largest gradient enter, and those leave that explain least beside the others, until the support stays
    or the squares do not fall.

    Parameters
    ----------
    problem : Standardized
        Rows that count by their weights, with a squared loss and single columns to choose from.
    coef : array (p,)
        Coefficients to start from.
    k : int
        Number of columns beside the kept ones.
    """
    return together(problem, [pursuing(problem, coef, k)])[0]


def together(problem: Standardized, runs: Sequence[Asking]) -> list[RHTFit]:
    """What runs on one design come to that ask for plain gradients: each pass over the design answers all that wait."""
    ends: dict[int, RHTFit] = {}
    answers: dict[int, Array | None] = dict.fromkeys(range(len(runs)))
    while answers:
        asked: dict[int, Array] = {}
        for place, answer in answers.items():
            try:
                asked[place] = next(runs[place]) if answer is None else runs[place].send(answer)
            except StopIteration as end:
                ends[place] = end.value
        answers = dict(zip(asked, _plain_gradients(problem.XT, list(asked.values())), strict=True))
    return [ends[place] for place in range(len(runs))]


def _plain_gradients(XT: Array, scores: list[Array]) -> list[Array]:
    """Plain means of all columns times each of some scores."""
    if len(scores) <= 1:
        return [Mean()(XT.T, score) for score in scores]
    means = np.column_stack(scores) / XT.shape[1]
    out = np.empty((len(scores), len(XT)))
    width = max(1, BLOCK // XT.shape[1])
    for first in range(0, len(XT), width):
        part = slice(first, first + width)
        out[:, part] = (np.asarray(XT[part], dtype=np.float64) @ means).T
    return list(out)


def pursuing(problem: Standardized, coef: Array, k: int) -> Asking:
    """The same as a run among others, see `together`."""
    run = _Pursuit(problem, k)
    best = yield from run.first(coef)
    for _ in range(_STEPS):
        new = yield from run.step(best)
        if not new.left < (1.0 - _LOWER) * best.left:
            break
        best = new
    full = np.zeros(len(problem.XT))
    full[np.concatenate([best.support, problem.keep])] = best.coef
    support = problem.ranked(best.support, full)
    return RHTFit(full, support, 0.0, True, "settled", 0.5 * best.left / problem.n, ())


class _Pursuit:
    """Steps on one set of rows."""

    def __init__(self, problem: Standardized, k: int) -> None:
        self.problem, self.k = problem, k
        self.root = np.ones(problem.n) if problem.weights is None else np.sqrt(problem.weights)
        target = problem.y if problem.offset is None else problem.y - problem.offset
        self.target = self.root * target
        self.closed = np.zeros(len(problem.XT), dtype=bool)
        self.closed[problem.keep] = True

    def first(self, coef: Array) -> Generator[Array, Array, _Squares]:
        """Least squares on the largest of given coefficients; without any, on the columns that enter first."""
        free = np.flatnonzero((coef != 0) & ~self.closed)
        if len(free):
            return self.solved(free[largest(free, coef[free], self.k)])
        nothing = self.solved(free)
        return self.solved((yield from self.entering(nothing, self.k)))

    def step(self, at: _Squares) -> Generator[Array, Array, _Squares]:
        """Columns enter, and those that explain least leave again."""
        more = yield from self.entering(at, max(_FEWEST, int(_SHARE * self.k)))
        if not len(more):
            return at
        wide = self.solved(np.concatenate([at.support, more]))
        stay = np.sort(np.argsort(-wide.cost, kind="stable")[: self.k])
        return at if stay[-1] < len(at.support) else self._part(wide, stay)

    def entering(self, at: _Squares, count: int) -> Generator[Array, Array, Indices]:
        """Columns outside a support with the largest gradients."""
        score = self.root * at.resid
        slope = yield score
        closed = self.closed.copy()
        closed[at.support] = True
        outside = np.flatnonzero(~closed)
        found = outside[largest(outside, slope[outside], count)]
        if self.problem.whole is not None:
            bar = float(np.abs(slope[found]).min()) if len(found) == count else 0.0
            self.problem.whole.watch(0)(score, bar, count)
        return found

    def solved(self, support: Indices) -> _Squares:
        """Least squares on some columns and the kept ones."""
        columns = np.concatenate([support, self.problem.keep])
        slices = row_slices(self.problem.n, len(columns))
        limit: Callable[[Array], Array] = np.asarray
        with np.errstate(over="ignore"):
            products, target = self._products(columns, slices, limit)
        if not np.isfinite(products).all():
            limit = bounded
            products, target = self._products(columns, slices, limit)
        unit = np.sqrt(np.maximum(np.diag(products), 1e-300))
        products /= np.outer(unit, unit)
        products[np.diag_indices(len(unit))] += _RIDGE
        return self._squares(support, _Equations(products, unit, target, limit))

    def _part(self, wide: _Squares, stay: Indices) -> _Squares:
        """Least squares on some of the columns of another, whose inner products are known."""
        count, kept = len(wide.support), len(self.problem.keep)
        places = np.concatenate([stay, np.arange(count, count + kept)])
        return self._squares(wide.support[stay], wide.equations.only(places))

    def _squares(self, support: Indices, equations: _Equations) -> _Squares:
        """Least squares, given their normal equations."""
        columns = np.concatenate([support, self.problem.keep])
        inverse = _inverse(equations.products)
        scaled = inverse @ (equations.target / equations.unit)
        coef = scaled / equations.unit
        cost = scaled**2 / np.diag(inverse)
        resid = self.target.copy()
        for part in row_slices(self.problem.n, len(columns)):
            resid[part] -= coef @ equations.limit(self._rows(columns, part))
        left = float(resid @ resid)
        return _Squares(support, coef, cost[: len(support)], resid, left, equations)

    def _rows(self, columns: Indices, part: slice) -> Array:
        """Some weighted columns (columns, rows) of part of the rows."""
        return np.asarray(self.problem.columns(columns, part).T * self.root[part])

    def _products(
        self, columns: Indices, slices: Sequence[slice], limit: Callable[[Array], Array]
    ) -> tuple[Array, Array]:
        """Inner products of some columns with each other and with the target."""
        products, target = np.zeros((len(columns), len(columns))), np.zeros(len(columns))
        for part in slices:
            rows = limit(self._rows(columns, part))
            products += rows @ rows.T
            target += rows @ self.target[part]
        return products, target


def _inverse(products: Array) -> Array:
    """Inverse of a positive definite matrix."""
    if not len(products):
        return products
    # Above the diagonal the factor is cleared, and the inverse is not written.
    half = dpotri(dpotrf(products, lower=1)[0], lower=1)[0]
    inverse = np.asarray(half + half.T)
    inverse.flat[:: len(half) + 1] = np.diag(half)
    return inverse
