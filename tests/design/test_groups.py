"""Columns that enter and leave together: what a user may ask for, and what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.design.build import build_design
from robustsparse.design.groups import group_ids

N = 40


@pytest.fixture
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "y": rng.normal(size=N),
            "a": rng.normal(size=N),
            "b": rng.normal(size=N),
            "g": np.resize(list("uvw"), N),
            "two": np.resize(list("mn"), N),
        }
    )


def groups(formula: str, data: pd.DataFrame, **arguments: Any) -> dict[str, list[str]]:
    """The groups of a design by the names of their columns."""
    design = build_design(formula, data, **arguments)
    return {name: [design.names[j] for j in at] for name, at in design.groups.items()}


def test_terms_of_several_columns_are_groups(data: pd.DataFrame) -> None:
    found = groups("y ~ a + C(g) + poly(b, 2) + C(g):a", data)
    assert found["C(g)"] == ["C(g)[T.v]", "C(g)[T.w]"]
    assert found["poly(b, 2)"] == ["poly(b, 2)[1]", "poly(b, 2)[2]"]
    assert [len(columns) for columns in found.values()] == [2, 2, 2]
    assert groups("y ~ a + b", data) == {}
    assert groups("y ~ .", data, group_terms=False) == {}


def test_a_factor_of_two_levels_has_a_name_and_stands_alone(data: pd.DataFrame) -> None:
    design = build_design("y ~ two + a", data)
    assert design.groups == {"two": (0,)}
    assert group_ids(design.groups, 2) is None


def test_groups_of_a_user_take_columns_out_of_their_terms(data: pd.DataFrame) -> None:
    asked = {"mine": ["a", "C(g)[T.v]"]}
    assert groups("y ~ a + b + C(g)", data, groups=asked) == {
        "mine": ["a", "C(g)[T.v]"],
        "C(g)": ["C(g)[T.w]"],
    }
    assert groups("y ~ a + b + C(g)", data, groups={"mine": ["g", "b"]}) == {
        "mine": ["b", "C(g)[T.v]", "C(g)[T.w]"]
    }
    assert groups("y ~ a + b", data, groups=["p", "p"]) == {"p": ["a", "b"]}


def test_a_kept_term_is_no_group(data: pd.DataFrame) -> None:
    assert groups("y ~ a + C(g)", data, keep="g") == {}


def test_a_label_of_none_is_no_group() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(N, 4)), rng.normal(size=N)
    fit = rs.rht_fit(X, y, groups=["p", None, "p", None], k=1)
    assert fit.groups == {"p": ("x1", "x3")}
    numbered = rs.rht_fit(X, y, groups=np.array([5, 7, 5, 7]), k=1)
    assert numbered.groups == {"5": ("x1", "x3"), "7": ("x2", "x4")}


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"p": ["x9"]}, "groups names 'x9', which is no column of X"),
        ({"p": [4]}, "groups=4 must be a whole number from 0 to 3"),
        ({"p": ["x1", "x2"], "q": [1]}, "the column 'x2' in 'p' and in 'q'"),
        ({"p": []}, "'p' with no columns; leave it out"),
        ({"x4": ["x1", "x2"]}, "'x4', which is also a column outside of the group"),
        ({1: ["x1"], "1": ["x2"]}, "'1' twice"),
        (["p", "p"], "2 labels and the design has 4 columns"),
        ("p", "groups='p' must be a mapping"),
        (3, "groups=3 must be a mapping"),
    ],
)
def test_groups_of_an_array_that_cannot_be_are_refused(asked: Any, says: str) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(rs.ParameterError, match=says):
        rs.rht_fit(rng.normal(size=(N, 4)), rng.normal(size=N), groups=asked)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"groups": {"p": ["aa"]}}, "groups names 'aa', which is no term; did you mean"),
        ({"groups": {"p": [0]}}, "groups must name terms"),
        ({"groups": {"C(g)": ["a", "C(g)[T.v]"]}}, "also a term with columns outside"),
        ({"keep": "C(g)[T.v]"}, r"keep splits 'C\(g\)'.*group_terms=False"),
        ({"keep": "a", "groups": {"p": ["a", "b"]}}, "keep splits 'p'.*'a' is kept and 'b' is not"),
    ],
)
def test_groups_of_a_formula_that_cannot_be_are_refused(
    data: pd.DataFrame, arguments: Any, says: str
) -> None:
    with pytest.raises((rs.ParameterError, rs.FormulaError), match=says):
        build_design("y ~ a + b + C(g)", data, **arguments)


def test_single_columns_may_be_kept_where_terms_are_taken_apart(data: pd.DataFrame) -> None:
    design = build_design("y ~ a + C(g)", data, keep="C(g)[T.v]", group_terms=False)
    assert design.keep.sum() == 1
