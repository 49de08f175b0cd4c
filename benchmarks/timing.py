"""Clocks, interleaved repetitions and ratios with their spread."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Sample:
    """Seconds of one call: on the wall's clock, and of processor time in all threads."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Candidate:
    """Something to be timed.

    Attributes
    ----------
    run : callable
        The work; it is given what `setup` returned.
    setup : callable
        Makes fresh input, untimed, before every call.
    number : int
        Calls in one sample, for work that is over in microseconds.
    share : float
        Part of the whole work that `run` does; its time is divided by this.
    most : int or None
        Largest number of rounds that it takes part in, for slow work.
    """

    run: Callable[[Any], object]
    setup: Callable[[], Any] = lambda: None
    number: int = 1
    share: float = 1.0
    most: int | None = None


Samples = dict[str, list[Sample]]


@dataclass(frozen=True)
class Timed:
    """Coefficients from elsewhere, with the seconds that were measured there."""

    coef: NDArray[np.float64]
    sample: Sample


@dataclass(frozen=True)
class Ratio:
    """Median of the ratios of the rounds, and their quartiles."""

    median: float
    low: float
    high: float
    rounds: int


def sample(candidate: Candidate) -> Sample:
    """Time a candidate once."""
    given = candidate.setup()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(candidate.number):
        candidate.run(given)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    units = candidate.number * candidate.share
    return Sample(wall / units, cpu / units)


def interleave(
    candidates: dict[str, Candidate], rounds: int, threads: int = 1, warm: bool = True
) -> Samples:
    """Time all candidates once a round, so that what else the machine does meets them alike."""
    samples: Samples = {name: [] for name in candidates}
    with threadpool_limits(threads):
        for candidate in candidates.values() if warm else ():
            sample(candidate)  # fill caches, load compiled code
        for round_ in range(rounds):
            for name, candidate in candidates.items():
                if candidate.most is None or round_ < candidate.most:
                    samples[name].append(sample(candidate))
    return samples


def clock_of(threads: int) -> str:
    """The clock to compare by: with one thread processor time, which other jobs hardly disturb."""
    return "cpu" if threads == 1 else "wall"


def ratio(ours: Sequence[Sample], theirs: Sequence[Sample], clock: str) -> Ratio:
    """Ratio of times, round by round."""
    values = [getattr(a, clock) / getattr(b, clock) for a, b in zip(ours, theirs, strict=False)]
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Ratio(float(median), float(low), float(high), len(values))


def seconds(samples: Sequence[Sample], clock: str) -> float:
    """Median seconds."""
    return float(np.median([getattr(one, clock) for one in samples]))
