"""Frames and kinds of columns."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.errors import DataError
from robustsparse.base.text import listed
from robustsparse.design.frames import as_frame, column_kinds, kind_of, numbers, prepared


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


def test_lists_are_short() -> None:
    assert listed(["a"]) == "'a'"
    assert listed(range(100)).endswith("and 95 more")
