"""Every gradient estimator on the graphs' outliers, and on the attacks that get through the automatic fit.

``python vignettes/experiments/gradients.py`` writes ``results/gradients_graphs.csv``, ``gradients_algorithm.csv`` and
``gradients_automatic.csv``, a row a method and trial: about an hour on one core. Each is written anew after every
seed, so that a run that is stopped leaves whole data sets; names of parts, as in ``gradients.py automatic``, run those.
"""

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from vignettes_common import run_trials, write_results

import robustsparse as rs

NAMES = {
    "trim": "trimmed mean",
    "mom": "median of means",
    "geomom": "geometric median of means",
    "catoni": "Catoni mean",
    "filter": "sparse filter",
}
ORACLE = "trimmed mean, good rows"
# No attack, estimator or graph was looked at on these seeds before.
GRAPH_SEEDS, ALGORITHM_SEEDS, AUTOMATIC_SEEDS = (
    range(63_000, 63_050), range(64_000, 64_050), range(65_000, 65_050),
)  # fmt: skip
PANELS = {f"n = d = 100, v = {v}": {"n": 100, "d": 100, "v": v} for v in (0.3, 0.6)}
MAX_FPR = 0.1
# Fits to all rows need not settle on outliers.
GRAPH = {"screen": False, "k": 5, "max_iter": 20, "n_jobs": 1}
SIZE = {"n": 300, "d": 1000, "k": 5, "sigma": 0.5, "scales": "mixed"}
SHIFT = 1.5


def joint_shift(
    X: np.ndarray, y: np.ndarray, beta: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The graphs' outliers as rows of a regression: every column and the response 1.5 scales up, or all down."""
    X, y, mask = X.copy(), y.copy(), np.zeros(len(y), dtype=bool)
    mask[rng.permutation(len(y))[:count]] = True
    side = SHIFT * rng.choice([-1.0, 1.0], count)
    x_bad = side[:, None] + rng.standard_normal((count, X.shape[1]))
    y_bad = side + rng.standard_normal(count)
    scale = np.std(y)
    X[mask], y[mask] = x_bad, scale * y_bad
    return X, y, mask


# The rows of docs/attacks.md in bold, the same outliers as in the graphs, and no attack at all.
ATTACKS: list[tuple[str, Any, float]] = [
    ("clean", None, 0.1),
    ("joint shift", joint_shift, 0.1),
    ("edge", "edge", 0.1),
    ("joint shift", joint_shift, 0.2),
    ("paper", "paper", 0.2),
    ("mimic", "mimic", 0.2),
    ("edge", "edge", 0.2),
    ("cancel", "cancel", 0.2),
    ("delete_cancel", "delete_cancel", 0.2),
]


def graph_trial(label: str, setting: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """Algorithm 2 with every gradient on all rows of one data set, and with the trimmed mean on the good ones."""
    sim = rs.simulate.graph(**setting, rng=seed)
    tasks = [(NAMES[name], name, sim.X) for name in NAMES]
    rows = []
    for title, estimator, X in [*tasks, (ORACLE, "trim", sim.X[~sim.outlier])]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.RobustSparseWarning)
            curve = rs.robust_ns(X, estimator=estimator, **GRAPH).roc(sim.adjacency)
        rows.append(
            {"setting": label, "seed": seed, "gradient": title, "auc": curve.auc}
            | {"pauc": curve.partial_auc(MAX_FPR)}
        )
    return rows


def algorithm_trial(label: str, attack: Any, epsilon: float, seed: int) -> list[dict[str, Any]]:
    """Algorithm 1 told the number of terms, with every gradient."""
    return _attacked(label, attack, epsilon, seed, list(NAMES), k=SIZE["k"], refit=False)


def automatic_trial(label: str, attack: Any, epsilon: float, seed: int) -> list[dict[str, Any]]:
    """The automatic fit, which gradients only start."""
    return _attacked(label, attack, epsilon, seed, ["trim", "filter"])


def _attacked(
    label: str, attack: Any, epsilon: float, seed: int, names: list[str], **told: Any
) -> list[dict[str, Any]]:
    sim = rs.simulate.linear(**SIZE, epsilon=epsilon if attack else 0.0, attack=attack, rng=seed)
    rows = []
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.RobustSparseWarning)
            fit = rs.rht_fit(sim.X, sim.y, estimator=name, epsilon=epsilon, n_jobs=1, **told)
        coef = fit.params.iloc[1:].to_numpy()
        found, true = np.flatnonzero(coef), np.flatnonzero(sim.beta)
        rows.append(
            {
                "attack": label,
                "epsilon": epsilon,
                "seed": seed,
                "gradient": NAMES[name],
                "error": float(np.linalg.norm((coef - sim.beta) * sim.column_scale)),
                "f1": 2 * len(np.intersect1d(found, true)) / (len(found) + len(true)),
                "settled": bool(fit.converged),
            }
        )
    return rows


STAGES = {
    "graphs": (graph_trial, PANELS.items(), GRAPH_SEEDS),
    "algorithm": (algorithm_trial, ATTACKS, ALGORITHM_SEEDS),
    "automatic": (automatic_trial, ATTACKS, AUTOMATIC_SEEDS),
}


def run(stage: str) -> None:
    """All trials of a part, seed by seed."""
    trial, settings, seeds = STAGES[stage]
    done: list[pd.DataFrame] = []
    for seed in seeds:
        done.append(
            run_trials(trial, [(*setting, seed) for setting in settings], f"{stage} {seed}")
        )
        write_results(pd.concat(done, ignore_index=True), f"gradients_{stage}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make results/gradients_*.csv anew.")
    parser.add_argument("stages", nargs="*", help="all of them by default")
    for stage in parser.parse_args().stages or STAGES:
        run(stage)
