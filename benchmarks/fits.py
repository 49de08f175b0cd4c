"""Whole fits, time beside accuracy: the default `rht_fit` and other libraries."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from benchmarks.peers import PEERS, Peer
from benchmarks.problems import LARGE, SMALL, TRUE_K, Array, Case, l2_error, support_f1
from benchmarks.rows import FitRow
from benchmarks.timing import Candidate, Sample, blas_threads, ratio, sample
from robustsparse import rht_fit, simulate

OURS, ORACLE = "rht_fit", "least squares, true support, good rows"
# `rht_fit` must not take longer than this.
_BAR_PEER = "scikit-learn LassoCV"


@dataclass
class Record:
    """Samples, errors and F1 scores of one method, a seed each."""

    samples: list[Sample] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)

    def add(self, data: simulate.Simulation, fit: Callable[[], Array]) -> None:
        """Time one fit and judge it."""
        kept: list[Array] = []
        self.samples.append(sample(Candidate(lambda _: kept.append(fit()))))
        self.errors.append(l2_error(kept[0], data.beta))
        self.f1.append(support_f1(kept[0], data.beta))


def ours(X: Array, y: Array) -> Array:
    """Coefficients of the default fit, without the intercept."""
    return rht_fit(X, y).params.drop("Intercept").to_numpy()


def oracle(data: simulate.Simulation) -> Array:
    """What could be had by somebody who knew the support and the bad rows."""
    used = np.flatnonzero(data.beta)
    good = ~data.outlier
    coef = np.zeros_like(data.beta)
    coef[used] = np.linalg.lstsq(data.X[np.ix_(good, used)], data.y[good], rcond=None)[0]
    return coef


def _methods(
    data: simulate.Simulation, case: Case, peers: list[Peer]
) -> dict[str, Callable[[], Array]]:
    X, y = data.X, data.y
    methods: dict[str, Callable[[], Array]] = {OURS: lambda: ours(X, y)}
    for peer in peers:
        methods[peer.name] = lambda fit=peer.fit: fit(X, y, case, TRUE_K)  # type: ignore[misc]
    methods[ORACLE] = lambda: oracle(data)
    return methods


def measure(case: Case, peers: list[Peer], seeds: int, threads: int) -> dict[str, Record]:
    """Fit every method to the same data sets, in turn; slow peers see only the first large one."""
    records: dict[str, Record] = {}
    for seed in range(seeds):
        data = case.draw(seed)
        for name, fit in _methods(data, case, peers).items():
            slow = any(peer.name == name and peer.slow for peer in peers)
            if seed and slow and (case.n, case.d) == LARGE:
                continue
            with blas_threads(threads), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # peers complain of the corrupted rows
                records.setdefault(name, Record()).add(data, fit)
    return records


def _row(case: Case, name: str, records: dict[str, Record]) -> FitRow:
    record = records[name]
    compared = None
    if name not in (OURS, ORACLE):
        compared = ratio(records[OURS].samples, record.samples, "wall")
    low, median, high = np.quantile(record.errors, [0.25, 0.5, 0.75])
    error = (float(median), float(low), float(high))
    bar = 1.0 if name == _BAR_PEER else None
    return FitRow(case.size, case.attack, name, compared, error, float(np.mean(record.f1)), bar)


def rows(full: bool, threads: int) -> Iterator[FitRow]:
    """All rows of this section."""
    _warm_up()
    for size, seeds in ((SMALL, 10 if full else 4), (LARGE, 3 if full else 1)):
        for attack in ("paper", "leverage"):
            case = Case(*size, attack=attack)
            tried = [peer for peer in PEERS if full or size == SMALL or not peer.slow]
            present = [peer for peer in tried if peer.installed]
            records = measure(case, present, seeds, threads)
            yield from (_row(case, name, records) for name in records)
            for peer in PEERS:
                if peer not in present:
                    note = "not installed" if not peer.installed else "only in --full"
                    yield FitRow(case.size, attack, peer.name, None, None, None, note=note)


def _warm_up() -> None:
    """Compile and import everything before it is timed."""
    case = Case(60, 100)
    measure(case, [peer for peer in PEERS if peer.installed], 1, 1)
