"""How far an MM-estimate can be from the truth: its covariance and degrees of freedom."""

import numpy as np

from robustsparse.base.types import Array
from robustsparse.robust.row_moves import ALONE, LEAST_INFORMATION, RowMoves
from robustsparse.robust.s_estimate import Problem, gram, unit_diagonal
from robustsparse.robust.scales import BISQUARE_EFFICIENCY, BREAKDOWN_TUNING, bisquare_rest

FEWEST_DEGREES = 1.0


def covariance(task: Problem, u: Array, first: Array) -> Array:
    """Covariance (p, p) of the coefficients at scale 1, for samples of any size.

    A row with leverage h pulls the fit towards itself, so its residual is too small by 1 - h or so;
    to divide by it gives what the coefficients move by if the row is left out (HC3, MacKinnon and
    White, 1985). The part of the scale is inflated by n / (n - p).

    Parameters
    ----------
    task : Problem
        The regression.
    u, first : (n,) array
        Residuals of the estimate and of its first stage, in units of the scale.
    """
    n, p = task.A.shape
    inverse, rho, direction = _slopes(task, u, first)
    half = _half_inverse(gram(task, _weights(u)))[0]
    total = np.zeros((p, p))
    for rows in task.slices():
        part = task.part(rows)
        pull = leverages(part, _weights(u[rows]), half)
        psi = np.where(pull > ALONE, 1.0, _psi(u[rows]) / np.maximum(1.0 - pull, 1.0 - ALONE))
        moves = _own_moves(part, psi, inverse)
        moves += np.outer(rho[rows], direction) * np.sqrt(n / (n - p))
        total += moves.T @ moves
    return total


def influences(task: Problem, u: Array, first: Array) -> Array:
    """What a little more weight on each row moves the coefficients by, (n, p) at scale 1."""
    inverse, rho, direction = _slopes(task, u, first)
    return _own_moves(task, _psi(u), inverse) + np.outer(rho, direction)


def row_moves(task: Problem, u: Array, first: Array) -> RowMoves:
    """What rows do to the coefficients at scale 1, for covariances of rows that are not independent.

    Parameters
    ----------
    task : Problem
        The regression.
    u, first : (n,) array
        Residuals of the estimate and of its first stage, in units of the scale.
    """
    n, p = task.A.shape
    inverse, rho, direction = _slopes(task, u, first)
    return RowMoves(
        scores=task.weighted * _psi(u)[:, None],
        unit=task.weighted,
        roots=np.sqrt(task.prior * _weights(u))[:, None] * task.A,
        inverse=inverse,
        rest=np.outer(rho, direction) * np.sqrt(n / (n - p)),
        extra=np.zeros((p, p)),
    )


def _own_moves(task: Problem, psi: Array, inverse: Array) -> Array:
    """Moves (n, p) by each row's own equation, of size `psi`.

    Row i moves the coefficients by `H^-1 (psi_i x_i - k (rho_i - mean rho))`, where the second term is through the
    scale.
    """
    return np.asarray((task.weighted * psi[:, None]) @ inverse)


def _slopes(task: Problem, u: Array, first: Array) -> tuple[Array, Array, Array]:
    """The inverse (p, p) of H, and moves through the scale: rows (n,) times a direction (p,)."""
    u = _clipped(u)
    rest = bisquare_rest(u * u, BISQUARE_EFFICIENCY)
    slope = rest * (5.0 * rest - 4.0)
    rho, rho_slope = _scale_terms(task, first)
    rho_move = (task.average * slope * u) @ task.A / rho_slope
    inverse = _inverse_slope(task, rest, slope)
    return inverse, -(task.prior * rho), rho_move @ inverse


def _clipped(u: Array) -> Array:
    return np.clip(u, -BISQUARE_EFFICIENCY, BISQUARE_EFFICIENCY)


def _weights(u: Array) -> Array:
    return bisquare_rest(_clipped(u) ** 2, BISQUARE_EFFICIENCY) ** 2


def _psi(u: Array) -> Array:
    return _weights(u) * _clipped(u)


def leverages(task: Problem, weights: Array, half: Array | None = None) -> Array:
    """Leverage (n,) of each row in a least-squares fit with these weights, from 0 to 1.

    `half` is a root (p, p) of the inverse of its normal matrix, if that is one of more rows than these.
    """
    half = _half_inverse(gram(task, weights))[0] if half is None else half
    return np.asarray(task.prior * weights * ((task.A @ half) ** 2).sum(axis=1))


def degrees_of_freedom(task: Problem, weights: Array) -> float:
    """Sum of the weights less the number of coefficients and one for the scale; at least 1.

    With prior weights the sum is the number of equal rows that would know as much.
    """
    total, squares = float(task.prior @ weights), float(task.prior**2 @ weights)
    rows = total * total / squares if squares > 0 else 0.0
    return max(rows - len(task.A.T) - 1.0, FEWEST_DEGREES)


def _scale_terms(task: Problem, first: Array) -> tuple[Array, float]:
    """Centered rho of the first residuals, and the slope of its average in the log scale."""
    first = np.clip(first, -BREAKDOWN_TUNING, BREAKDOWN_TUNING)
    rest = bisquare_rest(first * first, BREAKDOWN_TUNING)
    rho = 1.0 - rest**3
    slope = float(task.average @ (rest * first) ** 2) * 6.0 / BREAKDOWN_TUNING**2
    return rho - float(task.prior @ rho) / len(rho), max(slope, LEAST_INFORMATION)


def _inverse_slope(task: Problem, rest: Array, slope: Array) -> Array:
    """Inverse of the derivative (p, p) of the estimating equations, always positive definite."""
    half, least = _half_inverse(gram(task, slope))
    if least < LEAST_INFORMATION:
        # Rows on the way out bend the loss downwards; on average over the rows it bends upwards.
        share = float(task.prior @ slope) / float(task.prior @ rest**2)
        half, _ = _half_inverse(gram(task, rest**2) * max(share, 0.1))
    return np.asarray(half @ half.T)


def _half_inverse(matrix: Array) -> tuple[Array, float]:
    """Root (p, p) of the inverse of a matrix, and the least eigenvalue with columns of unit length."""
    scaled, unit = unit_diagonal(matrix[None])
    values, vectors = np.linalg.eigh(_numbers(scaled[0]))
    half = vectors / np.sqrt(np.maximum(values, LEAST_INFORMATION)) / unit[0][:, None]
    return half, float(values[0])


def _numbers(matrix: Array) -> Array:
    """The matrix, or one of zeros if products beyond all numbers are in it: it tells nothing."""
    return matrix if np.isfinite(matrix).all() else np.zeros_like(matrix)
