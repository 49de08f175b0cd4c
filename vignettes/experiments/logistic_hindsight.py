"""The lassos of logistic_dimension with the penalty that classifies new rows best, which nobody knows in practice.

`python vignettes/experiments/logistic_hindsight.py` makes results/logistic_hindsight.csv (some minutes on one core).
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.logistic_dimension import risk, simulated
from experiments.logistic_dimension import settings as all_settings
from vignettes_common import command

import robustsparse as rs
from robustsparse.baselines.lasso_solver import Problem, fit_path, largest_penalty
from robustsparse.robust.standardize import standardize

# The path of `baselines.trimmed_lasso`: number of penalties, and the last over the first.
PENALTIES, RATIO = 30, 0.05


def least_risk(sim: rs.simulate.Simulation, epsilon: float, scale: str) -> float:
    """Smallest error on new authentic rows along the path that leaves out a fraction epsilon of the rows."""
    XT, scaling = standardize(sim.X, scale, center=True)
    kept = int(np.floor((1 - epsilon) * len(sim.y)))
    problem = Problem(XT, sim.y, rs.Logistic(), True, kept)
    path = fit_path(problem, largest_penalty(problem) * np.geomspace(1.0, RATIO, PENALTIES))
    data_scale = [
        scaling.to_data(coef, float(constant), 1.0)
        for coef, constant in zip(path.coefs, path.constants, strict=True)
    ]
    return min(risk(np.append(constant, slopes), sim.beta) for slopes, constant in data_scale)


def trial(d: int, epsilon: float, seed: int) -> list[dict[str, object]]:
    """The same data set as in logistic_dimension."""
    sim, _ = simulated(d, epsilon, seed)
    least = {
        "trimmed lasso, best penalty": least_risk(sim, epsilon, "winsor"),
        "lasso, best penalty": least_risk(sim, 0.0, "sd"),
    }
    return [
        {"d": d, "epsilon": epsilon, "seed": seed, "method": method, "error": error}
        for method, error in least.items()
    ]


if __name__ == "__main__":
    command("logistic_hindsight", trial, all_settings())
