"""What stands between formulaic and us: parsing, coding, and stored state."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.archive import from_json, to_json
from robustsparse.base.errors import DataError, FormulaError, UnseenLevelError
from robustsparse.design.formulas.code import read_code
from robustsparse.design.formulas.coding import Coding, Evaluator
from robustsparse.design.formulas.parsing import (
    INTERCEPT,
    ParsedFormula,
    Piece,
    Run,
    check_code,
    label,
    parse_formula,
    unmarked,
)

# Parsing

COLUMNS = {"y": True, "a": True, "b": True, "g": False, "c": True, "d": True}


def written(parsed: ParsedFormula) -> list[Any]:
    return [term.columns if isinstance(term, Run) else label(term) for term in parsed.terms]


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("y ~ .", ["1", ("a", "b"), "g", ("c", "d")]),
        ("y ~ . - b", ["1", ("a",), "g", ("c", "d")]),
        ("y ~ . - 1", [("a", "b"), "g", ("c", "d")]),
        ("y ~ c + .", ["1", "c", ("a", "b"), "g", ("d",)]),
        ("y ~ . + log(a)", ["1", "a", ("b",), "g", ("c", "d"), "log(a)"]),
        ("log(a) ~ .", ["1", ("y", "b"), "g", ("c", "d")]),
        ("y ~ (a + b):g", ["1", "a:g", "b:g"]),
        ("y ~ .:g - g", ["1", "a:g", "b:g", "g:c", "g:d"]),
        ("y~a+b-1", ["a", "b"]),
    ],
)
def test_terms(formula: str, terms: list[Any]) -> None:
    found = written(parse_formula(formula, COLUMNS))
    assert [t if isinstance(t, tuple) else set(t.split(":")) for t in found] == [
        t if isinstance(t, tuple) else set(t.split(":")) for t in terms
    ]


def test_the_cost_of_dot_is_that_of_the_names_spelled_out() -> None:
    columns = {f"x{j}": True for j in range(20_000)} | {"y": True}
    parsed = parse_formula("y ~ . - x7 + x3:x9", columns)
    assert len(parsed.terms) < 12
    names = [n for t in parsed.terms for n in (t.columns if isinstance(t, Run) else [label(t)])]
    expected = [f"x{j}" for j in range(20_000) if j != 7]
    assert names == ["1", *expected, "x3:x9"]


def test_excluded_columns_may_still_be_spelled_out() -> None:
    parsed = parse_formula("y ~ . + b", COLUMNS, excluded=["b", "c"])
    assert written(parsed) == ["1", ("a",), "g", ("d",), "b"]


def test_a_column_called_1_is_not_the_intercept() -> None:
    columns = {"y": True, "1": True}
    parsed = parse_formula("y ~ 0 + `1`", columns)
    assert not parsed.intercept
    assert written(parsed) == ["1"]
    both = parse_formula("y ~ 1 + `1`", columns)
    assert both.intercept
    assert both.terms[0] == INTERCEPT
    assert both.terms[1] != INTERCEPT
    assert unmarked(both.terms[1][0].expr) == "1"  # type: ignore[index]


@pytest.mark.parametrize(
    ("code", "values", "functions"),
    [
        ("log(a)", {"a"}, {"log"}),
        ("np.log(a) + b", {"a", "b"}, {"np"}),
        ("a.fillna(b.mean())", {"a", "b"}, set()),
        ("log(`a b` + a_b)", {"a b", "a_b"}, {"log"}),
        ("Q('a b')", {"a b"}, {"Q"}),
        ("sum([x * a for x in b])", {"a", "b"}, {"sum"}),
        ("a.map(lambda v: v + k)", {"a", "k"}, set()),
        ("`a.b` > 3", {"a.b"}, set()),
    ],
)
def test_names_in_code(code: str, values: set[str], functions: set[str]) -> None:
    found = read_code(code)
    assert (found.values, found.functions) == (values, functions)


@pytest.mark.parametrize(
    ("code", "compared"),
    [
        ("a > b", {"a", "b"}),
        ("np.where(a + c > 0, b, 1)", {"a", "c"}),
        ("a.fillna(0) > 1", set()),
        ("log(a)", set()),
    ],
)
def test_names_that_a_comparison_would_hide(code: str, compared: set[str]) -> None:
    assert read_code(code).compared == compared


def test_code_is_checked_against_known_names() -> None:
    check_code(Piece("log(a) + max(k, 2)", "python"), {"a", "k"})
    check_code(Piece("anything", "lookup"), set())
    for code in ("eval(a)", "a + k", "open"):
        with pytest.raises(FormulaError, match="context="):
            check_code(Piece(code, "python"), {"a"})


@pytest.mark.parametrize(
    "code", ["a._mgr", "a.__class__", "__name__", "log(a)._x", "f.__globals__['x']", "`__a-_`"]
)
def test_private_names_are_refused_wherever_they_stand(code: str) -> None:
    with pytest.raises(FormulaError, match="private to Python"):
        read_code(code)


def test_a_column_may_begin_with_one_underscore() -> None:
    assert read_code("_a + `_b c`").values == {"_a", "_b c"}


# Coding


def evaluator(learned: dict[str, Any] | None = None, **columns: Any) -> Evaluator:
    series = {name: pd.Series(values) for name, values in columns.items()}
    n = len(next(iter(series.values())))
    return Evaluator(series, n, {}, {} if learned is None else learned, {})


def none(n: int) -> np.ndarray:
    return np.zeros(n, dtype=bool)


G, A = Piece("g", "lookup"), Piece("a", "lookup")


def test_main_effects_decide_how_interactions_are_coded() -> None:
    columns = {"g": ["u", "v", "u"], "a": [1.0, 2.0, 3.0]}
    alone, _ = evaluator(**columns).code([INTERCEPT, (G, A)], none(3))
    beside, coding = evaluator(**columns).code([INTERCEPT, (A,), (G, A)], none(3))
    assert alone.tolist() == [[1, 1, 0], [1, 0, 2], [1, 3, 0]]
    assert beside.tolist() == [[1, 1, 0], [1, 2, 2], [1, 3, 0]]
    assert coding.terms[2].columns == ("g[T.v]:a",)


def test_other_rows_dropped_in_a_second_pass() -> None:
    work = evaluator(g=["u", "v", "w"], a=[1.0, 2.0, 3.0])
    terms = [INTERCEPT, (G,), (A,)]
    first, _ = work.code(terms, none(3))
    second, coding = work.code(terms, np.array([False, False, True]))
    assert first.shape == (3, 4)
    assert second.tolist() == [[1, 0, 1], [1, 1, 2]]
    assert coding.encoders["g"][1] == {"categories": ["u", "v"]}


def test_part_of_a_coding_is_coded_as_in_the_whole() -> None:
    columns = {"g": ["u", "v", "w"], "a": [1.0, 2.0, 3.0]}
    values, coding = evaluator(**columns).code([INTERCEPT, (G,), (G, A)], none(3))
    part = coding.subset([False, False, True])
    np.testing.assert_array_equal(evaluator(**columns).recode(part, none(3)), values[:, 3:])


def test_a_coding_survives_json() -> None:
    learned: dict[str, Any] = {}
    terms = [INTERCEPT, (Piece("center(a)", "python"), G), (Piece("poly(a, 2)", "python"),)]
    work = evaluator(learned, g=["u", "v", "u"], a=[1.0, 2.0, 4.0])
    values, coding = work.code(terms, none(3))
    stored = json.loads(json.dumps(coding.to_dict(), allow_nan=False))
    again = Coding.from_dict(stored)
    assert again.terms == coding.terms
    new = evaluator(again.transforms, g=["u", "v", "u"], a=[1.0, 2.0, 4.0])
    np.testing.assert_array_equal(new.recode(again, none(3)), values)


def test_missing_rows_of_new_data_do_not_count_as_unseen_levels() -> None:
    _, coding = evaluator(g=["u", "v"]).code([INTERCEPT, (G,)], none(2))
    new = evaluator(g=["v", None, "x"])
    assert new.defects(G)[0].tolist() == [False, True, False]
    assert new.recode(coding, np.array([False, True, True])).tolist() == [[1, 1]]
    with pytest.raises(UnseenLevelError, match=r"'g'.*'x'"):
        new.recode(coding, np.array([False, True, False]))


def test_defects_of_transforms_with_several_columns() -> None:
    work = evaluator(a=[0.0, 1.0, np.nan, 3.0, 4.0])
    missing, unbounded = work.defects(Piece("bs(a, df=4)", "python"))
    assert missing.tolist() == [False, False, True, False, False]
    assert not unbounded.any()
    assert work.defects(Piece("log(a)", "python"))[1].tolist() == [True] + [False] * 4
    assert not np.any(work.defects(Piece("2", "literal")))


# State


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        0.1 + 0.2,
        5e-324,
        float("inf"),
        "text",
        [1, [2.5]],
        (1, "a"),
        {0: 1.5, "k": (None,)},
        np.float64(1 / 3),
        np.float32(1 / 3),
        np.int8(3),
        np.bool_(True),
        np.array([[1 / 3, np.nan]]),
        np.array(2.5),
        np.array([], dtype=np.int64),
        pd.Interval(0.1, 0.3, closed="left"),
        pd.Timestamp("2024-01-02T03:04:05.000000006"),
    ],
    ids=repr,
)
def test_state_survives_json_to_the_bit(value: Any) -> None:
    again = from_json(json.loads(json.dumps(to_json(value), allow_nan=False)))
    assert type(again) is type(value)
    if isinstance(value, np.ndarray | np.generic):
        assert again.dtype == value.dtype
    np.testing.assert_equal(again, value)


def test_not_a_number_survives_json() -> None:
    assert np.isnan(from_json(to_json(float("nan"))))


def test_state_that_cannot_be_stored() -> None:
    with pytest.raises(DataError, match="cannot store"):
        to_json({"f": len})
    with pytest.raises(DataError, match="cannot read"):
        from_json({"!": "function"})
