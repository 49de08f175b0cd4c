"""Repeating a fit: what is drawn, that every repetition sees the same columns, and warnings said once."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robustsparse as rs
from robustsparse.base.errors import ContaminationWarning, DataWarning
from robustsparse.inference import bootstrap
from robustsparse.regression.resampling import (
    fits_to_parts,
    make_study,
    repeat,
    seeds_from,
    strata_of,
    two_parts,
)

# Same arithmetic in the same order: only the order of the columns' sums may differ.
ROUNDING = 1e-10

strata_lists = st.lists(st.integers(0, 3), min_size=2, max_size=60).map(np.array)


@given(strata_lists, st.integers(0, 10**6))
def test_halves_are_complementary(strata: np.ndarray, seed: int) -> None:
    first, second = two_parts(strata, 0.5, np.random.default_rng(seed))
    assert np.array_equal(np.sort(np.concatenate([first, second])), np.arange(len(strata)))
    assert abs(len(first) - len(second)) <= 1


@given(strata_lists, st.floats(0.05, 0.5), st.integers(0, 10**6))
def test_parts_have_their_share_of_every_stratum(
    strata: np.ndarray, share: float, seed: int
) -> None:
    parts = two_parts(strata, share, np.random.default_rng(seed))
    assert not set(parts[0]) & set(parts[1])
    for part in parts:
        for stratum in np.unique(strata):
            wanted = share * (strata == stratum).sum()
            # A systematic sample of a run of rows is off by less than one, at each of its two ends.
            assert abs((strata[part] == stratum).sum() - wanted) < 2


def test_every_row_is_equally_likely() -> None:
    strata = np.repeat([0, 1, 2], [20, 5, 1])
    rng = np.random.default_rng(0)
    draws = 4000
    counts = np.zeros(len(strata))
    for _ in range(draws):
        counts[two_parts(strata, 0.3, rng)[1]] += 1
    # Five standard errors of a share of 0.3.
    assert np.abs(counts / draws - 0.3).max() < 5 * np.sqrt(0.3 * 0.7 / draws)


def test_all_rows_give_the_fit_itself() -> None:
    data = rs.simulate.linear(n=79, d=20, k=2, epsilon=0.1, rng=0).data.assign(
        w=np.linspace(0.5, 2, 88), o=np.linspace(-1, 1, 88)
    )
    data.loc[3, "x1"] = np.nan
    options: dict[str, Any] = {"k": 2, "weights": "w", "offset": "o", "keep": "x5"}
    study = make_study("y ~ . - 1", data, options, bootstrap)
    fit = study.fit(np.arange(study.n), 0)
    whole = rs.rht("y ~ . - 1", data, **options)
    assert study.n == 87
    assert fit.support() == whole.support()
    assert fit.kept == ("x5",)
    assert np.abs(fit.params - whole.params).max() < ROUNDING


def test_intercept_can_be_overruled() -> None:
    data = rs.simulate.linear(n=40, d=5, k=1, epsilon=0, rng=0).data
    study = make_study("y ~ .", data, {"intercept": False}, bootstrap)
    assert not study.fit(np.arange(study.n), 0).intercept
    assert make_study("y ~ .", data, {"intercept": None}, bootstrap).fit(np.arange(40), 0).intercept


def test_a_level_that_a_resample_misses_keeps_its_column() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=60), "g": ["a", "b"] * 29 + ["rare"] * 2})
    data["y"] = 2 * data["x"] + 0.1 * rng.normal(size=60)
    study = make_study("y ~ x + g", data, {}, bootstrap)
    fit = study.fit(np.arange(40), 0)
    assert list(fit.params.index) == ["Intercept", *study.names]
    assert fit.constant == ("g[T.rare]",)


def test_terms_given_are_fitted_and_no_others() -> None:
    sim = rs.simulate.linear(n=100, d=30, k=3, epsilon=0.1, rng=2)
    study = make_study("y ~ .", sim.data, {"k": 7}, bootstrap)
    fit = study.fit_terms(np.arange(60), ["x9", "x4"], 0)
    assert list(fit.coef().index) == ["Intercept", "x9", "x4"]
    alone = rs.rht("y ~ x9 + x4", sim.data.iloc[:60], keep=["x9", "x4"], k=0)
    assert np.abs(fit.coef() - alone.coef()[fit.coef().index]).max() < ROUNDING


def test_flagged_rows_are_a_stratum() -> None:
    sim = rs.simulate.linear(n=120, d=20, k=2, epsilon=0.1, attack="shift_y", rng=1)
    study = make_study("y ~ .", sim.data, {}, bootstrap)
    strata = strata_of(study, study.fit(np.arange(study.n), 0))
    bad = set(strata[sim.outlier])
    assert not bad & set(strata[strata == np.bincount(strata).argmax()])


def test_classes_are_strata() -> None:
    sim = rs.simulate.logistic(n=120, d=20, k=2, rng=1)
    study = make_study("y ~ .", sim.data, {"family": "binomial"}, bootstrap)
    strata = strata_of(study, study.fit(np.arange(study.n), 0))
    labels = sim.data["y"].to_numpy()
    assert not set(strata[labels == 0]) & set(strata[labels == 1])


def test_warnings_of_a_kind_are_said_once_with_their_number() -> None:
    def job(seed: int) -> int:
        kind = ContaminationWarning if seed % 2 else DataWarning
        warnings.warn(f"trouble {seed}", kind, stacklevel=1)
        return seed

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert repeat(job, range(5), None) == [0, 1, 2, 3, 4]
    assert [entry.category for entry in caught] == [DataWarning, ContaminationWarning]
    assert "3 warning(s) in 5 repetitions" in str(caught[0].message)
    assert "trouble 1" in str(caught[1].message)


def test_warnings_of_threads_are_collected() -> None:
    def job(seed: int) -> None:
        warnings.warn("trouble", ContaminationWarning, stacklevel=1)

    with pytest.warns(ContaminationWarning, match="8 warning") as caught:
        repeat(job, range(8), 2)
    assert len(caught) == 1


def test_repetitions_have_seeds_of_their_own() -> None:
    seeds = seeds_from(np.random.default_rng(0), 100)
    assert len(set(seeds)) == 100
    assert seeds == seeds_from(np.random.default_rng(0), 100)


def test_halves_vary_about_the_whole_as_the_whole_varies_about_the_truth() -> None:
    """What makes the percentiles of halves those of a bootstrap."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=120)})
    data["y"] = data["x"] + rng.normal(size=120)
    study = make_study("y ~ x", data, {"k": 1}, bootstrap)
    full, slopes = fits_to_parts(study, 0.5, 40, lambda fit: fit.params["x"], rng, 1, False)
    error = np.sqrt(full.cov.loc["x", "x"])
    # The spread of 80 halves is known to a tenth; the sandwich is that of a large sample.
    assert 0.7 < np.std(slopes) / error < 1.4


def test_far_rows_of_classes_have_no_weight_in_a_regression_on_a_few_terms() -> None:
    sim = rs.simulate.logistic(n=200, d=60, k=2, epsilon=0.1, rng=0)
    study = make_study("y ~ .", sim.data, {"family": "binomial"}, bootstrap)
    rows = np.arange(100, study.n)
    # In the two terms of the model the bad rows are not far out; in all sixty columns they are.
    fit = study.fit_terms(rows, sim.support(), 0)
    good = rows[~sim.outlier[rows]]
    alone = study.fit_terms(good, sim.support(), 0)
    assert np.abs(fit.coef() - alone.coef()).max() < 0.05 * alone.coef().abs().max()
