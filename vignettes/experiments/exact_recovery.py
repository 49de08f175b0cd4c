"""Sparse linear equations, y = Xβ* without noise: is β* found exactly, when the predictors have heavy tails?

`python vignettes/experiments/exact_recovery.py` makes results/exact_recovery.csv (some four minutes on one core).
"""

import math
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.heavy_tails import PATH, largest, slopes
from vignettes_common import command

import robustsparse as rs

# Rows in units of k log d: with d = 1000 and k = 5 from 69 to 311 rows.
MULTIPLES = (2.0, 4.5, 9.0)
# Without noise the lasso is best with the smallest penalty there is, and its error is that penalty's: this path ends
# 200 times lower than the usual one.
LONG_PATH = {"n_lambdas": 100, "lambda_ratio": 1e-5}
TRIALS = 50
FIRST_SEED = 34_000
# As printed, more iterations bring more digits.
ITERATIONS = 300


def fits(sim: rs.simulate.Simulation, k: int, seed: int) -> dict[str, object]:
    """Estimates of the slopes by the median of means and by the lasso."""
    mom = partial(rs.rht_fit, sim.X, sim.y, estimator="mom", rng=seed, n_jobs=1)
    plain = {"standardize": False, "intercept": False, "max_iter": ITERATIONS}
    printed = mom(k=2 * k, refit=False, step="search", **plain)
    return {
        "MOM": slopes(mom(k=k, refit=False)),
        "MOM, searched step": largest(slopes(printed), k),
        "MOM + refit": slopes(mom(k=k)),
        "MOM + refit, automatic": slopes(mom()),
        **lassos(sim),
    }


def lassos(sim: rs.simulate.Simulation) -> dict[str, object]:
    """The slopes of the lasso with a usual path of penalties, and with one that nearly ends at zero."""
    paths = {"lasso": PATH, "lasso, penalty to zero": LONG_PATH}
    return {name: slopes(rs.baselines.lasso(sim.X, sim.y, **path)) for name, path in paths.items()}


def trial(
    multiple: float, design: str, seed: int, d: int = 1000, k: int = 5
) -> list[dict[str, object]]:
    """One data set of `multiple` k log d rows; on Gaussian ones the lassos alone are asked."""
    n = round(multiple * k * math.log(d))
    sim = rs.simulate.linear(
        n=n, d=d, k=k, sigma=0.0, attack=None, design=design, rng=FIRST_SEED + seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        estimates = lassos(sim) if design == "gaussian" else fits(sim, k, seed)
    return [
        {
            "multiple": multiple,
            "n": n,
            "design": design,
            "seed": seed,
            "method": method,
            "error": float(np.linalg.norm(beta.to_numpy() - sim.beta)),
        }
        for method, beta in estimates.items()
    ]


def settings() -> list[tuple[float, str, int]]:
    """All trials, in the order of the table."""
    return [
        (multiple, design, seed)
        for multiple in MULTIPLES
        for design in ("lognormal", "gaussian")
        for seed in range(TRIALS)
    ]


if __name__ == "__main__":
    command("exact_recovery", trial, settings())
