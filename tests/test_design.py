"""Formulas on data frames: what is kept, what is dropped, what is refused, and predictions."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from robustsparse.design import Design, DesignSpec, build_design
from robustsparse.errors import DataError, FormulaError, ParameterError, UnseenLevelError

N = 24


@pytest.fixture
def data() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "y": rng.normal(size=N),
            "a": rng.normal(size=N),
            "b": rng.uniform(1, 2, N),
            "g": ["u", "v", "w"] * (N // 3),
        },
        index=[f"row{i}" for i in range(N)],
    )


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


# Rows that cannot be used


def test_missing_and_infinite_rows_are_counted_apart(data: pd.DataFrame) -> None:
    data.iloc[0, data.columns.get_loc("a")] = np.nan
    data.iloc[1, data.columns.get_loc("a")] = np.inf
    data.iloc[2, data.columns.get_loc("g")] = None
    data.iloc[3, data.columns.get_loc("y")] = -np.inf
    data.iloc[4, data.columns.get_loc("y")] = np.nan
    data.iloc[4, data.columns.get_loc("b")] = np.inf
    design = build_design("y ~ .", data)
    assert (design.dropped.missing, design.dropped.infinite) == (3, 2)
    assert design.dropped.labels.tolist() == ["row0", "row1", "row2", "row3", "row4"]
    assert design.dropped.columns == {"a": 2, "b": 1, "g": 1, "y": 2}
    assert design.rows.tolist() == data.index[5:].tolist()
    assert np.isfinite(design.X).all()


def test_clean_data_drop_nothing(data: pd.DataFrame) -> None:
    dropped = build_design("y ~ .", data).dropped
    assert (dropped.missing, dropped.infinite, len(dropped.labels)) == (0, 0, 0)
    assert dropped.columns == {}


@pytest.mark.parametrize("formula", ["y ~ log(z)", "y ~ center(log(z)):g", "log(z) ~ a"])
def test_infinity_made_by_a_transform(data: pd.DataFrame, formula: str) -> None:
    data["z"] = [0.0] + [1.0, 2.0, 3.0] * 7 + [-1.0, 4.0]
    design = build_design(formula, data)
    assert (design.dropped.missing, design.dropped.infinite) == (1, 1)
    assert design.dropped.labels.tolist() == ["row0", "row22"]
    assert np.isfinite(design.X).all()


def test_infinity_made_by_a_product(data: pd.DataFrame) -> None:
    data.iloc[2, [1, 2]] = 1e200
    design = build_design("y ~ a:b + g", data)
    assert design.dropped.columns == {"a:b": 1}
    assert (design.dropped.infinite, len(design.rows)) == (1, N - 1)


def test_infinite_input_does_not_spoil_what_a_transform_learns(data: pd.DataFrame) -> None:
    spoiled = data.copy()
    spoiled.loc["row5", "a"] = np.inf
    for term in ("center(a)", "scale(a)", "poly(a, 2)", "bs(a, df=4)"):
        expected = build_design(f"y ~ {term}", data.drop(index="row5"))
        np.testing.assert_array_equal(build_design(f"y ~ {term}", spoiled).X, expected.X)


@pytest.mark.parametrize("term", ["center(a)", "scale(a)", "standardize(a)"])
def test_one_hole_does_not_empty_a_centered_column(data: pd.DataFrame, term: str) -> None:
    data.loc["row5", "a"] = np.nan
    design = build_design(f"y ~ {term}", data)
    expected = build_design(f"y ~ {term}", data.dropna())
    assert design.dropped.missing == 1
    np.testing.assert_array_equal(design.X, expected.X)


@pytest.mark.parametrize("formula", ["y ~ {a > 0}", "y ~ I(a > 0):g", "y ~ np.where(a > 0, 1, 2)"])
def test_missing_is_not_false(data: pd.DataFrame, formula: str) -> None:
    data.loc["row5", "a"] = np.nan
    design = build_design(formula, data)
    assert design.dropped.labels.tolist() == ["row5"]
    assert np.isnan(design.spec.matrix(data)[0][5]).all()


def test_filled_holes_are_used(data: pd.DataFrame) -> None:
    data.loc["row5", "a"] = np.nan
    design = build_design("y ~ a.fillna(0) + {a.fillna(0) > 0}", data)
    assert design.dropped.missing == 0
    assert design.X[5].tolist() == [0.0, 0.0]


def test_duplicate_index_labels(data: pd.DataFrame) -> None:
    data.index = pd.Index(["same"] * N)
    data.iloc[3, data.columns.get_loc("a")] = np.nan
    design = build_design("y ~ a*g + center(b)", data)
    assert len(design.rows) == N - 1
    np.testing.assert_array_equal(design.response.values, np.delete(data["y"].to_numpy(), 3))
    assert len(design.spec.matrix(data)[1]) == N


def test_raise_names_columns_counts_and_rows(data: pd.DataFrame) -> None:
    data.loc[["row1", "row7"], "a"] = np.nan
    data.loc["row3", "g"] = None
    with pytest.raises(
        DataError, match=r"3 of 24 rows .* a \(2\), g \(1\).*'row1', 'row3', 'row7'"
    ):
        build_design("y ~ .", data, na_action="raise")
    data["b"] = np.inf
    with pytest.raises(DataError, match=r"b \(24\)"):
        build_design("y ~ b", data, na_action="raise")
    with pytest.raises(DataError, match=r"log\(z\) \(1\)"):
        build_design("y ~ log(z)", data.assign(z=[0.0] + [1.0] * (N - 1)), na_action="raise")
    assert len(build_design("y ~ 0 + a", data.dropna(), na_action="raise").rows) == N - 3


def test_no_row_left(data: pd.DataFrame) -> None:
    data["a"] = np.nan
    with pytest.raises(DataError, match=r"no row is left.*a \(24\)"):
        build_design("y ~ .", data)
    with pytest.raises(DataError, match="no rows"):
        build_design("y ~ a", data.head(0))


def test_missing_levels_lose_their_column(data: pd.DataFrame) -> None:
    data.loc[data["g"] == "w", "a"] = np.nan
    assert build_design("y ~ g + a", data).names == ("g[T.v]", "a")


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
        (np.r_[np.nan, np.ones(N - 1)], "1 are not"),
        (np.r_[np.inf, np.ones(N - 1)], "finite"),
        ("g", "'g' must be numeric"),
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
    design = build_design(f"y ~ {terms}", data, keep=keep)
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


# New data


TERMS = [
    "a",
    "center(a)",
    "scale(b) + g",
    "poly(a, 3)",
    "bs(a, df=5)",
    "cr(b, df=3)",
    "g*a",
    "C(n)",
]
TERMS += [
    "standardize(a):C(g, contr.sum)",
    "log(b) + {a**2}",
    "cut",
    "Q('a') + I(b)",
    "2:a + lag(b)",
]


@pytest.mark.parametrize("terms", TERMS)
def test_stored_designs_predict_the_same_bits(data: pd.DataFrame, terms: str) -> None:
    data["n"] = pd.Series([3, 1, 2] * (N // 3), index=data.index, dtype="int8")
    data["cut"] = pd.cut(data["b"], 3)
    data["a"] = data["a"].astype("float32")
    spec = build_design(f"y ~ {terms}", data).spec
    part = data.iloc[5:15]
    np.testing.assert_array_equal(restored(spec).matrix(part)[0], spec.matrix(part)[0])
    assert restored(spec).to_dict() == spec.to_dict()
    assert restored(spec).names == spec.names
    assert restored(spec).references == spec.references


@pytest.mark.parametrize(
    ("terms", "learned"),
    [
        ("center(a)", "mean"),
        ("scale(a)", "scale"),
        ("bs(a, df=4)", "knots"),
        ("poly(a, 2)", "norm"),
    ],
)
def test_transforms_keep_what_they_learned(data: pd.DataFrame, terms: str, learned: str) -> None:
    design = build_design(f"y ~ {terms}", data)
    one, _ = design.spec.matrix(data.iloc[[7]])
    np.testing.assert_array_equal(one[0], design.X[7], err_msg=learned)


def test_unseen_levels_raise(data: pd.DataFrame) -> None:
    for terms in ("g", "C(g)", "g:a", "C(g, contr.sum)"):
        spec = build_design(f"y ~ {terms}", data).spec
        for new in (data.assign(g="z"), data.assign(g=pd.Categorical(["z"] * N))):
            with pytest.raises(UnseenLevelError, match=r"column 'g'.*'z'; known are 'u', 'v', 'w'"):
                spec.matrix(new)
    number = build_design("y ~ C(n)", data.assign(n=[1, 2] * (N // 2))).spec
    with pytest.raises(UnseenLevelError, match=r"column 'n'.*3"):
        number.matrix({"n": [1, 3]})


def test_levels_may_be_fewer_in_new_data(data: pd.DataFrame) -> None:
    spec = build_design("y ~ g", data).spec
    assert spec.matrix({"g": ["w", "w"]})[0].tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert spec.matrix({"g": "u"})[0].tolist() == [[0.0, 0.0]]


def test_length_and_index_survive_missing_inputs(data: pd.DataFrame) -> None:
    spec = build_design("y ~ a + g + log(b)", data).spec
    new = data.iloc[:6].copy()
    new.index = pd.Index([9, 9, 7, 7, 5, 5], name="key")
    new.iloc[0, 1] = np.nan
    new.iloc[1, 3] = None
    new.iloc[2, 2] = np.inf
    new.iloc[3, 2] = 0.0
    matrix, index = spec.matrix(new)
    assert index.equals(new.index)
    assert index.name == "key"
    assert matrix.shape == (6, 4)
    assert np.isnan(matrix[:4]).all()
    np.testing.assert_array_equal(matrix[4:], build_design("y ~ a + g + log(b)", data).X[4:6])


def test_new_data_of_missing_values_only(data: pd.DataFrame) -> None:
    spec = build_design("y ~ a + g + bs(b, df=4)", data).spec
    new = pd.DataFrame({"a": [None, 1.0], "g": ["u", None], "b": [None, None]})
    assert np.isnan(spec.matrix(new)[0]).all()
    assert spec.matrix(data.head(0))[0].shape == (0, len(spec.names))


def test_kinds_of_new_columns(data: pd.DataFrame) -> None:
    data["t"] = ["1", "2"] * (N // 2)
    spec = build_design("y ~ a + t + center(b)", data).spec
    with pytest.raises(DataError, match="'a' must be numeric"):
        spec.matrix(data.assign(a="high"))
    with pytest.raises(DataError, match="'b' must be numeric"):
        spec.matrix(data.assign(b="high"))
    with pytest.raises(UnseenLevelError, match="column 't'"):
        spec.matrix(data.assign(t=1))
    as_objects = data.assign(a=data["a"].astype(object), b=data["b"].astype(object))
    np.testing.assert_array_equal(spec.matrix(as_objects)[0], spec.matrix(data)[0])


def test_absent_columns_are_named(data: pd.DataFrame) -> None:
    spec = build_design("y ~ a + log(b)", data).spec
    with pytest.raises(DataError, match=r"needs: 'a'"):
        spec.matrix(data[["b"]])
    with pytest.raises(DataError, match=r"needs: 'b'; did you mean bb"):
        spec.matrix(data.rename(columns={"b": "bb"}))


def test_part_of_the_columns_needs_part_of_the_inputs(data: pd.DataFrame) -> None:
    design = build_design("y ~ a + b + g + poly(b, 2) + a:g", data)
    wanted = [5, 0, 2]
    matrix, _ = design.spec.matrix(data, wanted)
    np.testing.assert_array_equal(matrix, design.X[:, wanted])
    only, _ = design.spec.matrix(data[["a"]], [0])
    np.testing.assert_array_equal(only[:, 0], data["a"])
    hole = data.assign(b=np.nan)
    assert np.isfinite(design.spec.matrix(hole, [0, 2])[0]).all()
    assert design.spec.matrix(data, [])[0].shape == (N, 0)
    mask = np.arange(len(design.names)) % 2 == 0
    np.testing.assert_array_equal(design.spec.matrix(data, mask)[0], design.X[:, mask])
    np.testing.assert_array_equal(design.spec.matrix(data, [2, 2])[0], design.X[:, [2, 2]])


def test_a_spec_holds_no_training_data() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 3)), columns=["y", "a", "b"])
    frame["g"] = rng.choice(["u", "v"], 2000)
    spec = build_design("y ~ a + scale(b) + g + bs(a, df=5)", frame).spec
    assert len(json.dumps(spec.to_dict())) < 5000


def test_unknown_format_is_refused(data: pd.DataFrame) -> None:
    stored = build_design("y ~ a", data).spec.to_dict() | {"format": 99}
    with pytest.raises(DataError, match="format 99"):
        DesignSpec.from_dict(stored)


# Context and security


def test_context_gives_names(data: pd.DataFrame) -> None:
    def double(x: pd.Series) -> pd.Series:
        return 2 * x

    design = build_design("y ~ double(a) + {b * k}", data, context={"double": double, "k": 3.0})
    np.testing.assert_array_equal(design.X, np.c_[2 * data["a"], 3 * data["b"]])
    again = restored(design.spec, {"double": double})
    np.testing.assert_array_equal(again.matrix(data)[0], design.X)
    with pytest.raises(FormulaError, match=r"'double'.*context="):
        restored(design.spec).matrix(data)


def test_the_callers_names_are_not_visible(data: pd.DataFrame) -> None:
    secret = 3.0
    assert secret
    with pytest.raises(FormulaError, match="'secret'"):
        build_design("y ~ {a * secret}", data)


@pytest.mark.parametrize(
    "code",
    [
        "open('x')",
        "eval('1')",
        "__import__('os').getcwd()",
        "a.__class__.mro()",
        "I(a.__class__)",
        "sorted(a, key=print)",
        "[exec for i in a]",
        "a._mgr.nblocks()",
    ],
)
def test_code_that_reaches_outside_is_refused(data: pd.DataFrame, code: str) -> None:
    with pytest.raises(FormulaError):
        build_design(f"y ~ {{{code}}}", data)
    stored = build_design("y ~ I(a)", data).spec.to_dict()
    stored["coding"]["terms"][1]["pieces"] = [[code, "python"]]
    stored["coding"]["terms"][1]["scopes"] = [[[[code, False]], 1]]
    with pytest.raises(FormulaError):
        DesignSpec.from_dict(stored).matrix(data)


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
        ("y ~ 1", "no predictors"),
        ("y ~ 0", "no predictors"),
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
    import robustsparse.formulas.coding as coding

    seen: list[str] = []
    evaluate = coding.Evaluator._evaluate

    def counting(self: coding.Evaluator, piece: coding.Piece) -> Any:
        seen.append(piece.expr)
        return evaluate(self, piece)

    monkeypatch.setattr(coding.Evaluator, "_evaluate", counting)
    design: Design = build_design("y ~ . - `probe/1-at` + log(`probe/2-at`**2)", wide(6, 500))
    assert len(design.names) == 500
    assert set(seen) <= {"y", "1", "log(`probe/2-at` ** 2)"}
