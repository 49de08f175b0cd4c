"""Kernels that numpy stands in for until they are worth compiling."""

import numpy as np
import pytest

from robustsparse.kernels import column_medians, columns, deferred, order_statistics

SHAPES = [(1, 1), (3, 2), (5, 7), (4, 200), (3, 201)]


def values(shape: tuple[int, int]) -> np.ndarray:
    """Rows of which one has few different values, and zeros of both signs."""
    XT = np.random.default_rng(0).normal(size=shape)
    XT[0] = np.round(XT[0])
    XT[-1, ::3] = -0.0
    return XT


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("center", [True, False])
def test_medians_are_those_of_the_kernel(shape: tuple[int, int], dtype: type, center: bool) -> None:
    XT = values(shape).astype(dtype)
    found, expected = np.empty((2, 2, len(XT)))
    deferred.plain_deviations(XT, center, *found)
    column_medians.row_deviations(XT, center, *expected)
    assert np.array_equal(found, expected)
    deferred.plain_deviations(XT, center, found[1], np.empty(0))
    assert np.array_equal(found[1], expected[0])


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_are_those_of_the_kernel(shape: tuple[int, int]) -> None:
    XT = 3.0 * values(shape)
    found, expected = np.ones((2, 3, shape[1]), dtype=np.int32)
    limits = np.array([3.0, 1.0, 2.0])
    deferred.plain_counts(XT, limits, found)
    columns.count_beyond(XT, limits, expected)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_hashes_are_those_of_the_kernel(shape: tuple[int, int]) -> None:
    bits = values(shape).view(np.uint64)
    factors = np.random.default_rng(1).integers(2**63, size=shape[1], dtype=np.uint64)
    found, expected = np.empty((2, shape[0]), dtype=np.uint64)
    deferred.plain_hashes(bits, factors, found)
    columns.hash_rows(bits, factors, expected)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("k", [0, 1, 3, 40])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_largest_places_are_those_of_the_kernel(k: int, n: int) -> None:
    rng = np.random.default_rng(n)
    # Ties, zeros and what is no number, of columns in no order.
    values = np.round(rng.normal(size=n), 1)
    values[5:6] = np.nan
    columns = rng.permutation(n)
    found, expected = np.full((2, k), -1)
    counts = [
        place(columns, values, k, out)
        for place, out in (
            (deferred.plain_largest, found),
            (order_statistics.largest_places, expected),
        )
    ]
    assert counts[0] == counts[1]
    assert np.array_equal(found[: counts[0]], expected[: counts[0]])


def test_calls_count_even_if_they_have_few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "_AT_FIRST", 3 * deferred._A_CALL)
    monkeypatch.setattr(deferred, "is_compiled", lambda kernel: False)
    kernel = deferred.Deferred(lambda _: "kernel", lambda _: "plain")
    assert [kernel(np.zeros(1)) for _ in range(4)] == ["plain", "plain", "plain", "kernel"]


def test_a_kernel_takes_over_when_there_was_enough_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "_AT_FIRST", 100)
    monkeypatch.setattr(deferred, "_AT_ONCE", 60)
    monkeypatch.setattr(deferred, "_A_CALL", 0)
    monkeypatch.setattr(deferred, "is_compiled", lambda kernel: False)
    for sizes, expected in (
        ((50, 50, 1, 1), "plain plain kernel kernel"),
        ((61, 1), "kernel kernel"),
    ):
        used: list[str] = []
        kernel = deferred.Deferred(
            lambda _, used=used: used.append("kernel"), lambda _, used=used: used.append("plain")
        )
        for size in sizes:
            kernel(np.zeros(size))
        assert " ".join(used) == expected


def test_a_kernel_that_is_there_is_used_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "is_compiled", lambda kernel: True)
    used: list[str] = []
    deferred.Deferred(lambda _: used.append("kernel"), lambda _: used.append("plain"))(np.zeros(1))
    assert used == ["kernel"]
