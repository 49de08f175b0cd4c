"""CPU time of one gradient against n and d: trimmed mean and median of means, textbook and as the package has them.

`python vignettes/experiments/theory_time.py` makes results/theory_time.csv (about a minute on one core). One core and
one thread; times are the least of several runs, since other processes only ever add to them.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

# One thread: what is measured is the number of operations.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from vignettes_common import run_trials, write_results

import robustsparse as rs

REPEATS = 15
ROWS, COLUMNS = (500, 2000, 8000, 32000, 128000), (64, 256, 1024, 4096, 16384)
FIXED_ROWS, FIXED_COLUMNS = 500, 64
SHARE, BLOCKS = 0.1, 31


def textbook_trim(X: np.ndarray, score: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Sort every column and average the middle: O(nd log n)."""
    n = len(score)
    cut = rs.Trimmed(SHARE).count(n)
    np.multiply(X.T, score, out=room)
    room.sort(axis=1)
    return room[:, cut : n - cut].mean(axis=1)


def textbook_mom(X: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Means of the blocks, one after the other, and their median: O(nd)."""
    parts = np.array_split(np.arange(len(score)), BLOCKS)
    means = np.array([score[rows] @ X[rows[0] : rows[-1] + 1] / len(rows) for rows in parts])
    return np.median(means, axis=0)


def ways(X: np.ndarray, score: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    """Each way to the gradient of these data."""
    # Room for the products is made once: asking the system for memory takes longer than to sort a small design.
    room = np.empty(X.T.shape)
    mean, trim, mom = rs.Mean(), rs.Trimmed(SHARE), rs.MedianOfMeans(blocks=BLOCKS, rng=0)
    return {
        "plain mean": lambda: mean(X, score),
        "trim, package": lambda: trim(X, score),
        "trim, by sorting": lambda: textbook_trim(X, score, room),
        "MOM, package": lambda: mom(X, score),
        "MOM, textbook": lambda: textbook_mom(X, score),
    }


def trial(varied: str, n: int, d: int, repeats: int = REPEATS) -> list[dict[str, object]]:
    """Least CPU time of a gradient of n rows and d columns, each way in turn."""
    rng = np.random.default_rng(n + d)
    X, score = np.asfortranarray(rng.standard_normal((n, d))), rng.standard_normal(n)
    gradients = ways(X, score)
    times: dict[str, list[float]] = {way: [] for way in gradients}
    # The first run compiles and warms up.
    for number in range(repeats + 1):
        for way, gradient in gradients.items():
            begun = time.process_time()
            gradient()
            if number:
                times[way].append(time.process_time() - begun)
    return [
        {"varied": varied, "n": n, "d": d, "way": way, "seconds": min(taken)}
        for way, taken in times.items()
    ]


def settings() -> list[tuple[str, int, int]]:
    """All sizes, in the order of the table."""
    return [
        *(("n", n, FIXED_COLUMNS) for n in ROWS),
        *(("d", FIXED_ROWS, d) for d in COLUMNS),
    ]


def small() -> list[tuple[object, ...]]:
    """A few small sizes, for the tests."""
    return [("n", 100, 20, 1), ("n", 200, 20, 1), ("d", 100, 20, 1), ("d", 100, 40, 1)]


if __name__ == "__main__":
    # Never two at a time: they would slow each other down.
    write_results(run_trials(trial, settings(), "sizes"), "theory_time")
