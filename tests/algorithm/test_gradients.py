"""Gradient estimators against plain references, and the symmetries they must have."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from robustsparse.algorithm.bound import FullGradient
from robustsparse.algorithm.bound_blocks import ScreenedBlocks
from robustsparse.algorithm.bound_trimmed import ScreenedTrim
from robustsparse.algorithm.estimator import GradientEstimator
from robustsparse.algorithm.gradients import (
    ESTIMATORS,
    LARGEST_TRIM,
    Array,
    Mean,
    MedianOfMeans,
    Trimmed,
    as_estimator,
)
from robustsparse.algorithm.plain_trimmed import PlainTrim
from robustsparse.base.errors import DataError, ParameterError

# Sums of up to 400 products in another order differ by rounding: 400 · 2⁻⁵³ is 4e-14.
RELATIVE = 1e-12

RNG = np.random.default_rng(11)


def design(kind: str, n: int = 101, d: int = 12) -> Array:
    X = RNG.normal(size=(n, d))
    if kind == "tied":
        return RNG.integers(-2, 3, (n, d)).astype(float)
    if kind == "constant":
        return np.tile(RNG.normal(size=d), (n, 1))
    if kind == "mostly equal":
        return np.where(RNG.random((n, d)) < 0.8, 0.5, X)
    factor = {"random": 1.0, "huge": 1e300, "denormal": 1e-310}.get(kind)
    if factor is not None:
        return np.asarray(factor * X)
    return RNG.standard_cauchy((n, d))


KINDS = ["random", "cauchy", "tied", "constant", "mostly equal", "huge", "denormal"]


def trimmed_reference(products: Array, dropped: int) -> Array:
    # scipy cuts int(proportion · n) values; half a value more keeps that from rounding down.
    proportion = (dropped + 0.5) / len(products)
    return np.asarray(stats.trim_mean(products, min(proportion, 0.499999), axis=0))


def median_of_means_reference(X: Array, score: Array, blocks: int, order: Array) -> Array:
    products = (X * score[:, None])[order]
    return np.median([products[b::blocks].mean(axis=0) for b in range(blocks)], axis=0)


class TestTrimmed:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("alpha", [0.01, 0.1, 0.25, 0.499])
    def test_equals_scipy(self, kind: str, alpha: float) -> None:
        for n in (5, 30, 101, 400):
            X, score = design(kind, n), RNG.normal(size=n)
            estimator = Trimmed(alpha)
            products = X * score[:, None]
            expected = trimmed_reference(products, estimator.count(n))
            scale = np.abs(products).max(axis=0)
            assert np.all(np.abs(estimator(X, score) - expected) <= RELATIVE * scale)

    def test_many_columns_of_one_scale_and_of_many(self) -> None:
        """The cuts of one column are the guesses of the next; bad guesses must not matter."""
        n, d = 97, 300
        X = RNG.normal(size=(n, d)) * 10.0 ** RNG.uniform(-8, 8, d)
        X[:, ::3] /= np.abs(X[:, ::3]).max(axis=0)
        X[:, 7::50] = 0.0
        score = RNG.normal(size=n)
        products = X * score[:, None]
        expected = trimmed_reference(products, Trimmed(0.2).count(n))
        scale = np.abs(products).max(axis=0)
        assert np.all(np.abs(Trimmed(0.2)(X, score) - expected) <= RELATIVE * scale)

    @pytest.mark.parametrize(
        ("alpha", "n", "dropped"),
        [(0.1, 30, 3), (0.1, 31, 4), (0.3, 10, 3), (0.07, 100, 7), (0.0, 9, 0), (0.4, 1, 0)],
    )
    def test_count_rounds_up_but_not_by_rounding(self, alpha: float, n: int, dropped: int) -> None:
        assert Trimmed(alpha).count(n) == dropped

    @pytest.mark.parametrize("n", range(1, 12))
    def test_something_is_always_left(self, n: int) -> None:
        assert n - 2 * Trimmed(0.499).count(n) >= 1
        value = Trimmed(0.499)(np.arange(float(n))[:, None], np.ones(n))
        assert value[0] == (n - 1) / 2

    def test_a_wild_row_does_not_count(self) -> None:
        X, score = design("random"), np.ones(101)
        wild = X.copy()
        wild[17] = 1e308 * np.sign(RNG.normal(size=12))
        change = np.abs(Trimmed(0.1)(wild, score) - Trimmed(0.1)(X, score))
        assert change.max() < 2 * np.abs(X).max() / 81

    @pytest.mark.parametrize("bad", [-0.1, 0.5, 1, np.nan, "0.1", None, True, [0.1]])
    def test_bad_alpha(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="alpha="):
            Trimmed(bad)


class TestMedianOfMeans:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(
        ("n", "blocks"), [(100, 10), (101, 10), (107, 31), (9, 4), (7, 1), (20, 20), (31, 3)]
    )
    def test_equals_plain_numpy(self, kind: str, n: int, blocks: int) -> None:
        X, score = design(kind, n), RNG.normal(size=n)
        estimator = MedianOfMeans(blocks, redraw=False, rng=4)
        order = np.random.default_rng(4).permutation(n)
        used = min(blocks, n // 2)
        assert estimator.count(n, 12) == used
        expected = median_of_means_reference(X, score, used, order)
        scale = np.abs(X * score[:, None]).max(axis=0)
        gradient = estimator(X, score)
        assert np.all(np.abs(gradient - expected) <= RELATIVE * scale)
        bound = estimator.bind(np.ascontiguousarray(X.T))
        bound.begin(score)
        assert np.array_equal(bound.at(np.arange(12)), gradient)

    def test_fixed_blocks_stay_and_redrawn_ones_change(self) -> None:
        X, score = design("random"), RNG.normal(size=101)
        XT, columns = np.ascontiguousarray(X.T), np.arange(12)
        for redraw in (False, True):
            bound = MedianOfMeans(11, redraw=redraw, rng=0).bind(XT)
            bound.begin(score)
            first = bound.at(columns)
            bound.begin(score)
            assert np.array_equal(bound.at(columns), first) is not redraw
            assert bound.settles is not redraw

    def test_redrawn_blocks_are_a_partition_of_the_rows(self) -> None:
        """With equal blocks the mean over blocks is the mean over rows, whatever the draw."""
        X, score = design("random", n=100), RNG.normal(size=100)
        bound = MedianOfMeans(2, rng=8).bind(np.ascontiguousarray(X.T))
        for _ in range(3):
            bound.begin(score)
            # The median of two block means is their mean.
            np.testing.assert_allclose(bound.at(np.arange(12)), Mean()(X, score), atol=RELATIVE)
            np.testing.assert_allclose(
                bound.dense(np.ascontiguousarray(X.T), score), Mean()(X, score), atol=RELATIVE
            )

    def test_blocks_come_from_the_seed(self) -> None:
        X, score = design("random"), RNG.normal(size=101)
        same = [MedianOfMeans(11, rng=seed)(X, score) for seed in (1, 1, 2)]
        assert np.array_equal(same[0], same[1])
        assert not np.array_equal(same[0], same[2])

    @pytest.mark.parametrize(("d", "blocks"), [(2, 9), (1000, 31), (20000, 45)])
    def test_default_number_of_blocks_is_the_papers(self, d: int, blocks: int) -> None:
        assert MedianOfMeans().count(10**6, d) == blocks

    @pytest.mark.parametrize("bad", [0, -3, 2.5, np.nan, np.inf, "9", True, [9]])
    def test_bad_blocks(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="blocks="):
            MedianOfMeans(bad)

    def test_bad_rng(self) -> None:
        with pytest.raises(ParameterError, match="rng="):
            MedianOfMeans(rng="seven")  # type: ignore[arg-type]


def test_mean_is_the_mean() -> None:
    X, score = design("random"), RNG.normal(size=101)
    np.testing.assert_allclose(Mean()(X, score), (X * score[:, None]).mean(axis=0), atol=1e-15)


# Sums and products of what is drawn neither overflow nor underflow.
VALUES = st.floats(-1e6, 1e6).map(lambda v: 0.0 if abs(v) < 1e-6 else v)
SIZES = st.tuples(st.integers(1, 40), st.integers(1, 5))
DESIGNS = SIZES.flatmap(lambda shape: arrays(np.float64, shape, elements=VALUES))
ALPHAS = st.floats(0.0, 0.499)
ANY_ESTIMATOR = st.one_of(
    ALPHAS.map(Trimmed), st.integers(1, 20).map(MedianOfMeans), st.just(Mean())
)


def scores(X: Array, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=len(X))


def assert_close(a: Array, b: Array, X: Array, score: Array) -> None:
    scale = np.abs(X * score[:, None]).max(axis=0)
    assert np.all(np.abs(a - b) <= RELATIVE * scale)


class TestSymmetries:
    @given(DESIGNS, ALPHAS, st.integers(0, 9))
    def test_order_of_rows_does_not_matter_to_trimming(
        self, X: Array, alpha: float, seed: int
    ) -> None:
        score = scores(X, seed)
        order = np.random.default_rng(seed).permutation(len(X))
        estimator = Trimmed(alpha)
        assert_close(estimator(X[order], score[order]), estimator(X, score), X, score)

    @given(DESIGNS, ANY_ESTIMATOR, st.integers(0, 9))
    def test_order_of_columns_does_not_matter_at_all(
        self, X: Array, estimator: GradientEstimator, seed: int
    ) -> None:
        score = scores(X, seed)
        order = np.random.default_rng(seed).permutation(X.shape[1])
        assert_close(estimator(X[:, order], score), estimator(X, score)[order], X[:, order], score)

    @given(DESIGNS, ANY_ESTIMATOR, st.integers(0, 9))
    def test_sign(self, X: Array, estimator: GradientEstimator, seed: int) -> None:
        score = scores(X, seed)
        gradient = estimator(X, score)
        assert_close(estimator(-X, score), -gradient, X, score)
        assert_close(estimator(X, -score), -gradient, X, score)

    @given(DESIGNS, ANY_ESTIMATOR, st.floats(1e-3, 1e3), st.integers(0, 9))
    def test_scale(self, X: Array, estimator: GradientEstimator, factor: float, seed: int) -> None:
        score = scores(X, seed)
        expected = factor * estimator(X, score)
        assert_close(estimator(factor * X, score), expected, factor * X, score)
        assert_close(estimator(X, factor * score), expected, factor * X, score)

    @given(DESIGNS, ANY_ESTIMATOR)
    def test_value_lies_within_the_data(self, X: Array, estimator: GradientEstimator) -> None:
        value = estimator(X, np.ones(len(X)))
        slack = RELATIVE * np.abs(X).max(axis=0)
        assert np.all(value >= X.min(axis=0) - slack)
        assert np.all(value <= X.max(axis=0) + slack)

    @settings(max_examples=30)
    @given(DESIGNS, ALPHAS, st.sampled_from(["F", "C"]), st.sampled_from([np.float32, np.int64]))
    def test_layout_and_type_of_the_input_do_not_matter(
        self, X: Array, alpha: float, layout: Any, dtype: Any
    ) -> None:
        plain = X.astype(dtype).astype(np.float64)
        score = scores(X, 0)
        twisted = np.asarray(X.astype(dtype), order=layout)
        strided = np.repeat(score, 2)[::2]
        assert np.array_equal(Trimmed(alpha)(twisted, strided), Trimmed(alpha)(plain, score))


class TestShapes:
    @pytest.mark.parametrize("estimator", [Trimmed(0.2), MedianOfMeans(3), Mean()])
    @pytest.mark.parametrize(
        ("X", "score"),
        [
            (np.ones((10, 2)), np.ones(5)),
            (np.ones((10, 2)), np.ones(15)),
            (np.ones((10, 2)), np.ones((10, 1))),
            (np.ones(10), np.ones(10)),
        ],
    )
    def test_shapes_that_do_not_fit(
        self, estimator: GradientEstimator, X: Array, score: Array
    ) -> None:
        with pytest.raises(DataError, match=re.escape(str(score.shape))):
            estimator(X, score)

    @pytest.mark.parametrize("name", ESTIMATORS)
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_no_column_has_an_empty_gradient(self, name: Any, dtype: type) -> None:
        assert as_estimator(name)(np.empty((7, 0), dtype=dtype), np.ones(7)).shape == (0,)

    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_one_row_is_its_own_mean(self, name: Any) -> None:
        assert as_estimator(name)([[2.0, -1.0]], [3.0]).tolist() == [6.0, -3.0]

    @pytest.mark.parametrize("estimator", [Trimmed(0.2), MedianOfMeans(3), Mean()])
    def test_input_is_not_changed(self, estimator: GradientEstimator) -> None:
        X, score = design("random"), np.ones(101)
        before = X.copy(), score.copy()
        estimator(X, score)
        assert np.array_equal(X, before[0])
        assert np.array_equal(score, before[1])


class TestNames:
    def test_names(self) -> None:
        assert as_estimator("trim", 0.1) == Trimmed(0.2)
        assert as_estimator("mom", rng=3) == MedianOfMeans(rng=3)
        assert as_estimator("mean") == Mean()

    def test_trimming_leaves_some_rows_at_any_contamination(self) -> None:
        assert as_estimator("trim", 0.4) == Trimmed(LARGEST_TRIM)
        assert as_estimator("trim", 0.0) == Trimmed(0.0)

    def test_objects_pass(self) -> None:
        mine = Trimmed(0.3)
        assert as_estimator(mine) is mine

    @pytest.mark.parametrize("bad", ["median", 3, None, Trimmed, MedianOfMeans])
    def test_all_else_is_named(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="estimator="):
            as_estimator(bad)

    @pytest.mark.parametrize("bad", [-0.1, 0.6, np.nan, "0.1", None])
    def test_bad_epsilon(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="epsilon="):
            as_estimator("trim", bad)


class TestBind:
    XT = RNG.normal(size=(4, 30))

    def test_each_estimator_has_its_bound_form(self) -> None:
        assert isinstance(Trimmed(0.2).bind(self.XT), PlainTrim)
        assert isinstance(Trimmed(0.2).bind(np.ones((1100, 1000))), ScreenedTrim)
        assert isinstance(MedianOfMeans(5).bind(self.XT), ScreenedBlocks)
        assert isinstance(Mean().bind(self.XT), FullGradient)
        assert isinstance(Trimmed(0.0).bind(self.XT), FullGradient)

    def test_a_users_callable_evaluates_everything(self) -> None:
        bound = as_estimator(lambda X, score: np.median(X * score[:, None], axis=0)).bind(self.XT)
        score = RNG.normal(size=30)
        bound.begin(score)
        expected = np.median(self.XT * score, axis=1)
        assert np.array_equal(bound.at(np.arange(4)), expected)
        columns, values = bound.survivors(np.array([True, False, False, False]), 2, 0.0)
        assert columns.tolist() == [1, 2, 3]
        assert np.array_equal(values, expected[1:])
        assert np.array_equal(bound.dense(self.XT[2:], score), expected[2:])

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda X, score: 1.0,
            lambda X, score: np.ones(len(X)),
            lambda X, score: np.ones((X.shape[1], 1)),
            lambda X, score: np.ones(X.shape[1] - 1),
        ],
    )
    def test_a_wrong_shape_is_named(self, wrong: Any) -> None:
        with pytest.raises(ParameterError, match=r"returned shape .* of 4 columns"):
            as_estimator(wrong).bind(self.XT).begin(np.ones(30))

    def test_nan_from_a_users_callable_is_named(self) -> None:
        def broken(X: Array, score: Array) -> Array:
            return np.where(np.arange(X.shape[1]) == 2, np.nan, 1.0)

        with pytest.raises(ParameterError, match="NaN for column 2"):
            as_estimator(broken).bind(self.XT).begin(np.ones(30))
