"""What code in a formula gets: numbers that do not overflow, truth values that count, levels that rows have."""

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.errors import DataError, FormulaError, UnseenLevelError
from robustsparse.design.build import build_design

N = 24


@pytest.fixture
def data() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    levels = rng.permutation(["u", "v", "x"] * (N // 3))
    return pd.DataFrame(
        {
            "y": rng.normal(size=N),
            "a": rng.normal(size=N),
            "large": rng.integers(3_000_000, 4_000_000, N),
            "small": rng.integers(1, 4, N),
            "p": rng.random(N) < 0.5,
            "q": rng.random(N) < 0.5,
            "h": pd.Categorical(levels, categories=["w", "u", "v", "x", "z"]),
            "text": levels,
        }
    )


@pytest.mark.parametrize("formula", ["y ~ {large**3}", "y ~ large:l2:l3", "y ~ {large * l2 * l3}"])
def test_products_of_whole_numbers_do_not_overflow(formula: str, data: pd.DataFrame) -> None:
    data = data.assign(l2=data["large"], l3=data["large"])
    expected = data["large"].astype(float) ** 3
    design = build_design(formula, data)
    np.testing.assert_allclose(design.X[:, 0], expected, rtol=1e-14)
    new, _ = design.spec.matrix(data.iloc[:3])
    np.testing.assert_array_equal(new, design.X[:3])


def test_a_response_made_of_whole_numbers_does_not_overflow(data: pd.DataFrame) -> None:
    design = build_design("{large**3} ~ a", data)
    np.testing.assert_allclose(design.response.values, data["large"].astype(float) ** 3)


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("y ~ C(small)", ("C(small)[T.2]", "C(small)[T.3]")),
        ("y ~ {small.astype(str)}", ("small.astype(str)[T.2]", "small.astype(str)[T.3]")),
    ],
)
def test_levels_of_whole_numbers_are_whole(
    formula: str, names: tuple[str, ...], data: pd.DataFrame
) -> None:
    assert build_design(formula, data).names == names


def test_what_floats_cannot_do_whole_numbers_do(data: pd.DataFrame) -> None:
    design = build_design("y ~ {small & 1} + {~p} + {small.astype(str).str.len()}", data)
    assert design.X[:, 0].tolist() == (data["small"] & 1).tolist()
    assert design.X[:, 1].tolist() == (~data["p"]).astype(float).tolist()
    assert (design.X[:, 2] == 1.0).all()


def test_a_function_of_the_users_own_gets_the_types_of_the_data(data: pd.DataFrame) -> None:
    seen = []

    def told(column: pd.Series) -> pd.Series:
        seen.append(column.dtype)
        return column * 1.0

    build_design("y ~ told(small)", data, context={"told": told})
    assert set(seen) == {np.dtype(np.int64)}


def test_truth_values_are_counted(data: pd.DataFrame) -> None:
    design = build_design("y ~ {p + q} + {p - q}", data)
    p, q = data["p"].to_numpy(dtype=float), data["q"].to_numpy(dtype=float)
    np.testing.assert_array_equal(design.X, np.column_stack([p + q, p - q]))


def test_a_sum_of_comparisons_is_refused(data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError, match=r"adds truth values.*1 \* \(a > 0\)"):
        build_design("y ~ {(a > 0) + (y > 0)}", data)


# Levels


def test_a_category_without_rows_is_no_level(data: pd.DataFrame) -> None:
    design = build_design("y ~ h", data)
    assert (design.names, design.references) == (("h[T.v]", "h[T.x]"), {"h": "u"})
    np.testing.assert_array_equal(design.X, build_design("y ~ text", data).X)


def test_a_category_whose_rows_are_left_out_is_no_level(data: pd.DataFrame) -> None:
    data.loc[data["text"] == "u", "a"] = np.nan
    design = build_design("y ~ a + h", data)
    assert (design.names, design.references) == (("a", "h[T.x]"), {"h": "v"})


def test_new_rows_may_have_more_categories_but_no_unknown_level(data: pd.DataFrame) -> None:
    spec = build_design("y ~ h", data).spec
    matrix, _ = spec.matrix(data.iloc[:4])
    assert matrix.tolist() == [[x == "v", x == "x"] for x in data["text"][:4]]
    unknown = data.iloc[:2].assign(h=pd.Categorical(["w", "u"], categories=["w", "u"]))
    with pytest.raises(UnseenLevelError, match="'w'"):
        spec.matrix(unknown)


def test_codes_of_categories_number_all_of_them(data: pd.DataFrame) -> None:
    design = build_design("y ~ {h.cat.codes}", data)
    assert sorted(set(design.X[:, 0])) == [1.0, 2.0, 3.0]
    new, _ = design.spec.matrix(data.iloc[:5])
    np.testing.assert_array_equal(new, design.X[:5])


def test_a_reference_that_no_row_has_is_refused(data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError, match="no row in use has the level 'w'"):
        build_design("y ~ C(h, Treatment('w'))", data)


def test_the_data_keep_their_categories(data: pd.DataFrame) -> None:
    before = data.copy(deep=True)
    build_design("y ~ . + {large**2}", data)
    pd.testing.assert_frame_equal(data, before)


# What R writes in another way


@pytest.mark.parametrize("formula", ["y ~ I(small^2)", "y ~ {a ^ 2}", "{y ^ 2} ~ a"])
def test_a_power_in_code_has_two_stars(formula: str, data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError, match=r"write a power as \*\*"):
        build_design(formula, data)


def test_an_exclusive_or_of_truth_values_is_one(data: pd.DataFrame) -> None:
    design = build_design("y ~ {p ^ q}", data)
    assert design.X[:, 0].tolist() == (data["p"] ^ data["q"]).astype(float).tolist()


@pytest.mark.parametrize(
    ("formula", "remedy"),
    [
        ("y ~ a + offset(large)", "argument of the call.*offset='x'"),
        ("y ~ a | h", "no random effects; cluster="),
        ("y ~ a + (1 | h)", "no random effects; cluster="),
        ("Y ~ a", "did you mean y"),
    ],
)
def test_the_remedy_is_said(formula: str, remedy: str, data: pd.DataFrame) -> None:
    with pytest.raises(FormulaError, match=remedy):
        build_design(formula, data)


def test_numbers_with_a_decimal_comma_are_no_levels(data: pd.DataFrame) -> None:
    data["price"] = [f"{value:.3f}".replace(".", ",") for value in data["a"]]
    with pytest.raises(DataError, match=r"'price'.*str\.replace\(',', '\.'\)"):
        build_design("y ~ price", data)
    data.loc[0, "price"] = "none"
    with pytest.raises(DataError, match="but not in rows 0: 'none'; mend these"):
        build_design("y ~ price", data)
