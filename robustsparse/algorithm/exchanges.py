"""Sets of columns by inner products alone: how they grow, shrink and exchange.

`Tableau` tells it of many columns and one set; sets of all sizes are searched for by `sets_by_size`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

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
    factor, failed = dpotrf(inside, lower=1)
    # A small pivot means that rounding decides.
    if failed or np.diag(factor).min() ** 2 <= DEPENDENT * inside.diagonal().max():
        return np.asarray(np.linalg.pinv(inside, hermitian=True))
    # Above the diagonal the factor is cleared, and the inverse is not written.
    half = dpotri(factor, lower=1)[0]
    inverse = np.asarray(half + half.T)
    inverse.flat[:: len(half) + 1] = half.diagonal()
    return inverse


@dataclass(frozen=True, eq=False)
class InnerProducts:
    """Inner products of w columns and a target.

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
