"""The left-hand side as numbers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.errors import DataError
from robustsparse.design.response import Numbers, TwoClasses, recode_response


@pytest.mark.parametrize("dtype", ["int8", "Int64", "float32", "Float64", "bool", "object"])
def test_gaussian_takes_numbers_of_any_type(dtype: str) -> None:
    response = Numbers().code(pd.Series([0, 1, 1]).astype(dtype), "y")
    assert response.values.dtype == np.float64
    assert response.values.tolist() == [0.0, 1.0, 1.0]
    assert response.classes is None


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (pd.array([1, 0, 1], dtype="Int64"), (0, 1)),
        (pd.array([True, False, True], dtype="boolean"), (False, True)),
        (pd.array(["b", "a", "b"], dtype="string"), ("a", "b")),
        (pd.Categorical(["b", "a", "b"]), ("a", "b")),
        (np.array(["b", "a", "b"], dtype=object), ("a", "b")),
        (np.array([2.0, -1.0, 2.0]), (-1.0, 2.0)),
        (np.array(["b", 1, "b"], dtype=object), (1, "b")),
    ],
)
def test_binomial_labels(values: Any, classes: tuple[Any, Any]) -> None:
    response = TwoClasses().code(pd.Series(values), "y")
    assert response.values.tolist() == [1.0, 0.0, 1.0]
    assert response.classes == classes
    assert not any(isinstance(label, np.generic) for label in response.classes or ())


def test_new_labels_compare_by_value() -> None:
    assert recode_response(pd.Series([1.0, 0.0]), "y", (0, 1)).tolist() == [1.0, 0.0]
    assert recode_response(pd.Series([True, False]), "y", (0, 1)).tolist() == [1.0, 0.0]


def test_new_numbers_keep_their_holes() -> None:
    values = pd.Series([1, None], dtype="Int64")
    np.testing.assert_array_equal(recode_response(values, "y", None), [1.0, np.nan])


def test_numbers_written_as_text_are_refused() -> None:
    with pytest.raises(DataError, match=r"convert them with pd\.to_numeric"):
        Numbers().code(pd.Series(["1.5", "2.5", "3.5"]), "y")
