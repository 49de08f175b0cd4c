"""Whether whole fits are those of an earlier version: what is made faster must stay the same."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.against import ROOT, extract
from benchmarks.whole_fits import Array

# Largest difference that the project allows itself, relative to the largest number of a fit if that exceeds one.
BAR = 1e-10
_SCRIPT = Path(__file__).with_name("whole_fits.py")


def _fits(tree: Path, file: Path) -> list[Array]:
    """Numbers of all fits by the package of a tree."""
    code = f"import runpy; runpy.run_path({str(_SCRIPT)!r}, run_name='__main__')"
    # Sums in several threads are added up in another order.
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    command = [sys.executable, "-c", code, str(file)]
    # So are some sums in the process that compiles: those count that load what it compiled.
    for _ in ("compiling", "counting"):
        subprocess.run(command, cwd=tree, env=environment, check=True)
    with np.load(file) as stored:
        return [stored[name] for name in stored.files]


def difference(one: Array, other: Array) -> float:
    """Largest difference of two fits; infinite if one has other numbers than the other."""
    if one.shape != other.shape or not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return np.inf
    finite = np.isfinite(other)
    largest = max(1.0, float(np.abs(other[finite]).max(initial=0.0)))
    return float(np.abs(one[finite] - other[finite]).max(initial=0.0)) / largest


def table(revision: str) -> str:
    """How many fits are the same to the bit, and the largest difference of the others with their seeds."""
    with tempfile.TemporaryDirectory() as folder:
        extract(revision, Path(folder))
        then = _fits(Path(folder), Path(folder) / "then.npz")
        now = _fits(ROOT, Path(folder) / "now.npz")
    apart = [difference(one, other) for one, other in zip(now, then, strict=True)]
    beyond = [str(seed) for seed, value in enumerate(apart) if value > BAR]
    lines = [
        f"{apart.count(0.0)} of {len(apart)} fits equal those at {revision} to the bit; "
        f"the largest difference is {max(apart):.1e}, {BAR:g} are allowed."
    ]
    return "\n".join(lines + ([f"Beyond that: seeds {', '.join(beyond)}."] if beyond else []))
