"""Independent jobs, run side by side."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from robustsparse.progress import progress

T = TypeVar("T")


def _call(job: Callable[[], T]) -> T:
    return job()


def outcomes(
    jobs: Sequence[Callable[[], T]],
    n_jobs: int | None,
    label: str,
    verbose: bool = False,
    *,
    processes: bool = False,
) -> Iterator[T]:
    """What the jobs return, in their order, with a progress bar if `verbose`.

    Jobs run in threads, or in processes if they spend their time in Python itself.

    Examples
    --------
    >>> from functools import partial
    >>> list(outcomes([partial(pow, 2, power) for power in range(4)], 2, "powers"))
    [1, 2, 4, 8]
    """
    # Imported where it is used: a single fit has no jobs, and need not wait for it.
    from joblib import Parallel, delayed

    run = Parallel(
        n_jobs=n_jobs, prefer="processes" if processes else "threads", return_as="generator"
    )
    return progress(run(delayed(_call)(job) for job in jobs), len(jobs), label, verbose)
