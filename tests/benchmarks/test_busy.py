"""A machine that is not free: what a process is given, and that nobody is left running."""

import os
import subprocess
from typing import Any

import pytest

from benchmarks import busy
from benchmarks.problems import Case


def test_the_environment_leaves_threads_to_blas_or_names_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.setenv("HOME", "somewhere")
    assert "OPENBLAS_NUM_THREADS" not in busy.environment(one_thread=False)
    assert busy.environment(one_thread=True)["OPENBLAS_NUM_THREADS"] == "1"
    assert busy.environment(one_thread=False)["HOME"] == "somewhere"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"


def test_whoever_keeps_a_core_busy_ends_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def remembered(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments, **options))
        return started[-1]

    monkeypatch.setattr("benchmarks.busy.subprocess.Popen", remembered)

    def interrupted() -> None:
        with busy.occupied():
            assert started[0].poll() is None
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert started[0].poll() is not None


def test_a_fit_is_timed_in_a_process_of_its_own() -> None:
    sample = busy.fit(Case(60, 20), one_thread=True)
    assert sample.wall > 0
    assert sample.cpu > 0
