"""Classification error against the dimension: RHT, trimmed lasso and lasso on sparse LDA data with outliers.

`python vignettes/experiments/logistic_dimension.py` makes results/logistic_dimension.csv (some 20 minutes on one core).
"""

import math
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).parents[1]))
from vignettes_common import command

import robustsparse as rs

DIMENSIONS = (100, 225, 400, 625, 900)
EPSILONS = (0.1, 0.2)
TRIALS = 50


def risk(params: np.ndarray, beta: np.ndarray) -> float:
    """Error of a classifier on new authentic rows: exact, since the classes are Gaussian."""
    b0, b, v = params[0], params[1:], beta / 2
    size = np.linalg.norm(b)
    if size == 0:
        return 0.5
    plus, minus = (b0 + (1 + v) @ b) / size, (b0 + (1 - v) @ b) / size
    return float(0.5 * (norm.cdf(-plus) + norm.cdf(minus)))


def fits(sim: rs.simulate.Simulation, k: int, epsilon: float) -> dict[str, object]:
    """Every method on one data set; k is known to the methods that take one."""
    binomial = {"family": "binomial"}
    return {
        "RHT": rs.rht_fit(sim.X, sim.y, **binomial, k=k, epsilon=epsilon, refit=False, n_jobs=1),
        "RHT + refit": rs.rht_fit(sim.X, sim.y, **binomial, k=k, epsilon=epsilon, n_jobs=1),
        "RHT, automatic": rs.rht_fit(sim.X, sim.y, **binomial, n_jobs=1),
        "RHT, predicting": rs.rht_fit(sim.X, sim.y, **binomial, goal="predict", n_jobs=1),
        "trimmed lasso": rs.baselines.trimmed_lasso(sim.X, sim.y, **binomial, epsilon=epsilon),
        "lasso": rs.baselines.lasso(sim.X, sim.y, **binomial),
    }


def trial(d: int, epsilon: float, seed: int) -> list[dict[str, object]]:
    """One data set with k = √d and n = 15 k authentic rows."""
    k = math.isqrt(d)
    sim = rs.simulate.logistic(n=15 * k, d=d, k=k, epsilon=epsilon, rng=60_000 + seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        results = fits(sim, k, epsilon)
    return [
        {
            "d": d,
            "epsilon": epsilon,
            "seed": seed,
            "method": method,
            "error": risk(fit.params.to_numpy(), sim.beta),
            "terms": int(np.count_nonzero(fit.params.iloc[1:])),
            "right": len(set(fit.support()) & set(sim.support())),
        }
        for method, fit in results.items()
    ]


def settings() -> list[tuple[int, float, int]]:
    """All trials, in the order of the table."""
    return [(d, eps, seed) for d in DIMENSIONS for eps in EPSILONS for seed in range(TRIALS)]


if __name__ == "__main__":
    command("logistic_dimension", trial, settings())
