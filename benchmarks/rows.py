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
    note : str
        Why there is no ratio, if there is none.
    """

    section: str
    problem: str
    ours: str
    other: str
    threads: int
    clock: str
    ratio: Ratio | None
    seconds: float
    bar: float | None = None
    note: str = ""


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


@dataclass(frozen=True)
class MemoryRow:
    """Peak of a call beyond what was there before it, over the bytes of its data.

    Attributes
    ----------
    peak : float or None
        None where the system does not tell.
    megabytes : float
        Size of the data.
    """

    problem: str
    data: str
    call: str
    peak: float | None
    megabytes: float
    bar: float | None = None


@dataclass(frozen=True)
class GrowthRow:
    """Seconds against n, d or k, and the exponent of the upper sizes.

    Attributes
    ----------
    axis, fixed : str
        What grows, and what stays, in words.
    sizes, seconds : tuple
        Values of what grows, ascending, and processor time of each.
    entries : int
        Of the largest design.
    """

    axis: str
    fixed: str
    method: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    exponent: float
    entries: int
    bar: float | None = None


@dataclass(frozen=True)
class ExactRow:
    """Largest difference from a plain loop over a number of random problems."""

    problems: int
    largest: float
    bar: float


@dataclass(frozen=True)
class ScaleRow:
    """A fit of a design that is read in blocks of columns, or in memory for comparison.

    Attributes
    ----------
    passes : int
        How often all columns were read; 0 in memory.
    seconds, cpu : float
        By the wall's clock, and of the processor: of the process that fits, with the workers of a cluster.
    peak : float or None
        Bytes of memory of the process that fits at its peak.
    found, true : int
        How many of the true predictors were selected, and how many there are.
    difference : float or None
        Largest difference from the coefficients in memory.
    ratio, clock : Ratio or None, str
        Time over that in memory, by which clock.
    longest : float or None
        Processor time of the driver and of the busier worker, over that in memory: what the wall's clock would show if
        neither ever waited for a core, nor worked while the other does.
    load : float or None
        Load of the machine when it ended.
    ratio_bar, peak_bar, passes_bar : float or None
        What the project allows itself.
    """

    where: str
    rows: int
    columns: int
    passes: int
    seconds: float
    cpu: float
    peak: float | None
    found: int
    true: int
    difference: float | None = None
    ratio: Ratio | None = None
    clock: str = "cpu"
    longest: float | None = None
    load: float | None = None
    ratio_bar: float | None = None
    peak_bar: float | None = None
    passes_bar: float | None = None
