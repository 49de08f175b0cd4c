"""Columns of any type, from any library, and very many of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from robustsparse.base.errors import DataError, UnseenLevelError
from robustsparse.design.build import Design, build_design

N = 24


# Types of columns


@pytest.mark.parametrize("dtype", ["object", "string", "str", "category"])
def test_text_of_any_type_is_a_factor(data: pd.DataFrame, dtype: str) -> None:
    data["g"] = data["g"].astype(dtype)
    data.loc["row2", "g"] = None
    design = build_design("y ~ g + g:a", data)
    assert design.names[:2] == ("g[T.v]", "g[T.w]")
    assert design.dropped.columns == {"g": 1}
    assert np.isnan(design.spec.matrix(data)[0][2]).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "Int64", "Float64", "UInt8", "bool"])
def test_numbers_of_any_type(data: pd.DataFrame, dtype: str) -> None:
    values = np.arange(N) % (2 if dtype == "bool" else 100)
    data["n"] = pd.Series(values, index=data.index).astype(dtype)
    design = build_design("y ~ n + a", data)
    assert design.names == ("n", "a")
    np.testing.assert_array_equal(design.X[:, 0], values)


def test_single_precision_stays_while_all_predictors_have_it(data: pd.DataFrame) -> None:
    data["s"], data["t"] = np.float32(1 / 3), np.arange(N, dtype=np.float32)
    data.loc[data.index[1], "t"] = np.nan
    design = build_design("y ~ s + t", data)
    assert design.X.dtype == np.float32
    assert design.dropped.columns == {"t": 1}
    np.testing.assert_array_equal(design.X, data[["s", "t"]].dropna())
    for formula in ("y ~ s + a", "y ~ s + g", "y ~ s + exp(s)", "y ~ s:t"):
        assert build_design(formula, data).X.dtype == np.float64


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean"])
def test_nullable_numbers_with_holes(data: pd.DataFrame, dtype: str) -> None:
    data["n"] = pd.Series([1, 0, None] * (N // 3), index=data.index, dtype=dtype)
    for formula in ("y ~ .", "y ~ n:a + n", "y ~ poly(n, 1)"):
        design = build_design(formula, data)
        assert design.dropped.columns == {formula[4:] if "poly" in formula else "n": N // 3}
    assert build_design("y ~ n", data).X[:, 0].tolist() == [1.0, 0.0] * (N // 3)


def test_products_of_small_types_do_not_overflow(data: pd.DataFrame) -> None:
    data["p"], data["q"] = np.int8(100), np.int8(100)
    data["f"] = np.float32(1e30)
    assert build_design("y ~ p:q", data).X[0, 0] == 10_000
    assert build_design("y ~ f:a", data).dropped.infinite == 0
    assert np.isfinite(build_design("y ~ I(f**2)", data).X).all()


def test_dates_must_be_converted(data: pd.DataFrame) -> None:
    data["when"] = pd.date_range("2024-01-01", periods=N)
    for formula in ("y ~ .", "y ~ when", "y ~ when:a"):
        with pytest.raises(DataError, match=r"'when' holds dates.*- when"):
            build_design(formula, data)
    with pytest.raises(DataError, match="convert them to numbers"):
        build_design("y ~ I(when)", data)
    assert build_design("y ~ {when.dt.day}", data).X[:, 0].tolist() == list(range(1, N + 1))
    data["when"] = data["when"].dt.date
    with pytest.raises(DataError, match="holds dates"):
        build_design("y ~ .", data)


def test_dates_in_unused_columns_do_no_harm(data: pd.DataFrame) -> None:
    data["when"] = pd.date_range("2024-01-01", periods=N)
    assert "when" not in build_design("y ~ . - when", data).names


def test_columns_of_no_known_type(data: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="complex128"):
        build_design("y ~ .", data.assign(z=1j))
    with pytest.raises(DataError, match="'z' holds no labels"):
        build_design("y ~ .", data.assign(z=[[1]] * N))


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_text_among_numbers_is_named(data: pd.DataFrame, dtype: str) -> None:
    values = pd.Series(np.arange(N) / 7, index=data.index).astype(object)
    values["row3"], values["row5"] = "oops", None
    data["n"] = (values.astype("string") if dtype == "string" else values).astype(dtype)
    with pytest.raises(
        DataError,
        match=r"'n' of data holds numbers as text, .*but not in rows 'row3': 'oops'; .*`- n`",
    ):
        build_design("y ~ .", data)


def test_row_labels_under_dot_are_refused(data: pd.DataFrame) -> None:
    data["id"] = [f"patient {i}" for i in range(N)]
    with pytest.raises(DataError, match=r"'id' has 24 levels in 24 rows.*`- id`"):
        build_design("y ~ .", data)
    assert build_design("y ~ . - id", data).names == ("a", "b", "g[T.v]", "g[T.w]")
    assert len(build_design("y ~ id", data).names) == N - 1


def test_text_that_looks_like_numbers_is_a_factor(data: pd.DataFrame) -> None:
    data["t"] = ["1", "2"] * (N // 2)
    assert build_design("y ~ t", data).names == ("t[T.2]",)


def test_level_that_formulas_cannot_code(data: pd.DataFrame) -> None:
    data["g"] = ["__none__", "v", "w"] * (N // 3)
    with pytest.raises(DataError, match=r"'__none__' of 'g'.*rename"):
        build_design("y ~ g", data)


def test_levels_beyond_those_given(data: pd.DataFrame) -> None:
    with pytest.raises(UnseenLevelError, match="'w'"):
        build_design("y ~ C(g, levels=['u', 'v'])", data)


# Frames of other libraries


def test_polars_frames_give_the_same_design(data: pd.DataFrame) -> None:
    frame = data.reset_index(drop=True)
    frame["n"] = np.arange(N) % 3
    frame["flag"] = frame["a"] > 0
    frame.loc[3, "g"] = None
    frame.loc[4, "a"] = np.nan
    holed = frame.astype(object).where(frame.notna(), None)
    other = pl.DataFrame({name: holed[name].tolist() for name in frame.columns})
    for formula in ("y ~ .", "y ~ C(n):a + g", "y ~ flag + log(b)"):
        one, two = build_design(formula, frame), build_design(formula, other)
        assert one.names == two.names
        np.testing.assert_array_equal(one.X, two.X)
        assert one.rows.tolist() == two.rows.tolist()
        np.testing.assert_array_equal(two.spec.matrix(other)[0], one.spec.matrix(frame)[0])


def test_polars_types() -> None:
    frame = pl.DataFrame(
        {
            "y": [1.0, 2.0, 4.0, 3.0],
            "i": pl.Series([1, None, 3, 4], dtype=pl.Int8),
            "e": pl.Series(["lo", "hi", "lo", "hi"], dtype=pl.Enum(["lo", "hi"])),
            "c": pl.Series(["s", "r", "s", "r"], dtype=pl.Categorical),
            "f": [True, None, False, True],
        }
    )
    design = build_design("y ~ .", frame)
    assert design.names == ("i", "e[T.hi]", "c[T.s]", "f")
    assert design.X.tolist() == [[1, 0, 1, 1], [3, 0, 1, 0], [4, 1, 0, 1]]
    dates = frame.with_columns(d=pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 4)))
    with pytest.raises(DataError, match="'d' holds dates"):
        build_design("y ~ .", dates)


@pytest.mark.parametrize("make", [np.asarray, pl.LazyFrame, list])
def test_what_is_no_data_frame(data: pd.DataFrame, make: Callable[[Any], Any]) -> None:
    with pytest.raises(DataError, match="data must be a"):
        build_design(
            "y ~ a", make(data[["y", "a"]].to_dict("list") if make is pl.LazyFrame else data)
        )


# Wide data


def wide(n: int, d: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"probe/{j}-at" for j in range(d)])
    frame.insert(0, "y", rng.normal(size=n))
    return frame


def same_but_for_memory(frame: pd.DataFrame) -> list[pd.DataFrame]:
    apart = pd.DataFrame({name: frame[name].to_numpy().copy() for name in frame}, copy=False)
    return [frame, apart, frame.convert_dtypes(), frame.iloc[:, ::-1].iloc[:, ::-1]]


def test_wide_frames_however_they_lie_in_memory() -> None:
    frame = wide(8, 700)
    for data in same_but_for_memory(frame):
        design = build_design("y ~ . - `probe/9-at`", data)
        expected = frame.drop(columns=["y", "probe/9-at"])
        assert list(design.names) == list(expected.columns)
        np.testing.assert_array_equal(design.X, expected)
        np.testing.assert_array_equal(design.spec.matrix(data)[0], expected)


def test_wide_frames_with_factors_holes_and_mixed_types() -> None:
    frame = wide(9, 600)
    frame.insert(200, "g", ["r", "r", "s"] * 3)
    frame["probe/5-at"] = np.arange(9, dtype="int8")
    frame["probe/6-at"] = pd.array([1, None, 3] * 3, dtype="Int64")
    frame["probe/7-at"] = frame["probe/7-at"].astype("float32")
    frame.loc[3, "probe/300-at"] = np.inf
    design = build_design("y ~ .", frame)
    assert design.names.index("g[T.s]") == 199
    assert (design.dropped.missing, design.dropped.infinite) == (3, 1)
    rows = [0, 2, 5, 6, 8]
    assert design.rows.tolist() == rows
    kept = frame.drop(columns=["y", "g"]).iloc[rows].astype(float)
    np.testing.assert_array_equal(np.delete(design.X, 199, axis=1), kept)


def test_huge_finite_values_are_no_infinities() -> None:
    frame = wide(6, 300)
    frame.iloc[:, 1:] = 1e308
    design = build_design("y ~ .", frame)
    assert (design.dropped.missing, design.dropped.infinite) == (0, 0)
    assert design.X.max() == 1e308


def test_the_work_does_not_grow_with_formulaic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain columns never reach formulaic, which would take a millisecond for each of them."""
    import robustsparse.design.formulas.coding as coding

    seen: list[str] = []
    evaluate = coding.Evaluator._evaluate

    def counting(self: coding.Evaluator, piece: coding.Piece) -> Any:
        seen.append(piece.expr)
        return evaluate(self, piece)

    monkeypatch.setattr(coding.Evaluator, "_evaluate", counting)
    design: Design = build_design("y ~ . - `probe/1-at` + log(`probe/2-at`**2)", wide(6, 500))
    assert len(design.names) == 500
    assert set(seen) <= {"y", "1", "log(`probe/2-at` ** 2)"}
