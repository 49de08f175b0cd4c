"""A process killed while it saves leaves the old file or the new one."""

import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import robustsparse as rs

# Saves one result after the other over the same file, until it is killed.
_SAVE = """
import sys
import robustsparse as rs
target, *sources = sys.argv[1:]
results = [rs.load(source) for source in sources]
print("ready", flush=True)
while True:
    for result in results:
        result.save(target)
"""
# Kills in a usual run, and in a long one.
FEW, MANY = 4, 40
# Seconds after the first save within which the kill comes.
LATEST = 0.2


@pytest.mark.parametrize("kind", ["models", "graphs"])
def test_a_kill_during_save_leaves_a_file_that_can_be_read(
    kind: str, long: bool, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 30))
    if kind == "models":
        results = [rs.rht_fit(X[:, :d], X[:, 0] + rng.standard_normal(300), k=1) for d in (10, 30)]
        sizes = {len(result.params) for result in results}
    else:
        results = [rs.robust_ns(X[:, :d], k=1) for d in (10, 30)]
        sizes = {len(result.nodes) for result in results}
    sources = [tmp_path / "one", tmp_path / "two"]
    for source, result in zip(sources, results, strict=True):
        result.save(source)
    folder = tmp_path / "target"
    folder.mkdir()
    target = folder / "result.rs"
    results[0].save(target)
    delays = random.Random(0)
    for _ in range(MANY if long else FEW):
        _killed([str(target), *map(str, sources)], delays.uniform(0, LATEST))
        found = rs.load(target)
        assert len(found.params if kind == "models" else found.nodes) in sizes


def _killed(arguments: list[str], delay: float) -> None:
    command = [sys.executable, "-c", _SAVE, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        process.kill()
