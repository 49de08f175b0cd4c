"""What fits many times, beside one fit: cross-validation of k, and intervals by the bootstrap."""

import warnings
from collections.abc import Iterator

from benchmarks.problems import SMALL, TALL, Case
from benchmarks.rows import TimeRow
from benchmarks.timing import Candidate, interleave, ratio, seconds
from robustsparse import rht_fit

SECTION = "Repeated fits"
ONE, CV, BOOTSTRAP = "one rht_fit", "rht_fit, k by cross-validation", "100 bootstrap fits"
# Largest ratios to one fit that the project allows itself.
BARS = {CV: 3.0, BOOTSTRAP: 30.0}


def candidates(case: Case) -> dict[str, Candidate]:
    """What is timed on one kind of data."""
    data = case.draw()
    fit = rht_fit(data.X, data.y, n_jobs=1, keep_data=True)
    return {
        ONE: Candidate(lambda _: rht_fit(data.X, data.y, n_jobs=1)),
        CV: Candidate(lambda _: rht_fit(data.X, data.y, n_jobs=1, select="cv")),
        BOOTSTRAP: Candidate(
            lambda _: fit.conf_int(method="bootstrap", resamples=100, n_jobs=1), most=1
        ),
    }


def rows(full: bool) -> Iterator[TimeRow]:
    """All rows of this section."""
    for size in (SMALL, TALL):
        case = Case(*size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of resampled rows k may be doubted
            samples = interleave(candidates(case), 7 if full else 3, warm=False)
        for what, bar in BARS.items():
            compared = ratio(samples[what], samples[ONE], "cpu")
            spent = seconds(samples[what], "cpu")
            yield TimeRow(SECTION, case.size, what, ONE, 1, "cpu", compared, spent, bar)
