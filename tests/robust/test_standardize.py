"""Robust location and scale of columns, whatever holds the design, and the way back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from robustsparse import kernels
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.robust.scales import MAD_TO_SD
from robustsparse.robust.standardize import SCALES, Array, standardize

# Predictions on the standardized and on the data's own scale differ by rounding only.
ROUNDING = 1e-12
# Robust scales of normal samples of 4000 lie within a few percent of the standard deviation.
CONSISTENT = 0.06

RNG = np.random.default_rng(21)


def mad(x: Array) -> float:
    return MAD_TO_SD * float(np.median(np.abs(x - np.median(x))))


def column(x: Array, how: str = "mad", **options: Any) -> tuple[Array, float, float, bool]:
    """A column standardized on its own: values, location, scale, whether constant."""
    XT, scaling = standardize(np.asarray(x, dtype=float)[:, None], how, **options)
    return XT[0], scaling.location[0], scaling.scale[0], bool(scaling.constant[0])


class TestMad:
    @pytest.mark.parametrize("n", [3, 4, 5, 50, 131, 132, 133, 400, 1001])
    @pytest.mark.parametrize("tail", ["normal", "cauchy", "tied", "sorted", "skewed", "bimodal"])
    def test_equals_numpy(self, n: int, tail: str) -> None:
        X = RNG.normal(size=(n, 7))
        X = {
            "normal": X,
            "cauchy": X / RNG.normal(size=(n, 7)),
            "tied": np.round(3 * X),
            "sorted": np.sort(X, axis=0),
            "skewed": np.exp(3 * X),
            "bimodal": X + 100 * (RNG.random((n, 7)) < 0.5),
        }[tail]
        XT, scaling = standardize(X)
        for j in range(7):
            if len(np.unique(X[:, j])) > 2 and mad(X[:, j]) > 0:
                assert scaling.location[j] == np.median(X[:, j])
                assert scaling.scale[j] == pytest.approx(mad(X[:, j]), rel=1e-14)
        expected = (X - scaling.location) / scaling.scale
        np.testing.assert_allclose(XT, expected.T, rtol=1e-15)
        assert XT.flags.c_contiguous

    def test_bad_rows_do_not_set_the_scale(self) -> None:
        x = RNG.normal(size=200)
        bad = x.copy()
        bad[:60] = 1e6
        assert column(bad)[2] < 3 * column(x)[2]

    @pytest.mark.parametrize("wild", [1e6, 1e13, 1e16, 1e20, 9.97e36, -1e300])
    @pytest.mark.parametrize("how", ["mad", "winsor", "none"])
    @pytest.mark.parametrize("count", [1, 16])
    def test_no_value_is_large_enough_to_ruin_a_column(
        self, how: str, wild: float, count: int
    ) -> None:
        x = RNG.normal(size=200)
        bad = x.copy()
        bad[:count] = wild
        _, location, scale, constant = column(bad, how)
        assert not constant
        assert scale == pytest.approx(column(x, how)[2], rel=0.4)
        assert location == pytest.approx(column(x, how)[1], abs=0.4)


@pytest.mark.parametrize("how", ["mad", "winsor", "sd"])
def test_scales_are_consistent_at_the_normal(how: str) -> None:
    X = 3.0 + 2.0 * RNG.normal(size=(4000, 5))
    _, scaling = standardize(X, how)
    np.testing.assert_allclose(scaling.scale, 2.0, rtol=CONSISTENT)
    np.testing.assert_allclose(scaling.location, 3.0, atol=2.0 * CONSISTENT)


@pytest.mark.parametrize("how", SCALES)
class TestEveryScale:
    def test_equivariant_under_a_change_of_units(self, how: str) -> None:
        X = np.column_stack([RNG.normal(size=80), RNG.random(80), RNG.poisson(0.3, 80)])
        first, scaling = standardize(X, how)
        # A power of two and a whole number: the change of units itself does not round.
        second, other = standardize(8.0 * X - 16.0, how)
        np.testing.assert_allclose(other.location, 8.0 * scaling.location - 16.0, atol=ROUNDING)
        if how != "none":
            np.testing.assert_allclose(other.scale, 8.0 * scaling.scale, rtol=ROUNDING)
            np.testing.assert_allclose(second, first, atol=ROUNDING)

    def test_constant_columns_are_zero_and_marked(self, how: str) -> None:
        X = np.column_stack([np.full(50, 0.1), RNG.normal(size=50), 1e9 + np.arange(50) * 1e-7])
        XT, scaling = standardize(X, how)
        assert scaling.constant.tolist() == [True, False, True]
        assert not XT[[0, 2]].any()
        assert np.isfinite(scaling.scale).all()
        assert (scaling.scale > 0).all()

    def test_without_centering_nothing_is_subtracted(self, how: str) -> None:
        X = 5.0 + RNG.normal(size=(60, 3))
        X[:, 2] = 4.0
        XT, scaling = standardize(X, how, center=False)
        assert not scaling.location.any()
        assert not scaling.constant.any()
        np.testing.assert_allclose(XT, (X / scaling.scale).T, rtol=1e-15)

    def test_without_centering_only_zero_columns_are_constant(self, how: str) -> None:
        XT, scaling = standardize(np.zeros((9, 1)), how, center=False)
        assert scaling.constant.tolist() == [True]
        assert not XT.any()

    @pytest.mark.parametrize("center", [True, False])
    def test_predictions_survive_the_way_back(self, how: str, center: bool) -> None:
        X = RNG.normal(size=(70, 6)) * 10.0 ** np.arange(-3, 3) + np.arange(6)
        X[:, 3] = RNG.random(70) < 0.2
        X[:, 4] = 7.0
        XT, scaling = standardize(X, how, center=center)
        coef, unit = RNG.normal(size=6), 2.5
        coef[[1] if not center else [1, 4]] = 0.0
        raw, intercept = scaling.to_data(coef, 0.7 if center else 0.0, unit)
        standardized = unit * (coef @ XT + (0.7 if center else 0.0))
        scale = np.abs(raw) @ np.abs(X).max(axis=0)
        np.testing.assert_allclose(X @ raw + intercept, standardized, atol=ROUNDING * scale)
        assert raw[1] == 0.0

    @pytest.mark.parametrize("size", [1e-310, 1e-150, 1e150, 1e300])
    def test_extreme_units(self, how: str, size: float) -> None:
        x = RNG.normal(size=100)
        values, _, scale, constant = column(size * x, how)
        assert not constant
        assert np.isfinite(values).all()
        if how != "none":
            assert 0.3 * size < scale < 3 * size

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_few_rows(self, how: str, n: int) -> None:
        XT, scaling = standardize(RNG.normal(size=(n, 4)), how)
        assert XT.shape == (4, n)
        assert np.isfinite(XT).all()
        assert scaling.constant.all() == (n == 1)


class TestDummies:
    @pytest.mark.parametrize("how", [how for how in SCALES if how != "none"])
    @pytest.mark.parametrize("ones", [1, 10, 50, 90])
    def test_two_values_are_scaled_by_their_standard_deviation(self, how: str, ones: int) -> None:
        x = np.zeros(100)
        x[:ones] = 1.0
        values, location, scale, constant = column(RNG.permutation(x), how)
        assert not constant
        assert location == pytest.approx(ones / 100)
        assert scale == pytest.approx(x.std())
        assert values.std() == pytest.approx(1.0)

    def test_uncentered_dummies_are_scaled_by_their_root_mean_square(self) -> None:
        x = np.repeat([0.0, 1.0], [80, 20])
        assert column(x, center=False)[2] == pytest.approx(np.sqrt(0.2))


class TestMostValuesEqual:
    def test_counts_get_a_scale_of_the_size_of_their_spread(self) -> None:
        x = RNG.poisson(0.3, 200).astype(float)
        values, location, scale, constant = column(x)
        assert mad(x) == 0.0
        assert location == 0.0
        assert not constant
        assert 0.3 * x.std() < scale < 3 * x.std()
        assert np.abs(values).max() < 30

    def test_outliers_do_not_set_it(self) -> None:
        x = RNG.poisson(0.3, 200).astype(float)
        bad = x.copy()
        bad[:6] = 1e6
        assert column(bad)[2] < 3 * column(x)[2]

    def test_three_values_of_which_two_are_rare(self) -> None:
        x = np.zeros(300)
        x[:2] = [1.0, 2.0]
        _, _, scale, constant = column(x)
        assert not constant
        assert scale == pytest.approx(x.std())

    def test_rounding_about_zero_counts_as_equal(self) -> None:
        x = 1e-17 * RNG.normal(size=200)
        x[:60] = RNG.normal(size=60)
        values, _, scale, _ = column(x)
        assert 0.1 < scale < 1.0
        assert np.abs(values).max() < 100


@pytest.mark.parametrize("n", [1, 2, 3, 34, 131, 132, 133, 1001])
def test_medians_of_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    rows = [
        rng.normal(size=n),
        rng.standard_cauchy(n),
        rng.integers(0, 3, n),
        np.sort(rng.normal(size=n)),
        np.zeros(n),
    ]
    XT = np.array([*rows, np.full(n, 5e-324), 1.7e308 * rng.choice([-1.0, 1.0], n)])
    out = np.empty(len(XT))
    kernels.row_deviations(XT, True, out, np.empty(0))
    ordered = np.sort(XT, axis=1)
    low, high = ordered[:, (n - 1) // 2], ordered[:, n // 2]
    np.testing.assert_array_equal(out, low if n % 2 else 0.5 * low + 0.5 * high)


def test_winsorized_scale_by_hand() -> None:
    x = RNG.permutation(np.arange(20.0))
    clipped = np.clip(np.arange(20.0), 2.0, 17.0)
    _, location, scale, _ = column(x, "winsor")
    assert location == 9.5
    # 0.8235 is the standard deviation of a normal variable winsorized at 10%.
    assert scale == pytest.approx(clipped.std() / 0.8235)


def test_sd_by_hand() -> None:
    x = RNG.normal(size=30)
    _, location, scale, _ = column(x, "sd")
    assert location == pytest.approx(x.mean())
    assert scale == pytest.approx(x.std())


class TestBlocks:
    def test_heavy_tails_are_felt_but_one_wild_row_is_not(self) -> None:
        x = np.exp(2.0 * RNG.normal(size=900))
        bad = x.copy()
        bad[5] = 1e9
        assert column(x, "blocks")[2] > 2 * column(x, "mad")[2]
        assert column(bad, "blocks")[2] == pytest.approx(column(x, "blocks")[2], rel=0.5)

    def test_order_of_rows_does_not_make_the_blocks(self) -> None:
        """Sorted rows in contiguous blocks would have block means as far apart as the data."""
        x = np.sort(RNG.normal(size=900))
        assert abs(column(x, "blocks")[1]) < 0.2


class TestInput:
    X = RNG.normal(size=(40, 9)) * 10.0 ** RNG.uniform(-2, 2, 9)

    def same(self, other: Any, **options: Any) -> None:
        first, scaling = standardize(self.X)
        second, same = standardize(other, **options)
        assert np.array_equal(first, second)
        assert np.array_equal(scaling.scale, same.scale)
        assert np.array_equal(scaling.location, same.location)

    def test_layouts(self) -> None:
        self.same(np.asfortranarray(self.X))
        self.same(np.repeat(self.X, 2, axis=0)[::2])

    @pytest.mark.parametrize("make", [sparse.csc_matrix, sparse.csr_array])
    def test_sparse(self, make: Any) -> None:
        self.same(make(self.X))

    def test_memory_map(self, tmp_path: Path) -> None:
        np.save(tmp_path / "X.npy", self.X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        self.same(mapped)

    def test_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("robustsparse.base.threads._ENTRIES_FOR_THREADS", 1)
        self.same(self.X, threads=3)

    def test_many_narrow_blocks(self) -> None:
        X = RNG.normal(size=(40_000, 3))
        _, scaling = standardize(X)
        for j in range(3):
            assert scaling.scale[j] == pytest.approx(mad(X[:, j]), rel=1e-14)

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float32])
    def test_types(self, dtype: Any) -> None:
        X = RNG.integers(0, 100, (30, 4)).astype(dtype)
        first, _ = standardize(X)
        second, _ = standardize(X.astype(float))
        assert np.array_equal(first, second)

    @pytest.mark.parametrize("how", SCALES)
    def test_input_is_not_changed(self, how: str) -> None:
        for X in (self.X.copy(), np.asfortranarray(self.X)):
            before = X.copy()
            XT, _ = standardize(X, how)
            assert np.array_equal(X, before)
            assert not np.shares_memory(X, XT)

    def test_row_of_ones_for_the_intercept(self) -> None:
        XT, scaling = standardize(self.X, ones=True)
        assert XT.shape == (10, 40)
        assert (XT[9] == 1.0).all()
        assert len(scaling.scale) == 9


class TestErrors:
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("threads", [1, 2])
    def test_column_and_row_are_named(
        self, bad: float, threads: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("robustsparse.base.threads._ENTRIES_FOR_THREADS", 1)
        X = RNG.normal(size=(30, 8))
        X[11, 6] = bad
        with pytest.raises(DataError, match=r"column 'x7' .* row 11"):
            standardize(X, threads=threads)
        names = [f"gene{j}" for j in range(8)]
        with pytest.raises(DataError, match=r"column 'gene6' .* row 11"):
            standardize(X, names=names, threads=threads)

    def test_sparse_columns_are_looked_at_too(self) -> None:
        X = sparse.csc_matrix(([np.nan], ([3], [1])), shape=(5, 2))
        with pytest.raises(DataError, match=r"column 'x2' .* row 3"):
            standardize(X)

    @pytest.mark.parametrize("bad", ["iqr", None, True, 3])
    def test_unknown_scale(self, bad: Any) -> None:
        with pytest.raises(ParameterError, match="standardize="):
            standardize(np.ones((3, 2)), bad)
