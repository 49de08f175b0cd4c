"""Elastic nets and ridges of the squared loss from inner products: where columns are few, rows are read once.

What a net needs of its rows are the inner products of its columns with each other and with the response. Those without
a fold are those of all rows less those of the fold, so that cross-validation costs two readings of the rows, whatever
the number of folds, penalties and mixings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustsparse import kernels
from robustsparse.algorithm.elastic_net import MAX_SWEEPS, TOLERANCE, Net, inverse
from robustsparse.base.types import Array, Indices, Places


@dataclass(frozen=True, eq=False)
class Equations:
    """Normal equations of the penalized columns, with what the kept ones explain projected out.

    Attributes
    ----------
    among : array (m, m)
        Weighted mean products of the columns.
    right : array (m,)
        Those with the response.
    explained : array (kept, m)
        Coefficients of the columns on the kept ones.
    alone : array (kept,)
        Coefficients of the response on the kept ones alone.
    square : float
        Weighted mean square of what these leave of the response.
    """

    among: Array
    right: Array
    explained: Array
    alone: Array
    square: float

    @cached_property
    def spectrum(self) -> tuple[Array, Array, Array]:
        """Eigenvalues, eigenvectors, and the right side in their terms."""
        values, vectors = np.linalg.eigh(self.among)
        return np.maximum(values, 0.0), vectors, vectors.T @ self.right

    def loss(self, beta: Array) -> float:
        """Weighted mean loss."""
        return 0.5 * float(self.square - beta @ (2.0 * self.right - self.among @ beta))

    def ridge(self, penalty: float) -> Array:
        """Coefficients of a ridge."""
        values, vectors, right = self.spectrum
        return np.asarray(vectors @ (right / (values + penalty)))

    def elastic(self, penalty: float, mixing: float, beta: Array) -> None:
        """Go to the minimum of an elastic net from coefficients, in their place."""
        threshold, ridge = penalty * mixing, penalty * (1.0 - mixing)
        among, diagonal = self._penalized
        np.add(self.among.diagonal(), ridge, out=diagonal)
        grad = self.right - among @ beta
        kernels.lasso_from_gram(among, threshold, beta, grad, TOLERANCE * threshold, MAX_SWEEPS)

    @cached_property
    def _penalized(self) -> tuple[Array, Array]:
        """A copy of `among` that has room for a ridge, and a view of its diagonal."""
        among = np.array(self.among, order="C")
        return among, among.ravel()[:: len(among) + 1]


def left_out_equations(net: Net, folds: Sequence[Places]) -> list[Equations]:
    """Normal equations of all rows of a net, and of those without each fold.

    Examples
    --------
    >>> from robustsparse.algorithm.losses import Squared
    >>> XT = np.array([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, 1.0, 1.0]])
    >>> y, free = np.array([3.0, 1.0, 3.0, 1.0]), np.array([True, False])
    >>> net = Net(XT, y, Squared(), np.ones(4), np.zeros(4), np.array([1]), free, 0.5)
    >>> whole, part = left_out_equations(net, [np.array([0, 1])])
    >>> whole.ridge(1.0), part.ridge(0.0)
    (array([0.5]), array([1.]))
    """
    order = np.concatenate([np.flatnonzero(net.free), net.keep])
    stacked = np.vstack([net.XT[order], (net.y - net.offset)[None]])
    every = [np.arange(len(net.y)), *folds]
    sums = [_products(stacked[:, rows], net.weights[rows]) for rows in every]
    total = sums[0]
    kept = len(net.keep)
    return [_equations(total, kept), *(_equations(total - part, kept) for part in sums[1:])]


def _products(stacked: Array, weights: Array) -> Array:
    """Weighted products of the rows of a matrix with each other; in a last corner the sum of the weights."""
    root = np.sqrt(weights)
    scaled = stacked * root
    size = len(stacked)
    products = np.zeros((size + 1, size + 1))
    products[:size, :size] = scaled @ scaled.T
    products[size, size] = weights.sum()
    return products


def _equations(products: Array, kept: int) -> Equations:
    mean = products[:-1, :-1] / products[-1, -1]
    m = len(mean) - 1 - kept
    inside = inverse(mean[m:-1, m:-1])
    explained = inside @ mean[m:-1, :m]
    alone = inside @ mean[m:-1, -1]
    across = mean[:m, m:-1]
    square = float(mean[-1, -1] - mean[m:-1, -1] @ alone)
    return Equations(
        mean[:m, :m] - across @ explained, mean[:m, -1] - across @ alone, explained, alone, square
    )


class GramDescent:
    """Nets of the squared loss, of all rows and without each fold, on their way down a path together.

    Parameters
    ----------
    net : Net
        The net of all rows; with a mixing of 0 it is a ridge.
    equations : sequence of Equations
        Those of the net and of the net without each fold.
    """

    def __init__(self, net: Net, equations: Sequence[Equations]) -> None:
        self._net, self._equations = net, equations
        self._places: Indices = np.flatnonzero(net.free)
        self._betas = np.zeros((len(equations), len(self._places)))
        self._alone = np.array([own.alone for own in equations])
        self._explained = np.array([own.explained for own in equations])

    def largest_penalty(self) -> float:
        """The smallest penalty that leaves the kept columns alone in every model; of a ridge, the largest variance."""
        if self._net.mixing == 0:
            return float(self._equations[0].spectrum[0].max(initial=0.0))
        steep = [np.abs(own.right).max(initial=0.0) for own in self._equations]
        return float(max(steep)) / self._net.mixing

    def losses(self) -> Array:
        """Weighted mean loss of each net where it is."""
        return np.array(
            [own.loss(beta) for own, beta in zip(self._equations, self._betas, strict=True)]
        )

    def to(self, penalty: float) -> Array:
        """Coefficients (nets, p) at a penalty below those before."""
        coefs = np.zeros((len(self._equations), len(self._net.XT)))
        for own, beta in zip(self._equations, self._betas, strict=True):
            if self._net.mixing == 0:
                beta[:] = own.ridge(penalty)
            else:
                own.elastic(penalty, self._net.mixing, beta)
        kept = (self._explained @ self._betas[:, :, None])[:, :, 0]
        coefs[:, self._net.keep] = self._alone - kept
        coefs[:, self._places] = self._betas
        return coefs
