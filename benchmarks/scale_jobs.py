"""One fit for `scale.py`, in a process of its own: `python -m benchmarks.scale_jobs JOB X Y` prints JSON."""

import json
import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems import Array
from robustsparse import rht_fit
from robustsparse.design.stores.opening import open_store
from robustsparse.design.stores.sizes import bytes_of
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.large.fit import Limits, fit_store

# Chunks of a design on Dask, and bytes that a fit there may hold.
_CHUNKS, _HELD = 32, 10**9


@dataclass(frozen=True)
class Job:
    """A fit and its data.

    Attributes
    ----------
    where : str
        "memory", "file" or "dask".
    n, d : int
        Rows and columns.
    memory : str
        What the fit may hold.
    threads : int
        Threads of the fit.
    rounds : int
        How often a fit on Dask and one in memory take turns.
    """

    where: str
    n: int
    d: int
    memory: str = "1GB"
    threads: int = 1
    rounds: int = 1


def _outcome(fit: Any, passes: int, wall: float, cpu: float) -> dict[str, Any]:
    return {
        "wall": wall,
        "cpu": cpu,
        "passes": passes,
        # Columns are called x1, x2, …
        "support": [int(name[1:]) - 1 for name in fit.support()],
        "coef": fit.coef().tolist(),
    }


def _in_memory(X: Array, y: Array) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    fit = rht_fit(np.array(X), y, n_jobs=1)
    return _outcome(fit, 0, time.perf_counter() - wall, time.process_time() - cpu)


def _from_file(X: Array, y: Array, job: Job) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    _, store = open_store(X, job.memory, None, job.threads, blocks=True)
    assert store is not None
    fit = fit_store(store, y, Arguments(n_jobs=job.threads), Limits(bytes_of(job.memory)))
    return _outcome(fit, store.passes, time.perf_counter() - wall, time.process_time() - cpu)


def _on_workers(X: Array, y: Array, job: Job) -> dict[str, Any]:
    """On two workers, which have the columns already, in turn with fits in memory."""
    import dask.array
    from distributed import Client, LocalCluster, wait

    X = np.array(X)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        held = dask.array.from_array(X, chunks=(job.n, max(1, job.d // _CHUNKS))).persist()
        wait(held)
        # What is compiled or imported the first time does not count.
        client.run(rht_fit, X[:, :1000], y)
        turns = [(_in_memory(X, y), _dask_fit(held, y, client)) for _ in range(job.rounds)]
    ratios = [ours["wall"] / memory["wall"] for memory, ours in turns]
    longest = [ours["longest"] / memory["cpu"] for memory, ours in turns]
    middle = turns[int(np.argsort(ratios)[len(ratios) // 2])][1]
    return {**middle, "ratios": ratios, "longest": float(np.median(longest))}


def _dask_fit(held: Any, y: Array, client: Any) -> dict[str, Any]:
    from robustsparse.design.stores.dask_columns import DaskColumns

    before = client.run(time.process_time)
    wall, cpu = time.perf_counter(), time.process_time()
    store = DaskColumns(held, client, _HELD)
    fit = fit_store(store, y, Arguments(n_jobs=1), Limits(_HELD))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = client.run(time.process_time)
    workers = [after[name] - before[name] for name in before]
    return {
        **_outcome(fit, store.passes, wall, cpu + sum(workers)), "longest": cpu + max(workers)
    }  # fmt: skip


def measure(job: Job, path: Path, y: Array) -> dict[str, Any]:
    """Seconds of the wall's clock and of the processor, passes, bytes at the peak, load and what was found."""
    small = np.random.default_rng(0).normal(size=(len(y), 400)).astype(np.float32)
    # Compiled once, before the clock starts.
    rht_fit(small, y, n_jobs=1)
    X = np.memmap(path, dtype=np.float32, mode="r", shape=(job.d, job.n)).T
    if job.where == "dask":
        # The peak of its driver would be that of the fits in memory.
        return {**_on_workers(X, y, job), "peak": None, "load": os.getloadavg()[0]}
    got = _in_memory(X, y) if job.where == "memory" else _from_file(X, y, job)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**got, "peak": peak, "load": os.getloadavg()[0]}


def main() -> None:
    """Run the job that the command line describes."""
    job, path, y = Job(**json.loads(sys.argv[1])), Path(sys.argv[2]), np.load(sys.argv[3])
    print(json.dumps(measure(job, path, y)))


if __name__ == "__main__":
    main()
