"""Fits to designs that are read in blocks of columns; every one in a process of its own, whose memory is its peak."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.problems import Array
from benchmarks.rows import ScaleRow
from benchmarks.scale_data import write, write_bed
from benchmarks.scale_jobs import Job
from benchmarks.timing import Ratio

# Bars: passes, processor time over memory, wall time of two Dask workers over one process, bytes.
PASSES, CPU, DASK, PEAK, BED_PEAK = 10, 2.0, 1.3, 1.5e9, 5e8
# What the table calls them.
_WORDS = {"memory": "memory", "file": "file", "dask": "two Dask workers"}
_SHELL = "bed file, from the shell"


def _run(job: Job, folder: Path) -> dict[str, Any]:
    """What a job measures, in a process of its own."""
    done = subprocess.run(
        [
            sys.executable, "-m", "benchmarks.scale_jobs", json.dumps(asdict(job)),
            str(folder / "x.f32"), str(folder / "y.npy"),
        ],
        stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    out: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return out


def _row(where: str, n: int, d: int, got: dict[str, Any], chosen: Array, **rest: Any) -> ScaleRow:
    names = {int(j) for j in chosen}
    return ScaleRow(
        where=where, rows=n, columns=d, passes=got["passes"], seconds=got["wall"], cpu=got["cpu"],
        peak=got["peak"], found=len(names & set(got["support"])), true=len(names),
        load=got["load"], passes_bar=PASSES if got["passes"] else None, **rest,
    )  # fmt: skip


def _spread(ratios: Sequence[float]) -> Ratio:
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return Ratio(float(middle), float(low), float(high), len(ratios))


def _compared(n: int, d: int, jobs: Sequence[Job]) -> Iterator[ScaleRow]:
    """Fits of a design that fits in memory, there and elsewhere."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        y, chosen = write(folder / "x.f32", n, d)
        np.save(folder / "y.npy", y)
        memory = _run(Job("memory", n, d), folder)
        yield _row(_WORDS["memory"], n, d, memory, chosen)
        for job in jobs:
            got = _run(job, folder)
            yield _row(
                _WORDS[job.where], n, d, got, chosen,
                difference=float(np.abs(np.subtract(got["coef"], memory["coef"])).max()),
                ratio=_spread(got.get("ratios", [got["cpu"] / memory["cpu"]])),
                clock="wall" if job.where == "dask" else "cpu",
                ratio_bar=DASK if job.where == "dask" else CPU,
                longest=got.get("longest"),
            )  # fmt: skip


def _alone(job: Job, peak_bar: float | None = None) -> ScaleRow:
    """A fit of a file without a comparison."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        y, chosen = write(folder / "x.f32", job.n, job.d)
        np.save(folder / "y.npy", y)
        where = f"{_WORDS[job.where]}, memory {job.memory}, {job.threads} thread(s)"
        return _row(where, job.n, job.d, _run(job, folder), chosen, peak_bar=peak_bar)


def _genotypes(n: int, d: int, memory: str) -> ScaleRow:
    """One command of the shell on a bed file, everything in its process included."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        y, chosen = write_bed(folder / "x.bed", n, d)
        pd.DataFrame({"y": y}).to_csv(folder / "people.csv", index=False)
        got = shell_fit(folder, memory)
        return _row(f"{_SHELL}, memory {memory}", n, d, got, chosen, peak_bar=BED_PEAK)


def shell_fit(folder: Path, memory: str) -> dict[str, Any]:
    """What the command `fit` takes and finds for x.bed and people.csv of a folder."""
    command = [
        sys.executable, "-m", "robustsparse", "fit", str(folder / "x.bed"), "y ~ .",
        "--rows", str(folder / "people.csv"), "--memory", memory, "--n-jobs", "1", "--verbose",
        "--out", str(folder / "coef.csv"),
    ]  # fmt: skip
    start = time.perf_counter()
    with (folder / "told.txt").open("w") as told:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told)
        _, status, used = os.wait4(process.pid, 0)
        # It has been waited for; nobody may do so again.
        process.returncode = os.waitstatus_to_exitcode(status)
    text = (folder / "told.txt").read_text()
    if process.returncode:
        raise RuntimeError(text)
    terms = pd.read_csv(folder / "coef.csv").iloc[:, 0]
    return {
        "wall": time.perf_counter() - start,
        "cpu": used.ru_utime + used.ru_stime,
        "passes": max(map(int, re.findall(r"pass (\d+),", text)), default=0),
        "peak": 1024 * used.ru_maxrss,
        # Variants are called sid1, sid2, …
        "support": [int(term[3:]) - 1 for term in terms if str(term).startswith("sid")],
        "load": os.getloadavg()[0],
    }


def rows(full: bool) -> Iterator[ScaleRow]:
    """Fits of files, of genotypes and on a cluster; in full also larger ones, many rows and a million columns."""
    for d in (50_000, 200_000) if full else (50_000,):
        yield from _compared(500, d, [Job("file", 500, d), Job("dask", 500, d, rounds=3)])
    # Less than a fit in memory would take.
    yield _genotypes(1000, 200_000, "300MB") if full else _genotypes(1000, 20_000, "100MB")
    if full:
        # Inner products of the rows take 1.6 GB; without room for them there are six passes more.
        yield _alone(Job("file", 5000, 20_000, "4GB"))
        yield _alone(Job("file", 2000, 1_000_000, threads=2), PEAK)
