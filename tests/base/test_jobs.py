"""Independent jobs, run side by side."""

import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import robustsparse as rs
from robustsparse.base.jobs import outcomes


def blas_threads() -> set[int]:
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("processes", [False, True])
def test_outcomes_come_in_order(n_jobs: int, processes: bool) -> None:
    jobs = [partial(pow, 3, power) for power in range(7)]
    done = outcomes(jobs, n_jobs, "powers", processes=processes)
    assert done == [3**power for power in range(7)]


def test_two_jobs_run_at_once() -> None:
    both = threading.Barrier(2, timeout=30)
    assert len(outcomes([both.wait, both.wait], 2, "waiting")) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_reaches_the_caller_and_ends_the_rest(n_jobs: int) -> None:
    ran = []

    def slow(number: int) -> None:
        time.sleep(0.01)
        ran.append(number)

    def fail() -> None:
        raise ValueError("this one")

    with pytest.raises(ValueError, match="this one"):
        outcomes([fail, *(partial(slow, i) for i in range(200))], n_jobs, "failing")
    assert len(ran) < 100


def test_blas_does_not_start_threads_in_ours() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert outcomes([blas_threads] * 3, 2, "libraries") == [{1}] * 3
        assert blas_threads() == before


def test_overlapping_runs_give_blas_its_threads_back() -> None:
    second_began, first_ended = threading.Event(), threading.Event()

    def late() -> set[int]:
        second_began.set()
        first_ended.wait(timeout=30)
        return blas_threads()

    def early() -> Future[list[set[int]]]:
        second = other.submit(outcomes, [late], 2, "second")
        second_began.wait(timeout=30)
        return second

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as other:
        before = blas_threads()
        (second,) = outcomes([early], 2, "first")
        # The first to begin is the first to end: it must leave the limit to the second.
        first_ended.set()
        assert second.result() == [{1}]
        assert blas_threads() == before


def test_a_run_that_fails_gives_blas_its_threads_back() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError):
            outcomes([blas_threads, partial(divmod, 1, 0)], 2, "failing")
        assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_job_that_stops_an_iteration_is_an_error(n_jobs: int) -> None:
    def stop() -> None:
        raise StopIteration

    # Swallowed, it would look like the end of the jobs.
    with pytest.raises((RuntimeError, StopIteration)):
        outcomes([blas_threads, stop, blas_threads], n_jobs, "stopping")


def test_no_jobs() -> None:
    assert outcomes([], 2, "nothing") == []


def test_jobs_go_to_a_cluster_that_joblib_knows_of(cluster: Any) -> None:
    with joblib.parallel_config(backend="dask", client=cluster):
        there = outcomes([os.getpid] * 4, 1, "jobs")
    assert os.getpid() not in there
    assert os.getpid() in outcomes([os.getpid] * 4, 1, "jobs")


def test_subsamples_bootstrap_and_folds_are_the_same_on_a_cluster(cluster: Any) -> None:
    sim = rs.simulate.linear(n=60, d=30, k=2, rng=1)
    fit = rs.rht_fit(sim.X, sim.y)

    def all_three() -> tuple[Any, Any, Any]:
        return (
            rs.stability("y ~ .", sim.data, resamples=4).frequencies,
            fit.conf_int(method="bootstrap", resamples=4),
            rs.rht_fit(sim.X, sim.y, select="cv").cv,
        )

    here = all_three()
    with joblib.parallel_config(backend="dask", client=cluster):
        there = all_three()
    for one, other in zip(here, there, strict=True):
        assert one.equals(other)
