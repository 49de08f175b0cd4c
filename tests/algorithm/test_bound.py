"""Screening: what it skips could not have been among the k largest, and what it keeps is exact.

Every case runs a bound estimator through a sequence of scores and compares each answer with all
coordinates evaluated.
"""

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pytest

from robustsparse import kernels
from robustsparse.algorithm import bound as screening
from robustsparse.algorithm.bound import Array, BoundGradient, FullGradient
from robustsparse.algorithm.bound_blocks import ScreenedBlocks
from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.algorithm.gradients import MedianOfMeans
from robustsparse.base.threads import over_columns

Dense = Callable[[Array], Array]


# -- problems


def gaussian(d: int, n: int, rng: np.random.Generator) -> Array:
    return rng.normal(size=(d, n))


def cauchy(d: int, n: int, rng: np.random.Generator) -> Array:
    return rng.standard_cauchy((d, n))


def ties(d: int, n: int, rng: np.random.Generator) -> Array:
    return rng.integers(-2, 3, (d, n)).astype(float)


def zero_columns(d: int, n: int, rng: np.random.Generator) -> Array:
    return rng.normal(size=(d, n)) * (rng.random((d, 1)) < 0.6)


def sparse_columns(d: int, n: int, rng: np.random.Generator) -> Array:
    return rng.normal(size=(d, n)) * (rng.random((d, n)) < rng.uniform(0.02, 0.5, (d, 1)))


def duplicates(d: int, n: int, rng: np.random.Generator) -> Array:
    return rng.normal(size=(d, n))[rng.integers(0, max(1, d // 4), d)]


def leverage(d: int, n: int, rng: np.random.Generator) -> Array:
    XT = rng.normal(size=(d, n))
    XT[:, : max(1, n // 10)] *= 1e6
    return XT


def mixed_units(d: int, n: int, rng: np.random.Generator) -> Array:
    return rng.normal(size=(d, n)) * 10.0 ** rng.uniform(-30, 8, (d, 1))


def tiny(d: int, n: int, rng: np.random.Generator) -> Array:
    """Squares underflow, or float32 does."""
    return rng.normal(size=(d, n)) * rng.choice([1e-170, 1e-100, 1e-44])


def huge(d: int, n: int, rng: np.random.Generator) -> Array:
    """Squares overflow, and so does float32."""
    return rng.normal(size=(d, n)) * 1e154


DESIGNS = [
    gaussian,
    cauchy,
    ties,
    zero_columns,
    sparse_columns,
    duplicates,
    leverage,
    mixed_units,
    tiny,
    huge,
]


def slow(n: int, rng: np.random.Generator) -> Iterator[Array]:
    r = rng.normal(size=n)
    while True:
        r = 0.95 * r + 0.01 * rng.normal(size=n)
        yield r


def abrupt(n: int, rng: np.random.Generator) -> Iterator[Array]:
    while True:
        yield rng.normal(size=n) * 10.0 ** rng.uniform(-5, 5)


def with_zeros(n: int, rng: np.random.Generator) -> Iterator[Array]:
    while True:
        yield np.zeros(n)
        yield rng.normal(size=n)
        yield rng.normal(size=n) * (rng.random(n) < 0.5)


def sign_flips(n: int, rng: np.random.Generator) -> Iterator[Array]:
    r = rng.normal(size=n)
    while True:
        r = r * np.where(rng.random(n) < 0.1, -1.0, 1.0)
        yield r


def outliers(n: int, rng: np.random.Generator) -> Iterator[Array]:
    r = rng.normal(size=n)
    while True:
        r = r + 0.01 * rng.normal(size=n)
        wild = r.copy()
        wild[rng.integers(0, n, max(1, n // 20))] *= 10.0 ** rng.uniform(0, 22)
        yield wild


def of_size(size: float) -> Callable[[int, np.random.Generator], Iterator[Array]]:
    def scores(n: int, rng: np.random.Generator) -> Iterator[Array]:
        r = rng.normal(size=n)
        while True:
            r = r + 0.2 * rng.normal(size=n)
            yield size * r

    scores.__name__ = f"of_size_{size:g}"
    return scores


def all_sizes(n: int, rng: np.random.Generator) -> Iterator[Array]:
    while True:
        yield rng.normal(size=n) * 10.0 ** rng.uniform(-250, 150)


def settling(n: int, rng: np.random.Generator) -> Iterator[Array]:
    """Good rows shrink, as residuals do on the way to an exact fit; bad ones stay, grow or jump."""
    r = rng.normal(size=n)
    bad = rng.integers(0, n, max(1, n // 10))
    r[bad] *= 20.0
    while True:
        stays = r[bad] * rng.uniform(0.95, 1.2, len(bad))
        r = rng.uniform(0.5, 1.0) * (r + 0.03 * rng.normal(size=n))
        r[bad] = stays * rng.choice([1.0, 1.0, 1.0, 10.0, -1.0, 0.01], len(bad))
        yield r


def multiples(n: int, rng: np.random.Generator) -> Iterator[Array]:
    """The same scores over and over, but for their size, their sign and rounding."""
    r = rng.normal(size=n)
    while True:
        yield r * rng.uniform(-2.0, 2.0)


SCORES = [
    slow,
    abrupt,
    with_zeros,
    sign_flips,
    outliers,
    of_size(1e150),
    of_size(1e-200),
    of_size(1e-318),
    all_sizes,
    settling,
    multiples,
]


def trim_pair(XT: Array, rng: np.random.Generator, threads: int = 1) -> tuple[ScreenedTrim, Dense]:
    n = XT.shape[1]
    trimmed = int(rng.integers(0, (n - 1) // 2 + 1))

    def dense(score: Array) -> Array:
        out = np.empty(len(XT))
        kernels.trim_rows(XT, score, trimmed, np.zeros((len(XT), 2)), out)
        return out

    return ScreenedTrim(XT, trimmed, threads), dense


def blocks_pair(
    XT: Array, rng: np.random.Generator, threads: int = 1
) -> tuple[ScreenedBlocks, Dense]:
    blocks = int(rng.integers(1, XT.shape[1] // 2 + 1))
    seed = int(rng.integers(1000))
    bound = ScreenedBlocks(XT, blocks, np.random.default_rng(seed), False, threads)
    estimator = MedianOfMeans(blocks, redraw=False, rng=seed)
    return bound, lambda score: estimator(XT.T, score)


PAIRS = {"trim": trim_pair, "blocks": blocks_pair}


# -- the claim


def active_and_bar(
    size: Array, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, float, float]:
    """Active columns as a solver might have them, and a bar that k columns reach."""
    order = np.argsort(-size) if rng.random() < 0.6 else rng.permutation(len(size))
    active = np.zeros(len(size), dtype=bool)
    active[order[: rng.integers(0, k + 1)]] = True
    kth = float(np.sort(size)[-k])
    return active, [0.0, kth * (1 - 1e-12), kth * rng.random()][rng.integers(3)], kth


def assert_exact(bound: BoundGradient, gradient: Array, k: int, rng: np.random.Generator) -> int:
    """Check one answer against all values; return how many columns were kept."""
    size = np.abs(gradient)
    active, bar, kth = active_and_bar(size, k, rng)
    found, values = bound.survivors(active, k, bar)
    assert np.array_equal(values, gradient[found])
    assert not active[found].any()
    assert len(np.unique(found)) == len(found)
    needed = np.flatnonzero(~active & (size >= kth) & (size > 0))
    assert np.isin(needed, found).all()
    some = rng.integers(0, len(size), 3)
    assert np.array_equal(bound.at(some), gradient[some])
    return len(found)


def run_through(
    bound: BoundGradient, dense: Dense, scores: Iterator[Array], k: int, length: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    # The solver lets extreme scores over- and underflow as well.
    with np.errstate(over="ignore", invalid="ignore"):
        for _, score in zip(range(length), scores, strict=False):
            bound.begin(score)
            gradient = dense(score)
            for _ in range(2):
                assert_exact(bound, gradient, k, rng)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("scores", SCORES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda f: f.__name__)
def test_survivors_hold_the_largest_and_are_exact(
    pair: str,
    design: Callable[[int, int, np.random.Generator], Array],
    scores: Callable[[int, np.random.Generator], Iterator[Array]],
) -> None:
    for seed in range(4):
        rng = np.random.default_rng([seed, DESIGNS.index(design), SCORES.index(scores)])
        n, d = int(rng.integers(5, (30, 401)[seed % 2])), int(rng.integers(1, 301))
        k = int(rng.integers(1, (d, min(d, 10))[seed // 2] + 1))
        bound, dense = PAIRS[pair](np.ascontiguousarray(design(d, n, rng)), rng)
        run_through(bound, dense, scores(n, rng), k, 6, seed)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("design", [gaussian, leverage, ties], ids=lambda f: f.__name__)
def test_more_references_than_slots(
    pair: str, design: Callable[[int, int, np.random.Generator], Array]
) -> None:
    rng = np.random.default_rng(3)
    XT = design(200, 60, rng)
    bound, dense = PAIRS[pair](XT, rng)
    run_through(bound, dense, slow(60, rng), 4, 3 * screening.SLOTS, 3)


@pytest.mark.parametrize("pair", [trim_pair, blocks_pair])
def test_a_search_for_none_leaves_memory_alone(
    pair: Callable[..., tuple[BoundGradient, Dense]],
) -> None:
    rng = np.random.default_rng(0)
    bound, _ = pair(gaussian(5000, 40, rng), rng)
    bound.begin(rng.normal(size=40))
    found, values = bound.survivors(np.zeros(5000, dtype=bool), 0, 0.0)
    assert len(found) == len(values) <= 5000


def test_values_that_are_none_hide_no_others() -> None:
    """Products beyond the largest number give NaN as a mean of blocks."""
    rng = np.random.default_rng(0)
    XT = rng.normal(size=(60, 40))
    XT[::2] *= 1e10
    estimator = MedianOfMeans(5, redraw=False, rng=0)
    bound = estimator.bind(XT)
    score = 1e302 * rng.normal(size=40)
    with np.errstate(all="ignore"):
        gradient = estimator(XT.T, score)
        bound.begin(score)
        found, _ = bound.survivors(np.zeros(60, dtype=bool), 30, 0.0)
    assert np.isnan(gradient).any()
    size = np.where(np.isnan(gradient), 0.0, np.abs(gradient))
    assert np.isin(np.argsort(-size)[:30], found).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    XT = rng.normal(size=(40, n))
    bound = ScreenedTrim(XT, (n - 1) // 2)

    def dense(score: Array) -> Array:
        return np.median(XT * score, axis=1) if n != 2 else (XT * score).mean(axis=1)

    for score in rng.normal(size=(5, n)):
        bound.begin(score)
        found, values = bound.survivors(np.zeros(40, dtype=bool), 3, 0.0)
        np.testing.assert_allclose(values, dense(score)[found], rtol=1e-15)
        assert np.isin(np.argsort(-np.abs(dense(score)))[:3], found).all()


def test_heavy_rows_that_change_by_little_are_not_forgotten() -> None:
    """Only rows of extreme leverage change, each by less than half, and they are not trimmed."""
    rng = np.random.default_rng(0)
    n, d, heavy = 60, 300, slice(0, 20)
    XT = rng.normal(size=(d, n))
    XT[:, heavy] *= 1e6
    bound = ScreenedTrim(XT, 3)
    assert (bound._measured.light[heavy] == 0.0).all()
    score = rng.normal(size=n)
    score[heavy] = 1e-6 * rng.choice([-2.0, 2.0], 20)
    for _ in range(10):
        score[heavy] *= rng.uniform(0.75, 1.3, 20)
        bound.begin(score)
        gradient = np.empty(d)
        kernels.trim_rows(XT, score, 3, np.zeros((len(XT), 2)), gradient)
        assert_exact(bound, gradient, 20, rng)


@pytest.mark.parametrize("d", [6, screening.SLOTS + 6])
def test_a_reference_that_is_given_up_is_forgotten(d: int) -> None:
    """One column is looked at for each of more scores than there are slots."""
    rng = np.random.default_rng(0)
    n = 30
    assert len(screening.no_references(n, d)["counts"]) < d
    XT = rng.normal(size=(d, n))
    bounds = [ScreenedTrim(XT, 5), MedianOfMeans(7, redraw=False).bind(XT)]
    score = rng.normal(size=n)
    for step in range(3 * d):
        score = score + 0.1 * rng.normal(size=n)
        for bound in bounds:
            bound.begin(score)
            found, values = bound.survivors(np.arange(d) != step % d, 1, 0.0)
            assert found.tolist() == [step % d]
            assert np.array_equal(values, bound.at(found))
            # Now and then everything is asked for at once.
            if step % d == d - 1:
                found, values = bound.survivors(np.zeros(d, dtype=bool), d, 0.0)
                assert np.array_equal(values, bound.at(np.arange(d)))


def test_intervals_that_shrink_to_nothing_are_not_taken_for_values() -> None:
    """With scores among the smallest of all floats the width of an interval underflows."""
    rng = np.random.default_rng(0)
    XT = 3e-4 * rng.normal(size=(2000, 40))
    bound = ScreenedTrim(XT, 8)
    for _ in range(3):
        bound.begin(1e-319 * rng.normal(size=40))
        found, values = bound.survivors(np.zeros(2000, dtype=bool), 2000, 0.0)
        assert len(found) == 2000
        assert np.array_equal(values, bound.at(found))


def test_block_means_remember_the_rounding_of_their_own_scores() -> None:
    """Reference scores with gross values round block means badly, whatever the scores are later.

    Two rows of each block have gross scores of opposite sign and nearly equal values, so that only
    float64 sees what is left of them. At first the gross scores stand far above the typical size;
    then so many others are zero that the typical size itself is gross, with hardly a change.
    """
    rng = np.random.default_rng(0)
    blocks, d = 9, 300
    n = 5 * blocks
    estimator = MedianOfMeans(blocks, redraw=False, rng=0)
    order = np.random.default_rng(0).permutation(n)
    one, two, others = order[:blocks], order[blocks : 2 * blocks], order[2 * blocks :]
    XT = rng.normal(size=(d, n))
    XT[:, two] = XT[:, one] + 1e-9 * rng.normal(loc=rng.normal(size=(d, 1)), size=(d, blocks))
    first = np.zeros(n)
    first[one], first[two] = 1e9, -1e9
    first[others] = 1e-3 * rng.normal(size=3 * blocks)
    second = first.copy()
    second[others] = 0.0
    known = screening.no_references(n, d)
    sizes = [
        kernels.claim_reference(score, known["slots"], known["counts"])[0]
        for score in (first, second)
    ]
    assert sizes[1] > 1e6 * sizes[0]
    bound = estimator.bind(XT)
    for score in (first, second, first, second):
        bound.begin(score)
        for _ in range(3):
            assert_exact(bound, estimator(XT.T, score), 5, rng)


def test_values_beyond_float32_are_not_judged_in_it() -> None:
    """Infinity times a score of zero would count as a value of its own."""
    rng = np.random.default_rng(0)
    n, d = 60, 200
    XT = rng.normal(size=(d, n))
    XT[:, :8] = 1e40 * rng.choice([-1.0, 1.0], (d, 8))
    estimator = MedianOfMeans(7, redraw=False)
    for _ in range(5):
        score = rng.normal(size=n)
        score[:8] = 0.0
        gradient = np.empty(d)
        kernels.trim_rows(XT, score, 5, np.zeros((len(XT), 2)), gradient)
        for bound, expected in [
            (ScreenedTrim(XT, 5), gradient),
            (estimator.bind(XT), estimator(XT.T, score)),
        ]:
            bound.begin(score)
            assert_exact(bound, expected, 10, rng)


def test_near_ties_among_block_medians_are_all_kept() -> None:
    """Values a rounding apart can tie once they are multiplied by a step."""
    n = 20
    base = np.random.default_rng(1).normal(size=n)
    XT = np.stack([base * (1 - i * 2.0**-52) for i in range(40, -1, -1)])
    estimator = MedianOfMeans(5, redraw=False, rng=1)
    bound = estimator.bind(XT)
    bound.begin(np.ones(n))
    found, _ = bound.survivors(np.zeros(41, dtype=bool), 1, 0.0)
    assert found.tolist() == list(range(41))


def test_score_of_any_type_and_layout() -> None:
    rng = np.random.default_rng(2)
    XT = rng.normal(size=(30, 50))
    score = rng.integers(-3, 4, 50)
    for bound in (ScreenedTrim(XT, 10), MedianOfMeans(7, redraw=False).bind(XT)):
        bound.begin(score.astype(float))
        expected = bound.at(np.arange(30)), bound.dense(XT[:4], score.astype(float))
        for other in (score, score.astype(np.float32), np.repeat(score.astype(float), 2)[::2]):
            bound.begin(other)
            assert np.array_equal(bound.at(np.arange(30)), expected[0])
            assert np.array_equal(bound.dense(XT[:4], other), expected[1])


# -- it must also save work


@pytest.mark.parametrize("pair", PAIRS)
def test_most_columns_are_skipped(pair: str) -> None:
    rng = np.random.default_rng(0)
    n, d, k = 200, 2000, 5
    XT = rng.normal(size=(d, n))
    if pair == "trim":
        bound: BoundGradient = ScreenedTrim(XT, 40)
    else:
        bound = MedianOfMeans(21, redraw=False).bind(XT)
    score = rng.normal(size=n) + XT[:k].sum(axis=0)
    none = np.zeros(d, dtype=bool)
    for factor in (1.0, 0.9, 0.5, 0.1):
        bound.begin(factor * score + 0.02 * factor * rng.normal(size=n))
        bar = float(np.sort(np.abs(bound.at(np.arange(k))))[0])
        found, _ = bound.survivors(none, k, bar)
        assert k <= len(found) <= 4 * k


def test_scores_that_shrink_but_for_outliers_need_no_new_look() -> None:
    rng = np.random.default_rng(0)
    n, d, k = 400, 2000, 5
    XT = rng.normal(size=(d, n))
    bound = ScreenedTrim(XT, 80)
    score = rng.normal(size=n) + XT[:k].sum(axis=0)
    bad = slice(0, 40)
    score[bad] = 30.0
    none = np.zeros(d, dtype=bool)
    for factor in (1.0, 0.9, 0.8):
        now = factor * score
        now[bad] = score[bad]
        bound.begin(now)
        bound.survivors(none, k, float(np.abs(bound.at(np.arange(k))).min()))
        looked = int((bound._memory.slots == bound._scores.slot).sum())
        assert looked == d if factor == 1.0 else looked < d / 4


def test_first_looks_at_long_columns_seldom_miss() -> None:
    """Columns of many rows, whose cuts brackets must hold that are narrow beside the differences between columns."""
    rng = np.random.default_rng(0)
    n, d = 20_000, 300
    XT = rng.normal(size=(d, n)) * rng.uniform(0.5, 2.0, (d, 1))
    score = rng.normal(size=n)
    bound = ScreenedTrim(XT, n // 5)
    bound.begin(score)
    found, _ = bound.survivors(np.zeros(d, dtype=bool), 5, 0.05)
    assert len(found) < d / 15


def test_scores_of_zero_do_not_spoil_later_screening() -> None:
    rng = np.random.default_rng(0)
    XT = rng.normal(size=(1000, 100))
    bound = ScreenedTrim(XT, 20)
    none = np.zeros(1000, dtype=bool)
    bound.begin(np.zeros(100))
    bound.survivors(none, 3, 0.0)
    for _ in range(3):
        bound.begin(XT[:3].sum(axis=0) + 0.1 * rng.normal(size=100))
        found, _ = bound.survivors(none, 3, 0.5)
    assert len(found) < 20


def test_columns_with_few_nonzero_values_are_looked_at_once() -> None:
    """All their values that are not zero are trimmed, so they have no gradient at any score."""
    rng = np.random.default_rng(0)
    XT = rng.normal(size=(500, 100))
    XT[10:] *= rng.random((490, 100)) < 0.1
    XT[10:, 30:] = 0.0
    bound = ScreenedTrim(XT, 30)
    none = np.zeros(500, dtype=bool)
    bound.begin(rng.normal(size=100))
    bound.survivors(none, 3, 1e-3)
    seen = bound._memory.slots.copy()
    bound.begin(1e9 * rng.normal(size=100))
    bound.survivors(none, 3, 1e-3)
    assert np.array_equal(bound._memory.slots[10:], seen[10:])


# -- threads


@pytest.mark.parametrize("pair", PAIRS)
def test_threads_do_not_change_the_outcome(pair: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robustsparse.base.threads._ENTRIES_FOR_THREADS", 1)
    rng = np.random.default_rng(7)
    XT = leverage(301, 80, rng)
    many, dense = PAIRS[pair](XT, np.random.default_rng(5), 3)
    one, _ = PAIRS[pair](XT, np.random.default_rng(5), 1)
    for _, score in zip(range(8), slow(80, rng), strict=False):
        gradient = dense(score)
        size = np.abs(gradient)
        kept = []
        for bound in (one, many):
            bound.begin(score)
            found, values = bound.survivors(np.zeros(301, dtype=bool), 6, 0.0)
            assert np.array_equal(values, gradient[found])
            kept.append(found[size[found] >= np.sort(size)[-6]])
        assert np.array_equal(kept[0], kept[1])
        assert len(kept[0]) >= 6


@pytest.mark.parametrize("d", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_ranges_cover_every_column_once(d: int, threads: int) -> None:
    seen = np.zeros(d, dtype=int)

    def task(first: int, last: int) -> None:
        seen[first:last] += 1

    over_columns(task, d, 10**9, threads)
    assert (seen == 1).all()


@pytest.mark.parametrize("bad", [0, 5])
def test_errors_in_threads_reach_the_caller_when_all_have_ended(bad: int) -> None:
    ended = []

    def task(first: int, last: int) -> None:
        if first == bad:
            raise ZeroDivisionError
        time.sleep(0.05)
        ended.append(first)

    with pytest.raises(ZeroDivisionError):
        over_columns(task, 10, 10**9, 2)
    assert ended == [5 - bad]


def test_parts_may_divide_their_work_again() -> None:
    seen = np.zeros((4, 6), dtype=int)

    def task(first: int, last: int) -> None:
        def inner(start: int, stop: int) -> None:
            seen[first:last, start:stop] += 1

        over_columns(inner, 6, 10**9, 2)

    over_columns(task, 4, 10**9, 2)
    assert (seen == 1).all()


def _in_child(result: "multiprocessing.SimpleQueue[int]") -> None:
    done: list[int] = []
    over_columns(lambda first, last: done.append(last - first), 10, 10**9, 2)
    result.put(sum(done))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the system cannot fork"
)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """The pool is inherited, its threads are not; a child must not wait for them."""
    both = threading.Barrier(2)

    def meet(first: int, last: int) -> None:
        both.wait(60)

    over_columns(meet, 10, 10**9, 2)
    context = multiprocessing.get_context("fork")
    result = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(result,))
    child.start()
    child.join(60)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive
    assert result.get() == 10


# -- a plain callable


def test_full_gradient_keeps_what_reaches_the_bar() -> None:
    XT = np.diag([3.0, -2.0, 1.0, 0.0])
    bound = FullGradient(XT, lambda X, score: X.T @ score)
    bound.begin(np.ones(4))
    columns, values = bound.survivors(np.zeros(4, dtype=bool), 2, 2.0)
    assert columns.tolist() == [0, 1]
    assert values.tolist() == [3.0, -2.0]


def test_a_design_of_single_precision_serves_as_its_own_copy() -> None:
    rng = np.random.default_rng(3)
    XT = rng.standard_t(3, size=(200, 90)).astype(np.float32)
    bound, exact = ScreenedTrim(XT, 12), ScreenedTrim(XT.astype(np.float64), 12)
    active = np.zeros(200, dtype=bool)
    for score in islice(slow(90, rng), 30):
        bound.begin(score)
        exact.begin(score)
        columns = np.argsort(-np.abs(exact.dense(exact.XT, score)))[:6]
        np.testing.assert_array_equal(bound.at(columns), exact.at(columns))
        found, values = bound.survivors(active, 6, 0.0)
        assert set(columns) <= set(found)
        # Sums of the same products, in an order that depends on the precision.
        np.testing.assert_allclose(
            values, exact.dense(exact.XT[found], score), rtol=1e-12, atol=1e-14
        )
    assert np.shares_memory(bound._design.XT32, XT)


@pytest.mark.parametrize("size", [1e-36, 1e-24, 1e-6, 1.0, 1e10])
def test_norms_of_single_precision_are_upper_bounds(size: float) -> None:
    """Squares and eighth powers of such values underflow and round in single precision."""
    rng = np.random.default_rng(0)
    XT = (size * rng.normal(size=(200, 6)) * (rng.random((200, 6)) < 0.5)).astype(np.float32)
    norm, light_norm, light_peak, peak = ScreenedTrim(XT, 0)._measured.norms
    exact = XT.astype(np.float64)
    # What is claimed of a column is claimed with a slack of 1e-9.
    for bound in (norm, light_norm):
        assert (bound * (1 + 1e-9) >= np.linalg.norm(exact, axis=1)).all()
    for bound in (light_peak, peak):
        assert (bound * (1 + 1e-9) >= np.abs(exact).max(axis=1)).all()


@pytest.mark.parametrize("scores", [slow, abrupt, settling], ids=lambda f: f.__name__)
def test_tiny_columns_of_single_precision_are_not_lost(
    scores: Callable[[int, np.random.Generator], Iterator[Array]],
) -> None:
    rng = np.random.default_rng(0)
    XT = (rng.normal(size=(50, 40)) * 10.0 ** rng.uniform(-30, 0, (50, 1))).astype(np.float32)

    for size in (1.0, 1e-24):
        bound = ScreenedTrim(np.ascontiguousarray(XT * np.float32(size)), 4)
        exact = bound.XT.astype(np.float64)
        for _, score in zip(range(8), scores(40, rng), strict=False):
            bound.begin(score)
            gradient = bound.dense(exact, score)
            assert_exact(bound, gradient, 3, rng)


def test_what_is_measured_of_a_design_serves_any_trim() -> None:
    rng = np.random.default_rng(4)
    XT = rng.normal(size=(80, 60))
    XT[3] = 0.0
    XT[3, :9] = 5.0
    first = ScreenedTrim(XT, 5)
    for trimmed in (12, 5, 20):
        shared, alone = first.dropping(trimmed), ScreenedTrim(XT, trimmed)
        for score in islice(slow(60, rng), 5):
            shared.begin(score)
            alone.begin(score)
            for got, wanted in zip(
                shared.survivors(np.zeros(80, dtype=bool), 4, 0.0),
                alone.survivors(np.zeros(80, dtype=bool), 4, 0.0),
                strict=True,
            ):
                np.testing.assert_array_equal(got, wanted)


def test_a_second_look_at_the_same_scores_keeps_few() -> None:
    rng = np.random.default_rng(0)
    XT, score = rng.normal(size=(3000, 200)), rng.normal(size=200)
    bound, gradient = trim_pair(XT, rng)
    bound.begin(score)
    closed = np.zeros(3000, dtype=bool)
    bound.survivors(closed, 5, 1e-3)
    # The bar of a shorter step is lower, and says next to nothing.
    found, values = bound.survivors(closed, 5, 1e-6)
    expected = gradient(score)
    largest = np.argsort(-np.abs(expected))[:5]
    assert set(largest.tolist()) <= set(found.tolist())
    np.testing.assert_array_equal(values, expected[found])
    assert len(found) < 100
