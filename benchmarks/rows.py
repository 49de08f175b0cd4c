"""What a benchmark returns: rows of the tables."""

from dataclasses import dataclass

from benchmarks.timing import Ratio


@dataclass(frozen=True)
class TimeRow:
    """Time of `ours` over time of `other` on one problem.

    Attributes
    ----------
    seconds : float
        Median time of `ours`, for orientation only: it depends on the machine.
    bar : float or None
        Largest ratio that the project allows itself.
    """

    section: str
    problem: str
    ours: str
    other: str
    threads: int
    clock: str
    ratio: Ratio
    seconds: float
    bar: float | None = None


@dataclass(frozen=True)
class FitRow:
    """A whole fit: accuracy, and the time of `rht_fit` over its time.

    Attributes
    ----------
    error, f1 : tuple
        Median and quartiles of the l2 error over the seeds; mean F1 score of the support.
    note : str
        Why there are no figures, if there are none.
    """

    problem: str
    attack: str
    method: str
    ratio: Ratio | None
    error: tuple[float, float, float] | None
    f1: float | None
    bar: float | None = None
    note: str = ""


@dataclass(frozen=True)
class LatencyRow:
    """Seconds of something that happens once a process, and its ratio to a yardstick of the same run."""

    what: str
    yardstick: str
    ratio: Ratio
    seconds: float
    bar_seconds: float | None = None
