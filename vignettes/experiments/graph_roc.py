"""ROC curves of every graph method on the paper's cluster graphs, on bad cells and on heavy tails.

``python vignettes/experiments/graph_roc.py`` writes ``results/graph_roc.csv``, a row a method and trial, and
``results/graph_roc_curves.csv``, the mean curve of each method in each setting.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

import robustsparse as rs
from robustsparse.progress import progress

RESULTS = Path(__file__).parents[1] / "results"
SEEDS = range(10)
MAX_FPR = 0.1
# Fine where few false edges are accepted, which is where the paper's claim is made.
GRID = np.r_[np.linspace(0, MAX_FPR, 41), np.linspace(MAX_FPR, 1, 46)[1:]]

PANELS = {f"n = d = {d}, v = {v}": {"n": d, "d": d, "v": v} for d in (100, 200) for v in (0.3, 0.6)}
OTHERS = {
    "5% bad cells": {"n": 100, "d": 100, "v": 0.3, "epsilon": 0.0, "cellwise": 0.05},
    "t with 3 df": {"n": 100, "d": 100, "v": 0.3, "epsilon": 0.0, "tail": "t3"},
    "log-normal": {"n": 100, "d": 100, "v": 0.3, "epsilon": 0.0, "tail": "lognormal"},
}

ORACLE = "oracle NS (good data)"
DEFAULT = "robust NS (default)"
PRINTED = "robust NS as printed"
MOM = "robust NS, MOM"
METHODS: dict[str, Callable[..., rs.GraphResult]] = {
    DEFAULT: lambda X: rs.robust_ns(X, n_jobs=1),
    PRINTED: lambda X: rs.robust_ns(X, screen=False, n_jobs=1),
    MOM: lambda X: rs.robust_ns(X, screen=False, estimator="mom", n_jobs=1),
    "trimmed glasso": rs.baselines.trimmed_glasso,
    "robust CLIME": lambda X: rs.baselines.rclime(X, n_jobs=1),
    "SKEPTIC": lambda X: rs.baselines.skeptic(X, n_jobs=1),
    "Spearman": lambda X: rs.baselines.spearman(X, n_jobs=1),
    "nonparanormal NS": lambda X: rs.baselines.neighborhood_lasso(
        rs.baselines.nonparanormal(X), n_jobs=1
    ),
    "vanilla NS": lambda X: rs.baselines.neighborhood_lasso(X, n_jobs=1),
    "CLIME": lambda X: rs.baselines.clime(X, n_jobs=1),
    "glasso": rs.baselines.glasso,
}
ROBUST = [
    "trimmed glasso", "robust CLIME", "SKEPTIC", "Spearman", "nonparanormal NS", PRINTED, MOM,
]  # fmt: skip


def good_data(setting: dict[str, Any], sim: rs.simulate.Simulation, seed: int) -> np.ndarray:
    """Rows that the oracle sees: the authentic ones, or the same graph's Gaussian rows without bad cells."""
    if sim.outlier.any():
        return sim.X[~sim.outlier]
    clean = {key: setting[key] for key in ("n", "d", "v", "epsilon")}
    same = rs.simulate.graph(**clean, rng=seed)
    assert np.array_equal(same.adjacency, sim.adjacency)
    return same.X


def trial(label: str, setting: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """All methods on one data set: areas, seconds and the curve on the grid, a row a method."""
    sim = rs.simulate.graph(**setting, rng=seed)
    tasks = [(ORACLE, METHODS["vanilla NS"], good_data(setting, sim, seed))]
    tasks += [(name, fit, sim.X) for name, fit in METHODS.items()]
    rows = []
    for name, fit, X in tasks:
        begun = time.perf_counter()
        graph = fit(X)
        seconds = time.perf_counter() - begun
        curve = graph.roc(sim.adjacency)
        rows.append(
            {
                "setting": label,
                "seed": seed,
                "method": name,
                "auc": curve.auc,
                "pauc": curve.partial_auc(MAX_FPR),
                "seconds": seconds,
                "tpr": np.interp(GRID, np.r_[curve.fpr, 1.0], np.r_[curve.tpr, 1.0]),
            }
        )
    return rows


def run(settings: dict[str, dict[str, Any]], seeds: Any, n_jobs: int = 1) -> list[dict[str, Any]]:
    """All trials, with a progress bar if there are many."""
    tasks = [(label, setting, seed) for label, setting in settings.items() for seed in seeds]
    workers = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
    done: Iterator[Any] = workers(joblib.delayed(trial)(*task) for task in tasks)
    shown = progress(done, len(tasks), "graph trials", len(tasks) > 5)
    return [row for rows in shown for row in rows]


def tables(rows: list[dict[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The trials, and the mean curves: false positive rates by method."""
    frame = pd.DataFrame(rows)
    mean = frame.groupby(["setting", "method"], sort=False)["tpr"].apply(
        lambda curves: np.mean(list(curves), axis=0)
    )
    curves = [
        pd.DataFrame({"setting": label, "fpr": GRID, **part.droplevel("setting").to_dict()})
        for label, part in mean.groupby(level="setting", sort=False)
    ]
    return frame.drop(columns="tpr"), pd.concat(curves, ignore_index=True)


def main(n_jobs: int = 1) -> None:
    trials, curves = tables(run(PANELS | OTHERS, SEEDS, n_jobs))
    RESULTS.mkdir(exist_ok=True)
    trials.round(4).to_csv(RESULTS / "graph_roc.csv", index=False)
    curves.round(4).to_csv(RESULTS / "graph_roc_curves.csv", index=False)


if __name__ == "__main__":
    main()
