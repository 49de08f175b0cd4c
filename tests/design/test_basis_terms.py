"""The variables behind splines and polynomials are found in a formula."""

import numpy as np
import pandas as pd
import pytest

from robustsparse.design.build import build_design

N = 40


@pytest.fixture
def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 4)), columns=["y", "x", "z", "a b"])
    frame["g"] = rng.choice(["u", "v", "w"], N)
    frame["pos"] = np.exp(frame["x"])
    return frame


@pytest.mark.parametrize(
    ("formula", "variables", "columns"),
    [
        ("bs(x, df=5) + z", ["x"], 5),
        ("z + cr(x, df=4) + poly(z, 2)", ["x", "z"], 7),
        ("cc(`a b`, df=4)", ["a b"], 4),
        ("bs(log(pos), df=4)", ["x"], 4),
        ("bs(data=z, df=4)", ["z"], 4),
        ("x + poly(x, 2)", ["x"], 3),
        ("bs(x, df=4):z", ["x", "z"], 4),
        ("z + 2:bs(x, df=4):z", ["z", "x"], 5),
        ("bs(x, df=4):g", ["x"], 12),
        ("poly(x, 2)*poly(z, 2)", ["x", "z"], 8),
    ],
)
def test_what_columns_are_made_of(
    formula: str, variables: list[str], columns: int, data: pd.DataFrame
) -> None:
    bases = build_design(f"y ~ {formula}", data).bases
    assert bases is not None
    found = {tuple(np.round(column, 9)) for column in bases.variables.T}
    assert found == {tuple(np.round(data[name], 9)) for name in variables}
    assert bases.columns.sum() == columns


@pytest.mark.parametrize("formula", [".", "x*z + g", "I(x**2) + np.exp(z)", "center(x):z", "1"])
def test_other_terms_have_none(formula: str, data: pd.DataFrame) -> None:
    assert build_design(f"y ~ {formula}", data).bases is None


def test_rows_that_are_dropped_are_dropped_there_too(data: pd.DataFrame) -> None:
    data.loc[[3, 7], "x"] = np.nan
    data.loc[11, "z"] = np.inf
    design = build_design("y ~ bs(x, df=4) + z", data)
    assert design.bases is not None
    kept = data["x"].drop([3, 7, 11])
    assert design.bases.variables.ravel().tolist() == kept.tolist()
