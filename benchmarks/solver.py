"""Algorithm 1 with a fixed step against vanilla hard thresholding and against a loop around scipy."""

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.loops import hard_thresholding, plain_gradient, trim_mean_gradient
from benchmarks.problems import ALPHA, LARGE, SMALL, TRUE_K, Array, Case
from benchmarks.rows import TimeRow
from benchmarks.timing import Candidate, Samples, clock_of, interleave, ratio, seconds
from robustsparse import Squared, Trimmed
from robustsparse.algorithm.problem import Problem, Settings
from robustsparse.algorithm.solver import RHTFit, solve

SECTION = "Algorithm 1"
STEP, ITERATIONS = 0.4, 100
# Iterations of the slow loop that are timed; each costs the same.
_LOOP_ITERATIONS = {SMALL: 5, LARGE: 1}

FIXED, SOLVE = "RHT", "RHT, bound already"
AUTO = "RHT, step='auto' to convergence"
VANILLA, LOOP = "vanilla IHT (BLAS)", "scipy trim_mean loop"
# Pairs that are compared.
_PAIRS = (
    (FIXED, VANILLA),
    (SOLVE, VANILLA),
    (AUTO, VANILLA),
    (FIXED, LOOP),
    (FIXED, AUTO),
)

# Largest ratios to vanilla IHT that the project allows itself: by size, k' / k and whether there is noise.
_BARS = {
    (LARGE, 1, True): 0.25,
    (LARGE, 2, True): 0.6,
    (LARGE, 1, False): 1.5,
    (LARGE, 2, False): 1.5,
    (SMALL, 1, True): 2.0,
    (SMALL, 2, True): 2.0,
    (SMALL, 1, False): 2.0,
    (SMALL, 2, False): 6.0,
}
_LOOP_BAR = 1 / 200


def _run(problem: Problem, k: int, settings: Settings) -> RHTFit:
    return solve(problem, k, settings=settings, warn=False)


def vanilla(XT: Array, y: Array, k: int, iterations: int) -> Callable[[], Array]:
    """Vanilla IHT with the step of the robust one."""
    return partial(
        hard_thresholding, XT, y, k, plain_gradient, step=STEP, iterations=iterations
    )  # fmt: skip


def candidates(XT: Array, y: Array, k: int, threads: int) -> dict[str, Candidate]:
    """Everything that is timed on one data set."""
    estimator = Trimmed(ALPHA)
    fixed = Settings(step=STEP, max_iter=ITERATIONS, tol=0.0)
    few = _LOOP_ITERATIONS[LARGE if XT.shape[0] > SMALL[1] else SMALL]

    def bound() -> Problem:
        return Problem(estimator.bind(XT, threads), y, Squared())

    def loop() -> Array:
        gradient = trim_mean_gradient(estimator.count(len(y)))
        return hard_thresholding(XT, y, k, gradient, step=STEP, iterations=few)

    plain = vanilla(XT, y, k, ITERATIONS)
    return {
        FIXED: Candidate(lambda _: _run(bound(), k, fixed)),
        SOLVE: Candidate(lambda problem: _run(problem, k, fixed), setup=bound),
        AUTO: Candidate(lambda _: _run(bound(), k, Settings())),
        VANILLA: Candidate(lambda _: plain()),
        LOOP: Candidate(lambda _: loop(), share=few / ITERATIONS, most=2),
    }


def _bar(pair: tuple[str, str], case: Case, multiple: int) -> float | None:
    size = (case.n, case.d)
    if pair == (FIXED, VANILLA):
        return _BARS[size, multiple, case.sigma > 0]
    return _LOOP_BAR if pair == (FIXED, LOOP) and size == LARGE else None


def _rows(case: Case, multiple: int, threads: int, samples: Samples) -> Iterator[TimeRow]:
    clock = clock_of(threads)
    problem = f"{case.size}, k' = {'k' if multiple == 1 else f'{multiple}k'}, σ = {case.sigma:g}"
    for ours, other in _PAIRS:
        yield TimeRow(
            SECTION, problem, ours, other, threads, clock,
            ratio(samples[ours], samples[other], clock), seconds(samples[ours], clock),
            _bar((ours, other), case, multiple),
        )  # fmt: skip


def rows(full: bool, threads: int) -> Iterator[TimeRow]:
    """All rows of this section."""
    for size, rounds in ((SMALL, 15 if full else 5), (LARGE, 5 if full else 2)):
        for sigma in (0.5, 0.0):
            case = Case(*size, sigma)
            data = case.draw()
            for multiple in (1, 2):
                for used in range(1, threads + 1) if full else (1,):
                    timed = candidates(data.X.T, data.y, multiple * TRUE_K, used)
                    samples = interleave(timed, rounds, used, warm=size == SMALL)
                    yield from _rows(case, multiple, used, samples)
