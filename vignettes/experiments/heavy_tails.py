"""Error against the sample size on log-normal data: RHT with median of means, and the lasso on heavy and Gaussian data.

`python vignettes/experiments/heavy_tails.py` makes results/heavy_tails.csv (some three minutes on one core).
"""

import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from vignettes_common import command

import robustsparse as rs

SIZES = (100, 150, 200, 300, 400, 500)
TRIALS = 50
HEAVY = {"design": "lognormal", "noise": "lognormal"}
# A long path: at this little noise the best penalty is a small part of the largest one.
PATH = {"n_lambdas": 60, "lambda_ratio": 0.002}
# The theory's step 1 / L: L is the largest eigenvalue of the Toeplitz covariance exp(-|i - j|).
STEP = (1 - np.exp(-1)) / (1 + np.exp(-1))


def error(fit: object, sim: rs.simulate.Simulation) -> float:
    """The l2 distance of the coefficients from the truth, without the intercept."""
    return float(np.linalg.norm(fit.params.drop("Intercept").to_numpy() - sim.beta))


def trial(
    n: int, seed: int, d: int = 1000, k: int = 5, sigma: float = 0.1
) -> list[dict[str, object]]:
    """One log-normal and one Gaussian data set of n rows."""
    size = {"n": n, "d": d, "k": k, "sigma": sigma, "attack": None, "rng": 30_000 + seed}
    heavy, light = rs.simulate.linear(**size, **HEAVY), rs.simulate.linear(**size)
    mom = {"estimator": "mom", "k": k, "refit": False, "rng": seed, "n_jobs": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        runs = {
            "MOM, log-normal": (rs.rht_fit(heavy.X, heavy.y, **mom), heavy),
            "MOM, fixed step, log-normal": (
                rs.rht_fit(heavy.X, heavy.y, **mom, step=STEP, standardize=False),
                heavy,
            ),
            "lasso, log-normal": (rs.baselines.lasso(heavy.X, heavy.y, **PATH), heavy),
            "lasso, Gaussian": (rs.baselines.lasso(light.X, light.y, **PATH), light),
        }
    return [
        {
            "n": n,
            "seed": seed,
            "method": method,
            "error": error(fit, sim),
            "found": set(sim.support()) <= set(fit.support()),
        }
        for method, (fit, sim) in runs.items()
    ]


def settings() -> list[tuple[int, int]]:
    """All trials, in the order of the table."""
    return [(n, seed) for n in SIZES for seed in range(TRIALS)]


if __name__ == "__main__":
    command("heavy_tails", trial, settings())
