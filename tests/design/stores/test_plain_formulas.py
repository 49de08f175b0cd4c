"""Formulas that only name columns mean what they mean where the table is in memory."""

import numpy as np
import pandas as pd
import pytest

from robustsparse.base.errors import FormulaError
from robustsparse.design.build import build_design
from robustsparse.design.stores.plain_formulas import PlainFormula

COLUMNS = ["y", "a", "b c", "x~z", "d"]


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ .",
        "y ~ -1 + .",
        "y ~ + a",
        "y ~ 0 + d + a",
        "y ~ . - `b c`",
        "`x~z` ~ a",
        "y ~ . - a + a",
    ],
)
def test_a_formula_means_what_it_means_in_memory(formula: str) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(6, len(COLUMNS))), columns=COLUMNS)
    design = build_design(formula, table)
    plain = PlainFormula.of(formula, COLUMNS)
    assert plain.response == design.response.name
    assert set(plain.predictors) == set(design.names)
    assert plain.intercept == design.intercept


def test_the_response_is_no_term() -> None:
    with pytest.raises(FormulaError, match="response 'y' is also a term"):
        PlainFormula.of("y ~ a + y", COLUMNS)


@pytest.mark.parametrize("formula", ["y", "y ~ ", "", "y ~ a +", "y a"])
def test_what_is_no_formula_is_refused(formula: str) -> None:
    with pytest.raises(FormulaError, match="is no formula"):
        PlainFormula.of(formula, COLUMNS)
