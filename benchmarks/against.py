"""The package as it is against an earlier version of it."""

import json
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
_ROUNDS = 3


def extract(revision: str, folder: Path) -> None:
    """Put the revision's package into a folder, with its own benchmarks, which know where its parts are."""
    archive = subprocess.run(
        ["git", "archive", revision, "robustsparse", "data", "benchmarks"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")


def _seconds(tree: Path) -> dict[str, float]:
    """Run the package of a tree in a process of its own."""
    out = subprocess.run(
        [sys.executable, "-m", "benchmarks.own"],
        cwd=tree, capture_output=True, text=True, check=True,
    )  # fmt: skip
    taken: dict[str, float] = json.loads(out.stdout)
    return taken


def table(revision: str) -> str:
    """Processor time now over processor time at the revision, median and range of a few rounds."""
    with tempfile.TemporaryDirectory() as folder:
        extract(revision, Path(folder))
        rounds = [(_seconds(ROOT), _seconds(Path(folder))) for _ in range(_ROUNDS)]
    lines = [f"| what | time now over time at {revision} (range) |", "| --- | --- |"]
    for name in rounds[0][0]:
        ratios = [now[name] / then[name] for now, then in rounds if name in then]
        low, middle, high = np.quantile(ratios, [0.0, 0.5, 1.0])
        lines.append(f"| {name} | {middle:.2f} ({low:.2f}–{high:.2f}) |")
    return "\n".join(lines)
