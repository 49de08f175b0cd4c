"""How time grows with the rows, the columns and the number of predictors."""

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks import large, solver
from benchmarks.problems import Array
from benchmarks.rows import GrowthRow
from benchmarks.timing import Candidate, interleave, seconds
from robustsparse import rht_fit

FIXED, WHOLE, VANILLA = "Algorithm 1", "rht_fit", "vanilla IHT (BLAS)"
METHODS = (FIXED, WHOLE, VANILLA)
# Iterations of vanilla IHT that are timed; each costs the same.
_FEW = 5
# Largest exponents that the project allows itself, of the package's own methods.
_BARS = {"n": 1.05, "d": 1.05}
# The exponent is that of the sizes from this share of the largest on, three at least: below them X fits into a cache
# and what happens once a fit shows.
_UPPER, _FEWEST = 0.1, 3
# Rounds, and the most entries of a design on which the whole fit takes part in all of them.
_ROUNDS, _REPEATED = 3, 2_500_000
# Names of settings of malloc.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
# Memory that the fits take, at most, in units of X.
_COPIES = 1.6


@dataclass(frozen=True)
class Size:
    """Rows, columns and predictors of a problem."""

    n: int
    d: int
    k: int

    @property
    def entries(self) -> int:
        """Of the design."""
        return self.n * self.d


@dataclass(frozen=True)
class Axis:
    """One of n, d, k runs through some values while the others stay.

    Attributes
    ----------
    name : {"n", "d", "k"}
        Which one.
    base : Size
        The others.
    values : tuple of int
        Ascending.
    whole : int
        Most entries of a design that the whole fit is given; Algorithm 1 sees all.
    """

    name: str
    base: Size
    values: tuple[int, ...]
    whole: int

    def sizes(self) -> list[Size]:
        """All problems."""
        return [replace(self.base, **{self.name: value}) for value in self.values]

    @property
    def fixed(self) -> str:
        """What stays, in words."""
        stays = {name: value for name, value in vars(self.base).items() if name != self.name}
        return ", ".join(f"{name} = {value:,}" for name, value in stays.items())


QUICK = (
    Axis("n", Size(0, 5_000, 5), (250, 500, 1_000, 2_000, 4_000), 10_000_000),
    Axis("d", Size(500, 0, 5), (2_500, 5_000, 10_000, 20_000, 40_000), 10_000_000),
    Axis("k", Size(1_000, 5_000, 0), (2, 5, 10, 20), 10_000_000),
)
FULL = (
    Axis(
        "n", Size(0, 20_000, 5), (250, 500, 1_000, 2_500, 5_000, 10_000, 25_000), 100_000_000
    ),
    Axis(
        "d", Size(1_000, 0, 5), (5_000, 10_000, 25_000, 50_000, 100_000, 200_000, 500_000), 100_000_000
    ),
    Axis("k", Size(2_000, 20_000, 0), (2, 5, 10, 20, 40), 100_000_000),
)  # fmt: skip
# Few columns, where the quick run and the full one end.
TALL_QUICK = Axis("n", Size(0, 20, 5), (50_000, 100_000, 200_000), 4_000_000)
TALL_FULL = Axis("n", Size(0, 20, 5), (100_000, 200_000, 500_000, 1_000_000, 2_000_000), 40_000_000)


def candidates(XT: Array, y: Array, k: int, whole: bool) -> dict[str, Candidate]:
    """What is timed on one design, one thread."""
    timed = solver.candidates(XT, y, k, 1)
    vanilla = solver.vanilla(XT, y, k, _FEW)
    out = {
        FIXED: timed[solver.FIXED],
        VANILLA: Candidate(lambda _: vanilla(), share=_FEW / solver.ITERATIONS),
    }
    if whole:
        most = None if XT.size <= _REPEATED else 1
        out[WHOLE] = Candidate(lambda _: rht_fit(XT.T, y, n_jobs=1), most=most)
    return out


def exponent(sizes: Array, times: Array) -> float:
    """Slope of log time on log size over the upper sizes, by least squares.

    Examples
    --------
    >>> sizes = np.array([1.0, 10.0, 20.0, 40.0])
    >>> round(exponent(sizes, 3 * sizes**1.5), 6)
    1.5
    """
    upper = max(int((sizes >= _UPPER * sizes[-1]).sum()), min(_FEWEST, len(sizes)))
    return float(np.polyfit(np.log(sizes[-upper:]), np.log(times[-upper:]), 1)[0])


def keep_memory() -> None:
    """Have freed memory stay with the process, where the C library is glibc.

    A virtual machine that hands memory out anew takes longer than the fit in it, and the more so the larger the piece.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(library, "mallopt"):
        library.mallopt(_MMAP_MAX, 0)
        library.mallopt(_TRIM_THRESHOLD, -1)


def _times(size: Size, whole: bool) -> dict[str, float]:
    """Median seconds of each method on one problem."""
    XT, y = large.draw(size.n, size.d, size.k)
    # Touch the memory that the fits will take.
    np.empty(int(_COPIES * XT.size)).fill(0.0)
    samples = interleave(candidates(XT, y, size.k, whole), _ROUNDS, warm=False)
    return {name: seconds(taken, "cpu") for name, taken in samples.items()}


def measure(axis: Axis) -> list[GrowthRow]:
    """One row a method."""
    times = [(size, _times(size, size.entries <= axis.whole)) for size in axis.sizes()]
    rows = []
    for method in METHODS:
        points = [(size, taken[method]) for size, taken in times if method in taken]
        values = np.array([getattr(size, axis.name) for size, _ in points], dtype=np.float64)
        taken = np.array([time for _, time in points])
        bar = None if method == VANILLA else _BARS.get(axis.name)
        rows.append(
            GrowthRow(
                axis.name, axis.fixed, method, tuple(map(int, values)), tuple(taken.tolist()),
                exponent(values, taken), max(size.entries for size, _ in points), bar,
            )
        )  # fmt: skip
    return rows


def rows(full: bool) -> Iterator[GrowthRow]:
    """All rows of this section."""
    _times(Size(100, 60, 2), True)  # load compiled code
    for axis in (*FULL, TALL_FULL) if full else (*QUICK, TALL_QUICK):
        yield from measure(axis)
