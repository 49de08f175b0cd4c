"""Models of other sizes than the chosen one: those of the path, and the same as with that k."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs

FORMULA = "y ~ x0 + x1 + x2 + x3 + x4 + g"
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "keep": {"keep": ["x3"]},
    "weights and offset": {"weights": "w", "offset": "o"},
    "no intercept": {"intercept": False},
    "columns": {"group_terms": False},
    "groups": {"groups": {"pair": ["x0", "x3"]}},
    "epsilon": {"epsilon": "auto"},
    "cv": {"select": "cv"},
    "gic": {"select": "gic"},
}


def frame(family: str, n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(n, 5)), columns=[f"x{j}" for j in range(5)])
    data["g"] = rng.choice(["a", "b", "c"], n)
    data["w"], data["o"] = rng.uniform(0.5, 2.0, n), 0.3 * rng.normal(size=n)
    eta = 2.0 * data["x0"] - 1.5 * data["x1"] + 2.0 * (data["g"] == "b")
    if family == "binomial":
        return data.assign(y=(rng.uniform(size=n) < 1 / (1 + np.exp(1 - eta))).astype(int))
    data["y"] = 1.0 + eta + 0.5 * rng.normal(size=n)
    data.loc[:6, "y"] = 20.0
    return data


@pytest.mark.parametrize("family", ["gaussian", "binomial"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_a_given_k_is_the_member_of_the_path(family: str, options: dict[str, Any]) -> None:
    data = frame(family)
    automatic = rs.rht(FORMULA, data, family, n_jobs=1, **options)
    assert len(automatic.members) > 4
    for k in automatic.members:
        given = rs.rht(FORMULA, data, family, k=k, n_jobs=1, **options)
        pd.testing.assert_series_equal(
            given.coef(zeros=True), automatic.coef(zeros=True, k=k), check_exact=True
        )
        pd.testing.assert_series_equal(given.predict(data), automatic.predict(data, k=k))
        assert given.terms() == automatic.terms(k)
        mine, theirs = given.summary(), automatic.summary(k)
        pd.testing.assert_frame_equal(mine.table, theirs.table)
        assert mine.notes == theirs.notes or k == automatic.k


@pytest.mark.parametrize("goal", ["select", "predict"])
def test_members_are_stored(goal: Any, tmp_path: Path) -> None:
    data = frame("gaussian")
    fit = rs.rht(FORMULA, data, goal=goal, n_jobs=1)
    fit.save(tmp_path / "model.rs")
    for again in (rs.load(tmp_path / "model.rs"), pickle.loads(pickle.dumps(fit))):
        assert list(again.members) == list(fit.members)
        for k in fit.members:
            assert str(again.summary(k)) == str(fit.summary(k))
            np.testing.assert_array_equal(again.predict(data, k=k), fit.predict(data, k=k))


def test_sizes_that_are_not_there_are_named_with_a_remedy() -> None:
    data = frame("gaussian")
    fit = rs.rht(FORMULA, data, n_jobs=1)
    with pytest.raises(rs.ParameterError, match=r"k=9 .* models of 0, 1, .* fit again with this k"):
        fit.coef(k=9)
    with pytest.raises(rs.ParameterError, match=r"k=2\.5 must be a whole number"):
        fit.summary(k=2.5)  # type: ignore[arg-type]
    shrunken = rs.rht(FORMULA, data, goal="predict", n_jobs=1)
    with pytest.raises(rs.ParameterError, match=r"k=99 .* take one of these\.$"):
        shrunken.coef(k=99)
    alone = rs.rht(FORMULA, data, k=2, refit=False, n_jobs=1)
    with pytest.raises(rs.ParameterError, match=r"k=1 .* the chosen model alone"):
        alone.coef(k=1)


def test_sizes_may_be_numbers_of_numpy() -> None:
    fit = rs.rht(FORMULA, frame("gaussian"), n_jobs=1)
    for k in (np.int64(1), np.array(1), np.float64(1)):
        assert fit.terms(k) == fit.terms(1)


def test_a_member_cannot_be_changed_from_outside() -> None:
    fit = rs.rht(FORMULA, frame("gaussian"), n_jobs=1)
    asked = fit.coef(k=1)
    asked.iloc[0] = 1e9
    assert fit.coef(k=1).iloc[0] != 1e9


def test_only_the_chosen_model_can_be_unsettled() -> None:
    with pytest.warns(rs.ConvergenceWarning):
        fit = rs.rht(FORMULA, frame("gaussian"), loss="huber", tol=0.0, max_iter=1, n_jobs=1)
    other = next(k for k in fit.members if k != fit.k)
    assert "did not settle" in str(fit.summary())
    assert "did not settle" not in str(fit.summary(other))
