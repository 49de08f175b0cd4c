"""Clocks: who takes part in which round, and what a ratio is."""

import pytest

from benchmarks.timing import Candidate, Sample, clock_of, interleave, ratio, sample, seconds


def test_candidates_take_turns() -> None:
    calls: list[str] = []
    candidates = {
        "a": Candidate(lambda _: calls.append("a")),
        "b": Candidate(lambda _: calls.append("b"), most=1),
    }
    samples = interleave(candidates, rounds=3, warm=False)
    assert calls == ["a", "b", "a", "a"]
    assert {name: len(taken) for name, taken in samples.items()} == {"a": 3, "b": 1}


def test_setup_is_made_anew_for_every_sample() -> None:
    given: list[int] = []
    fresh = iter(range(100))
    interleave({"a": Candidate(given.append, setup=lambda: next(fresh), number=2)}, 2, warm=False)
    assert given == [0, 0, 1, 1]


def test_share_scales_to_the_whole_work(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 3.0])
    processor = iter([0.0, 2.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    monkeypatch.setattr("time.process_time", lambda: next(processor))
    taken = sample(Candidate(lambda _: None, number=2, share=0.1))
    assert (taken.wall, taken.cpu) == pytest.approx((15.0, 10.0))


def test_ratio_is_of_rounds_and_stops_at_the_shorter() -> None:
    ours = [Sample(1.0, 2.0), Sample(1.0, 3.0), Sample(1.0, 8.0)]
    theirs = [Sample(2.0, 1.0), Sample(4.0, 1.0)]
    by_cpu = ratio(ours, theirs, "cpu")
    assert (by_cpu.median, by_cpu.low, by_cpu.high, by_cpu.rounds) == (2.5, 2.25, 2.75, 2)
    assert ratio(ours, theirs, "wall").median == 0.375
    assert seconds(ours, "cpu") == 3.0


def test_threads_are_compared_by_the_wall() -> None:
    assert (clock_of(1), clock_of(2)) == ("cpu", "wall")
