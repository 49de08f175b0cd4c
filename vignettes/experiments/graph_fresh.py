"""Algorithm 2 as printed on fresh data sets of the paper's four panels, to confirm what was tuned on others.

``python vignettes/experiments/graph_fresh.py`` writes ``results/graph_fresh.csv``: both variants, the default, the best
of its rivals and the oracle on 50 data sets a panel (some 20 minutes on one core).
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiments.graph_roc import DEFAULT, PANELS, PRINTED, TUNED, trial
from vignettes_common import command

FIRST_SEED, TRIALS = 1000, 50
RIVAL = "trimmed glasso"


def areas(label: str, setting: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """Areas of the methods and of the oracle on one data set."""
    rows = trial(label, setting, seed, [PRINTED, TUNED, DEFAULT, RIVAL])
    return [{key: value for key, value in row.items() if key != "tpr"} for row in rows]


def settings() -> list[tuple[str, dict[str, Any], int]]:
    """Label, size and seed of each data set."""
    return [
        (label, setting, FIRST_SEED + i) for label, setting in PANELS.items() for i in range(TRIALS)
    ]


if __name__ == "__main__":
    command("graph_fresh", areas, settings())
