"""Designs are what formulaic itself would give: same columns, same names, same order, same bits."""

import numpy as np
import pandas as pd
import pytest
from formulaic import Formula

from robustsparse.design.build import build_design

N = 60

FORMULAS = [
    "y ~ .",
    "y ~ (. - g - h - flag)**2",
    "y ~ .:. - g:h",
    "y ~ . - a",
    "y ~ . - 1",
    "y ~ 0 + .",
    "y ~ . - g - h",
    "y ~ . + a:b",
    "y ~ . + a:g",
    "y ~ a + .",
    "y ~ . + I(a**2)",
    "y ~ . + {a**2} - b",
    "log(pos) ~ .",
    "y ~ . - a + log(pos):g",
    "y ~ (a + b + g)**2",
    "y ~ (. - h - flag)**2",
    "y ~ .:g - g:g",
    "y ~ a*b",
    "y ~ a*g",
    "y ~ a:g",
    "y ~ g:a - 1",
    "y ~ g*h",
    "y ~ g:h - 1",
    "y ~ g/a",
    "y ~ a + b + g + h",
    "y ~ b + a - 1",
    "y ~ C(i)",
    "y ~ C(i) - 1",
    "y ~ C(g, Treatment('w'))",
    "y ~ C(g, contr.sum) + a",
    "y ~ C(g, contr.helmert):b",
    "y ~ poly(a, 3)",
    "y ~ poly(a, 2, raw=True):g",
    "y ~ bs(a, df=5) + b",
    "y ~ bs(b, df=4, degree=2):g",
    "y ~ cr(b, df=4)",
    "y ~ center(pos) + scale(b)",
    "y ~ np.exp(b) + np.sqrt(pos)",
    "y ~ flag + flag:a",
    "y ~ 2:a + b",
    "y ~ `with space` + `x/y-z`",
    "y ~ log(`with space`**2):g",
    "y ~ Q('with space') + a",
    "y ~ a.fillna(0) + b",
    "y ~ g.str.upper() + a",
]
# A lag looks at other rows, so that it cannot be computed again on part of the data.
FORMULAS_OF_ORDER = ["y ~ lag(b) + a"]


@pytest.fixture(scope="module")
def clean() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "g": pd.Series(rng.choice(["u", "v", "w"], N), dtype=object),
            "y": rng.normal(size=N),
            "b": rng.normal(size=N),
            "i": rng.integers(0, 3, N),
            "pos": rng.uniform(1, 9, N),
            "h": pd.Categorical(rng.choice(["lo", "hi"], N), categories=["lo", "hi", "none"]),
            "flag": rng.random(N) < 0.5,
            "with space": rng.normal(size=N),
            "x/y-z": rng.integers(-5, 5, N),
        }
    )


@pytest.fixture(scope="module")
def holes(clean: pd.DataFrame) -> pd.DataFrame:
    data = clean.copy()
    for k, name in enumerate(["a", "g", "y", "h", "with space"]):
        data.loc[[3 + 5 * k, 4 + 9 * k], name] = None
    return data


def reference(formula: str, data: pd.DataFrame) -> tuple[np.ndarray, pd.DataFrame]:
    # Formulaic codes levels that no row has; here, as in R, they are left out.
    data = data.assign(h=data["h"].cat.remove_unused_categories()) if "h" in data else data
    context = {"__formulaic_variables_available__": list(data)}
    matrices = Formula(formula, _context=context).get_model_matrix(data)
    return np.asarray(matrices.lhs, dtype=float)[:, 0], pd.DataFrame(matrices.rhs)


@pytest.mark.parametrize("formula", FORMULAS + FORMULAS_OF_ORDER)
@pytest.mark.parametrize("frame", ["clean", "holes"])
def test_same_design(formula: str, frame: str, request: pytest.FixtureRequest) -> None:
    data = request.getfixturevalue(frame)
    y, expected = reference(formula, data)
    design = build_design(formula, data)
    names = [name for name in expected.columns if name != "Intercept"]
    assert design.intercept == ("Intercept" in expected.columns)
    assert list(design.names) == names
    np.testing.assert_array_equal(design.X, expected[names].to_numpy(dtype=float))
    np.testing.assert_array_equal(design.response.values, y)
    assert design.rows.tolist() == expected.index.tolist()
    assert design.dropped.missing == len(data) - len(expected)


@pytest.mark.parametrize("formula", FORMULAS)
def test_same_design_again_on_part_of_the_data(formula: str, clean: pd.DataFrame) -> None:
    train = build_design(formula, clean)
    part = clean.sample(15, random_state=1)
    expected = pd.DataFrame(train.X, columns=train.names).loc[part.index]
    matrix, index = train.spec.matrix(part)
    np.testing.assert_array_equal(matrix, expected.to_numpy())
    assert index.equals(part.index)


@pytest.mark.parametrize("formula", ["y ~ .", "y ~ . - `p/7_at` + `p/3_at`:g", "y ~ `p/3_at` + ."])
def test_wide_data(formula: str) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(12, 600)), columns=[f"p/{j}_at" for j in range(600)])
    data.insert(0, "y", rng.normal(size=12))
    data.insert(300, "g", ["r", "s", "t"] * 4)
    _, expected = reference(formula, data)
    design = build_design(formula, data)
    assert ["Intercept", *design.names] == list(expected.columns)
    np.testing.assert_array_equal(design.X, expected.iloc[:, 1:].to_numpy(dtype=float))
