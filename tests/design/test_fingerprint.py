"""`Fingerprint`: whether data are still what they were."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from robustsparse.base.archive import from_json, to_json
from robustsparse.design.arrays import array_design
from robustsparse.design.build import build_design
from robustsparse.design.fingerprint import Fingerprint, column_numbers
from robustsparse.design.response import Numbers


@pytest.fixture(name="X")
def _design() -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(300, 400))
    X[X < 0.5] = 0.0
    return X


def test_layout_precision_of_storage_and_sparsity_do_not_matter(X: np.ndarray) -> None:
    X = X.astype(np.float32)
    numbers = column_numbers(X)
    others = [
        np.asfortranarray(X),
        X.astype(np.float64),
        np.repeat(X, 2, axis=0)[::2],
        *(kind(X) for kind in (sp.csr_array, sp.csc_array, sp.coo_array)),
    ]
    for other in others:
        np.testing.assert_array_equal(column_numbers(other), numbers)


@given(st.integers(0, 299), st.integers(0, 399), st.floats(allow_nan=False))
def test_a_single_value_is_noticed(i: int, j: int, value: float) -> None:
    X = np.zeros((300, 400))
    before = column_numbers(X)
    X[i, j] = value
    changed = np.flatnonzero(column_numbers(X) != before).tolist()
    assert changed == ([j] if value != 0 else [])


def test_rows_that_change_places_are_noticed(X: np.ndarray) -> None:
    assert (column_numbers(X[::-1]) != column_numbers(X)).all()


def test_what_has_changed_is_named() -> None:
    n = 12
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {
            "y": rng.normal(size=n),
            "a": rng.normal(size=n),
            "g": list("uvw") * 4,
            "w": np.ones(n),
            "id": range(n),
        }
    )

    def of(frame: pd.DataFrame) -> Fingerprint:
        return Fingerprint.of(build_design("y ~ a + g", frame, weights="w"))

    before = of(data)
    names = ["a", "g[T.v]", "g[T.w]"]
    assert before.changes(of(data.copy()), names) == []
    assert before.changes(of(data.assign(id=7)), names) == []
    assert before.changes(of(data.assign(a=data["a"] + 1e-12)), names) == ["a"]
    assert before.changes(of(data.assign(y=data["y"] * 2)), names) == ["the response"]
    assert before.changes(of(data.assign(w=np.arange(n) + 1.0)), names) == ["weights"]
    swapped = data.assign(g=data["g"].replace({"u": "v", "v": "u"}))
    assert before.changes(of(swapped), names) == ["g[T.v]"]


def test_cells_that_were_missing_are_part_of_the_data() -> None:
    data = pd.DataFrame(np.random.default_rng(2).normal(size=(30, 3)), columns=["y", "a", "b"])
    holed = data.assign(a=data["a"].where(data.index != 4))
    pair = [
        Fingerprint.of(build_design("y ~ .", frame, na_action="impute")) for frame in (data, holed)
    ]
    assert "missing cells" in pair[0].changes(pair[1], ["a", "b"])


def test_another_number_of_columns(X: np.ndarray) -> None:
    wide, narrow = (
        Fingerprint.of(array_design(part, np.arange(300.0), coding=Numbers()))
        for part in (X, X[:, :7])
    )
    assert wide.changes(narrow, []) == ["the number of columns (400 then, 7 now)"]


def test_it_can_be_stored(X: Any) -> None:
    before = Fingerprint.of(array_design(X, np.arange(300.0), coding=Numbers()))
    back = Fingerprint.from_dict(from_json(to_json(before.to_dict())))
    assert before.changes(back, [f"x{j}" for j in range(400)]) == []
