"""Work spread over threads."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from threading import Lock, current_thread
from typing import Any

from robustsparse.base.checks import check_count

# Designs with fewer entries are not worth a second thread.
_ENTRIES_FOR_THREADS = 2_000_000
# First part of the names of the threads that share the columns of a design.
_OURS = "robustsparse-columns"


def available_threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_for(n_jobs: int | None) -> int:
    """Number of threads that an argument `n_jobs` asks for; None and -1 are all cores."""
    if n_jobs is None or n_jobs == -1:
        return available_threads()
    return check_count("n_jobs", n_jobs, 1)


class _BlasLimit:
    """Limit of one BLAS thread, which holds for the whole process: set by the first user, lifted after the last."""

    def __init__(self) -> None:
        self.users = 0
        self.limit: Any = None

    def enter(self) -> None:
        """Count a user in."""
        if self.users == 0:
            _take_control_of_blas()
            self.limit = _blas().limit(limits=1, user_api="blas")
        self.users += 1

    def leave(self) -> None:
        """Count a user out."""
        self.users -= 1
        if self.users == 0:
            _take_control_of_blas()
            self.limit.restore_original_limits()


@cache
def _blas() -> Any:
    """The BLAS libraries of this process, looked for once: that takes longer than a small fit."""
    # Imported where they are used, scipy because it brings a BLAS of its own.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _take_control_of_blas() -> None:
    """Let this thread change the limit, whichever thread set the last one.

    Newer versions of threadpoolctl silently ignore all threads but the first one that sets a limit. The limit would
    stay for good if the last user leaves in another thread.
    """
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


_blas_limit, _blas_lock = _BlasLimit(), Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to the thread that calls it, while as many threads of our own as there are cores call it."""
    with _blas_lock:
        _blas_limit.enter()
    try:
        yield
    finally:
        with _blas_lock:
            _blas_limit.leave()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=_OURS)


def _start_anew() -> None:
    """Forget what belongs to threads of the parent: a forked process has none of them, and would wait forever."""
    global _blas_limit, _blas_lock
    _pool.cache_clear()
    # The limit itself stays as it was at the fork: BLAS is best left alone until the child needs it.
    _blas_limit, _blas_lock = _BlasLimit(), Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def is_large(entries: int) -> bool:
    """Whether a design of so many entries is worth several threads."""
    return entries >= _ENTRIES_FOR_THREADS


def over_columns(task: Callable[[int, int], None], d: int, entries: int, threads: int) -> None:
    """Run `task(first, last)` over ranges of the d columns, in threads if the design is large.

    The kernels release the interpreter's lock and each range writes its own part, so the outcome is
    the same for any number of threads.
    """
    # A thread of the pool that handed work to the pool could wait forever: for threads that wait for theirs.
    nested = current_thread().name.startswith(_OURS)
    if threads <= 1 or not is_large(entries) or d < threads or nested:
        task(0, d)
        return
    edges = [d * part // threads for part in range(threads + 1)]
    others = [_pool(threads - 1).submit(task, *part) for part in pairwise(edges[1:])]
    try:
        # This thread does a part itself, since those of the pool take a moment to wake up.
        task(edges[0], edges[1])
    finally:
        wait(others)
    for other in others:
        other.result()
