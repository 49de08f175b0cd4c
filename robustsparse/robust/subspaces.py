"""Principal subspaces of the directions of rows, whatever the shape of the data.

The covariance of the rows' directions (spatial signs) has d x d entries, their inner products n x n. The smaller of
the two is decomposed while it is small; beyond, a few multiplications with it find the leading directions.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dsyrk

from robustsparse.base.types import Array

# Entries worked on at a time.
_BLOCK = 1 << 18
# Values are cut off there, so that their squares and products stay within double precision.
_LARGEST = 1e75
# Larger matrices are never formed: their leading directions come from repeated multiplications.
_LARGEST_MATRIX = 1200
# Eigenvalues below this part of the largest are rounding errors.
_ROUNDING = 1e-10
# These multiplications carry some directions more than are wanted along: so the wanted ones settle sooner.
_MORE, _MULTIPLICATIONS = 8, 6


def bounded(Z: Array) -> Array:
    """A copy with values whose squares and products stay within double precision."""
    return np.clip(np.asarray(Z, dtype=np.float64), -_LARGEST, _LARGEST)


def column_blocks(Z: Array) -> Iterator[Array]:
    """Copies of consecutive columns, bounded, few enough for temporaries."""
    width = max(1, _BLOCK // len(Z))
    for first in range(0, Z.shape[1], width):
        yield bounded(Z[:, first : first + width])


def _row_blocks(Z: Array) -> Iterator[tuple[slice, Array]]:
    height = max(1, _BLOCK // Z.shape[1])
    for first in range(0, len(Z), height):
        part = slice(first, first + height)
        yield part, bounded(Z[part])


def principal_scores(Z: Array, most: int) -> tuple[Array, Array]:
    """Squared lengths (n,) of the rows, and their coordinates (n, most) along the leading directions.

    Examples
    --------
    >>> Z = np.array([[3.0, 4.0], [-6.0, -8.0], [0.3, 0.4]])
    >>> squares, scores = principal_scores(Z, 1)
    >>> squares.round(2).tolist(), np.abs(scores.ravel()).round(2).tolist()
    ([25.0, 100.0, 0.25], [5.0, 10.0, 0.5])
    """
    n, d = Z.shape
    if most == 0:
        return _squares(Z), np.empty((n, 0))
    if min(n, d) > _LARGEST_MATRIX:
        return _by_multiplication(Z, most)
    return _wide_scores(Z, most) if d > n else _tall_scores(Z, most)


def _squares(Z: Array) -> Array:
    """Squared lengths of the rows."""
    total = np.zeros(len(Z))
    for block in column_blocks(Z):
        total += np.einsum("ij,ij->i", block, block)
    return total


def _tall_scores(Z: Array, most: int) -> tuple[Array, Array]:
    """From the d x d covariance."""
    n, d = Z.shape
    squares, covariance = np.empty(n), np.zeros((d, d), order="F")
    for part, block in _row_blocks(Z):
        squares[part] = np.einsum("ij,ij->i", block, block)
        block /= _lengths(squares[part])[:, None]
        covariance = dsyrk(1.0, block.T, beta=1.0, c=covariance, overwrite_c=True)
    _, vectors = _leading(covariance, most)
    scores = np.empty((n, most))
    for part, block in _row_blocks(Z):
        scores[part] = block @ vectors
    return squares, scores


def _wide_scores(Z: Array, most: int) -> tuple[Array, Array]:
    """From the n x n matrix of inner products."""
    return scores_from_inner(inner_products(Z), most)


def inner_products(Z: Array) -> Array:
    """Inner products (n, n) of the rows, of which the upper triangle is filled."""
    inner = np.zeros((len(Z), len(Z)), order="F")
    for block in column_blocks(Z):
        # The upper triangle is added to in place.
        inner = dsyrk(1.0, block, beta=1.0, c=inner, overwrite_c=True)
    return np.asarray(inner)


def scores_from_inner(inner: Array, most: int) -> tuple[Array, Array]:
    """What `principal_scores` finds, from the upper triangle of the inner products of the rows, which is used up.

    Of a matrix that is too large to be decomposed the leading directions come from repeated multiplications.
    """
    squares = np.diagonal(inner).copy()
    if len(inner) > _LARGEST_MATRIX:
        inner += np.triu(inner, 1).T
        return squares, scores_from_products(squares, most, lambda some: inner @ some)
    length = _lengths(squares)
    inner /= length
    inner /= length[:, None]
    values, vectors = _leading(inner, most)
    return squares, length[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))


def _by_multiplication(Z: Array, most: int) -> tuple[Array, Array]:
    """From products with the matrix of inner products, which is never formed: time grows like n d."""
    squares = _squares(Z)
    return squares, scores_from_products(squares, most, lambda some: products(Z, some))


def products(Z: Array, some: Array) -> Array:
    """Product (n, m) of the matrix of inner products of the rows, which is not formed, with another (n, m)."""
    product = np.zeros_like(some)
    for block in column_blocks(Z):
        product += block @ (block.T @ some)
    return product


def scores_from_products(squares: Array, most: int, multiplied: Callable[[Array], Array]) -> Array:
    """Coordinates (n, most) of rows of given squared lengths, from products with the matrix of their inner products."""
    length = _lengths(squares)
    # A fixed start makes the result reproducible.
    product = np.random.default_rng(0).normal(size=(len(squares), most + _MORE))
    for _ in range(_MULTIPLICATIONS):
        basis, _ = np.linalg.qr(product)
        product = multiplied(basis / length[:, None])
        product /= length[:, None]
    values, rotation = _leading(np.asfortranarray(basis.T @ product), most)
    # Of data of few dimensions most eigenvalues are rounding errors, and their directions nothing.
    real = values > _ROUNDING * values[-1]
    scale = np.divide(1.0, np.sqrt(np.abs(values)), out=np.zeros(most), where=real)
    return np.asarray(length[:, None] * (product @ (rotation * scale)))


def _lengths(squares: Array) -> Array:
    """Lengths of rows, one for those of zeros."""
    return np.where(squares > 0, np.sqrt(squares), 1.0)


def _leading(matrix: Array, count: int) -> tuple[Array, Array]:
    """Largest eigenvalues (count,) and their eigenvectors of a symmetric matrix.

    Only its upper triangle is read, and it is used up.
    """
    m = len(matrix)
    values, vectors = eigh(
        matrix, lower=False, subset_by_index=(m - count, m - 1), overwrite_a=True
    )
    return values, vectors
