"""Formulas on data frames: names, responses, weights, and what is refused."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.errors import DataError, FormulaError, ParameterError
from robustsparse.design.build import DesignSpec, build_design

N = 24


def restored(spec: DesignSpec, context: dict[str, Any] | None = None) -> DesignSpec:
    text = json.dumps(spec.to_dict(), allow_nan=False)
    return DesignSpec.from_dict(json.loads(text), context)


# The shape of a design


def test_design_is_float64_in_fortran_order_without_the_intercept(data: pd.DataFrame) -> None:
    design = build_design("y ~ .", data)
    assert design.X.dtype == np.float64
    assert design.X.T.flags.c_contiguous
    assert design.names == ("a", "b", "g[T.v]", "g[T.w]")
    assert design.intercept
    assert design.references == {"g": "u"}
    assert design.rows.equals(data.index)
    assert design.spec.names == design.names


def test_data_are_not_changed(data: pd.DataFrame) -> None:
    before = data.copy(deep=True)
    design = build_design("y ~ . + center(a):g", data, weights="b")
    design.X[:] = 0
    pd.testing.assert_frame_equal(data, before)


def test_intercept_follows_the_formula(data: pd.DataFrame) -> None:
    assert not build_design("y ~ a - 1", data).intercept
    without = build_design("y ~ 0 + .", data)
    assert not without.intercept
    assert without.names == ("a", "b", "g[u]", "g[v]", "g[w]")
    assert without.references == {}


@pytest.mark.parametrize(
    ("formula", "reference"),
    [("C(g)", "u"), ("C(g, Treatment('w'))", "w"), ("C(g, contr.SAS)", "w")],
)
def test_reference_level_is_said(data: pd.DataFrame, formula: str, reference: str) -> None:
    assert list(build_design(f"y ~ {formula}", data).references.values()) == [reference]


def test_dot_leaves_out_every_variable_of_the_response(data: pd.DataFrame) -> None:
    assert build_design("log(b) ~ .", data).names == ("y", "a", "g[T.v]", "g[T.w]")
    assert build_design("{y + a} ~ .", data).names == ("b", "g[T.v]", "g[T.w]")
    dotted = data.rename(columns={"b": "b.c"})
    assert "b.c" not in build_design("log(`b.c`) ~ .", dotted).names


def test_interaction_with_dot_names_every_column(data: pd.DataFrame) -> None:
    names = build_design("y ~ .:a", data.drop(columns="g")).names
    assert names == ("a", "b:a")


def test_repr_shows_no_numbers(data: pd.DataFrame) -> None:
    design = build_design("y ~ .", data)
    assert repr(design) == "Design('y ~ .', 24 rows, 4 columns)"
    assert len(repr(design.spec)) < 60
    assert len(repr(design.response)) < 60


# Names

AWKWARD = ["1", "0", "2.5", "a b", "x/y", "AFFX-Bio", "1007_s_at", "größe", "a.b", "in", "class"]
AWKWARD += [
    "{b}",
    "it's",
    'say "x"',
    "100%",
    "C",
    "log",
    "np",
    "_x",
    "x[1]",
    "x`y",
    "~",
    ".",
    "a:z",
]


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("numeric", [True, False])
def test_columns_of_any_name_under_dot(data: pd.DataFrame, name: str, numeric: bool) -> None:
    data[name] = data["b"] if numeric else ["p", "q"] * (N // 2)
    design = build_design("y ~ . + log(b)", data)
    assert design.intercept
    expected = name if numeric else f"{name}[T.q]"
    assert expected in design.names
    column = design.X[:, design.names.index(expected)]
    np.testing.assert_array_equal(column, data["b"] if numeric else data[name] == "q")
    matrix, _ = restored(design.spec).matrix(data.iloc[::-1])
    np.testing.assert_array_equal(matrix, design.X[::-1])


@pytest.mark.parametrize("name", ["1", "0", "a b", "x/y", "AFFX-Bio", "größe", "a.b", "class"])
def test_columns_of_any_name_in_backticks(data: pd.DataFrame, name: str) -> None:
    data[name] = data["b"] + 1
    assert build_design(f"y ~ a + `{name}`", data).names == ("a", name)
    assert name not in build_design(f"y ~ . - `{name}`", data).names
    assert name not in build_design(f"`{name}` ~ .", data).names
    assert build_design(f"y ~ `{name}`:g - 1", data).names[0] == f"{name}:g[u]"
    if name != "class":
        design = build_design(f"y ~ log(`{name}`)", data)
        np.testing.assert_array_equal(design.X[:, 0], np.log(data[name]))


def test_column_called_intercept_beside_the_intercept(data: pd.DataFrame) -> None:
    data["Intercept"] = 1.0
    with pytest.raises(FormulaError, match="two columns called 'Intercept'"):
        build_design("y ~ .", data)
    assert "Intercept" not in build_design("y ~ . - Intercept", data).names
    assert "Intercept" in build_design("y ~ . - 1", data).names
    data["Intercept"] = data["g"]
    assert "Intercept[T.v]" in build_design("y ~ .", data).names


def test_columns_that_would_share_a_name(data: pd.DataFrame) -> None:
    data["a:b"] = 1.0
    with pytest.raises(FormulaError, match="two columns called 'a:b'"):
        build_design("y ~ . + a:b", data)


def test_integer_column_names(data: pd.DataFrame) -> None:
    frame = pd.DataFrame(data[["y", "a", "b"]].to_numpy())
    design = build_design("`0` ~ .", frame)
    assert design.names == ("1", "2")
    np.testing.assert_array_equal(design.X, frame[[1, 2]])
    np.testing.assert_array_equal(design.spec.matrix(frame)[0], design.X)


@pytest.mark.parametrize("names", [["y", "a", "a"], ["y", 0, "0"]])
def test_doubled_column_names_are_refused(names: list[Any]) -> None:
    frame = pd.DataFrame(np.ones((3, 3)), columns=pd.Index(names, dtype=object))
    with pytest.raises(DataError, match=f"not: '{names[-1]}'"):
        build_design("y ~ .", frame)


def test_python_keyword_inside_code_is_explained(data: pd.DataFrame) -> None:
    data["class"] = data["b"]
    with pytest.raises(FormulaError, match="keyword must be renamed"):
        build_design("y ~ log(`class`)", data)


# The response


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1], (0, 1)),
        ([1.0, 0.0], (0.0, 1.0)),
        ([-1, 1], (-1, 1)),
        ([True, False], (False, True)),
        (["sick", "well"], ("sick", "well")),
        (["ALL", "AML"], ("ALL", "AML")),
        ([1, 2], (1, 2)),
    ],
)
def test_binomial_takes_any_two_labels(
    data: pd.DataFrame, labels: list[Any], classes: tuple[Any, Any]
) -> None:
    data["y"] = labels * (N // 2)
    design = build_design("y ~ .", data, family="binomial")
    assert design.response.classes == classes
    assert design.response.values.tolist() == [float(v == classes[1]) for v in labels] * (N // 2)
    np.testing.assert_array_equal(restored(design.spec).response(data), design.response.values)


def test_categorical_response_follows_its_own_order(data: pd.DataFrame) -> None:
    labels = ["no", "yes"] * (N // 2)
    data["y"] = pd.Categorical(labels, categories=["yes", "no", "unused"])
    design = build_design("y ~ a", data, family="binomial")
    assert design.response.classes == ("yes", "no")
    assert design.response.values[:2].tolist() == [1.0, 0.0]


def test_classes_are_those_of_the_rows_in_use(data: pd.DataFrame) -> None:
    data["y"] = ["p", "q", "r"] * (N // 3)
    data.loc[data["y"] == "r", "a"] = np.nan
    assert build_design("y ~ a", data, family="binomial").response.classes == ("p", "q")


def test_response_from_code(data: pd.DataFrame) -> None:
    design = build_design("{a > 0} ~ b", data, family="binomial")
    assert design.response.name == "a > 0"
    np.testing.assert_array_equal(design.response.values, data["a"] > 0)
    centered = build_design("center(y) ~ a", data)
    expected = data["y"].head(3).to_numpy() - data["y"].to_numpy().mean()
    np.testing.assert_array_equal(centered.spec.response(data.head(3)), expected)


def test_wrong_responses_are_explained(data: pd.DataFrame) -> None:
    data["two"] = ["p", "q"] * (N // 2)
    with pytest.raises(DataError, match=r"'two' must be numeric.*'p', 'q'; use family='binomial'"):
        build_design("two ~ a", data)
    with pytest.raises(DataError, match=r"'g' must be numeric.*'u', 'v', 'w'; convert"):
        build_design("g ~ a", data)
    with pytest.raises(DataError, match=r"two different values.*have 3: 'u', 'v', 'w'$"):
        build_design("g ~ a", data, family="binomial")
    with pytest.raises(DataError, match=r"have 24.*family='gaussian'"):
        build_design("y ~ a", data, family="binomial")
    with pytest.raises(DataError, match="have 1: 'p'"):
        build_design("two ~ a", data.iloc[::2], family="binomial")
    with pytest.raises(FormulaError, match="several columns"):
        build_design("poly(y, 2) ~ a", data)


def test_bool_response_is_zero_and_one(data: pd.DataFrame) -> None:
    data["y"] = data["a"] > 0
    np.testing.assert_array_equal(build_design("y ~ b", data).response.values, data["y"])


def test_new_responses(data: pd.DataFrame) -> None:
    data["y"] = ["p", "q"] * (N // 2)
    spec = build_design("y ~ a", data, family="binomial").spec
    np.testing.assert_array_equal(spec.response({"y": ["q", None, "p"]}), [1.0, np.nan, 0.0])
    with pytest.raises(DataError, match="'r'; known are 'p', 'q'"):
        spec.response({"y": ["r"]})
    numeric = build_design("log(b) ~ a", data).spec
    np.testing.assert_array_equal(
        numeric.response({"b": [1.0, np.nan, np.inf]}), [0, np.nan, np.nan]
    )


# Weights, offset, keep


def test_weights_and_offset_follow_the_rows_in_use(data: pd.DataFrame) -> None:
    data["w"], data["o"] = np.arange(N) + 1.0, np.arange(N) - 5.0
    data.loc["row4", "a"] = np.nan
    data.loc["row6", "o"] = np.nan
    design = build_design("y ~ .", data, weights="w", offset="o")
    kept = [i for i in range(N) if i not in (4, 6)]
    assert design.names == ("a", "b", "g[T.v]", "g[T.w]")
    assert design.weights is not None
    assert design.offset is not None
    assert design.weights.tolist() == [i + 1.0 for i in kept]
    assert design.offset.tolist() == [i - 5.0 for i in kept]
    assert design.dropped.columns == {"a": 1, "offset": 1}
    by_array = build_design("y ~ a + b + g", data, weights=data["w"], offset=list(data["o"]))
    np.testing.assert_array_equal(by_array.weights, design.weights)
    np.testing.assert_array_equal(by_array.offset, design.offset)
    np.testing.assert_array_equal(design.spec.offset(data), data["o"])
    assert by_array.spec.offset(data) is None


def test_wrong_weights_are_refused(data: pd.DataFrame) -> None:
    data["weight"] = 1.0
    wrong: list[tuple[Any, str]] = [
        ("wieght", "did you mean weight"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((N, 1)), "shape"),
        (np.zeros(N), "all weights are zero"),
        (np.r_[-1, np.ones(N - 1)], "'row0'"),
        (np.r_[np.nan, np.ones(N - 1)], "1 of 24 are not"),
        (np.r_[np.inf, np.ones(N - 1)], "finite"),
        ("g", "'g' must be numeric"),
        (["heavy"] * N, "weights holds values that are not numbers"),
        (pd.Series(np.ones(N)), "index of weights differs"),
    ]
    for value, message in wrong:
        with pytest.raises(DataError, match=message):
            build_design("y ~ a", data, weights=value)


@pytest.mark.parametrize(
    ("keep", "columns"),
    [
        (None, []),
        ("a", ["a"]),
        (["a", "b"], ["a", "b"]),
        ("C(g)", ["C(g)[T.v]", "C(g)[T.w]"]),
        ("g", ["C(g)[T.v]", "C(g)[T.w]"]),
        ("C(g)[T.w]", ["C(g)[T.w]"]),
        ("a:b", ["a:b"]),
        ("poly(b, 2)", ["poly(b, 2)[1]", "poly(b, 2)[2]"]),
        ("h", ["C(h, contr.sum)[S.p]"]),
    ],
)
def test_keep(data: pd.DataFrame, keep: Any, columns: list[str]) -> None:
    data["x1"] = data["a"] ** 2
    data["h"] = ["p", "q"] * (N // 2)
    terms = ". - g - h + C(g) + C(h, contr.sum) + poly(b, 2) + a:b"
    design = build_design(f"y ~ {terms}", data, keep=keep, group_terms=False)
    assert design.keep.dtype == bool
    assert [name for name, kept in zip(design.names, design.keep, strict=True) if kept] == columns


def test_unknown_keep(data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError, match=r"'aa'.*did you mean a\?"):
        build_design("y ~ .", data, keep=["b", "aa"])


def test_unknown_choices(data: pd.DataFrame) -> None:
    with pytest.raises(ParameterError, match="'poisson'"):
        build_design("y ~ .", data, family="poisson")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'ignore'"):
        build_design("y ~ .", data, na_action="ignore")  # type: ignore[arg-type]


# Formulas that cannot be used


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ a +", r"cannot read the formula.*\n    y ~ a \+\n          \^$"),
        ("y ~ a b", r"Missing operator.*\n.*\n        \^\^\^$"),
        ("y ~ log(a", r"Expected: \)"),
        ("y ~ log(a b)", "cannot be read as Python"),
        ("y ~ a > 0", r"braces, as in \{a > 0\}"),
        ("y ~ a | b", r"Operator `\|`"),
        ("y ~ a ~ b", "Operator `~`"),
        ("y ~ a**b", "positive integer"),
        ("a", "no response"),
        ("~ a", "no response"),
        ("", "no response"),
        ("y + a ~ b", "one response"),
        ("1 ~ a", "one response"),
        ("y ~ 0", "neither predictors nor an intercept"),
        ("y ~ y + a", "'y' is also a term"),
        ("y ~ bb", r"'bb'.*did you mean b\?\n    y ~ bb\n        \^\^$"),
        ("y ~ . - bb", "'bb'"),
        ("yy ~ .", "'yy'"),
        ("y ~ log(bb)", "'bb'"),
        ("y ~ lgo(b)", "did you mean log"),
        ("y ~ a.mean()", "does not give one value for each"),
        ("y ~ bs(a, df=1)", r"`bs\(a, df=1\)` cannot be evaluated: ValueError"),
    ],
)
def test_formula_errors_point_at_the_fault(data: pd.DataFrame, formula: str, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        build_design(formula, data)


def test_unquoted_awkward_names_are_explained(data: pd.DataFrame) -> None:
    data["AFFX-Bio"], data["a.b"] = 1.0, 1.0
    with pytest.raises(FormulaError, match="backticks: `AFFX-Bio`"):
        build_design("y ~ AFFX-Bio", data)
    with pytest.raises(FormulaError, match=r"'a\.b' goes in backticks"):
        build_design("y ~ log(a.b)", data)


def test_formula_must_be_text(data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError, match="not int"):
        build_design(3, data)  # type: ignore[arg-type]


def test_no_predictors_under_dot(data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError, match="no predictors"):
        build_design("y ~ .", data[["y"]])
