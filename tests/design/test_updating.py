"""Formulas made of others."""

import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.design.build import build_design
from robustsparse.design.formulas.updating import updated_formula


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("y ~ a + b", ". ~ . - b", "y ~ a + b - b"),
        ("y ~ a + b", "~ . + log(c)", "y ~ a + b + log(c)"),
        ("y ~ a", "log(.) ~ .", "log(y) ~ a"),
        ("y ~ a", "{. + 1.5} ~ b", "{y + 1.5} ~ b"),
        ("{y + z} ~ a", "log(.) ~ .", "log((y + z)) ~ a"),
        ("y ~ a", "z.abs() ~ .", "z.abs() ~ a"),
        ("`y . 1` ~ a", "log(.) ~ .", "log(`y . 1`) ~ a"),
        ("y ~ . - 1", ". ~ . - a", "y ~ . - 1 - a"),
        ("y ~ a + b", ". ~ .:c", "y ~ (a + b):c"),
        ("y ~ a", ". ~ `odd . ~ name` + .", "y ~ `odd . ~ name` + a"),
        ("log(y) ~ a", ". ~ c", "log(y) ~ c"),
        ("y ~ a", "z ~ .", "z ~ a"),
    ],
)
def test_dots_are_what_was_there(old: str, new: str, expected: str) -> None:
    assert updated_formula(old, new) == expected


def test_the_columns_are_those_of_the_formula() -> None:
    data = pd.DataFrame({"y": [1.0, 2.0, 4.0], "a": [1.0, 0.0, 2.0], "b": [3.0, 1.0, 1.0]})
    design = build_design(updated_formula("y ~ . - 1", ". ~ . - b"), data)
    assert (design.names, design.intercept) == (("a",), False)


@pytest.mark.parametrize("new", ["- x", "y ~ a ~ b", 3])
def test_what_is_no_formula_is_refused(new: object) -> None:
    with pytest.raises(rs.FormulaError):
        updated_formula("y ~ a", new)  # type: ignore[arg-type]
