"""Levels of intervals, and the distributions that they and the p-values come from."""

import numpy as np
import pytest
from scipy.stats import norm, t

from robustsparse.base.errors import ParameterError
from robustsparse.regression.wald import check_level, p_values, quantile


def test_a_level_is_a_level_or_one_less_alpha() -> None:
    assert check_level(0.5) == 0.5
    assert check_level(1.0) == 1.0
    assert check_level(0.95, alpha=0.5) == 0.5
    assert check_level(0.95, 0.1) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 0.05}, "use level=0.95, or alpha=0.05"),
        ({"level": 0.95, "alpha": 0.95}, "use alpha=0.05, or level=0.95"),
        ({"level": 0.9, "alpha": 0.1}, "give one of them"),
        ({"level": 0.95, "alpha": -0.1}, "alpha"),
        ({"level": 0.95, "alpha": "5%"}, "alpha"),
        ({"level": 95}, "level"),
    ],
)
def test_a_level_that_cannot_be_meant_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        check_level(**arguments)


@pytest.mark.parametrize("df", [1.0, 2.5, 30.0, 1e6, None])
def test_quantiles_and_p_values_belong_together(df: float | None) -> None:
    law = norm() if df is None else t(df)
    for level in (0.5, 0.95, 0.999):
        margin = quantile(level, df)
        assert margin == pytest.approx(law.ppf(0.5 + 0.5 * level))
        np.testing.assert_allclose(p_values(np.array([margin, -margin]), df), 1.0 - level)
    values = p_values(np.array([0.0, 40.0, np.inf, np.nan]), df)
    np.testing.assert_allclose(values, [1.0, 2 * law.sf(40.0), 0.0, np.nan])
