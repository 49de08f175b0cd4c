"""Peak memory: what a call touches and lets go is seen, what was there before is not."""

import sys

import numpy as np
import pytest

from benchmarks import memory, peak
from benchmarks.peak import CALLS, Job

# Megabytes that the interpreter may take on the side.
SLACK = 8

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell the peak")


@linux
# Beyond 32 MB, from where on memory is never taken from what was freed before.
@pytest.mark.parametrize("megabytes", [40, 60])
def test_peak_of_something_that_is_gone_after_the_call(megabytes: int) -> None:
    before = np.ones(10 * 2**17)  # ten megabytes that do not count
    seen = peak.beyond(lambda: np.ones(megabytes * 2**17).sum())
    assert seen is not None
    assert megabytes - 1 <= seen / 2**20 <= megabytes + SLACK
    assert before.sum() == len(before)


def test_a_system_that_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.write_text", refuse)
    assert peak.beyond(lambda: None) is None


@pytest.mark.parametrize("call", CALLS)
def test_every_call_can_be_measured(call: str) -> None:
    found = peak.measure(Job(call, 90, 40, "C"))
    assert found["bytes"] == 100 * 40 * 8


@pytest.mark.parametrize(("order", "flag"), [("C", "c_contiguous"), ("F", "f_contiguous")])
def test_data_lie_as_the_job_says(order: str, flag: str) -> None:
    (X, _), size = peak._data(Job("rht_fit", 90, 40, order, "float32"))
    assert isinstance(X, np.ndarray)
    assert (X.dtype, getattr(X.flags, flag), size) == (np.float32, True, 100 * 40 * 4)


def test_a_row_comes_from_another_process() -> None:
    row = memory.row(Job("Algorithm 1", 180, 500))
    assert (row.problem, row.data, row.bar) == ("180 × 500", "float64, by columns", memory.BAR)
    assert row.megabytes == pytest.approx(0.8)
    assert (row.peak is not None) == (sys.platform == "linux")


def test_bars_are_those_of_float64_arrays() -> None:
    assert {job.dtype for job in memory.QUICK} == {"float64"}
    assert {job.order for job in memory.QUICK if job.call == "rht_fit"} == {"C", "F"}
