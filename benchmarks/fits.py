"""Whole fits, time beside accuracy: the default `rht_fit` and other libraries."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from benchmarks.peers import PEERS, Peer
from benchmarks.problems import LARGE, SMALL, TRUE_K, Array, Case, Data, l2_error, support_f1
from benchmarks.rows import FitRow
from benchmarks.timing import Candidate, Sample, blas_threads, ratio, sample
from robustsparse import rht_fit

OURS, ORACLE = "rht_fit", "least squares, true support, good rows"
# The same with all threads that there are, in BLAS too, which is what a user gets.
THREADED = "rht_fit, all threads"
# `rht_fit` must not take longer than this.
_BAR_PEER = "scikit-learn LassoCV"


@dataclass
class Record:
    """Samples, errors and F1 scores of one method, a seed each."""

    samples: list[Sample] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)

    def add(self, data: Data, fit: Callable[[], Array]) -> None:
        """Time one fit and judge it."""
        kept: list[Array] = []
        self.samples.append(sample(Candidate(lambda _: kept.append(fit()))))
        self.errors.append(l2_error(kept[0], data.beta))
        self.f1.append(support_f1(kept[0], data.beta))


def ours(data: Data, n_jobs: int) -> Array:
    """Coefficients of the default fit, without the intercept."""
    fit = rht_fit(data.X, data.y, n_jobs=n_jobs)
    return np.asarray(fit.params.drop("Intercept"), dtype=np.float64)


def oracle(data: Data) -> Array:
    """What could be had by somebody who knew the support and the bad rows."""
    used = np.flatnonzero(data.beta)
    good = ~data.outlier
    coef = np.zeros_like(data.beta)
    coef[used] = np.linalg.lstsq(data.X[np.ix_(good, used)], data.y[good], rcond=None)[0]
    return coef


def _methods(
    data: Data, case: Case, peers: list[Peer], threads: int
) -> dict[str, Callable[[], Array]]:
    methods: dict[str, Callable[[], Array]] = {
        OURS: partial(ours, data, 1),
        THREADED: partial(ours, data, threads),
    }
    for peer in peers:
        methods[peer.name] = partial(peer.fit, data.X, data.y, case, TRUE_K)
    return {**methods, ORACLE: partial(oracle, data)}


def measure(case: Case, peers: list[Peer], seeds: int, threads: int) -> dict[str, Record]:
    """Fit every method to the same data sets, in turn; slow peers see only the first large one."""
    records: dict[str, Record] = {}
    slow = {peer.name for peer in peers if peer.slow and (case.n, case.d) == LARGE}
    for seed in range(seeds):
        data = case.draw(seed)
        for name, fit in _methods(data, case, peers, threads).items():
            if seed and name in slow:
                continue
            with blas_threads(threads if name == THREADED else 1), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # peers complain of the corrupted rows
                records.setdefault(name, Record()).add(data, fit)
    return records


def _row(case: Case, name: str, records: dict[str, Record]) -> FitRow:
    record = records[name]
    compared = None
    if name not in (OURS, ORACLE):
        clock = "wall" if name == THREADED else "cpu"
        compared = ratio(records[OURS].samples, record.samples, clock)
    low, median, high = np.quantile(record.errors, [0.25, 0.5, 0.75])
    error = (float(median), float(low), float(high))
    bar = 1.0 if name == _BAR_PEER else None
    return FitRow(case.size, case.attack, name, compared, error, float(np.mean(record.f1)), bar)


def _block(case: Case, seeds: int, threads: int, slow: bool) -> Iterator[FitRow]:
    """Rows of one kind of data, with a note for the peers that were left out."""
    peers = [peer for peer in PEERS if peer.installed and (slow or not peer.slow)]
    records = measure(case, peers, seeds, threads)
    yield from (_row(case, name, records) for name in records)
    for peer in PEERS:
        if peer not in peers:
            note = "left out, slow" if peer.installed else "not installed"
            yield FitRow(case.size, case.attack, peer.name, None, None, None, note=note)


def rows(full: bool, threads: int) -> Iterator[FitRow]:
    """All rows of this section."""
    # Compile and import everything before it is timed.
    measure(Case(60, 100), [peer for peer in PEERS if peer.installed], 1, 1)
    for attack in ("paper", "leverage"):
        yield from _block(Case(*SMALL, attack=attack), 10 if full else 4, threads, True)
    # Coordinate descent hardly ends on the large leverage problem, so slow peers see the other one only.
    yield from _block(Case(*LARGE), 3 if full else 1, threads, full)
    if full:
        yield from _block(Case(*LARGE, attack="leverage"), 3, threads, False)
