"""The data sets are what their documentation says, and winsorizing does what it defines."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats.mstats import winsorize as scipy_winsorize

from robustsparse import datasets
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.datasets import golub, golub_genes, octane, stocks, winsorize

ROUNDING = 1e-12
ALCOHOL = [25, 26, 36, 37, 38, 39]


def test_stocks() -> None:
    prices, info = stocks()
    assert prices.shape == (1258, 452)
    assert list(info.columns) == ["ticker", "sector", "name"]
    assert prices.columns.tolist() == info["ticker"].tolist()
    assert (prices > 0).all(axis=None)
    assert info["sector"].nunique() == 10
    assert not info.isna().any(axis=None)


def test_octane_numbers_its_samples_as_the_literature_does() -> None:
    data = octane()
    assert data.shape == (39, 227)
    assert data.index.tolist() == list(range(1, 40))
    assert data.columns[0] == "y"
    assert data["y"].between(80, 100).all()
    spectra = data.drop(columns="y")
    distance = ((spectra - spectra.median()) ** 2).sum(axis=1)
    assert sorted(distance.nlargest(6).index) == ALCOHOL


def test_golub() -> None:
    data, genes = golub(), golub_genes()
    assert data.shape == (38, 3052)
    assert data.index.tolist() == list(range(1, 39))
    assert data.columns[0] == "subtype"
    assert data["subtype"].value_counts().to_dict() == {"ALL": 27, "AML": 11}
    assert data.columns[1:].tolist() == genes["gene"].tolist()
    assert (data.dtypes.iloc[1:] == np.float64).all()


@pytest.mark.parametrize("load", [octane, golub, golub_genes, lambda: stocks().prices])
def test_every_call_returns_a_fresh_copy(load: Callable[[], pd.DataFrame]) -> None:
    first = load()
    before = first.iloc[0, 0]
    first.iloc[0, 0] = type(before)(123)
    assert load().iloc[0, 0] == before


def test_a_missing_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(datasets, "FOLDERS", (tmp_path,))
    with pytest.raises(DataError, match=r"octane\.csv\.gz.*reinstall"):
        octane()


def test_the_installed_folder_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed, checkout = tmp_path / "installed", tmp_path / "checkout"
    for folder, value in ((checkout, 1.0), (installed, 2.0)):
        monkeypatch.setattr(datasets, "FOLDERS", (installed, checkout))
        folder.mkdir()
        pd.DataFrame({"y": [value]}).to_csv(folder / "octane.csv.gz", index=False)
        assert octane()["y"].tolist() == [value]


def heavy(n: int = 200) -> np.ndarray:
    return np.random.default_rng(0).standard_t(1, n)


def test_winsorize_against_scipy() -> None:
    values = heavy()
    inner = np.asarray(scipy_winsorize(values, limits=0.05))
    low, high = inner.mean() + np.array([-5, 5]) * inner.std(ddof=1)
    expected = np.clip(values, low, high)
    assert (expected != values).sum() > 5
    np.testing.assert_allclose(winsorize(values), expected, atol=ROUNDING)


def test_winsorize_by_hand() -> None:
    # Ten values, one replaced on either side: 2, 2, 3, ..., 8, 9, 9; mean 5.5.
    values = np.array([5.0, -100, 3, 4, 2, 6, 7, 8, 9, 1000])
    inner = np.array([2, 2, 3, 4, 5, 6, 7, 8, 9, 9])
    reach = 2 * np.sqrt(((inner - 5.5) ** 2).sum() / 9)
    result = winsorize(values, n_sd=2, fraction=0.1)
    assert result[1] == pytest.approx(5.5 - reach)
    assert result[-1] == pytest.approx(5.5 + reach)
    np.testing.assert_array_equal(result[[0, 2, 3, 4, 5, 6, 7, 8]], [5, 3, 4, 2, 6, 7, 8, 9])


def test_winsorize_leaves_gaussian_data_alone() -> None:
    values = np.random.default_rng(1).normal(3, 2, (500, 4))
    np.testing.assert_array_equal(winsorize(values), values)


def test_winsorize_treats_columns_apart_and_types_alike() -> None:
    array = np.c_[heavy(), 100 * heavy()[::-1], np.arange(200.0)]
    frame = pd.DataFrame(array, columns=["a", "b", "c"], index=range(1000, 1200))
    clipped = winsorize(frame)
    assert isinstance(clipped, pd.DataFrame)
    pd.testing.assert_index_equal(clipped.index, frame.index)
    np.testing.assert_array_equal(clipped.to_numpy(), winsorize(array))
    pd.testing.assert_series_equal(winsorize(frame["b"]), clipped["b"])
    np.testing.assert_array_equal(clipped["a"], winsorize(array[:, 0]))
    np.testing.assert_array_equal(clipped["c"], frame["c"])


def test_winsorize_changes_nothing_in_place() -> None:
    array = heavy()
    frame = pd.DataFrame({"a": array})
    winsorize(array)
    winsorize(frame)
    winsorize(frame["a"])
    np.testing.assert_array_equal(array, heavy())
    np.testing.assert_array_equal(frame["a"], heavy())


def test_winsorize_is_equivariant_and_symmetric() -> None:
    values = heavy()
    np.testing.assert_allclose(winsorize(-3 * values + 7), -3 * winsorize(values) + 7, atol=1e-9)


def test_winsorize_passes_over_what_it_must_not_touch() -> None:
    frame = pd.DataFrame(
        {
            "city": ["a", "b"] * 50,
            "flag": [True] * 99 + [False],
            "rare": [0] * 97 + [1] * 3,
            "constant": 5.0,
            "count": [*range(99), 10_000],
        }
    )
    clipped = winsorize(frame)
    untouched = ["city", "flag", "rare", "constant"]
    pd.testing.assert_frame_equal(clipped[untouched], frame[untouched])
    assert clipped["count"].iloc[-1] < 1000
    np.testing.assert_array_equal(clipped["count"].iloc[:-1], range(99))


def test_winsorize_keeps_missing_values_and_pulls_in_infinity() -> None:
    values = np.r_[np.arange(100.0), np.nan, np.inf]
    result = winsorize(values)
    assert np.isnan(result[100])
    assert 99 < result[101] < 1000
    np.testing.assert_array_equal(result[:100], values[:100])
    nullable = winsorize(pd.Series([*range(100), None, 10_000], dtype="Int64"))
    assert nullable.isna().sum() == 1
    assert nullable.max() < 1000


@pytest.mark.parametrize("values", [[], [3.0], [np.nan, np.nan], [1.0, 2.0]])
def test_winsorize_of_hardly_any_values(values: list[float]) -> None:
    np.testing.assert_array_equal(winsorize(np.array(values)), values)
    np.testing.assert_array_equal(winsorize(pd.Series(values, dtype=float)), values)


def test_winsorize_with_half_of_the_values_replaced() -> None:
    # Nothing but the median is left: no spread to clip by, so nothing changes.
    np.testing.assert_array_equal(winsorize(np.arange(5.0), fraction=0.5), np.arange(5.0))
    assert np.isfinite(winsorize(heavy(10), fraction=0.5)).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: winsorize(np.zeros(3), n_sd=0), ParameterError, "n_sd=0"),
        (lambda: winsorize(np.zeros(3), fraction=0.6), ParameterError, "fraction=0.6"),
        (lambda: winsorize(np.zeros((2, 2, 2))), DataError, r"\(2, 2, 2\)"),
        (lambda: winsorize(pd.DataFrame({"a": [1.0, 2, np.inf]})), DataError, "'a'"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_winsorized_returns_of_the_stocks() -> None:
    returns = np.log(stocks().prices).diff().iloc[1:]
    clipped = winsorize(returns)
    assert returns.shape == (1257, 452)
    changed = (clipped != returns).to_numpy().mean()
    assert 0.001 < changed < 0.02
    assert clipped.abs().max(axis=None) < 0.2 < 2 < returns.abs().max(axis=None)


@pytest.mark.parametrize("load", [octane, golub])
def test_a_column_can_be_added_without_a_warning(load: Callable[[], pd.DataFrame]) -> None:
    assert "batch" in load().assign(batch=1.0)
