"""Whole fits, time beside accuracy: the default `rht_fit` and other libraries."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers import PEERS, Peer
from benchmarks.problems import (
    LARGE,
    SMALL,
    TALL,
    TRUE_K,
    Array,
    Case,
    Data,
    l2_error,
    support_f1,
)  # fmt: skip
from benchmarks.rows import FitRow
from benchmarks.timing import Candidate, Sample, Timed, ratio, sample
from robustsparse import rht_fit

OURS, ORACLE = "rht_fit", "least squares, true support, good rows"
# The same with all threads that there are, in BLAS too, which is what a user gets.
THREADED = "rht_fit, all threads"
# Largest time of `rht_fit` over a peer's that the project allows itself.
_BARS = {
    (Case(*SMALL), "scikit-learn LassoCV"): 1.0,
    (Case(*SMALL, attack="leverage"), "scikit-learn LassoCV"): 1.0,
    (Case(*LARGE), "scikit-learn LassoCV"): 1.0,
    (Case(*SMALL), "abess"): 2.0,
    (Case(*SMALL, attack="leverage"), "abess"): 2.0,
    (Case(*LARGE), "abess"): 1.0,
    (Case(*SMALL), "R robustHD, sparseLTS"): 1 / 50,
}

Fit = Callable[[], Array | Timed]


@dataclass
class Record:
    """Samples, errors and F1 scores of one method, a seed each."""

    samples: list[Sample] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)

    def add(self, data: Data, fit: Fit) -> None:
        """Time one fit and judge it."""
        kept: list[Array | Timed] = []
        taken = sample(Candidate(lambda _: kept.append(fit())))
        found = kept[0]
        self.samples.append(found.sample if isinstance(found, Timed) else taken)
        coef = found.coef if isinstance(found, Timed) else found
        self.errors.append(l2_error(coef, data.beta))
        self.f1.append(support_f1(coef, data.beta))


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


def _methods(data: Data, case: Case, peers: list[Peer], threads: int) -> dict[str, Fit]:
    methods: dict[str, Fit] = {
        OURS: partial(ours, data, 1),
        THREADED: partial(ours, data, threads),
    }
    for peer in peers:
        methods[peer.name] = partial(peer.fit, data.X, data.y, case, TRUE_K)
    return {**methods, ORACLE: partial(oracle, data)}


def measure(case: Case, peers: list[Peer], seeds: int, threads: int) -> dict[str, Record]:
    """Fit every method to the same data sets, in turn; what takes long sees only the first."""
    records: dict[str, Record] = {}
    slow = {peer.name for peer in peers if peer.long(case)}
    for seed in range(seeds):
        data = case.draw(seed)
        for name, fit in _methods(data, case, peers, threads).items():
            if seed and name in slow:
                continue
            with threadpool_limits(threads if name == THREADED else 1), warnings.catch_warnings():
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
    f1 = float(np.mean(record.f1))
    return FitRow(case.size, case.attack, name, compared, error, f1, _bar(case, name))


def _bar(case: Case, name: str) -> float | None:
    return _BARS.get((case, name))


def _block(case: Case, seeds: int, threads: int, full: bool) -> Iterator[FitRow]:
    """Rows of one kind of data, with a note for the peers that were left out."""
    suited = [peer for peer in PEERS if peer.suits(case)]
    records = measure(
        case, [peer for peer in suited if not peer.spared(case, full)], seeds, threads
    )
    yield from (_row(case, name, records) for name in records)
    for peer in suited:
        if why := peer.spared(case, full):
            bar = _bar(case, peer.name)
            yield FitRow(case.size, case.attack, peer.name, None, None, None, bar, why)


def rows(full: bool, threads: int) -> Iterator[FitRow]:
    """All rows of this section."""
    # Compile and import everything before it is timed.
    tiny = Case(100, 60)
    measure(tiny, [peer for peer in PEERS if peer.language == "Python" and peer.installed], 1, 1)
    for size in (SMALL, TALL):
        for attack in ("paper", "leverage"):
            yield from _block(Case(*size, attack=attack), 10 if full else 3, threads, full)
    yield from _block(Case(*LARGE), 3 if full else 1, threads, full)
    if full:
        yield from _block(Case(*LARGE, attack="leverage"), 3, threads, full)
