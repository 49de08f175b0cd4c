"""Gaussian graphical models, built as R's huge builds them, with corrupted rows or cells, factors and populations."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import eigh

from robustsparse.base.checks import check_choice, check_count, check_number
from robustsparse.base.types import Array, Indices, Mask
from robustsparse.simulate.draws import outlier_count, standardized
from robustsparse.simulate.simulation import Simulation

KINDS = ("cluster", "hub", "band", "random", "scale-free")
TAILS = ("gaussian", "lognormal", "t3")
EIGENVALUE_MARGIN = 0.1  # huge's constant: the smallest eigenvalue before rescaling is this + u
CELL_SPREAD = 0.2  # of bad cells about their size
# Of outlying rows, by their kind.
SPREADS = {"shifted": 1.0, "scattered": 3.0, "concentrated": 0.1, "flat": 1.0}
FLAT_DIRECTIONS = 5


def graph(
    n: int = 100,
    d: int = 100,
    *,
    kind: str = "cluster",
    v: float = 0.3,
    u: float = 0.1,
    epsilon: float = 0.1,
    clusters: int | None = None,
    prob: float | None = None,
    bandwidth: int = 1,
    tail: str = "gaussian",
    outliers: str = "shifted",
    shift: float = 1.5,
    spread: float | None = None,
    cellwise: float = 0.0,
    cell_size: float = 10.0,
    factor: float = 0.0,
    second: float = 0.0,
    apart: float = 2.0,
    shuffle: bool = True,
    rng: int | np.random.Generator | None = None,
) -> Simulation:
    """Draw from a sparse graphical model, with corrupted rows or cells.

    The paper's model, which follows ``huge.generator`` of the R package huge 1.3.5: the precision
    matrix is v times the adjacency matrix with ``|smallest eigenvalue| + 0.1 + u`` on the
    diagonal, rescaled so that every variable has variance 1. Beside n authentic rows there are so
    many outliers that they are a fraction epsilon of all, half of them from ``N(1.5, I)``, half
    from ``N(-1.5, I)``.

    Parameters
    ----------
    n, d : int
        Authentic rows and variables.
    kind : {"cluster", "hub", "band", "random", "scale-free"}
        ``"cluster"``: random graphs within groups; ``"hub"``: in each group all variables are tied
        to the first; ``"band"``: neighbors up to `bandwidth` apart; ``"random"``: every pair alike;
        ``"scale-free"``: a tree in which a new node prefers nodes of high degree.
    v, u : float
        Off-diagonal size before rescaling (larger: stronger partial correlations) and what is
        added to the diagonal (larger: weaker ones).
    epsilon : float
        Fraction of corrupted rows among all.
    clusters : int, optional
        Groups of a cluster or hub graph; d/20, at least 2.
    prob : float, optional
        Probability of an edge; within a cluster 6 divided by its size (so 0.3 for the usual 20
        variables), 0.3 if the size exceeds 30; in a random graph 3/d.
    bandwidth : int
        Reach of a band graph.
    tail : {"gaussian", "lognormal", "t3"}
        Law of the authentic rows, always with the same covariance: log-normal entries as in
        `linear` times the square root of the covariance, or a multivariate t with 3 degrees of
        freedom.
    outliers : {"shifted", "scattered", "concentrated", "flat"}
        The paper's outlying rows; or independent normal variables without any shift; or rows around one point, whose
        signs are drawn once for all of them; or rows in the five directions in which authentic rows vary least.
    shift : float
        Distance of the means of shifted and concentrated rows from zero in every variable.
    spread : float, optional
        Standard deviation of the outlying rows: 1 if shifted or, as a mean over the variables, flat; 3 if scattered,
        0.1 if concentrated.
    cellwise, cell_size : float
        Fraction of single cells, of all rows, that are overwritten, and how far from zero they then are, to either
        side: 10 by default.
    factor : float
        Strength of a factor that the authentic rows share: it adds so many times a normal number of each row and one of
        each variable. The graph is that of the variables given the factor.
    second, apart : float
        Fraction of the authentic rows that belong to a second population, whose means lie `apart` above or below those
        of the first in every variable. The graph is that within each population.
    shuffle : bool
        Corrupted rows stand at random places instead of at the end.
    rng : int, Generator or None
        Source of randomness; None draws anew at each call.

    Returns
    -------
    Simulation
        With `adjacency`, `precision` (of the covariance with unit variances), `outlier` for rows
        and `outlier_cells` for cells.

    Examples
    --------
    >>> from robustsparse import simulate
    >>> simulate.graph(90, 40, rng=0)
    Simulation(n_total=100, d=40, edges=108, outliers=10)
    >>> simulate.graph(90, 40, kind="band", epsilon=0, rng=0)
    Simulation(n_total=90, d=40, edges=39, outliers=0)
    >>> apart = simulate.graph(90, 40, epsilon=0, second=0.3, rng=0)
    >>> bool(np.linalg.svd(apart.X - apart.X.mean(axis=0))[1][0] > 50)
    True
    """
    check_count("n", n, 1)
    check_count("d", d, 2)
    check_choice("tail", tail, TAILS)
    check_choice("outliers", outliers, tuple(SPREADS))
    check_number("cellwise", cellwise, 0.0, 1.0)
    check_number("second", second, 0.0, 1.0)
    rng = np.random.default_rng(rng)
    adjacency = _adjacency(kind, d, clusters, prob, bandwidth, rng)
    precision = _precision(adjacency, v, u)
    count = outlier_count(n, epsilon)
    good = _rows(tail, n, precision, rng)
    width = SPREADS[outliers] if spread is None else check_number("spread", spread, 0.0)
    bad = _centers(outliers, count, d, shift, rng) + width * _noise(outliers, count, precision, rng)
    good += _common(n, d, factor, second, apart, rng)
    X = np.vstack([good, bad])
    order = rng.permutation(n + count) if shuffle else np.arange(n + count)
    X, cells = _corrupt_cells(X[order], cellwise, cell_size, rng)
    return Simulation(
        X=np.asfortranarray(X),
        y=None,
        outlier=order >= n,
        outlier_cells=cells,
        adjacency=adjacency,
        precision=precision,
    )


def _adjacency(
    kind: str,
    d: int,
    clusters: int | None,
    prob: float | None,
    bandwidth: int,
    rng: np.random.Generator,
) -> Mask:
    check_choice("kind", kind, KINDS)
    if kind == "scale-free":
        return _preferential_tree(d, rng)
    if kind == "band":
        distance = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
        return np.asarray((distance > 0) & (distance <= check_count("bandwidth", bandwidth, 1)))
    if kind == "random":
        return _random_pairs(d, min(1.0, 3 / d) if prob is None else prob, rng)
    groups = (math.ceil(d / 20) if d > 40 else 2) if clusters is None else clusters
    member = _groups(d, check_count("clusters", groups, 1, d))
    within = member[:, None] == member[None, :]
    if kind == "hub":
        return np.asarray(_hubs(member) & within)
    default = 0.3 if d / groups > 30 else min(1.0, 6 * groups / d)
    return np.asarray(_random_pairs(d, default if prob is None else prob, rng) & within)


def _groups(d: int, count: int) -> Indices:
    """Group number of every variable; sizes differ by at most one, smaller groups first."""
    small, larger = divmod(d, count)
    return np.repeat(np.arange(count), [small] * (count - larger) + [small + 1] * larger)


def _random_pairs(d: int, prob: float, rng: np.random.Generator) -> Mask:
    upper = np.triu(rng.random((d, d)) < check_number("prob", prob, 0.0, 1.0), 1)
    return np.asarray(upper | upper.T)


def _hubs(member: Indices) -> Mask:
    """Pairs of variables of which one, not both, is the first of its group."""
    first = np.r_[True, np.diff(member) > 0]
    return np.asarray(first[:, None] ^ first[None, :])


def _preferential_tree(d: int, rng: np.random.Generator) -> Mask:
    """Tie each new node to an old one, chosen with probability proportional to its degree."""
    adjacency = np.zeros((d, d), dtype=bool)
    # Every node as often as its degree, but the first two twice as often, as huge counts them.
    ends = [0, 1, 1, 0]
    for new in range(2, d):
        ends += [ends[rng.integers(len(ends))], new]
    adjacency[ends[::2], ends[1::2]] = True
    return adjacency | adjacency.T


def _precision(adjacency: Mask, v: float, u: float) -> Array:
    """Make v times the adjacency positive definite and rescale to unit variances."""
    omega = v * adjacency.astype(np.float64)
    lowest = float(eigh(omega, eigvals_only=True, subset_by_index=[0, 0])[0])
    np.fill_diagonal(omega, abs(lowest) + EIGENVALUE_MARGIN + u)
    # Variances 1 by Omega -> D Omega D with D^2 = diag(Omega^-1): absent edges stay exactly zero.
    sd = np.sqrt(np.diag(np.linalg.inv(omega)))
    return np.asarray(omega * np.outer(sd, sd))


def _rows(tail: str, n: int, precision: Array, rng: np.random.Generator) -> Array:
    """Draw authentic rows whose covariance is the inverse of the precision matrix."""
    values, vectors = np.linalg.eigh(precision)
    entry_tail = "lognormal" if tail == "lognormal" else "gaussian"
    entries = standardized(entry_tail, (n, len(values)), rng)
    X = entries @ (vectors / np.sqrt(values)) @ vectors.T
    # A t with 3 degrees of freedom has variance 3: N * sqrt(3 / chi2) / sqrt(3).
    return np.asarray(X / np.sqrt(rng.chisquare(3, (n, 1))) if tail == "t3" else X)


def _centers(
    outliers: str, count: int, d: int, shift: float, rng: np.random.Generator
) -> Array | float:
    """Means of the outlying rows (count, d), or of what each of them shares."""
    if outliers in ("scattered", "flat"):
        return 0.0
    signs = (count, 1) if outliers == "shifted" else (1, d)
    return np.asarray(shift * rng.choice([-1.0, 1.0], signs))


def _noise(outliers: str, count: int, precision: Array, rng: np.random.Generator) -> Array:
    """Normal numbers (count, d) with mean square 1, for flat rows in few directions."""
    d = len(precision)
    if outliers != "flat":
        return rng.standard_normal((count, d))
    few = min(FLAT_DIRECTIONS, d)
    directions = eigh(precision, subset_by_index=[d - few, d - 1])[1]
    return np.asarray(rng.standard_normal((count, few)) @ directions.T * math.sqrt(d / few))


def _common(
    n: int, d: int, factor: float, second: float, apart: float, rng: np.random.Generator
) -> Array:
    """What a factor and a second population add to the authentic rows (n, d)."""
    added = np.zeros((n, d))
    if factor:
        added += factor * rng.standard_normal((n, 1)) * rng.standard_normal(d)
    if second:
        member = rng.permutation(n) < round(second * n)
        added += apart * member[:, None] * rng.choice([-1.0, 1.0], d)
    return added


def _corrupt_cells(
    X: Array, fraction: float, size: float, rng: np.random.Generator
) -> tuple[Array, Mask | None]:
    if fraction == 0:
        return X, None
    cells = rng.random(X.shape) < fraction
    wrong = rng.choice([-1.0, 1.0], X.shape) * rng.normal(size, CELL_SPREAD, X.shape)
    return np.where(cells, wrong, X), cells
