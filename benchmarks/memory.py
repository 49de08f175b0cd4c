"""How much memory a fit takes beside the caller's data, each in a new process."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.peak import Job, describe
from benchmarks.problems import LARGE, Case
from benchmarks.rows import MemoryRow

ROOT = Path(__file__).resolve().parent.parent
# Most memory of a fit to float64 arrays, in units of X; of few columns some vectors as long as a column count.
BAR, TALL_BAR = 1.6, 2.0
_FEW_COLUMNS = 50
_ORDERS = {"F": "by columns", "C": "by rows"}

QUICK = (
    Job("rht_fit", *LARGE, "F"),
    Job("rht_fit", *LARGE, "C"),
    Job("Algorithm 1", *LARGE, "F"),
    Job("rht_fit", 500_000, 20, "F"),
)
FULL = (
    *QUICK,
    Job("rht_fit", *LARGE, "F", "float32"),
    Job("rht_fit", *LARGE, "C", "float32"),
    Job("rht_fit, k = 5", *LARGE, "F"),
    Job("rht_fit, k = 5", *LARGE, "C"),
    Job('rht("y ~ .", df)', 300, 20_000, "F"),
)


def row(job: Job) -> MemoryRow:
    """Run a job in a process of its own."""
    out = subprocess.run(
        [sys.executable, "-m", "benchmarks.peak", describe(job)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(out.stdout)
    array = not job.call.startswith("rht(") and job.dtype == "float64"
    return MemoryRow(
        Case(job.n, job.d).size,
        f"{job.dtype}, {_ORDERS[job.order]}",
        job.call,
        None if found["peak"] is None else found["peak"] / found["bytes"],
        found["bytes"] / 1e6,
        _bar(job) if array else None,
    )


def _bar(job: Job) -> float:
    return TALL_BAR if job.d <= _FEW_COLUMNS else BAR


def rows(full: bool) -> Iterator[MemoryRow]:
    """All rows of this section."""
    yield from map(row, FULL if full else QUICK)
