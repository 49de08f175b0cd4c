"""Rows are judged by the variable of a spline, not by its columns."""

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs

FORMULAS = [
    "bs(x, df=6) + z",
    "cr(x, df=7) + z",
    "cc(x, df=7) + z",
    "poly(x, 6) + z",
    "z + bs(x, df=6):g",
    "bs(x, df=6) + bs(x, df=6):z",
]


def curve(seed: int, n: int = 300) -> pd.DataFrame:
    """A clean curve."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.uniform(-2, 2, n), "z": rng.normal(size=n)})
    data["g"] = rng.choice(["a", "b"], n)
    data["y"] = np.sin(2 * data["x"]) + data["z"] + 0.3 * rng.normal(size=n)
    return data


@pytest.mark.parametrize("formula", FORMULAS)
def test_few_rows_of_clean_data_are_flagged(formula: str) -> None:
    flagged = []
    for seed in range(5):
        fit = rs.rht(f"y ~ {formula}", curve(seed))
        # Of normal values of z a few are always far.
        assert len(fit.outliers("leverage")) <= 3
        flagged.append(len(fit.outliers()) / fit.nobs)
    assert np.mean(flagged) < 0.02
    assert max(flagged) <= 0.03


def test_far_values_of_the_variable_are_found() -> None:
    for seed in range(5):
        data = curve(seed)
        data.loc[:14, "x"] = np.random.default_rng(seed).uniform(12, 15, 15)
        data.loc[:14, "y"] = -5.0
        fit = rs.rht("y ~ bs(x, df=6) + z", data)
        assert set(range(15)) <= set(fit.outliers("leverage"))
        assert len(fit.outliers("leverage")) <= 15 + 3


def test_the_curve_is_as_good_as_that_of_least_squares() -> None:
    """Rows at the ends of the curve count, as the error there shows, over seeds."""
    grid = pd.DataFrame({"x": np.linspace(-1.9, 1.9, 40), "z": 0.0})
    errors = []
    for seed in range(5):
        data = curve(seed)
        fit = rs.rht("y ~ bs(x, df=6) + z", data)
        errors.append(np.sqrt(np.mean((fit.predict(grid) - np.sin(2 * grid["x"])) ** 2)))
    # Six columns, a slope and an intercept, of 300 rows with noise 0.3.
    assert np.mean(errors) < 1.6 * 0.3 * np.sqrt(8 / 300)


def test_columns_one_by_one_are_judged_alike() -> None:
    together = rs.rht("y ~ bs(x, df=6) + z", curve(0))
    single = rs.rht("y ~ bs(x, df=6) + z", curve(0), group_terms=False)
    assert single.outliers("leverage") == together.outliers("leverage")


def test_what_fits_again_knows_the_variable() -> None:
    data = curve(1)
    fit = rs.rht("y ~ bs(x, df=6) + z", data)
    crossed = fit.cross_validate(folds=4)
    assert crossed.score() > 0.9
    halves = fit.conf_int(method="split", splits=4)
    assert np.isfinite(halves.loc["z"]).all()
    both = data.assign(event=(data["y"] > 0).astype(int))
    two = rs.rht("event ~ bs(x, df=5) + z", both, family="binomial")
    assert not two.outliers("leverage")
    assert np.isfinite(two.conf_int(method="split", splits=4)).all(axis=None)


def test_columns_that_a_user_puts_together_are_judged_as_they_are() -> None:
    data = curve(2)
    far = data.assign(w=np.where(np.arange(300) < 5, 40.0, data["z"]))
    fit = rs.rht("y ~ x + z + w", far, groups={"both": ["z", "w"]})
    assert set(range(5)) <= set(fit.outliers("leverage"))
