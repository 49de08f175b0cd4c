"""One full trimmed gradient, nothing screened, against a GEMV and against numpy and scipy."""

from collections.abc import Iterator
from functools import partial

from benchmarks.loops import Gradient, partition_gradient, plain_gradient, trim_mean_gradient
from benchmarks.problems import ALPHA, LARGE, SMALL, Array, Case
from benchmarks.rows import TimeRow
from benchmarks.timing import Candidate, interleave, ratio, seconds
from robustsparse import Trimmed

SECTION = "One trimmed gradient"
OURS, GEMV = "Trimmed(0.2)", "GEMV"
_OTHERS = {"scipy trim_mean": trim_mean_gradient, "two np.partition": partition_gradient}


def candidates(case: Case) -> dict[str, Candidate]:
    """The package's gradient, the plain mean and two ways to write the trimmed one."""
    data = case.draw()
    X, score = data.X, -data.y
    estimator = Trimmed(ALPHA)
    trimmed = estimator.count(len(score))
    small = (case.n, case.d) == SMALL
    timed = {
        OURS: Candidate(lambda _: estimator(X, score), number=10 if small else 1),
        GEMV: Candidate(lambda _: plain_gradient(X.T, score), number=300 if small else 10),
    }
    for name, make in _OTHERS.items():
        run = partial(_call, make(trimmed), X.T, score)
        timed[name] = Candidate(run, most=None if small else 3)
    return timed


def _call(gradient: Gradient, XT: Array, score: Array, _: object) -> Array:
    return gradient(XT, score)


def rows(full: bool) -> Iterator[TimeRow]:
    """All rows of this section."""
    for size in (SMALL, LARGE):
        case = Case(*size)
        samples = interleave(candidates(case), 15 if full else 5)
        for other in (GEMV, *_OTHERS):
            compared = ratio(samples[OURS], samples[other], "cpu")
            time = seconds(samples[OURS], "cpu")
            yield TimeRow(SECTION, case.size, OURS, other, 1, "cpu", compared, time)
