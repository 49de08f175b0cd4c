"""How often intervals hold the truth where rows depend on each other: a section of docs/inference.md."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import robustsparse as rs

HEAD = """## Rows that depend on each other

`fit.conf_int()` (*usual*) beside `fit.conf_int(cluster=...)` or `fit.conf_int(cov="hac")` (*own*) at 95%, of the
default fit to ten columns of which three have coefficients of 1. *Clusters*: half of the variance of the errors, and
of every predictor, is common to the rows of a cluster. *Time*: the errors and every predictor are autoregressions.
*bad*: a tenth of the rows is off by 8 to 20 in the response. Share of the intervals of true slopes, and of the
intercept, that hold the truth, in {runs} data sets; the standard error of that is {error:.3f} for the intercept, and
less for slopes. Selection takes rows for independent, so that with much dependence a false term may enter (*k*, mean,
of 3). A strong autocorrelation in few rows is what no such standard error is quite up to.
"""
RUNS = 200
DATA = (
    ("10 clusters of 20", "clusters", 10, 20),
    ("20 clusters of 10", "clusters", 20, 10),
    ("40 clusters of 10", "clusters", 40, 10),
    ("time, 100 rows, 0.5", "time", 100, 0.5),
    ("time, 300 rows, 0.5", "time", 300, 0.5),
    ("time, 100 rows, 0.8", "time", 100, 0.8),
    ("time, 300 rows, 0.8", "time", 300, 0.8),
)
D, K, BEFORE = 10, 3, 50


def in_clusters(rng: np.random.Generator, count: int, size: int) -> tuple[Any, Any, Any]:
    """Predictors, errors and what the intervals have to know."""
    cluster = np.repeat(np.arange(count), size)
    n = count * size
    values = rng.normal(size=(count, D + 1))[cluster] + rng.normal(size=(n, D + 1))
    return values[:, :D] / np.sqrt(2), values[:, D] / np.sqrt(2), {"cluster": cluster}


def in_time(rng: np.random.Generator, n: int, root: float) -> tuple[Any, Any, Any]:
    """The same for rows that follow each other."""
    draws = np.sqrt(1 - root**2) * rng.normal(size=(n + BEFORE, D + 1))
    for t in range(1, n + BEFORE):
        draws[t] += root * draws[t - 1]
    return draws[BEFORE:, :D], draws[BEFORE:, D], {"cov": "hac"}


def one(kind: str, first: int, second: float, bad: bool, seed: int) -> dict[str, float]:
    """Which intervals of one data set hold the truth."""
    rng = np.random.default_rng([2027, seed, first, int(10 * second), bad])
    X, error, how = (in_clusters if kind == "clusters" else in_time)(rng, first, second)
    y = 0.5 + X[:, :K].sum(axis=1) + error
    if bad:
        rows = rng.choice(len(y), len(y) // 10, replace=False)
        y[rows] += rng.choice([-1.0, 1.0], len(rows)) * rng.uniform(8.0, 20.0, len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RobustSparseWarning)
        fit = rs.rht_fit(X, y, n_jobs=1, rng=seed)
    plain, own = (_held(fit.conf_int(**options)) for options in ({}, how))
    return {"plain": plain[0], "plain 0": plain[1], "own": own[0], "own 0": own[1], "k": fit.k}


def _held(table: pd.DataFrame) -> tuple[float, float]:
    """Share of the true slopes that were found, and whether the intercept, within its interval."""
    truth = pd.Series({"Intercept": 0.5, **{f"x{j + 1}": 1.0 for j in range(K)}})
    known = table.index.intersection(truth.index)
    held = (table.loc[known, "low"] <= truth[known]) & (table.loc[known, "high"] >= truth[known])
    return float(held.drop("Intercept").mean()), float(held["Intercept"])


def row(name: str, kind: str, first: int, second: float, bad: bool, runs: int, jobs: int) -> Any:
    found = Parallel(n_jobs=jobs)(
        delayed(one)(kind, first, second, bad, seed) for seed in range(runs)
    )
    mean = pd.DataFrame(found).mean()
    return {
        "data": f"{name}{', bad' if bad else ''}",
        "usual, slopes": f"{mean['plain']:.3f}",
        "usual, intercept": f"{mean['plain 0']:.3f}",
        "own, slopes": f"{mean['own']:.3f}",
        "own, intercept": f"{mean['own 0']:.3f}",
        "k": f"{mean['k']:.1f}",
    }


def section(part: int, jobs: int) -> tuple[str, list[dict[str, str]]]:
    """Text and table."""
    runs, rows = max(RUNS // part, 2), []
    for setting in DATA:
        for bad in (False, True):
            rows.append(row(*setting, bad, runs, jobs))
            print(rows[-1], flush=True)
    return HEAD.format(runs=runs, error=(0.05 * 0.95 / runs) ** 0.5), rows
