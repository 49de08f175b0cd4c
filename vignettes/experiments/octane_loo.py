"""Octane numbers of gasoline predicted for a sample that was left out, with alcohol samples among the rest.

`python vignettes/experiments/octane_loo.py` makes results/octane_loo.csv (half a minute on one core).
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from vignettes_common import command

import robustsparse as rs

ALCOHOL = (25, 26, 36, 37, 38, 39)
GASOLINE = tuple(sample for sample in range(1, 40) if sample not in ALCOHOL)
ERROR = 5.0
CONDITIONS = (
    "gasoline only",
    "with the alcohol samples",
    "with alcohol samples, octane number 5 too high",
)

METHODS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "RHT": lambda data: rs.rht("y ~ .", data, n_jobs=1),
    "lasso": lambda data: rs.baselines.lasso("y ~ .", data),
}


def training(condition: str, left_out: int, columns: int | None = None) -> pd.DataFrame:
    """The other samples under a condition; `columns` takes every so many wavelengths, to be quick."""
    data = rs.datasets.octane().drop(index=left_out)
    if columns is not None:
        data = data[["y", *data.columns[1::columns]]]
    if condition == CONDITIONS[0]:
        return data.drop(index=list(ALCOHOL))
    if condition == CONDITIONS[2]:
        data.loc[list(ALCOHOL), "y"] += ERROR
    return data


def trial(condition: str, sample: int, columns: int | None = None) -> list[dict[str, object]]:
    """Every method fitted without a gasoline sample, and its error there."""
    data = training(condition, sample, columns)
    new = rs.datasets.octane().loc[[sample]]
    rows = []
    for method, fit_to in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.RobustSparseWarning)
            fit = fit_to(data)
        flagged = set(fit.outliers()) if method == "RHT" else set()
        rows.append(
            {
                "condition": condition,
                "sample": sample,
                "method": method,
                "error": float(fit.predict(new).iloc[0] - new.y.iloc[0]),
                "terms": " ".join(fit.support()),
                "alcohol flagged": len(flagged & set(ALCOHOL)),
                "gasoline flagged": len(flagged - set(ALCOHOL)),
            }
        )
    return rows


if __name__ == "__main__":
    command(
        "octane_loo",
        trial,
        [(condition, sample) for condition in CONDITIONS for sample in GASOLINE],
    )
