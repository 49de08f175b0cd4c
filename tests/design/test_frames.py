"""Kinds of columns, blocks of numbers, and the audit of rows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.errors import DataError
from robustsparse.base.text import listed
from robustsparse.design.frames import (
    CHUNK,
    NumericBlock,
    RowAudit,
    as_frame,
    check_predictor,
    column_kinds,
    infinite,
    kind_of,
    numbers,
    numeric_column,
    prepared,
    row_values,
)


def test_a_frame_with_string_names_is_not_copied() -> None:
    frame = pd.DataFrame({"a": [1.0]})
    assert as_frame(frame) is frame


def test_renaming_leaves_the_callers_names_alone() -> None:
    frame = pd.DataFrame({0: [1.0], "b": [2.0]})
    assert as_frame(frame).columns.tolist() == ["0", "b"]
    assert frame.columns.tolist() == [0, "b"]


def test_one_row_as_a_mapping() -> None:
    assert as_frame({"a": 1.0, "g": None}).shape == (1, 2)
    assert as_frame({"a": [1.0, 2.0], "g": ["u", "v"]}).shape == (2, 2)


def test_column_names_of_several_levels_are_refused() -> None:
    frame = pd.DataFrame(np.ones((2, 2)), columns=pd.MultiIndex.from_product([["p"], ["q", "r"]]))
    with pytest.raises(DataError, match="several levels"):
        as_frame(frame)


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        ([1, 2], "int8", "numeric"),
        ([1, None], "Int64", "numeric"),
        ([1.5, None], "Float32", "numeric"),
        ([True, False], "bool", "numeric"),
        ([True, None], "boolean", "numeric"),
        (["a", None], "object", "factor"),
        (["a", None], "string", "factor"),
        ([1, 2], "category", "factor"),
        (["2024-01-01"], "datetime64[ns]", "time"),
        (["2024-01-01"], "datetime64[ns, UTC]", "time"),
        (["2024-01"], "period[M]", "time"),
        ([1], "timedelta64[ns]", "time"),
        ([1j], "complex128", "other"),
    ],
)
def test_kinds(values: list[Any], dtype: str, kind: str) -> None:
    series = pd.Series(values, dtype=dtype)
    assert kind_of(series.dtype) == kind
    assert column_kinds(series.to_frame("x")) == {"x": kind}


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1, 2], "int8", np.int64),
        ([1, 2], "uint32", np.int64),
        ([1, 2], "uint64", np.float64),
        ([1, 2], "Int8", np.int64),
        ([1, None], "Int8", np.float64),
        ([1, 2], "float32", np.float64),
        ([True], "boolean", np.bool_),
        ([True], "bool[pyarrow]", np.bool_),
        ([True, None], "bool[pyarrow]", np.float64),
        (["a", None], "string", np.object_),
    ],
)
def test_prepared_columns_are_wide_and_free_of_nullable_types(
    values: list[Any], dtype: str, expected: type
) -> None:
    series = pd.Series(values, dtype=dtype, index=list("xy")[: len(values)])
    ready = prepared(series)
    assert ready.dtype == expected
    assert ready.index.equals(pd.RangeIndex(len(values)))
    assert ready.isna().tolist() == series.isna().tolist()


def test_objects_that_are_numbers() -> None:
    assert numbers(pd.Series([1, None, 2.5], dtype=object)).tolist()[::2] == [1.0, 2.5]
    assert numbers(pd.Series([None, None], dtype=object)).isna().all()
    with pytest.raises(DataError, match="'x' must be numeric"):
        numbers(pd.Series(["1", "2"], dtype=object, name="x"))


@pytest.mark.parametrize("apart", [False, True])
def test_blocks_hand_out_every_column_in_order(apart: bool) -> None:
    n, d = 5, 2 * CHUNK + 7
    values = np.random.default_rng(0).normal(size=(n, d))
    names = [f"x{j}" for j in range(d)]
    frame = pd.DataFrame(values, columns=names)
    if apart:
        frame = pd.DataFrame({name: frame[name].to_numpy().copy() for name in names}, copy=False)
    for choice in (names, names[::-1], names[3:9], names[::2], ["x1"], []):
        block = NumericBlock.of(frame, choice)
        out = np.full((n, len(choice)), np.nan)
        for place, chunk in block.chunks():
            assert chunk.shape[1] <= CHUNK
            out[:, place] = chunk
        np.testing.assert_array_equal(out, frame[choice])


def test_blocks_of_one_array_are_views() -> None:
    values = np.ones((4, 3 * CHUNK))
    frame = pd.DataFrame(values, copy=False)
    frame.columns = pd.Index([f"x{j}" for j in range(3 * CHUNK)])
    for _, chunk in NumericBlock.of(frame, list(frame.columns)).chunks():
        assert np.shares_memory(chunk, values)


def test_audit_counts_a_row_once() -> None:
    audit = RowAudit.of(4)
    frame = pd.DataFrame({"a": [np.nan, np.inf, 1, 1], "b": [np.inf, 1, 1, np.nan], "c": 1.0})
    audit.scan(NumericBlock.of(frame, ["a", "b", "c"]))
    assert audit.bad.tolist() == [True, True, False, True]
    assert audit.missing.tolist() == [True, False, False, True]
    assert audit.columns == {"a": 2, "b": 2}
    audit.note("a", np.array([False, False, True, False]), np.zeros(4, dtype=bool))
    assert audit.describe() == "a (3), b (2)"


def test_infinite_ignores_what_is_no_float() -> None:
    assert infinite(np.array([1, 2])).tolist() == [False, False]
    assert infinite(pd.Series(["inf", None], dtype=object)).tolist() == [False, False]
    assert infinite(np.array([1.0, -np.inf])).tolist() == [False, True]


def test_row_values_are_copies() -> None:
    frame = pd.DataFrame({"w": [1.0, 2.0]})
    given = np.array([1.0, 2.0])
    for value in ("w", given):
        read = row_values(frame, "weights", value)
        assert read is not None
        read[:] = 0
    assert given.tolist() == [1.0, 2.0]
    assert frame["w"].tolist() == [1.0, 2.0]
    assert np.isnan(numeric_column(pd.DataFrame({"w": pd.array([1, None], dtype="Int64")}), "w")[1])


def test_row_labels_are_refused_only_under_dot() -> None:
    few = pd.Series([f"r{i % 8}" for i in range(10)], name="a b")
    check_predictor(few, "factor", by_dot=True)
    labels = pd.Series([f"r{i}" for i in range(10)], name="a b")
    check_predictor(labels, "factor", by_dot=False)
    with pytest.raises(DataError, match="leave it out with `- `a b``"):
        check_predictor(labels, "factor", by_dot=True)


def test_lists_are_short() -> None:
    assert listed(["a"]) == "'a'"
    assert listed(range(100)).endswith("and 95 more")
