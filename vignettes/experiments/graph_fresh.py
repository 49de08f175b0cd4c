"""Algorithm 2 as printed on fresh data sets of the paper's four panels, to confirm what was tuned on others.

``python vignettes/experiments/graph_fresh.py`` writes ``results/graph_fresh.csv``: both variants and the oracle on 50
data sets with 100 variables, and on 10 with 200, which take longer.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.graph_roc import PANELS, PRINTED, TUNED, trial
from vignettes_common import command

FIRST_SEED = 1000


def areas(label: str, setting: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """Areas of the two variants and of the oracle on one data set."""
    rows = trial(label, setting, seed, [PRINTED, TUNED])
    return [{key: value for key, value in row.items() if key != "tpr"} for row in rows]


def settings() -> list[tuple[str, dict[str, Any], int]]:
    """Label, size and seed of each data set."""
    return [
        (label, setting, FIRST_SEED + i)
        for label, setting in PANELS.items()
        for i in range(50 if setting["d"] == 100 else 10)
    ]


if __name__ == "__main__":
    command("graph_fresh", areas, settings())
