"""Small classic data with every column in the model: `rht` is then an MM-regression, like robustbase's."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs

REFERENCE = Path(__file__).parents[1] / "reference"
# Two programs solve the same equations, each to a small part of the scale of the residuals.
TOLERANCE = 1e-4
SETS = ["hbk", "stackloss", "starsCYG", "coleman", "wood"]


def read(name: str) -> tuple[pd.DataFrame, pd.Series, float]:
    """Data with rows numbered as in the books, residuals and scale of `lmrob`."""
    table = pd.read_csv(REFERENCE / f"lmrob_{name}.csv")
    table.index += 1
    terms = pd.read_csv(REFERENCE / "lmrob_terms.csv")
    scale = float(terms.loc[terms["dataset"] == name, "scale"].iloc[0])
    return table.drop(columns=["resid", "weight"]), table["resid"], scale


@pytest.mark.parametrize("epsilon", [0.1, 0.2, "auto"])
@pytest.mark.parametrize("name", SETS)
def test_fitted_values_are_those_of_lmrob(name: str, epsilon: float) -> None:
    data, resid, scale = read(name)
    fit = rs.rht("y ~ .", data, k=data.shape[1] - 1, epsilon=epsilon)
    assert np.abs(fit.resid - resid).max() < TOLERANCE * scale
    assert abs(fit.scale - scale) < TOLERANCE * scale
    assert fit.outliers("response") == list(resid.index[resid.abs() > 3 * scale])


def test_hawkins_bradu_and_kass() -> None:
    data, _, _ = read("hbk")
    fit = rs.rht("y ~ .", data, k=3)
    # Ten outliers far out, and four rows as far out that follow the model.
    assert fit.outliers("response") == list(range(1, 11))
    assert fit.outliers("leverage") == list(range(1, 15))
    assert (fit.diagnostics["flag"].loc[11:14] == "leverage").all()
    assert (fit.row_weights.loc[1:10] == 0).all()


def test_stackloss() -> None:
    data, _, _ = read("stackloss")
    fit = rs.rht("y ~ .", data, k=3)
    assert {4, 21} <= set(fit.outliers("response"))
    # Least squares bends to the four suspicious rows; the robust fit leaves these the smallest weights but one.
    assert {1, 3, 4, 21} <= set(fit.row_weights.nsmallest(5).index)
