"""Leukemia data with flipped labels and corrupted chips: test errors and selected genes over random splits.

`python vignettes/experiments/golub_corrupted.py` makes results/golub_corrupted.csv (some two minutes on one core).
"""

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from vignettes_common import command

import robustsparse as rs

SPLITS = 15
CONDITIONS = ("as they are", "10% of labels flipped", "labels flipped, 3 chips corrupted")
TRAIN = {"ALL": 21, "AML": 9}
FLIPS, CHIPS = 3, 3
# A corrupted chip: every probe noise around zero, several times as wide as the data.
CHIP_SD = 5.0

METHODS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "RHT": lambda data: rs.rht("subtype ~ .", data, "binomial", n_jobs=1),
    "RHT, selecting": lambda data: rs.rht("subtype ~ .", data, "binomial", goal="select", n_jobs=1),
    "RHT, k = 10": lambda data: rs.rht("subtype ~ .", data, "binomial", k=10, n_jobs=1),
    "RHT, k = 10, no refit": lambda data: rs.rht(
        "subtype ~ .", data, "binomial", k=10, refit=False, n_jobs=1
    ),
    "trimmed lasso": lambda data: rs.baselines.trimmed_lasso("subtype ~ .", data, "binomial"),
    "l1 logistic": lambda data: rs.baselines.lasso("subtype ~ .", data, "binomial"),
}


def split(data: pd.DataFrame, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Patients for training, and the others for the test, with the same share of both subtypes."""
    chosen = [
        rng.choice(data.index[data.subtype == subtype], count, replace=False)
        for subtype, count in TRAIN.items()
    ]
    rows = np.concatenate(chosen)
    return data.loc[rows], data.drop(rows)


def corrupt(data: pd.DataFrame, condition: str, rng: np.random.Generator) -> pd.DataFrame:
    """A copy with flipped labels of some patients and noise in place of the chips of others."""
    data = data.copy()
    rows = rng.permutation(data.index)
    if condition != CONDITIONS[0]:
        flip = rows[:FLIPS]
        data.loc[flip, "subtype"] = data.loc[flip, "subtype"].map({"ALL": "AML", "AML": "ALL"})
    if condition == CONDITIONS[2]:
        noise = rng.normal(0, CHIP_SD, (CHIPS, data.shape[1] - 1))
        data.loc[rows[FLIPS : FLIPS + CHIPS], data.columns[1:]] = noise
    return data


def trial(condition: str, seed: int, genes: int | None = None) -> list[dict[str, object]]:
    """All methods on one split; `genes` takes only so many columns, to be quick."""
    rng = np.random.default_rng(seed)
    data = rs.datasets.golub().iloc[:, : None if genes is None else genes + 1]
    train, test = split(data, rng)
    train = corrupt(train, condition, rng)
    rows = []
    for method, fit_to in METHODS.items():
        begun = time.perf_counter()
        with warnings.catch_warnings():
            # Separable classes: the iterations need not settle, the ranking of the rows does.
            warnings.simplefilter("ignore", rs.RobustSparseWarning)
            fit = fit_to(train)
        wrong = fit.predict(test, type="class") != test.subtype
        rows.append(
            {
                "condition": condition,
                "seed": seed,
                "method": method,
                "error": float(wrong.mean()),
                "genes": " ".join(fit.support()),
                "count": len(fit.support()),
                "seconds": time.perf_counter() - begun,
            }
        )
    return rows


if __name__ == "__main__":
    trials = [(condition, seed) for condition in CONDITIONS for seed in range(SPLITS)]
    command("golub_corrupted", trial, trials)
