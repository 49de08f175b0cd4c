"""What a user waits for in a new process: the import and the first fit."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rows import LatencyRow
from benchmarks.timing import Sample, ratio, seconds

ROOT = Path(__file__).resolve().parent.parent

_TIMER = "import time; a, b = time.perf_counter(), time.process_time()\n{work}\n"
_PRINT = "print(time.perf_counter() - a, time.process_time() - b)\n"
_DEPENDENCIES = "import numpy, scipy.linalg, scipy.special, scipy.stats, pandas, formulaic, numba"
_FIT = """
import robustsparse as rs
data = rs.simulate.linear(300, 1000, 5, rng=0)
{before}
"""
_CALL = "rs.rht_fit(data.X, data.y)"
# The import as well: code may be compiled there.
_ALL = _FIT.format(before=_CALL)


def _child(before: str, work: str, cache: str | None = None) -> Sample:
    """Time `work` in a new interpreter, after `before`."""
    # Idle threads of BLAS would count as work.
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    # An installed package has its bytecode at hand; so has this one after the first process.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    code = before + "\n" + _TIMER.format(work=work) + _PRINT
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    wall, cpu = map(float, out.stdout.split())
    return Sample(wall, cpu)


_GRAPH = """
import robustsparse as rs
rs.robust_ns(rs.simulate.graph(n=200, d=30, rng=0).data)
"""
# What compiles in a fresh installation, and the seconds that the project allows itself for it.
_FIRST = (("rht_fit", _ALL, 5.0), ("robust_ns", _GRAPH, 6.0))


def compiling(work: str, rounds: int) -> tuple[list[Sample], list[Sample]]:
    """Import, data and first call with an empty cache of compiled code, and with the one that this has filled."""
    empty, filled = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            empty.append(_child("", work, cache))
            filled.append(_child("", work, cache))
    return empty, filled


def rows(full: bool) -> Iterator[LatencyRow]:
    """All rows of this section; processor time, new processes in turn."""
    rounds = 7 if full else 3
    first, second = _FIT.format(before=""), _FIT.format(before=_CALL)
    _child(first, _CALL)  # fill the caches
    imports, libraries, firsts, seconds_ = [], [], [], []
    for _ in range(rounds):
        imports.append(_child("", "import robustsparse"))
        libraries.append(_child("", _DEPENDENCIES))
        firsts.append(_child(first, _CALL))
        seconds_.append(_child(second, _CALL))
    yield _row("import robustsparse", "importing its dependencies", imports, libraries, 1.0)
    yield _row("first rht_fit, compiled code cached", "second rht_fit", firsts, seconds_, 0.7)
    for name, work, bar in _FIRST:
        empty, filled = compiling(work, 3 if full else 1)
        yield LatencyRow(
            f"compiling for {name} in a fresh install",
            f"import and first {name}, compiled code cached",
            ratio(empty, filled, "cpu"),
            seconds(empty, "cpu") - seconds(filled, "cpu"),
            bar,
        )


def _row(
    what: str, yardstick: str, ours: list[Sample], theirs: list[Sample], bar: float
) -> LatencyRow:
    return LatencyRow(what, yardstick, ratio(ours, theirs, "cpu"), seconds(ours, "cpu"), bar)
