"""Independent jobs, run side by side."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import call
from typing import TypeVar

from robustsparse.base.progress import progress
from robustsparse.base.threads import one_blas_thread, threads_for

T = TypeVar("T")
# Backends of joblib that run jobs on this machine.
_LOCAL = ("LokyBackend", "ThreadingBackend", "SequentialBackend", "MultiprocessingBackend")


def _has_cluster() -> bool:
    """Whether joblib was told to send jobs elsewhere."""
    joblib = sys.modules.get("joblib")
    if joblib is None:
        return False
    backend, _ = joblib.parallel.get_active_backend()
    return type(backend).__name__ not in _LOCAL


def outcomes(
    jobs: Sequence[Callable[[], T]],
    n_jobs: int | None,
    label: str,
    verbose: bool = False,
    *,
    processes: bool = False,
) -> list[T]:
    """What the jobs return, in their order, with a progress bar if `verbose`.

    Jobs run in threads, or in processes if they spend their time in Python itself; and on a cluster, if joblib was told
    to use one (`joblib.parallel_config(backend="dask")`), whatever `n_jobs` says.

    Examples
    --------
    >>> from functools import partial
    >>> outcomes([partial(pow, 2, power) for power in range(4)], 2, "powers")
    [1, 2, 4, 8]
    """
    if _has_cluster():
        from joblib import Parallel, delayed

        sent = Parallel()(delayed(call)(job) for job in jobs)
        return list(progress(sent, len(jobs), label, verbose))
    threads = threads_for(n_jobs)
    if threads == 1:
        return [job() for job in progress(jobs, len(jobs), label, verbose)]
    if processes:
        # Imported where it is used: a single fit has no jobs, and need not wait for it.
        from joblib import Parallel, delayed

        run = Parallel(n_jobs=threads, return_as="generator")
        done = run(delayed(call)(job) for job in jobs)
        return list(progress(done, len(jobs), label, verbose))
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        return list(progress(pool.map(call, jobs), len(jobs), label, verbose))
