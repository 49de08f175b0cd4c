"""The user is told when code compiles, once, unless told not to."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIT = """
import numpy as np, robustsparse as rs
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
for _ in range(2):
    rs.rht_fit(X, X[:, 0] + 0.1 * rng.normal(size=60){verbose})
"""


def standard_error(verbose: str, cache: Path) -> str:
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(cache))
    done = subprocess.run(
        [sys.executable, "-c", FIT.format(verbose=verbose)],
        capture_output=True, text=True, check=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    return done.stderr


def test_the_first_call_of_an_installation_says_once_that_it_compiles(tmp_path: Path) -> None:
    first, second = (standard_error("", tmp_path) for _ in range(2))
    assert first.count("\n") == 1
    assert "compiling" in first
    assert second == ""


def test_a_small_design_waits_for_no_screening(tmp_path: Path) -> None:
    assert standard_error(", verbose=False", tmp_path) == ""
    kept = {path.name.rpartition("-")[0] for path in tmp_path.rglob("*-*") if path.is_file()}
    assert "trim_rows" in kept
    assert not {"trim_survivors", "take_scores", "iterate_squares", "row_deviations"} & kept
