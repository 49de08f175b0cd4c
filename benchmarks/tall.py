"""Very many rows of few columns: time beside the lasso's cross-validation, one thread."""

import warnings
from collections.abc import Iterator

from benchmarks.large import draw
from benchmarks.problems import TRUE_K
from benchmarks.rows import TimeRow
from benchmarks.timing import Candidate, interleave, ratio, seconds
from robustsparse import rht_fit

SECTION = "Tall data"
OURS, LASSO = "rht_fit", "scikit-learn LassoCV"
# Largest ratio that the project allows itself.
BAR = 10.0
SIZES = ((50_000, 20), (200_000, 20))
_ROUNDS = 3


def _row(n: int, d: int) -> TimeRow:
    from sklearn.linear_model import LassoCV

    XT, y = draw(n, d, TRUE_K)
    X = XT.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the default of an argument will be
        samples = interleave(
            {
                OURS: Candidate(lambda _: rht_fit(X, y, n_jobs=1)),
                LASSO: Candidate(lambda _: LassoCV().fit(X, y)),
            },
            _ROUNDS,
        )
    compared = ratio(samples[OURS], samples[LASSO], "cpu")
    spent = seconds(samples[OURS], "cpu")
    return TimeRow(SECTION, f"{n:,} × {d}", OURS, LASSO, 1, "cpu", compared, spent, BAR)


def rows(full: bool) -> Iterator[TimeRow]:
    """All rows of this section; the quick run has the smaller size alone."""
    for size in SIZES if full else SIZES[:1]:
        yield _row(*size)
