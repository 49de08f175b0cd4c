"""When the support is right: against the smallest coefficient, the smallest edge, and the share of outliers.

`python vignettes/experiments/theory_support.py` makes results/theory_support.csv (some six minutes on one core).
"""

import sys
from pathlib import Path

import numpy as np
from scipy.linalg import toeplitz

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.theory_common import KEPT_PER_TRUE, SEED, printed, push, signs, top, trimming
from vignettes_common import command

import robustsparse as rs
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve

TRIALS = 50
# Graphs, and fits that pushed rows keep from being screened, take longer.
FEW_TRIALS = 30
ITERATIONS = 300
SIGMA = 0.5
SMALLEST = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
THETAS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6)
# Rows, share of outliers: one curve each.
BETA_CURVES = ((300, 0.0), (300, 0.1), (300, 0.2), (1200, 0.0), (1200, 0.1))
THETA_CURVES = ((300, 0.0), (1200, 0.0), (1200, 0.01), (1200, 0.02), (1200, 0.05))
NODES = 30
ATTACKS = {"paper": "paper", "pushed": push}
SHARES = {
    "paper": (0.05, 0.1, 0.15, 0.175, 0.2, 0.225, 0.25, 0.3),
    "pushed": (0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12),
}
# Outliers, rows, columns, true terms: one curve each.
BREAKDOWNS = (
    *(("paper", 300, d, 5) for d in (200, 1000, 5000)),
    *(("paper", 300, 1000, k) for k in (3, 10, 15)),
    ("paper", 300, 5000, 10),
    # Rows in proportion to k: what changes with k is then not the shortage of rows.
    ("paper", 600, 1000, 10),
    *(("pushed", 60 * k, 1000, k) for k in (3, 6, 12)),
)


def beta_trial(
    n: int, epsilon: float, smallest: float, seed: int, d: int = 1000, k: int = 5
) -> list[dict[str, object]]:
    """Four coefficients ±1 and one ± the smallest: are the five largest of ten the true ones?"""
    rng = np.random.default_rng(SEED + seed)
    beta = signs(d, k, rng)
    beta[np.flatnonzero(beta)[0]] *= smallest
    sim = rs.simulate.linear(n, d, k, sigma=SIGMA, epsilon=epsilon, beta=beta, rng=rng)
    fit = printed(sim.X, sim.y, KEPT_PER_TRUE * k, trimming(epsilon), iterations=ITERATIONS)
    right = top(fit.coef, k) == set(np.flatnonzero(beta))
    return [_row("beta_min", "paper", n, d, k, epsilon, smallest, seed, right)]


def ring(d: int, theta: float) -> np.ndarray:
    """Covariance of d variables in a ring, scaled to variance 1; off-diagonal θ of the precision matrix is `theta`.

    Every node has two neighbors, so that the size of each neighborhood is known.
    """
    # With ones on the diagonal the precision is 1 + 2 b cos(.), and scaling to unit variances multiplies it.
    low, high = 0.0, 0.5
    for _ in range(60):
        b = (low + high) / 2
        column = np.zeros(d)
        column[0], column[1], column[-1] = 1.0, b, b
        covariance = np.linalg.inv(toeplitz(column))
        low, high = (b, high) if b * covariance[0, 0] < theta else (low, b)
    return np.asarray(covariance / covariance[0, 0])


def shifted(X: np.ndarray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """The rows, and beside them the paper's outliers of graphs: N(±1.5, I)."""
    count = round(epsilon / (1 - epsilon) * len(X))
    bad = 1.5 * rng.choice([-1.0, 1.0], (count, 1)) + rng.standard_normal((count, X.shape[1]))
    return np.vstack([X, bad])


def theta_trial(
    n: int, epsilon: float, theta: float, seed: int, d: int = NODES
) -> list[dict[str, object]]:
    """A ring: are all neighborhoods, the two largest of four coefficients each, the true ones?"""
    rng = np.random.default_rng(SEED + seed)
    covariance = ring(d, theta)
    good = rng.multivariate_normal(np.zeros(d), covariance, size=n, method="cholesky")
    X = shifted(good, epsilon, rng)
    gradient = trimming(epsilon).bind(np.ascontiguousarray(X.T))
    step = Settings(step=1 / np.linalg.eigvalsh(covariance)[-1], max_iter=ITERATIONS, tol=1e-9)
    near = np.zeros((d, d), dtype=bool)
    for j in range(d):
        problem = Problem(gradient, X[:, j].copy(), rs.Squared(), barred=(j,))
        coef = solve(problem, 2 * KEPT_PER_TRUE, settings=step, warn=False).coef
        near[j, list(top(coef, 2))] = True
    true = np.roll(np.eye(d, dtype=bool), 1, axis=1)
    true |= true.T
    # Neighborhoods of two each: their union is the ring if and only if their intersection is.
    right = np.array_equal(near | near.T, true)
    return [_row("theta_min", "shifted", n, d, 2, epsilon, theta, seed, right)]


def breakdown_trial(
    attack: str, n: int, d: int, k: int, epsilon: float, seed: int
) -> list[dict[str, object]]:
    """Little noise, coefficients ±1: is the support right with this share of outliers?"""
    sim = rs.simulate.linear(
        n, d, k, sigma=0.1, epsilon=epsilon, attack=ATTACKS[attack], rng=SEED + seed
    )
    fit = printed(sim.X, sim.y, KEPT_PER_TRUE * k, trimming(epsilon), iterations=ITERATIONS)
    right = top(fit.coef, k) == set(np.flatnonzero(sim.beta))
    return [_row("breakdown", attack, n, d, k, epsilon, 1.0, seed, right)]


def _row(
    part: str, what: str, n: int, d: int, k: int, epsilon: float, size: float, seed: int, right: bool
) -> dict[str, object]:  # fmt: skip
    return {
        "part": part, "what": what, "n": n, "d": d, "k": k, "epsilon": epsilon, "size": size,
        "seed": seed, "right": right,
    }  # fmt: skip


PARTS = {"beta_min": beta_trial, "theta_min": theta_trial, "breakdown": breakdown_trial}


def any_trial(part: str, *setting: object) -> list[dict[str, object]]:
    """One trial of one of the parts."""
    return PARTS[part](*setting)


def settings() -> list[tuple[object, ...]]:
    """All trials, in the order of the table."""
    seeds, few = range(TRIALS), range(FEW_TRIALS)
    return [
        *(("beta_min", *c, size, seed) for c in BETA_CURVES for size in SMALLEST for seed in seeds),
        *(("theta_min", *c, size, seed) for c in THETA_CURVES for size in THETAS for seed in few),
        *(
            ("breakdown", *c, share, seed)
            for c in BREAKDOWNS for share in SHARES[c[0]] for seed in (few if c[0] == "pushed" else seeds)
        ),
    ]  # fmt: skip


def small() -> list[tuple[object, ...]]:
    """A few small trials of every part, for the tests."""
    return [
        *(("beta_min", n, 0.1, size, 0, 30, 2) for n in (80, 120) for size in SMALLEST[::4]),
        *(("theta_min", n, 0.05, size, 0, 8) for n in (80, 120) for size in THETAS[::4]),
        *(
            ("breakdown", name, 60, d, k, share, 0)
            for name in ATTACKS for d, k in ((20, 2), (30, 3)) for share in SHARES[name][::6]
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    command("theory_support", any_trial, settings())
