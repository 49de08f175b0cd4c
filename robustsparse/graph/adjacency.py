"""Rankings of the edges of a graph, and paths of graphs: cutting and combining them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.matrices import canonical, symmetric, upper
from robustsparse.base.text import listed
from robustsparse.base.types import Array, Places

# Two halves of a symmetric matrix that differ by less, relative to its largest entry, differ by rounding.
ROUNDING = 1e-6
# Largest relative error of a value of the path, so that it can be given with the digits that were printed.
_PRINTED = 1e-6


def strongest(ranking: Any, n: int) -> Any:
    """Graph of the n pairs that rank highest; ties go to the pair that comes first.

    Parameters
    ----------
    ranking : sparse matrix of shape (d, d)
        Symmetric, not negative; larger is stronger, zero is never an edge.
    n : int
        Number of edges; fewer if the ranking has fewer pairs.

    Examples
    --------
    >>> ranking = np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]])
    >>> strongest(ranking, 2).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    rows, columns = next(strongest_pairs(ranking, [n]))
    return symmetric(rows, columns, np.ones(len(rows), dtype=bool), ranking.shape[0])


def strongest_pairs(ranking: Any, numbers: Sequence[int]) -> Iterator[tuple[Places, Places]]:
    """Rows and columns of the pairs that rank highest, above the diagonal, for several numbers of them."""
    rows, columns, values = upper(ranking)
    order = np.arange(len(values))
    if 0 < (most := max(numbers)) < len(values):
        # Only the pairs of the largest graph need to be sorted.
        order = np.flatnonzero(values >= np.partition(values, -most)[-most])
    order = order[np.argsort(-values[order], kind="stable")]
    for n in numbers:
        yield rows[order[:n]], columns[order[:n]]


def sizes(matrix: Any) -> Any:
    """Sparse symmetric absolute values of a matrix off its diagonal."""
    values = abs(sparse.csr_array(matrix, dtype=np.float64))
    if not np.isfinite(values.data).all():
        raise DataError("a matrix of the path has missing or infinite entries.")
    largest = values.data.max(initial=0.0)
    if abs(values - values.T).max() > ROUNDING * largest:
        raise DataError("a matrix of the path is not symmetric; combine its two halves first.")
    # Rounding can leave a zero in one half only.
    return symmetric(*upper(values.maximum(values.T)), values.shape[0])


def entry_ranking(steps: Sequence[Any]) -> Any:
    """Rank pairs by the step of a path at which they enter, then by their size there.

    Parameters
    ----------
    steps : sequence of sparse matrices of shape (d, d)
        Symmetric sizes of the pairs along the path, sparsest first, as `sizes` gives them.

    Returns
    -------
    csr_array of float, shape (d, d)
        In (0, 1]: pairs that enter at step s of m are above 1 - s/m, s = 1, ..., m; never entered, zero.

    Examples
    --------
    >>> one = sizes([[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    >>> two = sizes([[0, 3, 1], [3, 0, 2], [1, 2, 0]])
    >>> entry_ranking([one, two]).toarray()
    array([[0.   , 1.   , 0.375],
           [1.   , 0.   , 0.5  ],
           [0.375, 0.5  , 0.   ]])
    """
    m, d = len(steps), steps[0].shape[0]
    score = np.zeros((d, d))
    for s, step in enumerate(steps):
        rows, columns, values = upper(step)
        new = score[rows, columns] == 0
        rows, columns, values = rows[new], columns[new], values[new]
        # From one half up, so that the weakest of a step is clearly above the strongest of the next.
        share = 0.5 + 0.5 * values / values.max(initial=0.0)
        score[rows, columns] = (m - s - 1 + share) / m
    return canonical(score + score.T)


def place_on_path(name: str, value: Any, known: Array) -> int:
    """Place of a value among those of the parameter along a path.

    Examples
    --------
    >>> place_on_path("lambda", 0.25, np.array([0.5, 0.25, 0.1]))
    1
    """
    if not len(known):
        raise ParameterError("this graph has no path; use n_edges=.")
    try:
        distance = np.abs(known - float(value))
    except (TypeError, ValueError):
        raise ParameterError(f"{name}={value!r} must be a number.") from None
    nearest = int(np.argmin(distance))
    if not distance[nearest] <= _PRINTED * abs(known[nearest]):
        near = np.sort(known[np.argsort(distance, kind="stable")[:5]])
        raise ParameterError(
            f"{name}={value!r} is not on the path; near it are "
            f"{listed((f'{v:.6g}' for v in near), quote=False)}. All are in path.index."
        )
    return nearest
