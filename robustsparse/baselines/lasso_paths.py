"""Lasso of every variable on all others, along a path of penalties, from a covariance matrix alone.

The neighborhood selection of Meinshausen and Bühlmann (2006, Annals of Statistics 34, 1436-1462): which
covariance matrix it rests on, a plain or a robust one, is the caller's choice.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robustsparse import kernels
from robustsparse.base.checks import check_count, check_number
from robustsparse.base.errors import ConvergenceWarning, DataError, ParameterError, warn_user
from robustsparse.base.threads import over_columns
from robustsparse.base.types import Array

# A change of a gradient below this fraction of the largest variance is nothing.
TOLERANCE = 1e-9
# Only nearly singular problems come near this; all others settle within tens of sweeps.
MAX_SWEEPS = 10_000


def lambda_path(S: ArrayLike, n_lambdas: int = 30, ratio: float = 0.02) -> Array:
    """Penalties from the smallest that leaves the graph empty downward, evenly spaced in logarithms.

    Parameters
    ----------
    S : array (d, d)
        Covariance or correlation matrix.
    n_lambdas : int
        Length of the path.
    ratio : float
        Last penalty as a fraction of the first.

    Returns
    -------
    array (n_lambdas,)
        Descending.

    Examples
    --------
    >>> lambda_path([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]], 3, ratio=0.01).round(3)
    array([0.5  , 0.05 , 0.005])
    """
    matrix = _covariance(S)
    largest = np.abs(matrix - np.diag(np.diag(matrix))).max()
    if largest == 0:
        raise DataError("all variables are uncorrelated, so there is no edge to find.")
    return downward(float(largest), n_lambdas, ratio)


def downward(first: float, n_lambdas: int, ratio: float) -> Array:
    """Penalties from the first down to `ratio` times that, evenly spaced in logarithms.

    Examples
    --------
    >>> downward(0.5, 3, 0.01)
    array([0.5  , 0.05 , 0.005])
    """
    count = check_count("n_lambdas", n_lambdas, 1)
    check_number("lambda_ratio", ratio, 0.0, 1.0, open_low=True)
    return np.asarray(first * np.geomspace(1.0, ratio, count))


@dataclass(frozen=True)
class Penalties:
    """Penalties as a call asks for them.

    Attributes
    ----------
    lambdas : array-like or None
        The penalties themselves, in any order, or None for a default path.
    n_lambdas, ratio : int, float
        Length of the default path, and its last penalty as a fraction of its first.
    """

    lambdas: ArrayLike | None
    n_lambdas: int
    ratio: float

    def values(self, default: Callable[[int, float], Array]) -> Array:
        """Penalties, largest first; those of the default path are `default(n_lambdas, ratio)`.

        Examples
        --------
        >>> from functools import partial
        >>> Penalties([0.1, 0.3], 30, 0.02).values(partial(downward, 0.5))
        array([0.3, 0.1])
        >>> Penalties(None, 2, 0.02).values(partial(downward, 0.5))
        array([0.5 , 0.01])
        """
        if self.lambdas is not None:
            return descending(self.lambdas)
        return default(self.n_lambdas, self.ratio)


def descending(lambdas: ArrayLike) -> Array:
    """Penalties as a checked array, largest first.

    Examples
    --------
    >>> descending([0.1, 0.3])
    array([0.3, 0.1])
    """
    try:
        values = np.atleast_1d(np.asarray(lambdas, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or values.min() < 0:
        raise ParameterError(
            f"lambdas={lambdas!r} must be a list of finite numbers that are not negative."
        )
    return np.ascontiguousarray(np.sort(values)[::-1])


def lasso_paths(
    S: ArrayLike, lambdas: ArrayLike, *, threads: int = 1, tol: float = TOLERANCE
) -> Array:
    """Lasso of every variable on all others at each penalty.

    For variable j the minimizer of ``beta' S beta / 2 - S[j]' beta + lambda |beta|_1`` with ``beta[j] = 0``,
    which is the usual lasso ``|x_j - X beta|^2 / (2 n) + lambda |beta|_1`` if ``S = X'X / n``.

    Parameters
    ----------
    S : array (d, d)
        Covariance or correlation matrix; positive semidefinite.
    lambdas : array
        Penalties, in any order; the path runs from the largest to the smallest.
    threads : int
        Number of threads over the variables; the result does not depend on it.
    tol : float
        How exactly the equations of the minimum hold, as a fraction of the largest variance.

    Returns
    -------
    array (n_lambdas, d, d)
        Entry ``[q, j]`` holds the coefficients of the model for variable j at the q-th largest penalty.

    Warns
    -----
    ConvergenceWarning
        If a model did not settle, as when `S` is not positive semidefinite.

    Examples
    --------
    >>> S = np.array([[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]])
    >>> lasso_paths(S, [0.4, 0.1])[:, 0].round(3)
    array([[0. , 0.1, 0. ],
           [0. , 0.4, 0. ]])
    """
    matrix, penalties = _covariance(S), descending(lambdas)
    d = len(matrix)
    out = np.empty((len(penalties), d, d))
    unsettled: list[int] = []

    def nodes(first: int, last: int) -> None:
        found = kernels.lasso_node_paths(
            matrix, penalties, first, last, tol * matrix.diagonal().max(), MAX_SWEEPS, out
        )
        unsettled.append(found)

    over_columns(nodes, d, out.size, threads)
    if sum(unsettled):
        warn_user(
            f"{sum(unsettled)} of {d * len(penalties)} lasso fits did not settle; use larger lambdas, or a covariance "
            "matrix that is positive semidefinite.",
            ConvergenceWarning,
        )
    return out


def _covariance(S: ArrayLike) -> Array:
    matrix = np.ascontiguousarray(S, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(f"a covariance matrix is square; this one has shape {matrix.shape}.")
    if not np.isfinite(matrix).all() or matrix.diagonal().min() <= 0:
        raise DataError(
            "the covariance matrix has variances that are not positive, or entries that are not finite."
        )
    return matrix
