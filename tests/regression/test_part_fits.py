"""Fits to parts of the rows that share what the fit to all of them found out."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.inference import bootstrap
from robustsparse.regression.part_fits import PartFits
from robustsparse.regression.resampling import Study, make_study, selecting

# Iterations that begin where they ended before move by no more, in units of the coefficients.
SETTLED = 1e-5


def fits_of(data: pd.DataFrame, **options: Any) -> tuple[Study, Any, PartFits]:
    study = make_study("y ~ .", data, selecting(options), bootstrap)
    return (study, *study.whole(0))


def drawn(attack: str | None = "paper", seed: int = 0, n: int = 160, d: int = 30) -> pd.DataFrame:
    epsilon = 0.1 if attack else 0.0
    return rs.simulate.linear(n=n, d=d, k=3, epsilon=epsilon, attack=attack, rng=seed).data


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": 2},
        {"k": [1, 2, 3]},
        {"select": "ebic"},
        {"keep": "x7"},
        {"weights": "x1", "offset": "x2"},
        {"group_terms": True, "keep": "x7"},
        {"loss": "huber"},
    ],
)
def test_the_part_that_is_everything_is_the_fit_itself(options: dict[str, Any]) -> None:
    data = drawn()
    data["x1"] = np.abs(data["x1"]) + 0.1
    study, full, fits = fits_of(data, **options)
    part = fits.fit(np.arange(study.n), 1)
    assert sorted(part.terms()) == sorted(full.terms())
    coef = full.coef()
    assert np.abs(part.coef().reindex(coef.index).fillna(0.0) - coef).max() < SETTLED


def test_two_classes() -> None:
    sim = rs.simulate.logistic(n=240, d=12, k=2, epsilon=0.05, rng=3)
    study, full, fits = fits_of(sim.data, family="binomial")
    part = fits.fit(np.arange(study.n), 1)
    assert sorted(part.terms()) == sorted(full.terms())
    assert np.abs(part.coef()[full.coef().index] - full.coef()).max() < 1e-3


@pytest.mark.parametrize("options", [{"refit": False, "k": 3}, {"goal": "predict"}])
def test_other_ways_to_fit_begin_anew(options: dict[str, Any]) -> None:
    study, full, fits = fits_of(drawn(), **options)
    rows = np.arange(study.n)
    part, anew = fits.fit(rows[::2], 1), study.fit(rows[::2], 1)
    assert set(anew.terms()) & set(part.terms()) >= set(full.terms()[:3])


def test_halves_come_to_what_fits_from_the_beginning_come_to() -> None:
    """Of data that are not at the edge of what can be told, where either way finds the terms."""
    apart, same = [], []
    for seed, attack in enumerate(["paper", "shift_y", None, "leverage"] * 2):
        study, _, fits = fits_of(drawn(attack, seed))
        rows = np.sort(np.random.default_rng(seed).permutation(study.n)[: study.n // 2])
        part, anew = fits.fit(rows, 1), study.fit(rows, 1)
        same.append(set(part.terms()) == set(anew.terms()))
        common = [name for name in part.coef().index if name in anew.bse.index]
        apart += list((part.coef() - anew.coef())[common].abs() / anew.bse[common])
    assert np.mean(same) >= 0.75
    # In standard errors: most are the same to rounding, the others differ by a row at the edge.
    assert np.median(apart) < 0.05
    assert np.max(apart) < 2.0


def test_columns_that_a_part_makes_constant_have_no_coefficient() -> None:
    data = drawn(None, n=100, d=6)
    data["x1"] = (np.arange(len(data)) % 10 == 0).astype(float)
    data["y"] += 4.0 * data["x1"]
    for options in ({}, {"keep": "x1"}, {"k": 3, "refit": False}):
        study, full, fits = fits_of(data, **options)
        assert "x1" in full.coef().index
        rows = np.flatnonzero(study.columns[:, study.names.index("x1")] == 0.0)
        part = fits.fit(rows, 1)
        assert "x1" not in part.coef().index
        assert "x1" not in part.terms()
        assert np.isfinite(part.coef()).all()


def test_rows_are_judged_anew() -> None:
    """A row that is bad among all rows is a good one where all others are like it."""
    rng = np.random.default_rng(0)
    n, other = 120, 24
    data = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    data["y"] = 2.0 * data["a"] + 0.3 * rng.normal(size=n)
    data.loc[: other - 1, "y"] = -2.0 * data.loc[: other - 1, "a"] + 0.3 * rng.normal(size=other)
    _, full, fits = fits_of(data)
    assert full.coef()["a"] > 1.5
    assert fits.fit(np.arange(other + 8), 1).coef()["a"] < -1.5


def test_parts_do_not_change_what_they_share() -> None:
    study, _, fits = fits_of(drawn())
    before = fits.problem.XT.copy()
    rows = np.arange(0, study.n, 2)
    first = fits.fit(rows, 1).coef()
    fits.fit(np.arange(1, study.n, 2), 2)
    assert np.array_equal(fits.problem.XT, before)
    assert fits.fit(rows, 1).coef().equals(first)


def test_missing_cells_are_filled_once_and_make_rows_less_certain() -> None:
    data = drawn(None, seed=4)
    rng = np.random.default_rng(0)
    data = data.mask(rng.random(data.shape) < 0.03).assign(y=data["y"])
    study, full, fits = fits_of(data, na_action="impute")
    whole = rs.rht("y ~ .", data, na_action="impute")
    assert full.coef().equals(whole.coef()) or np.allclose(full.coef(), whole.coef(), atol=SETTLED)
    assert fits.problem.certainty is not None
    part = fits.fit(np.arange(study.n), 1)
    assert np.abs(part.coef()[full.coef().index] - full.coef()).max() < SETTLED


def test_terms_of_several_columns_are_told_by_name() -> None:
    data = drawn(None, d=5).assign(g=lambda frame: np.resize(["u", "v", "w"], len(frame)))
    data["y"] += 3.0 * (data["g"] == "v") - 3.0 * (data["g"] == "w")
    study, full, fits = fits_of(data)
    part = fits.fit(np.arange(0, study.n, 2), 1)
    assert "g" in full.terms()
    assert "g" in part.terms()
    assert {"g[T.v]", "g[T.w]"} <= set(part.coef().index)
