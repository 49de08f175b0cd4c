"""Classification error against the dimension: RHT, trimmed lasso and lasso on sparse LDA data with outliers.

`python vignettes/experiments/logistic_dimension.py` makes results/logistic_dimension.csv (some 35 minutes on one core).

*As printed* is the paper's Algorithm 1: a step of fixed length, the theory's 1 / L, a share epsilon trimmed at each
end, no scaling, k' = k. L is a quarter of the largest second moment of 2k columns, which is 2k + 2 for columns of mean
1, and 2 for centered ones.
"""

import math
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import norm

sys.path.insert(0, str(Path(__file__).parents[1]))
from vignettes_common import command

import robustsparse as rs

DIMENSIONS = (100, 225, 400, 625, 900, 1600)
EPSILONS = (0.1, 0.2)
TRIALS = 50
FIRST_SEED = 60_000
# Trials on which every method is run, and the only ones of the largest dimension: they take a minute a seed.
IN_FULL = range(6000, 6010)


def risk(params: np.ndarray, beta: np.ndarray) -> float:
    """Error of a classifier on new authentic rows: exact, since the classes are Gaussian."""
    b0, b, v = params[0], params[1:], beta / 2
    size = np.linalg.norm(b)
    if size == 0:
        return 0.5
    plus, minus = (b0 + (1 + v) @ b) / size, (b0 + (1 - v) @ b) / size
    return float(0.5 * (norm.cdf(-plus) + norm.cdf(minus)))


def as_printed(sim: rs.simulate.Simulation, k: int, epsilon: float) -> dict[str, object]:
    """Algorithm 1 as printed, and with an intercept, which makes its step another one."""
    known = {"family": "binomial", "k": k, "estimator": rs.Trimmed(epsilon), "n_jobs": 1}
    printed = partial(rs.rht_fit, sim.X, sim.y, **known, standardize=False, refit=False)
    return {
        "as printed": printed(intercept=False, step=4 / (2 * k + 2)),
        "with an intercept": printed(step=2.0),
    }


def fits(sim: rs.simulate.Simulation, k: int, epsilon: float) -> dict[str, object]:
    """The other methods that are run on every data set: RHT that knows k and epsilon, the default call, and lassos."""
    rht = partial(rs.rht_fit, sim.X, sim.y, family="binomial", n_jobs=1)
    lasso, trimmed = rs.baselines.lasso, rs.baselines.trimmed_lasso
    return {
        "RHT": rht(k=k, epsilon=epsilon, refit=False),
        "RHT + refit": rht(k=k, epsilon=epsilon),
        "RHT, automatic": rht(),
        "trimmed lasso": trimmed(sim.X, sim.y, family="binomial", epsilon=epsilon),
        "lasso": lasso(sim.X, sim.y, family="binomial"),
    }


def slow_fits(sim: rs.simulate.Simulation) -> dict[str, object]:
    """RHT with its own k by cross-validation, and the predicting fit, which know nothing."""
    rht = partial(rs.rht_fit, sim.X, sim.y, family="binomial", n_jobs=1)
    return {
        "RHT, own k": rht(select="cv", refit=False),
        "RHT, predicting": rht(goal="predict"),
    }


def simulated(d: int, epsilon: float, seed: int) -> tuple[rs.simulate.Simulation, int]:
    """One data set with k = √d and n = 15 k authentic rows, and its k."""
    k = math.isqrt(d)
    return rs.simulate.logistic(n=15 * k, d=d, k=k, epsilon=epsilon, rng=FIRST_SEED + seed), k


def row(
    d: int, epsilon: float, seed: int, method: str, fit: object, sim: rs.simulate.Simulation
) -> dict[str, object]:
    """What is said of one fit."""
    return {
        "d": d,
        "epsilon": epsilon,
        "seed": seed,
        "method": method,
        "error": risk(coefficients(fit), sim.beta),
        "terms": len(fit.support()),
        "right": len(set(fit.support()) & set(sim.support())),
    }


def trial(d: int, epsilon: float, seed: int) -> list[dict[str, object]]:
    """All methods on one data set; the slow ones on some data sets only."""
    sim, k = simulated(d, epsilon, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        results = as_printed(sim, k, epsilon) | fits(sim, k, epsilon)
        results |= slow_fits(sim) if seed in IN_FULL else {}
    return [row(d, epsilon, seed, method, fit, sim) for method, fit in results.items()]


def coefficients(fit: object) -> np.ndarray:
    """Intercept, zero without one, and slopes."""
    slopes = fit.params.drop("Intercept", errors="ignore")
    return np.append(fit.params.get("Intercept", 0.0), slopes)


def settings() -> list[tuple[int, float, int]]:
    """All trials, in the order of the table."""
    usual = [(d, e, seed) for d in DIMENSIONS[:-1] for e in EPSILONS for seed in range(TRIALS)]
    return [*usual, *((d, e, seed) for d in DIMENSIONS for e in EPSILONS for seed in IN_FULL)]


if __name__ == "__main__":
    command("logistic_dimension", trial, settings())
