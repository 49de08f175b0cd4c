"""The paper's Robust Descent Condition, measured on simulated data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustsparse.algorithm.estimator import GradientEstimator, as_given
from robustsparse.algorithm.gradients import EstimatorLike, as_estimator
from robustsparse.base.checks import check_choice, check_count, check_number
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array
from robustsparse.report.plots.rdc import plot_rdc
from robustsparse.simulate.battery import Attack
from robustsparse.simulate.models import CORRELATION, linear
from robustsparse.simulate.simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Cauchy noise has no mean, and so no population gradient.
NOISES = ("gaussian", "lognormal", "t3")
# The paper's Meta-Theorem asks for alpha below the strong convexity over this.
CONVEXITY_OVER_ALPHA = 32.0


@dataclass(frozen=True, eq=False, repr=False)
class RDC:
    """How far a gradient estimator is from the population gradient, on sparse directions.

    Attributes
    ----------
    data : DataFrame
        A row a point: `repeat` (data set), `distance` ``||beta - beta*||``, `error` (largest
        ``|<Ghat - G, u>|`` over unit vectors u of at most `sparsity` entries).
    alpha, psi : float
        The line ``alpha * distance + psi`` that lies closest above all errors.
    sparsity : int
        Entries of a direction.
    limit : float
        The theory's largest alpha: a 32nd of the strong convexity, the smallest eigenvalue of the
        covariance (its bound for every d).
    estimator : str
        What was measured.

    Examples
    --------
    >>> from robustsparse import simulate
    >>> simulate.rdc("trim", n=200, d=50, k=3, repeats=3, points=5, rng=0)
    RDC(Trimmed(alpha=0.2), alpha=0.42, psi=0.16)
    """

    data: pd.DataFrame
    alpha: float
    psi: float
    sparsity: int
    limit: float
    estimator: str

    def at_truth(self) -> Array:
        """Errors at ``beta = beta*``, one a data set: what is left of psi there.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from robustsparse import simulate
        >>> simulate.rdc("mean", n=200, d=50, k=3, repeats=3, points=5, rng=0).at_truth().shape
        (3,)
        """
        return self.data.loc[self.data["distance"] == 0, "error"].to_numpy(dtype=np.float64)

    def plot(self, ax: Axes | None = None, **how: Any) -> Axes:
        """Draw the errors against the distance, and the line; `how` is `label` and `color`.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.
        **how
            `label` and `color` of the points.

        Returns
        -------
        Axes

        Examples
        --------
        >>> from robustsparse import simulate
        >>> simulate.rdc("mean", n=200, d=50, k=3, repeats=3, points=5, rng=0).plot().get_ylim()[0]
        np.float64(0.0)
        """
        return plot_rdc(self.data, self.alpha, self.psi, ax, **how)

    def __repr__(self) -> str:
        return f"RDC({self.estimator}, alpha={self.alpha:.2g}, psi={self.psi:.2g})"


def rdc(
    estimator: EstimatorLike = "trim",
    *,
    n: int = 300,
    d: int = 1000,
    k: int = 5,
    sigma: float = 0.5,
    epsilon: float = 0.1,
    attack: str | Attack | None = "paper",
    design: str = "gaussian",
    noise: str = "gaussian",
    correlation: float = CORRELATION,
    sparsity: int | None = None,
    radius: float | None = None,
    points: int = 20,
    repeats: int = 10,
    rng: int | np.random.Generator | None = None,
) -> RDC:
    """Measure the paper's Robust Descent Condition (RDC) for a gradient estimator.

    An estimator Ghat meets the condition if ``|<Ghat(b) - G(b), c - b*>|`` is at most
    ``(alpha ||b - b*|| + psi) ||c - b*||`` for all sparse b and c, where G is the population
    gradient. Here the model is linear with known covariance S, so ``G(b) = S (b - b*)``; the worst
    c is known too: the best direction of s entries takes the s largest of ``|Ghat - G|``, whose
    l2 norm is the error. The points b lie in random sparse directions from the truth, at equal
    steps of distance from zero: worse ones may exist, so alpha and psi are what the theory's
    constants are at least.

    Parameters
    ----------
    estimator : {"trim", "mom", "mean", "geomom", "catoni", "filter"} or callable
        As in `rht`: a name, an instance, or any callable ``(X, score) -> (d,)``.
    n, d, k, sigma, epsilon, attack, correlation
        As in `linear`. Outliers are no part of the population.
    design, noise : {"gaussian", "lognormal", "t3"}
        As in `linear`.
    sparsity : int, optional
        Entries of ``b - b*`` and of a direction; 3k by default, as with k' = 2k.
    radius : float, optional
        Largest distance of a point from the truth; by default the length of the true coefficients,
        so that the algorithm's start at zero is as far away as the farthest points.
    points : int
        Points on each data set; the first is the truth itself.
    repeats : int
        Data sets.
    rng : int, Generator or None
        Source of randomness; None draws anew at each call.

    Returns
    -------
    RDC

    Examples
    --------
    Rows a hundred times too large break the mean, not the trimmed mean:

    >>> from robustsparse import simulate
    >>> size = dict(n=200, d=50, k=3, attack="leverage", repeats=3, points=5, rng=0)
    >>> simulate.rdc("mean", **size).psi > 100 * simulate.rdc("trim", **size).psi
    True
    """
    check_choice("noise", noise, NOISES)
    check_count("points", points, 2)
    check_count("repeats", repeats, 1)
    sparsity = check_count("sparsity", _three_times(k, d) if sparsity is None else sparsity, 1, d)
    radius = math.sqrt(k) if radius is None else check_number("radius", radius, 0.0, open_low=True)
    own, *streams = np.random.default_rng(rng).spawn(repeats + 1)
    chosen = as_estimator(estimator, epsilon, own)
    distances = np.linspace(0.0, radius, points)
    frames = []
    for repeat, stream in enumerate(streams):
        sim = linear(
            n, d, k, sigma=sigma, epsilon=epsilon, attack=attack, design=design, noise=noise,
            correlation=correlation, rng=stream,
        )  # fmt: skip
        steps = [_sparse_step(sim, sparsity, distance, stream) for distance in distances]
        errors = [_error(chosen, sim, step, correlation, sparsity) for step in steps]
        frames.append(pd.DataFrame({"repeat": repeat, "distance": distances, "error": errors}))
    data = pd.concat(frames, ignore_index=True)
    alpha, psi = bounding_line(data["distance"].to_numpy(), data["error"].to_numpy())
    convexity = (1.0 - abs(correlation)) / (1.0 + abs(correlation))
    return RDC(data, alpha, psi, sparsity, convexity / CONVEXITY_OVER_ALPHA, repr(as_given(chosen)))


def _three_times(k: int, d: int) -> int:
    return min(max(3 * k, 1), d)


def _sparse_step(
    sim: Simulation, sparsity: int, distance: float, rng: np.random.Generator
) -> Array:
    """``b - b*`` of the given length: random on the true columns and others, `sparsity` in all."""
    assert sim.beta is not None
    d = len(sim.beta)
    true = np.flatnonzero(sim.beta)
    others = np.setdiff1d(np.arange(d), true)
    columns = np.concatenate([true, rng.permutation(others)])[:sparsity]
    step = np.zeros(d)
    step[columns] = rng.standard_normal(len(columns))
    return step * (distance / np.linalg.norm(step))


def _error(
    estimator: GradientEstimator, sim: Simulation, step: Array, correlation: float, sparsity: int
) -> float:
    """Largest ``|<Ghat - G, u>|`` over unit vectors u with at most `sparsity` entries."""
    assert sim.beta is not None
    assert sim.y is not None
    score = sim.X @ (sim.beta + step) - sim.y
    gradient = np.asarray(estimator(sim.X, score), dtype=np.float64)
    if gradient.shape != step.shape:
        raise ParameterError(
            f"{estimator!r} returned shape {gradient.shape} for a design of {len(step)} columns; a "
            "gradient estimator returns one number a column."
        )
    gap = np.abs(gradient - toeplitz_times(step, correlation))
    return float(np.linalg.norm(np.partition(gap, len(gap) - sparsity)[-sparsity:]))


def toeplitz_times(vector: Array, rho: float) -> Array:
    """``S v`` for ``S = rho ** |i - j|``, by one pass from each end.

    Examples
    --------
    >>> toeplitz_times(np.array([1.0, 0.0, 0.0]), 0.5)
    array([1.  , 0.5 , 0.25])
    """
    from scipy.signal import lfilter

    forward = lfilter([1.0], [1.0, -rho], vector)
    backward = lfilter([1.0], [1.0, -rho], vector[::-1])[::-1]
    return np.asarray(forward + backward - vector)


def bounding_line(x: Array, y: Array) -> tuple[float, float]:
    """Slope and level, neither negative, of the line above all points with the least sum of gaps.

    Examples
    --------
    >>> slope, level = bounding_line(np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 3.0]))
    >>> round(slope, 6), round(level, 6)
    (0.5, 1.5)
    """
    from scipy.optimize import linprog

    # The solver's tolerance is absolute, and errors under gross outliers are not of order one.
    unit = float(np.abs(y).max()) or 1.0
    points = np.column_stack([x, np.ones_like(x)])
    found = linprog(points.mean(axis=0), A_ub=-points, b_ub=-y / unit, bounds=(0, None))
    slope, level = np.maximum(found.x, 0.0) * unit
    return float(slope), float(level)
