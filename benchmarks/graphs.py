"""A graph of the stocks, one number of neighbors: the package against vanilla IHT, huge and itself with two threads."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.problems import Array
from benchmarks.rows import TimeRow
from benchmarks.rpeers import HUGE
from benchmarks.timing import Candidate, Samples, interleave, ratio, seconds
from robustsparse import robust_ns
from robustsparse.datasets import stocks

SECTION = "Graph"
# Neighbors of every stock, and the iterations of the paper's experiments for vanilla IHT.
K, ITERATIONS = 8, 100
OURS, TWO, PRINTED = "robust_ns", "robust_ns, two threads", "Algorithm 2 as printed"
VANILLA = "vanilla IHT (GEMM)"
# Two threads must be 1.6 times as fast as one.
_BARS = {(OURS, VANILLA): 1.0, (TWO, OURS): 1 / 1.6}


@cache
def returns() -> Array:
    """Log returns of the stocks (n, d)."""
    return np.asarray(np.diff(np.log(stocks().prices.to_numpy()), axis=0))


def scaled(X: Array) -> Array:
    """Variables by rows (d, n), mean 0 and variance 1."""
    return np.ascontiguousarray(((X - X.mean(axis=0)) / X.std(axis=0)).T)


def steepest(XT: Array) -> float:
    """The step that is safe for all nodes: one over the largest eigenvalue of the correlations."""
    return 1.0 / float(np.linalg.eigvalsh(XT @ XT.T / XT.shape[1])[-1])


def neighborhoods(XT: Array, k: int, *, step: float, iterations: int) -> Array:
    """Vanilla IHT for all nodes at once: an iteration is one GEMM, and predictions cost n k a node.

    Returns
    -------
    array (d, d)
        Row j: the coefficients of node j on the others.
    """
    d, n = XT.shape
    coef = np.zeros((d, d))
    ends = np.arange(0, d * k + 1, k)
    used = sparse.csr_array((d, d))
    for _ in range(iterations):
        coef -= step * ((used @ XT - XT) @ XT.T / n)
        np.fill_diagonal(coef, 0.0)
        kept = np.argpartition(np.abs(coef), d - k, axis=1)[:, d - k :]
        values = np.take_along_axis(coef, kept, axis=1)
        coef[:] = 0.0
        np.put_along_axis(coef, kept, values, axis=1)
        used = sparse.csr_array((values.ravel(), kept.ravel(), ends), shape=(d, d))
    return coef


def vanilla(X: Array, k: int, iterations: int) -> Array:
    """Vanilla IHT from the data as they are, like `robust_ns`."""
    XT = scaled(X)
    return neighborhoods(XT, k, step=steepest(XT), iterations=iterations)


def candidates(X: Array, k: int, iterations: int = ITERATIONS) -> dict[str, Candidate]:
    """One thread: the default call, the paper's algorithm on all rows with the same step, and vanilla IHT."""
    step = steepest(scaled(X))
    printed: dict[str, Any] = {"screen": False, "step": step, "max_iter": iterations, "tol": 0.0}
    return {
        OURS: Candidate(lambda _: robust_ns(X, k=k, n_jobs=1)),
        VANILLA: Candidate(lambda _: vanilla(X, k, iterations)),
        PRINTED: Candidate(lambda _: robust_ns(X, k=k, n_jobs=1, **printed), most=1),
    }


def threaded(X: Array, k: int) -> dict[str, Candidate]:
    """The default call with one thread and with two; BLAS has one in both."""
    return {
        OURS: Candidate(lambda _: robust_ns(X, k=k, n_jobs=1)),
        TWO: Candidate(lambda _: robust_ns(X, k=k, n_jobs=2)),
    }


def _row(X: Array, samples: Samples, ours: str, other: str, clock: str, threads: int) -> TimeRow:
    n, d = X.shape
    return TimeRow(
        SECTION, f"stocks, {n} × {d}, k' = {K}", ours, other, threads, clock,
        ratio(samples[ours], samples[other], clock), seconds(samples[ours], clock),
        _BARS.get((ours, other)),
    )  # fmt: skip


def _huge(X: Array, samples: Samples) -> Iterator[TimeRow]:
    """Rows of R's huge, once: its time hardly varies."""
    for method in HUGE:
        if method.installed:
            both = {OURS: samples[OURS], method.name: [method.time(X)]}
            yield _row(X, both, OURS, method.name, "cpu", 1)
        else:
            missing = _row(X, {OURS: samples[OURS]}, OURS, OURS, "cpu", 1)
            yield replace(missing, other=method.name, ratio=None, note="not installed")


def rows(full: bool, threads: int) -> Iterator[TimeRow]:
    """All rows of this section."""
    X, rounds = returns(), 5 if full else 3
    timed = candidates(X, K)
    if not full:
        del timed[PRINTED]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows that were rejected
        robust_ns(X, k=K, n_jobs=1)  # load compiled code, touch memory
        samples = interleave(timed, rounds, warm=False)
        for ours in (OURS, PRINTED):
            if ours in timed:
                yield _row(X, samples, ours, VANILLA, "cpu", 1)
        yield from _huge(X, samples)
        if threads > 1:
            # A second core is not always free; more rounds tell what is usual.
            pair = interleave(threaded(X, K), 4 * rounds + 1, warm=False)
            yield _row(X, pair, TWO, OURS, "wall", 2)
