"""Values as JSON and back, and what a file may not talk us into."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.archive import (
    frame_from_json,
    frame_to_json,
    from_json,
    index_from_json,
    index_to_json,
    series_from_json,
    series_to_json,
    to_json,
)
from robustsparse.base.errors import DataError

VALUES: dict[str, Any] = {
    "minus infinity": -np.inf,
    "infinity": np.inf,
    "small": 5e-324,
    "whole": 2**80,
    "nested": {"a": [(1, 2.5), None, True], 3: {"b": ()}},
    "time": pd.Timestamp("2020-01-01 12:00:00.123456789", tz="Europe/Berlin"),
    "interval": pd.Interval(0, np.inf, closed="left"),
}
ARRAYS: dict[str, Any] = {
    "floats": np.array([[0.1, -np.inf], [np.nan, 5e-324]]),
    "single": np.array([0.1, 1 / 3], dtype=np.float32),
    "big-endian": np.arange(3, dtype=">i4"),
    "truth": np.array([True, False]),
    "texts": np.array(["a", "", "naïve"]),
    "wide texts": np.array(["a", "bc"]).astype("U100"),
    "objects": np.array(["a", 1, None, (1, 2)], dtype=object),
    "pairs": np.array([[1, "a"], [2, "b"]], dtype=object),
    "empty": np.zeros((0, 7)),
}
SCALARS = [np.float32(0.1), np.float64(-np.inf), np.int8(-3), np.uint64(2**63), np.bool_(True)]


@pytest.mark.parametrize("case", VALUES)
def test_a_value_comes_back(case: str) -> None:
    back = from_json(to_json(VALUES[case]))
    assert back == VALUES[case]
    assert type(back) is type(VALUES[case])


@pytest.mark.parametrize("case", ARRAYS)
def test_an_array_comes_back(case: str) -> None:
    array, back = ARRAYS[case], from_json(to_json(ARRAYS[case]))
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("value", [*SCALARS, np.str_("a")])
def test_a_scalar_comes_back_with_its_type(value: Any) -> None:
    back = from_json(to_json(value))
    assert back == value
    assert type(back) is type(value)


def test_what_would_lose_digits_is_not_stored() -> None:
    with pytest.raises(DataError, match="cannot store"):
        to_json(np.longdouble(1) / 3)


def array(dtype: Any, items: Any = (1,), shape: Any = None) -> dict[str, Any]:
    shape = [len(items)] if shape is None else shape
    return {"!": "array", "dtype": dtype, "shape": shape, "items": list(items)}


def scalar(dtype: Any, value: Any) -> dict[str, Any]:
    return {"!": "scalar", "dtype": dtype, "value": value}


# Each of these would take gigabytes, run long or crash if it were believed.
LIES: dict[str, Any] = {
    "wide text": array("<U1000000000", ["a"]),
    "many wide texts": array("<U100000", ["a"] * 100),
    "wide texts, one by one": array("<U1000", ["a"]),
    "one long text": array("<U1000", ["a" * 1000] + [""] * 1000),
    "wide text alone": scalar("<U1000", "a"),
    "wide bytes": array("S1000000000", ["a"]),
    "wide record": array("V1000000000", ["a"]),
    "fields": array("f8,f8", [1]),
    "array in an array": array("(100000,100000)f8", [1]),
    "shape": array("<f8", [1], [10**6, 10**6]),
    "negative shape": array("<f8", [1, 2], [-1]),
    "no type": array(None, [1]),
    "wide scalar": scalar("V1000000000", 10**9),
    "bytes of a number": scalar("S", 10**10),
    "long float": {"!": "float", "value": "1" * 10**6},
    "long time": {"!": "time", "value": "2020" * 10**6},
    "time of a list": {"!": "time", "value": [1]},
    "unhashable": {"!": "dict", "items": [[[1], 2]]},
    "no tag": {"items": [1]},
}


@pytest.mark.parametrize("case", LIES)
def test_a_stored_value_is_not_believed(case: str) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        from_json(LIES[case])


RANGE = {"range": [0, 10**12, 1], "name": None}
FALSE_INDEXES: dict[str, Any] = {
    "levels of ranges": {"levels": [RANGE, RANGE], "names": [None, None]},
    "many levels of ranges": {
        "levels": [{"range": [0, 10**5, 1], "name": None}] * 100,
        "names": [None] * 100,
    },
    "many levels of categories": {
        "levels": [
            {
                "codes": [0],
                "ordered": False,
                "categories": {"range": [0, 10**5, 1], "name": None},
                "name": None,
            }
        ]
        * 100,
        "names": [None] * 100,
    },
    "levels within levels": {
        "levels": [{"levels": [{"range": [0, 2, 1], "name": None}], "names": [None]}],
        "names": [None],
    },
    "levels that differ": {
        "levels": [RANGE, {"values": ["a"], "dtype": "object", "name": None}],
        "names": [None, None],
    },
    "categories": {"codes": [0], "ordered": False, "categories": RANGE, "name": None},
    "codes": {
        "codes": [7],
        "ordered": False,
        "categories": {"values": ["a"], "dtype": "object", "name": None},
        "name": None,
    },
    "wide": {"values": ["a"], "dtype": "<U1000000000", "name": None},
    "record": {"values": ["a"], "dtype": "V1000000000", "name": None},
    "sparse": {"values": ["a"], "dtype": "Sparse[U1000000000]", "name": None},
    "clock": {"times": [1], "dtype": "O", "zone": None, "name": None},
    "zone": {"times": [1], "dtype": "M8[ns]", "zone": "dateutil//etc/passwd", "name": None},
    "no range": {"range": [0, "a", 1], "name": None},
    "no step": {"range": [0, 1, 0], "name": None},
}


@pytest.mark.parametrize("case", FALSE_INDEXES)
def test_a_stored_index_is_not_believed(case: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        index_from_json(FALSE_INDEXES[case])


def test_a_zone_in_a_type_is_no_way_to_a_file() -> None:
    stored = {"values": [1], "dtype": "datetime64[ns, dateutil//etc/hostname]", "name": None}
    with pytest.raises(ValueError, match="cannot read values of type"):
        index_from_json(stored)
    with pytest.raises(ValueError, match="cannot read values of type"):
        series_from_json({**stored, "index": {"range": [0, 1, 1], "name": None}})


def test_a_series_is_as_long_as_its_index() -> None:
    stored = series_to_json(pd.Series([1.0, 2.0], name="a"))
    with pytest.raises(ValueError, match="1000000000000 entries for 2 values"):
        series_from_json({**stored, "index": RANGE})
    with pytest.raises(ValueError, match="S1000000000"):
        series_from_json({**stored, "dtype": "S1000000000"})


def test_a_frame_is_as_long_as_its_index() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [True, False]})
    stored = frame_to_json(frame)
    assert stored is not None
    pd.testing.assert_frame_equal(frame_from_json(stored), frame)
    for change in ({"index": RANGE}, {"names": RANGE}, {"index": RANGE, "columns": []}):
        with pytest.raises(ValueError, match="1000000000000"):
            frame_from_json({**stored, **change})


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_product([range(3), range(4)]),
        pd.MultiIndex.from_arrays([range(5), list("abcde")], names=["i", "j"]),
        pd.CategoricalIndex([3, 1], categories=range(5)),
        pd.Index([1, None], dtype="Int8"),
        pd.Index(["a", None], dtype="string"),
        pd.Index([1.5, 2.5], dtype="float32"),
        pd.RangeIndex(10**12),
    ],
)
def test_indexes_come_back(index: Any) -> None:
    pd.testing.assert_index_equal(index_from_json(index_to_json(index)), index)
