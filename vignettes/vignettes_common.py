"""What the vignettes share: how large to run, and where the results of long runs lie."""

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed

from robustsparse.base.progress import progress

HERE = Path(__file__).parent
RESULTS = HERE / "results"


def quick() -> bool:
    """Whether to run small, as the tests do: ROBUSTSPARSE_QUICK=1 in the environment."""
    return os.environ.get("ROBUSTSPARSE_QUICK", "") not in ("", "0")


def run_trials(
    trial: Callable[..., list[dict[str, object]]],
    settings: Iterable[tuple[object, ...]],
    label: str,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Rows that `trial(*setting)` returns for every setting, in the order of the settings.

    A trial seeds itself from its setting, so that the table does not depend on `n_jobs`.
    """
    settings = list(settings)
    runs = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(trial)(*s) for s in settings)
    done = progress(runs, len(settings), label, show=not quick())
    return pd.DataFrame([row for rows in done for row in rows])


def write_results(table: pd.DataFrame, name: str) -> None:
    """Store a table as results/<name>.csv, with the digits that matter."""
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.6g")


def read_results(name: str) -> pd.DataFrame:
    """The table in results/<name>.csv."""
    return pd.read_csv(RESULTS / f"{name}.csv")


def command(
    name: str, trial: Callable[..., list[dict[str, object]]], settings: Iterable[tuple[object, ...]]
) -> None:
    """Run all trials of an experiment from the command line and store them as results/<name>.csv."""
    parser = argparse.ArgumentParser(description=f"Make results/{name}.csv anew.")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all cores by default")
    jobs = parser.parse_args().jobs
    write_results(run_trials(trial, settings, name, jobs), name)
