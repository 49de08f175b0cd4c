"""Sets of columns by inner products alone: how they grow, shrink and exchange.

Exchanges are compiled, and tell on the way which column to add or to remove next. Where columns of a set nearly repeat
each other, so that rounding would decide, numpy's pseudo-inverse takes over.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from robustsparse import kernels
from robustsparse.base.types import Array, Indices

# What is left of a column that the others explain up to this part of it is rounding.
DEPENDENT = 1e-7
# An exchange must lower the residual sum of squares by this part of it.
LOWER = 1e-9

_Answer = TypeVar("_Answer")


def once(ask: Callable[[Indices], _Answer]) -> Callable[[Indices], _Answer]:
    """A function of a set that remembers its answers: searches come back to the same sets until none gets better."""
    known: dict[bytes, _Answer] = {}

    def answer(chosen: Indices) -> _Answer:
        key = chosen.tobytes()
        if key not in known:
            known[key] = ask(chosen)
        return known[key]

    return answer


@dataclass(frozen=True)
class Tableau:
    """What is known of every column of some, given a set S of them in the model.

    Attributes
    ----------
    coef : array (k,)
        Coefficients of the set.
    inverse : array (k,)
        Diagonal of the inverse of its inner products.
    explained : array (w, k)
        Coefficients of every column's regression on the set.
    slope, left : array (w,)
        Inner product of every column with the residuals, and what the set leaves of its square.
    """

    coef: Array
    inverse: Array
    explained: Array
    slope: Array
    left: Array

    @classmethod
    def of(
        cls, with_set: Array, cross: Array, squares: Array, inside: Array, own: Array
    ) -> "Tableau":
        """From inner products of all columns with the set, with the target and with themselves, and the set's own."""
        inverse = inverse_of(inside)
        coef = inverse @ own
        # Member by member along memory: members are few, columns many.
        explained = (inverse @ with_set.T).T
        left = squares - np.einsum("ij,ij->i", explained, with_set)
        return cls(coef, np.diag(inverse), explained, cross - with_set @ coef, left)

    @property
    def cost(self) -> Array:
        """By how much the residual sum of squares grows without each member."""
        return np.asarray(self.coef**2 / np.maximum(self.inverse, 1e-300))

    def gains(self, squares: Array) -> Array:
        """By how much it falls with each column added."""
        enough = self.left > DEPENDENT * squares
        return np.where(enough, self.slope**2 / np.where(enough, self.left, 1.0), 0.0)

    def exchanges(self, squares: Array) -> Array:
        """By how much it falls (w, k) with each column added in the place of each member."""
        freed = self.explained / np.maximum(self.inverse, 1e-300)
        slope = self.slope[:, None] + freed * self.coef
        left = self.left[:, None] + freed * self.explained
        enough = left > DEPENDENT * squares[:, None]
        return np.where(enough, slope**2 / np.where(enough, left, 1.0), 0.0) - self.cost


def inverse_of(inside: Array) -> Array:
    """Inverse of the inner products of a set; of one that is singular up to rounding the pseudo-inverse."""
    if not len(inside):
        return inside
    factor, failed = dpotrf(inside, lower=1, clean=0)
    # A small pivot means that rounding decides.
    if failed or np.diag(factor).min() ** 2 <= DEPENDENT * inside.diagonal().max():
        return np.asarray(np.linalg.pinv(inside, hermitian=True))
    half = dpotri(factor, lower=1)[0]
    lower = np.tril(half)
    return np.asarray(lower + np.tril(half, -1).T)


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """Inner products of w columns and a target, and moves of sets of these columns by their places among them.

    Attributes
    ----------
    gram : array (w, w)
        Inner products of the columns.
    cross, squares : array (w,)
        Their inner products with the target and with themselves.
    total : float
        That of the target with itself.
    """

    gram: Array
    cross: Array
    squares: Array
    total: float
    # Of sets after exchanges, the column to add and the member to remove next.
    _next: dict[bytes, tuple[int, int]] = field(default_factory=dict)

    def tableau(self, chosen: Indices) -> Tableau:
        """What is known of all columns given some of them in the model."""
        return Tableau.of(
            self.gram[chosen].T,
            self.cross,
            self.squares,
            self.gram[np.ix_(chosen, chosen)],
            self.cross[chosen],
        )

    def rss(self, chosen: Indices) -> float:
        """Residual sum of squares of a set."""
        if not len(chosen):
            return self.total
        own = self.cross[chosen]
        coef = inverse_of(self.gram[np.ix_(chosen, chosen)]) @ own
        return max(self.total - float(own @ coef), 0.0)

    def grown(self, chosen: Indices) -> Indices | None:
        """The set with the column that explains most of what it leaves."""
        known = self._next.get(chosen.tobytes())
        if known is None:
            gains = self.tableau(chosen).gains(self.squares)
            gains[chosen] = 0.0
            known = int(np.argmax(gains)) if gains.max(initial=0.0) > 0.0 else -1, -1
        return np.append(chosen, known[0]) if known[0] >= 0 else None

    def shrunk(self, chosen: Indices) -> Indices:
        """The set without the column that explains least."""
        known = self._next.get(chosen.tobytes())
        if known is None:
            return np.delete(chosen, int(np.argmin(self.tableau(chosen).cost)))
        return np.asarray(chosen[chosen != known[1]])

    def independent(self, chosen: Indices) -> Indices:
        """The set without columns that those before them explain."""
        kept = np.empty_like(chosen)
        count = kernels.independent_members(self.gram, self.squares, DEPENDENT, chosen, kept)
        return kept[:count]

    def exchanged(self, chosen: Indices) -> tuple[Indices, float]:
        """The set after the best exchanges of one column for another, until none helps; its residual sum of squares."""
        if not len(chosen):
            return chosen, self.total
        moved, steps = chosen.copy(), 2 * len(chosen) + 20
        rss, adds, least = kernels.exchange_columns(
            self.gram, self.cross, self.squares, self.total, DEPENDENT, LOWER, steps, moved
        )
        if rss < 0.0:
            return self._exchanged(moved, steps)
        moved.sort()
        self._next[moved.tobytes()] = adds, least
        return moved, rss

    def _exchanged(self, chosen: Indices, steps: int) -> tuple[Indices, float]:
        """The same by tableaus, for sets whose columns nearly repeat each other."""
        rss = self.rss(chosen)
        for _ in range(steps):
            falls = self.tableau(chosen).exchanges(self.squares)
            falls[chosen] = 0.0
            enters, leaves = np.unravel_index(int(np.argmax(falls)), falls.shape)
            if falls[enters, leaves] <= LOWER * rss:
                break
            before = chosen[leaves]
            chosen[leaves] = enters
            lower = self.rss(chosen)
            if not lower < rss:
                chosen[leaves] = before
                break
            rss = lower
        return np.sort(chosen), rss
