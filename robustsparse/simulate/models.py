"""The paper's regression models: sparse linear, misspecified (cubic) and logistic (sparse LDA)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from robustsparse.base.checks import check_choice, check_count, check_number
from robustsparse.base.errors import ParameterError
from robustsparse.base.types import Array
from robustsparse.simulate.battery import Attack, Corrupted, attacks, find_attack
from robustsparse.simulate.draws import (
    TAILS,
    correlated_rows,
    outlier_count,
    sparse_signs,
    standardized,
)
from robustsparse.simulate.labels import label_attacks
from robustsparse.simulate.simulation import Simulation

CORRELATION = math.exp(-1)  # the paper's Toeplitz covariance is exp(-|i - j|)
DESIGNS = ("gaussian", "lognormal", "t3")
Y_OFFSET = 3.0  # what ``scales="mixed"`` adds to y


def linear(
    n: int = 300,
    d: int = 1000,
    k: int = 5,
    *,
    sigma: float = 0.5,
    epsilon: float = 0.1,
    design: str = "gaussian",
    noise: str = "gaussian",
    correlation: float = CORRELATION,
    attack: str | Attack | None = "paper",
    beta: ArrayLike | None = None,
    scales: str | None = None,
    shuffle: bool = True,
    rng: int | np.random.Generator | None = None,
) -> Simulation:
    """Sparse linear regression with corrupted rows, ``y = x'beta + noise``.

    The paper's model: rows with Toeplitz covariance ``correlation ** |i - j|``, k coefficients +1
    or -1 at random places, and beside n authentic rows so many corrupted ones that they are a
    fraction epsilon of all (n = 300 and epsilon = 0.1: 33 rows).

    Parameters
    ----------
    n, d, k : int
        Authentic rows that remain, columns, true predictors.
    sigma : float
        Standard deviation of the noise (Cauchy: its scale).
    epsilon : float
        Fraction of corrupted rows among all.
    design : {"gaussian", "lognormal", "t3"}
        Entries of x before they are correlated; mean 0, variance 1. ``"lognormal"`` is
        ``(Z - E Z) / sd(Z)`` with ``Z ~ logN(0, 4)``.
    noise : {"gaussian", "lognormal", "t3", "cauchy"}
        Law of the noise, standardized likewise.
    correlation : float
        Correlation of neighboring columns.
    attack : str, callable or None
        A name in `attacks`, or ``attack(X, y, beta, count, rng) -> (X, y, mask)``; it sees
        n + count authentic rows and overwrites `count` of them. None: n clean rows.
    beta : array-like of shape (d,), optional
        Coefficients to use instead of k random signs.
    scales : {None, "mixed"}
        ``"mixed"``: after the attack every column is multiplied by ``10 ** U(-1, 1)`` and shifted,
        and 3 is added to y; `beta` and `intercept` follow, `column_scale` holds the factors.
    shuffle : bool
        Leave corrupted rows where the attack put them (mostly at random places) instead of
        moving them to the end.
    rng : int, Generator or None
        Source of randomness; None draws anew at each call.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from robustsparse import simulate
    >>> simulate.linear(rng=0)
    Simulation(n_total=333, d=1000, k=5, outliers=33)
    >>> simulate.linear(n=100, d=50, design="lognormal", noise="lognormal", attack=None, rng=0)
    Simulation(n_total=100, d=50, k=5, outliers=0)
    """
    check_choice("design", design, DESIGNS)
    check_choice("noise", noise, TAILS)
    _check_sizes(n, d, sigma, correlation)
    rng = np.random.default_rng(rng)
    n_total = n + (outlier_count(n, epsilon) if attack is not None else 0)
    coefficients = sparse_signs(d, k, rng) if beta is None else _given(beta, d)
    X = correlated_rows(design, n_total, d, correlation, rng)
    y = X @ coefficients + sigma * standardized(noise, (n_total,), rng)
    corrupted = _corrupt(X, y, coefficients, n_total - n, attack, attacks, rng)
    simulation = _assemble(corrupted, coefficients, 0.0, shuffle)
    return _mix_scales(simulation, scales, rng)


def misspecified(
    n: int = 300,
    d: int = 1000,
    k: int = 5,
    *,
    sigma: float = 0.0,
    epsilon: float = 0.1,
    correlation: float = CORRELATION,
    attack: str | Attack | None = "paper",
    shuffle: bool = True,
    rng: int | np.random.Generator | None = None,
) -> Simulation:
    """Draw data that no linear model made, ``y = sum_j x_j^3 beta_j``, with corrupted rows.

    The paper's misspecified model. The cube is monotone, so a sparse linear fit can still find
    the support. Designs, coefficients and attacks are those of `linear`; outliers lie about the
    linear plane ``x'beta``.

    Parameters
    ----------
    n, d, k, epsilon, correlation, attack, shuffle, rng
        As in `linear`.
    sigma : float
        Standard deviation of Gaussian noise; the paper has none.

    Returns
    -------
    Simulation
        `beta` are the coefficients of the cubes.

    Examples
    --------
    >>> from robustsparse import simulate
    >>> simulate.misspecified(n=80, d=30, k=3, epsilon=0.2, rng=0)
    Simulation(n_total=100, d=30, k=3, outliers=20)
    """
    _check_sizes(n, d, sigma, correlation)
    rng = np.random.default_rng(rng)
    n_total = n + (outlier_count(n, epsilon) if attack is not None else 0)
    beta = sparse_signs(d, k, rng)
    X = correlated_rows("gaussian", n_total, d, correlation, rng)
    true = np.flatnonzero(beta)
    y = X[:, true] ** 3 @ beta[true] + sigma * rng.standard_normal(n_total)
    corrupted = _corrupt(X, y, beta, n_total - n, attack, attacks, rng)
    return _assemble(corrupted, beta, 0.0, shuffle)


def logistic(
    n: int = 300,
    d: int = 1000,
    k: int = 5,
    *,
    epsilon: float = 0.1,
    attack: str | Attack | None = "paper",
    shuffle: bool = True,
    rng: int | np.random.Generator | None = None,
) -> Simulation:
    """Two Gaussian classes that differ in k columns (sparse LDA), with corrupted rows.

    The paper's model: ``x ~ N(1 + v, I)`` if the label is +1 and ``N(1 - v, I)`` if it is -1, both
    equally likely; v has k entries ``+-1/sqrt(k)``. Logistic regression holds with coefficients
    ``beta = 2v`` and intercept ``-2 sum(v)``.

    Parameters
    ----------
    n, d, k, epsilon, shuffle, rng
        As in `linear`.
    attack : {"paper", "flip_y", "leverage"}, callable or None
        A name in `label_attacks`, or a callable as in `linear` that leaves y at 0 and 1.

    Returns
    -------
    Simulation
        `y` holds 0.0 for the paper's label -1 and 1.0 for +1.

    Examples
    --------
    >>> from robustsparse import simulate
    >>> sim = simulate.logistic(n=90, d=20, k=4, rng=0)
    >>> sorted(set(sim.y.tolist()))
    [0.0, 1.0]
    """
    _check_sizes(n, d)
    rng = np.random.default_rng(rng)
    n_total = n + (outlier_count(n, epsilon) if attack is not None else 0)
    direction = sparse_signs(d, k, rng) / math.sqrt(max(k, 1))
    y = rng.integers(0, 2, n_total).astype(np.float64)
    X = 1.0 + np.outer(2 * y - 1, direction) + rng.standard_normal((n_total, d))
    corrupted = _corrupt(X, y, 2 * direction, n_total - n, attack, label_attacks, rng)
    if not np.isin(corrupted[1], (0.0, 1.0)).all():
        raise ParameterError("attack: a callable for logistic data must leave y at 0 or 1")
    return _assemble(corrupted, 2 * direction, -2 * float(direction.sum()), shuffle)


def _check_sizes(n: int, d: int, sigma: float = 0.0, correlation: float = 0.0) -> None:
    check_count("n", n, 1)
    check_count("d", d, 1)
    check_number("sigma", sigma, 0.0)
    if not -1 < correlation < 1:
        raise ParameterError(f"correlation={correlation} must lie strictly between -1 and 1.")


def _given(beta: ArrayLike, d: int) -> Array:
    coefficients = np.array(beta, dtype=np.float64)
    if coefficients.shape != (d,):
        raise ParameterError(f"beta has shape {coefficients.shape}; it needs d={d} coefficients")
    return coefficients


def _corrupt(
    X: Array,
    y: Array,
    beta: Array,
    count: int,
    attack: str | Attack | None,
    known: dict[str, Attack],
    rng: np.random.Generator,
) -> Corrupted:
    """Apply the attack and check what it returns; no attack or no rows: the data as they are."""
    chosen = find_attack(attack, known) if attack is not None else None
    if chosen is None or count == 0:
        return X, y, np.zeros(len(y), dtype=bool)
    return _checked(chosen(X, y, beta, count, rng), X.shape[1])


def _checked(corrupted: Corrupted, d: int) -> Corrupted:
    X, y, mask = corrupted
    rows = len(y)
    if X.shape != (rows, d) or mask.shape != (rows,) or mask.dtype != np.bool_:
        raise ParameterError(
            f"attack returned X {X.shape}, y {y.shape}, mask {mask.shape} of {mask.dtype}; "
            f"needed are X (rows, {d}), y (rows,) and a boolean mask (rows,)"
        )
    return corrupted


def _assemble(corrupted: Corrupted, beta: Array, intercept: float, shuffle: bool) -> Simulation:
    X, y, mask = corrupted
    if not shuffle:
        order = np.argsort(mask, kind="stable")
        X, y, mask = X[order], y[order], mask[order]
    # By columns: robust gradients read one column at a time.
    return Simulation(
        X=np.asfortranarray(X),
        y=y,
        outlier=mask,
        beta=beta,
        intercept=intercept,
        column_scale=np.ones(X.shape[1]),
    )


def _mix_scales(simulation: Simulation, scales: str | None, rng: np.random.Generator) -> Simulation:
    """Give every column a unit and an origin of its own; the truth moves along."""
    if scales is None:
        return simulation
    check_choice("scales", scales, ("mixed",))
    assert simulation.beta is not None
    assert simulation.y is not None
    d = simulation.X.shape[1]
    factor = 10.0 ** rng.uniform(-1.0, 1.0, d)
    offset = rng.normal(0.0, 3.0, d) * factor
    beta = simulation.beta / factor
    return replace(
        simulation,
        X=simulation.X * factor + offset,
        y=simulation.y + Y_OFFSET,
        beta=beta,
        intercept=Y_OFFSET - float(offset @ beta),
        column_scale=factor,
    )
