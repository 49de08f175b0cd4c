"""Peak memory of one call in this process, as JSON: `python -m benchmarks.peak JOB`; for `memory.py`."""

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import solver
from benchmarks.problems import ALPHA, TRUE_K, Array, Case
from robustsparse import Squared, Trimmed, rht, rht_fit
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import solve


@dataclass(frozen=True)
class Job:
    """A call and its data.

    Attributes
    ----------
    call : str
        A name in `CALLS`.
    n, d : int
        Rows (bad ones come on top) and columns.
    order, dtype : str
        How X lies in memory: by rows (C) or by columns (F).
    """

    call: str
    n: int
    d: int
    order: str = "F"
    dtype: str = "float64"


def _algorithm(X: Array, y: Array) -> object:
    settings = Settings(step=solver.STEP, max_iter=solver.ITERATIONS, tol=0.0)
    problem = Problem(Trimmed(ALPHA).bind(X.T, 1), y, Squared())
    return solve(problem, TRUE_K, settings=settings, warn=False)


def _frame(X: Array, y: Array) -> pd.DataFrame:
    """Columns x0, x1, … as one block, and y."""
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])], copy=False)
    return frame.assign(y=y)


# What makes the data of a call out of X and y, and the call.
CALLS: dict[str, tuple[Callable[[Array, Array], tuple[object, ...]], Callable[..., object]]] = {
    "rht_fit": (lambda X, y: (X, y), rht_fit),
    "rht_fit, k = 5": (lambda X, y: (X, y), lambda X, y: rht_fit(X, y, k=TRUE_K)),
    "Algorithm 1": (lambda X, y: (X, y), _algorithm),
    'rht("y ~ .", df)': (lambda X, y: (_frame(X, y),), lambda frame: rht("y ~ .", frame)),
}


def _status(field: str) -> int:
    """Bytes of a line in the kernel's report on this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def beyond(call: Callable[[], object]) -> int | None:
    """Bytes by which the resident memory rose above its value before the call; None if it cannot be told."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
        before = _status("VmRSS")
        call()
        return _status("VmHWM") - before
    except OSError:
        return None


def _data(job: Job) -> tuple[tuple[object, ...], int]:
    """What the call is given, and the bytes of X."""
    drawn = Case(job.n, job.d).draw()
    X = np.array(drawn.X, dtype=job.dtype, order=job.order)  # type: ignore[call-overload]
    return CALLS[job.call][0](X, drawn.y), X.nbytes


def measure(job: Job) -> dict[str, float | None]:
    """Peak of the call beyond its data, and the size of X, in bytes."""
    run = CALLS[job.call][1]
    # What is compiled, imported and cached the first time belongs to the process, not to the call.
    run(*_data(replace(job, n=200, d=300))[0])
    data, size = _data(job)
    return {"peak": beyond(lambda: run(*data)), "bytes": size}


def main() -> None:
    """Measure the job that the command line describes."""
    warnings.simplefilter("ignore")
    print(json.dumps(measure(Job(**json.loads(sys.argv[1])))))


def describe(job: Job) -> str:
    """The job as an argument for the command line."""
    return json.dumps(asdict(job))


if __name__ == "__main__":
    main()
