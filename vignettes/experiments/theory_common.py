"""What the experiments on the theory share: its constants, its data, and Algorithm 1 as printed.

"As printed" means a step of fixed length 1 / L, a trimmed share α = ε, no scaling, no intercept and no refit. Where
nothing else is said k' = 2k coefficients survive the threshold and the k largest of them are the support, the paper's
supp(β̂, k).
"""

import math
from collections.abc import Callable

import numpy as np

import robustsparse as rs
from robustsparse.algorithm.estimator import Estimator
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import RHTFit, solve
from robustsparse.simulate.draws import autoregression
from robustsparse.simulate.simulation import Simulation

SEED = 140_000
PAPER = math.exp(-1)
# Twice as many as there are true ones, as on the other pages.
KEPT_PER_TRUE = 2
# Iterates whose relative change is below this have come to rest, compared with any noise here.
REST = 1e-9
# Far enough to be trimmed at every iterate, whatever the coefficients.
PUSH_X, PUSH_Y = 10.0, 1e9
# The lowest degrees of freedom with the fourth moments that the theory asks for.
HEAVY_DF = 5


def largest_eigenvalue(correlation: float = PAPER) -> float:
    """Smoothness μ_L of the squared loss: the bound, for every d, of the eigenvalues of correlation^|i - j|."""
    return (1 + correlation) / (1 - correlation)


def condition(correlation: float = PAPER) -> float:
    """Condition number ρ; the smallest eigenvalue is the inverse of the largest."""
    return largest_eigenvalue(correlation) ** 2


def promised_factor(correlation: float = PAPER) -> float:
    """The Meta-Theorem's contraction an iteration, 1 - 1 / (8ρ)."""
    return 1 - 1 / (8 * condition(correlation))


def printed(
    X: np.ndarray,
    y: np.ndarray,
    k: int,
    estimator: Estimator,
    *,
    correlation: float = PAPER,
    step: float | None = None,
    loss: object = None,
    radius: float | None = None,
    iterations: int = 1000,
    rest: float = REST,
    callback: Callable[[np.ndarray], None] | None = None,
) -> RHTFit:
    """Algorithm 1 as printed; k is the number that survives the threshold, the step 1 / L unless given."""
    problem = Problem(estimator.bind(np.ascontiguousarray(X.T)), y, loss or rs.Squared())
    step = 1 / largest_eigenvalue(correlation) if step is None else step
    settings = Settings(step=step, max_iter=iterations, tol=rest, radius=radius)
    return solve(problem, k, settings=settings, callback=callback, warn=False)


def trimming(epsilon: float) -> Estimator:
    """The trimmed mean with α = ε, the mean where there is nothing to trim."""
    return rs.Trimmed(epsilon) if epsilon > 0 else rs.Mean()


def blocks(seed: int) -> Estimator:
    """The paper's median of 4.5⌈log d⌉ block means; blocks that stay let the iterates come to rest."""
    return rs.MedianOfMeans(redraw=False, rng=seed)


def push(
    X: np.ndarray, y: np.ndarray, beta: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that push every coordinate of the gradient the same way, beyond every cut, at every iterate.

    Trimming as many at each end then drops the good values of one end only, in all coordinates alike: the bias that
    the theory's term in ε allows for.
    """
    X, y, mask = X.copy(), y.copy(), np.zeros(len(y), dtype=bool)
    mask[rng.choice(len(y), count, replace=False)] = True
    X[mask], y[mask] = PUSH_X, -PUSH_Y
    return X, y, mask


def heavy(n: int, d: int, beta: np.ndarray, sigma: float, rng: np.random.Generator) -> Simulation:
    """Rows and noise with t₅ tails, covariance exp(-|i - j|), nothing corrupted."""
    unit = math.sqrt((HEAVY_DF - 2) / HEAVY_DF)
    X = autoregression(rng.standard_t(HEAVY_DF, (n, d)) * unit, PAPER)
    y = X @ beta + sigma * unit * rng.standard_t(HEAVY_DF, n)
    return Simulation(X=np.asfortranarray(X), y=y, outlier=np.zeros(n, dtype=bool), beta=beta)


def signs(d: int, k: int, rng: np.random.Generator, size: float = 1.0) -> np.ndarray:
    """Draw k coefficients ±size at random places."""
    beta = np.zeros(d)
    beta[rng.choice(d, k, replace=False)] = size * rng.choice([-1.0, 1.0], k)
    return beta


def top(coef: np.ndarray, k: int) -> set[int]:
    """The paper's supp(β̂, k): places of the k largest coefficients."""
    return {int(j) for j in np.argsort(-np.abs(coef), kind="stable")[:k]}


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """Slope of a line through points on log-log axes."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
