"""Fits on a machine that is not free: one core is kept busy by somebody else."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.problems import LARGE, SMALL, Case
from benchmarks.rows import TimeRow
from benchmarks.timing import Sample, ratio, seconds

ROOT = Path(__file__).resolve().parent.parent
SECTION = "Busy machine"
OURS, OTHER = "rht_fit", "rht_fit, one BLAS thread by the environment"
# Largest ratio that the project allows itself.
BAR = 1.5
# BLAS libraries read these when they are loaded.
_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
_FIT = """
import time
import robustsparse as rs
data = rs.simulate.linear({n}, {d}, 5, rng=0)
rs.rht_fit(data.X, data.y, n_jobs=1)
wall, cpu = time.perf_counter(), time.process_time()
rs.rht_fit(data.X, data.y, n_jobs=1)
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


@contextmanager
def occupied() -> Iterator[None]:
    """Another process keeps a core busy."""
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        other.kill()
        other.wait()


def environment(one_thread: bool) -> dict[str, str]:
    """The variables of this process with BLAS threads left to the library, or one of them."""
    plain = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
    return plain | dict.fromkeys(_VARIABLES, "1") if one_thread else plain


def fit(case: Case, one_thread: bool) -> Sample:
    """A second fit in a new process."""
    out = subprocess.run(
        [sys.executable, "-c", _FIT.format(n=case.n, d=case.d)],
        capture_output=True, text=True, check=True, cwd=ROOT, env=environment(one_thread),
    )  # fmt: skip
    wall, cpu = map(float, out.stdout.split())
    return Sample(wall, cpu)


def row(case: Case, rounds: int) -> TimeRow:
    """Both in turn, by the wall's clock: processor time of threads that wait for a core is what this is about."""
    ours, theirs = [], []
    with occupied():
        for _ in range(rounds):
            ours.append(fit(case, one_thread=False))
            theirs.append(fit(case, one_thread=True))
    compared = ratio(ours, theirs, "wall")
    return TimeRow(SECTION, case.size, OURS, OTHER, 1, "wall", compared, seconds(ours, "wall"), BAR)


def rows(full: bool) -> Iterator[TimeRow]:
    """All rows of this section."""
    yield row(Case(*SMALL), 7 if full else 3)
    if full:
        yield row(Case(*LARGE), 3)
