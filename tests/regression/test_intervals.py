"""Bootstrap and split: what the tables hold, where the rows go, and coverage over seeds."""

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.base.errors import ParameterError
from robustsparse.inference import bootstrap, split
from robustsparse.regression.intervals import _medians, _percentiles
from robustsparse.regression.resampling import Study

# Lowest share of 95% intervals that may hold the truth in the 75 intervals of a test: four standard errors below.
LOWEST_COVERAGE = 0.95 - 4 * np.sqrt(0.95 * 0.05 / 75)


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=140, d=25, k=3, epsilon=0.1, rng=8)


def true_terms(sim: rs.simulate.Simulation) -> list[str]:
    return [f"x{j + 1}" for j in np.flatnonzero(sim.beta)]


def test_bootstrap_table(sim: rs.simulate.Simulation) -> None:
    table = bootstrap("y ~ .", sim.data, resamples=10, level=0.9)
    fit = rs.rht("y ~ .", sim.data)
    assert list(table.columns) == ["estimate", "low", "high", "frequency"]
    assert table.index[0] == "Intercept"
    assert set(table.index[1:4]) == set(true_terms(sim))
    assert np.allclose(table["estimate"][fit.coef().index], fit.coef(), atol=0.01)
    assert (table["frequency"].iloc[:4] == 1).all()
    # Signs of strong terms are certain in spite of the outliers.
    strong = table.loc[true_terms(sim)]
    assert (np.sign(strong["low"]) == np.sign(strong["high"])).all()


def test_terms_not_selected_count_as_zero() -> None:
    full = pd.Series({"Intercept": 1.0, "a": 2.0})
    draws = [pd.Series({"Intercept": 1.0, "a": 2.0})] * 7 + [pd.Series({"b": 3.0})] * 3
    table = _percentiles(full, draws, 0.9, ["b"], {})
    assert list(table.index) == ["Intercept", "b", "a"]
    assert table.loc["a"].to_list() == [2.0, 0.0, 2.0, 0.7]
    assert table.loc["b"].to_list() == [0.0, 0.0, 3.0, 0.3]


@pytest.mark.parametrize("method", [bootstrap, split])
def test_same_seed_same_answer_for_any_number_of_jobs(
    sim: rs.simulate.Simulation, method: object
) -> None:
    options = {"resamples": 2} if method is bootstrap else {"splits": 2}
    one, two = (method("y ~ .", sim.data, rng=1, n_jobs=jobs, **options) for jobs in (1, 2))
    pd.testing.assert_frame_equal(one, two)
    other = method("y ~ .", sim.data, rng=2, **options)
    assert not other["low"].equals(one["low"])


def test_second_half_does_not_see_the_selection(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    sim = rs.simulate.linear(n=90, d=10, k=2, epsilon=0.1, rng=1)
    original = Study._fit

    def spy(self: object, X: object, rows: np.ndarray, *rest: object, **more: object) -> object:
        seen.append(rows)
        return original(self, X, rows, *rest, **more)

    monkeypatch.setattr(Study, "_fit", spy)
    split("y ~ .", sim.data)
    # No fit to all rows: its flags would carry knowledge from one half to the other.
    assert len(seen) == 2
    assert not set(seen[0]) & set(seen[1])
    assert len(seen[0]) + len(seen[1]) == len(sim.y)


def test_split_intervals_hold_the_truth_over_seeds() -> None:
    hits = []
    for seed in range(25):
        sim = rs.simulate.linear(n=160, d=20, k=3, epsilon=0.1, rng=seed)
        table = split("y ~ .", sim.data).reindex(true_terms(sim))
        truth = sim.beta[sim.beta != 0]
        hits += list((table["low"] <= truth) & (truth <= table["high"]))
    # False too where a term has no interval.
    assert np.mean(hits) > LOWEST_COVERAGE
    # Intervals that are far too wide would always hold it.
    assert (table["high"] - table["low"]).median() < 0.5


def test_several_splits_give_medians_and_no_bound_for_rare_terms() -> None:
    columns = ["low", "high", "estimate"]
    tables = [
        pd.DataFrame([[0.0, 2.0, 1.0], [5.0, 7.0, 6.0]], index=["a", "b"], columns=columns),
        pd.DataFrame([[1.0, 3.0, 2.0]], index=["a"], columns=columns),
        pd.DataFrame([[2.0, 4.0, 3.0]], index=["a"], columns=columns),
    ]
    table = _medians(tables, [], {})
    assert table.loc["a"].to_list() == [2.0, 1.0, 3.0, 1.0]
    assert table.loc["b", ["estimate", "low", "high"]].to_list() == [6.0, -np.inf, np.inf]
    assert np.isclose(table.loc["b", "frequency"], 1 / 3)


def test_several_splits_use_a_higher_level(sim: rs.simulate.Simulation) -> None:
    one, many = (split("y ~ .", sim.data, splits=splits, rng=0) for splits in (1, 5))
    terms = true_terms(sim)
    width = [(table["high"] - table["low"])[terms].mean() for table in (one, many)]
    assert width[1] > width[0]


def test_kept_terms_have_an_interval_in_every_split(sim: rs.simulate.Simulation) -> None:
    kept = next(f"x{j + 1}" for j in np.flatnonzero(sim.beta == 0))
    table = split("y ~ .", sim.data, splits=2, keep=kept)
    assert list(table.index[:2]) == ["Intercept", kept]
    assert table["frequency"].iloc[1] == 1


@pytest.mark.filterwarnings("ignore:.*the model may be wrong")
@pytest.mark.parametrize("family", ["gaussian", "binomial"])
def test_a_half_that_selects_nothing_leaves_the_intercept(family: str) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    data["y"] = rng.normal(size=60) if family == "gaussian" else rng.permuted(np.arange(60) % 2)
    table = split("y ~ .", data, family=family, splits=3, n_jobs=1)
    assert table.index[0] == "Intercept"
    assert table.loc["Intercept", "frequency"] == 1
    assert table.loc["Intercept", "low"] < 0 < table.loc["Intercept", "high"]


# Whether a path of nearly separated classes settles is not the subject here.
@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
@pytest.mark.parametrize("method", [bootstrap, split])
def test_two_classes(method: object) -> None:
    sim = rs.simulate.logistic(n=240, d=8, k=2, epsilon=0.0, rng=3)
    options = {"resamples": 4} if method is bootstrap else {}
    table = method("y ~ .", sim.data, family="binomial", **options)
    truth = pd.Series(sim.beta, index=sim.data.columns.drop("y"))
    for term in true_terms(sim):
        assert np.sign(table["estimate"][term]) == np.sign(truth[term])
    assert (table["low"] <= table["high"]).all()


def test_split_needs_the_refit(sim: rs.simulate.Simulation) -> None:
    with pytest.raises(ParameterError, match="refit=True"):
        split("y ~ .", sim.data, refit=False)


@pytest.mark.parametrize("level", [0, 1.2, "high"])
def test_impossible_levels_are_named(sim: rs.simulate.Simulation, level: object) -> None:
    for method in (bootstrap, split):
        with pytest.raises(ParameterError, match="level"):
            method("y ~ .", sim.data, level=level)


def test_missing_rows_are_dropped_and_data_not_changed(sim: rs.simulate.Simulation) -> None:
    data = sim.data.copy()
    data.iloc[0, 1] = np.nan
    before = data.copy()
    split("y ~ .", data)
    pd.testing.assert_frame_equal(data, before)
    with pytest.raises(rs.DataError, match="missing"):
        split("y ~ .", data, na_action="raise")
