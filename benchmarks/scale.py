"""Fits to designs that are read in blocks of columns; every job in a process of its own, whose memory is its peak.

`python -m benchmarks.scale JOB` runs one, with a JSON object as JOB, and prints what it measured as JSON.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems import Array
from benchmarks.rows import ScaleRow
from robustsparse import open_bed, rht_fit
from robustsparse.design.stores.opening import open_store
from robustsparse.design.stores.sizes import bytes_of
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.large.fit import Limits, fit_store

_PREDICTORS, _BAD, _BLOCK = 10, 0.1, 10_000
# Bars: passes, processor time over memory, wall time of two Dask workers over one process, bytes.
PASSES, CPU, DASK, PEAK, BED_PEAK = 10, 2.0, 1.3, 1.5e9, 5e8


@dataclass(frozen=True)
class Job:
    """A fit and its data.

    Attributes
    ----------
    where : str
        "memory", "file", "dask" or "bed".
    n, d : int
        Rows and columns.
    memory : str
        What the fit may hold.
    threads : int
        Threads of the fit.
    """

    where: str
    n: int
    d: int
    memory: str = "1GB"
    threads: int = 1


def write(path: Path, n: int, d: int) -> tuple[Array, Array]:
    """Normal columns, each correlated with the one before, of which ten matter; the response and these columns.

    A tenth of the rows has a wrong response, half of them are far out as well. They are of single precision, column
    after column.
    """
    rng = np.random.default_rng(5)
    chosen = np.sort(rng.choice(d, _PREDICTORS, replace=False))
    beta = rng.choice([-1, 1], _PREDICTORS) * (0.5 + rng.random(_PREDICTORS))
    bad = rng.choice(n, round(_BAD * n), replace=False)
    eta = np.zeros(n)
    with path.open("wb") as file:
        for first in range(0, d, _BLOCK):
            block = rng.standard_normal((min(_BLOCK, d - first), n), dtype=np.float32)
            block[1:] += 0.5 * block[:-1]
            block[:, bad[: len(bad) // 2]] *= 5
            own = (chosen >= first) & (chosen < first + len(block))
            eta += beta[own] @ block[chosen[own] - first]
            block.tofile(file)
    y = eta + rng.normal(size=n)
    y[bad] = 5 - 3 * y[bad]
    return y, chosen


def write_bed(path: Path, n: int, d: int) -> tuple[Array, Array]:
    """Counts of alleles of all frequencies from 5% on; ten variants matter and a tenth of the rows is wrong."""
    import bed_reader

    rng = np.random.default_rng(6)
    chosen = np.sort(rng.choice(d, _PREDICTORS, replace=False))
    frequency, eta = rng.uniform(0.05, 0.5, d), np.zeros(n)
    with bed_reader.create_bed(path, iid_count=n, sid_count=d) as bed:
        for j in range(d):
            counts = rng.binomial(2, frequency[j], n)
            if j in chosen:
                # Each explains as much as the others.
                eta += counts / counts.std()
            bed.write(counts.astype(np.int8))
    y = eta + rng.normal(size=n)
    bad = rng.choice(n, round(_BAD * n), replace=False)
    y[bad] = 5 - 3 * y[bad]
    return y, chosen


def _fit(job: Job, path: Path, y: Array) -> tuple[Any, int, float]:
    """The fit, its number of passes and its seconds."""
    if job.where == "bed":
        X: Any = open_bed(path)
    else:
        X = np.memmap(path, dtype=np.float32, mode="r", shape=(job.d, job.n)).T
    if job.where == "dask":
        return _dask_fit(X, y, job)
    start = time.perf_counter()
    if job.where == "memory":
        return rht_fit(np.array(X), y, n_jobs=1), 0, time.perf_counter() - start
    _, store = open_store(X, job.memory, None, job.threads, blocks=True)
    assert store is not None
    limit = Limits(bytes_of(job.memory))
    fit = fit_store(store, y, Arguments(n_jobs=job.threads), limit)
    return fit, store.passes, time.perf_counter() - start


def _dask_fit(X: Any, y: Array, job: Job) -> tuple[Any, int, float]:
    """On two workers, which have the columns already."""
    import dask.array
    from distributed import Client, LocalCluster, wait

    from robustsparse.design.stores.dask_columns import DaskColumns

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        lazy = dask.array.from_array(np.array(X), chunks=(job.n, max(1, job.d // 32)))
        held = lazy.persist()
        wait(held)
        # What is compiled or imported the first time does not count.
        client.run(rht_fit, np.array(X[:, :1000]), y)
        start = time.perf_counter()
        store = DaskColumns(held, client, 10**9)
        fit = fit_store(store, y, Arguments(n_jobs=1), Limits(10**9))
        return fit, store.passes, time.perf_counter() - start


def measure(job: Job, path: Path, y: Array) -> dict[str, Any]:
    """Seconds of the wall's clock and of the processor, passes, bytes at the peak and what was found."""
    small = np.random.default_rng(0).normal(size=(len(y), 400)).astype(np.float32)
    # Compiled once, before the clock starts.
    rht_fit(small, y, n_jobs=1)
    cpu = time.process_time()
    fit, passes, seconds = _fit(job, path, y)
    used = time.process_time() - cpu
    # Columns are called x1, x2, …; variants sid1, sid2, …
    found = [int(name.lstrip("xsid")) - 1 for name in fit.support()]
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "wall": seconds, "cpu": used, "passes": passes, "peak": peak, "support": found,
        "coef": fit.coef().tolist(),
    }  # fmt: skip


def _run(job: Job, path: Path, folder: Path) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.scale",
        json.dumps(asdict(job)),
        str(path),
        str(folder / "y.npy"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    out: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return out


def _compared(n: int, d: int, others: Iterable[str]) -> Iterator[ScaleRow]:
    """Fits of a design that fits in memory, there and elsewhere."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        y, chosen = write(folder / "x.f32", n, d)
        np.save(folder / "y.npy", y)
        memory = _run(Job("memory", n, d), folder / "x.f32", folder)
        yield _row("memory", n, d, memory, chosen)
        for where in others:
            got = _run(Job(where, n, d), folder / "x.f32", folder)
            apart = float(np.abs(np.subtract(got["coef"], memory["coef"])).max())
            time_bar = ("wall", DASK) if where == "dask" else ("cpu", CPU)
            ratio = got[time_bar[0]] / memory[time_bar[0]]
            yield _row(where, n, d, got, chosen, apart, (ratio, *time_bar))


def _row(
    where: str, n: int, d: int, got: dict[str, Any], chosen: Array, apart: float | None = None,
    ratio: tuple[float, str, float] | None = None, peak_bar: float | None = None,
) -> ScaleRow:  # fmt: skip
    names = {int(j) for j in chosen}
    value, clock, bar = ratio or (None, "cpu", None)
    return ScaleRow(
        where=where, rows=n, columns=d, passes=got["passes"], seconds=got["wall"], cpu=got["cpu"],
        peak=got["peak"], found=len(names & set(got["support"])), true=len(names), difference=apart,
        ratio=value, clock=clock, ratio_bar=bar, peak_bar=peak_bar,
        passes_bar=PASSES if got["passes"] else None,
    )  # fmt: skip


def _alone(job: Job, bar: float) -> ScaleRow:
    """A fit of a design that is too large for a comparison."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / ("x.bed" if job.where == "bed" else "x.f32")
        y, chosen = (write_bed if job.where == "bed" else write)(path, job.n, job.d)
        np.save(folder / "y.npy", y)
        return _row(job.where, job.n, job.d, _run(job, path, folder), chosen, peak_bar=bar)


def rows(full: bool) -> Iterator[ScaleRow]:
    """Fits of files, of genotypes and on a cluster; in full also a million columns."""
    yield from _compared(500, 200_000 if full else 50_000, ("file", "dask"))
    yield _alone(Job("bed", 1000, 200_000 if full else 20_000, "300MB"), BED_PEAK)
    if full:
        yield _alone(Job("file", 2000, 1_000_000, threads=2), PEAK)


def main() -> None:
    """Run the job that the command line describes."""
    warnings.simplefilter("ignore")
    job, path, y = Job(**json.loads(sys.argv[1])), Path(sys.argv[2]), np.load(sys.argv[3])
    print(json.dumps(measure(job, path, y)))


if __name__ == "__main__":
    main()
