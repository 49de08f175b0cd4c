"""`cov=` and `cluster=`: standard errors of rows that depend on each other."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs

SLOPES = ["x1", "x2"]


def in_clusters(seed: int, bad: bool = False, clusters: int = 25, size: int = 16) -> pd.DataFrame:
    """Rows whose errors and predictors have half of their variance in common within a cluster."""
    rng = np.random.default_rng([1, seed])
    firm = np.repeat(np.arange(clusters), size)
    n = len(firm)
    X, error = (
        np.sqrt(0.5) * (rng.normal(size=(clusters, m))[firm] + rng.normal(size=(n, m)))
        for m in (5, 1)
    )
    data = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(5)])
    return _with_response(
        data.assign(firm=np.char.add("f", firm.astype(str))), error[:, 0], bad, rng
    )


def in_time(seed: int, bad: bool = False, n: int = 200, root: float = 0.6) -> pd.DataFrame:
    rng = np.random.default_rng([2, seed])
    draws = rng.normal(size=(n + 50, 6))
    series = np.zeros_like(draws)
    for t in range(1, len(draws)):
        series[t] = root * series[t - 1] + np.sqrt(1 - root**2) * draws[t]
    data = pd.DataFrame(series[50:, :5], columns=[f"x{j + 1}" for j in range(5)])
    return _with_response(data, series[50:, 5], bad, rng)


def _with_response(
    data: pd.DataFrame, error: np.ndarray, bad: bool, rng: np.random.Generator
) -> pd.DataFrame:
    y = (data["x1"] + data["x2"]).to_numpy() + error
    rows = rng.choice(len(y), len(y) // 10, replace=False)
    y[rows] += bad * 15.0 * rng.choice([-1.0, 1.0], len(rows))
    return data.assign(y=y)


def covers(table: pd.DataFrame) -> float:
    known = table.reindex(SLOPES)
    return float(((known["low"] <= 1) & (known["high"] >= 1)).mean())


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return in_clusters(0)


@pytest.fixture(scope="module")
def fit(data: pd.DataFrame) -> rs.RHTResult:
    return rs.rht("y ~ .", data, cluster="firm")


@pytest.mark.parametrize("bad", [False, True])
def test_clustered_intervals_cover_where_others_do_not(bad: bool) -> None:
    plain, own = [], []
    for seed in range(60):
        data = in_clusters(seed, bad)
        fit = rs.rht("y ~ . - firm", data, k=2)
        plain.append(covers(fit.conf_int()))
        own.append(covers(fit.conf_int(cluster=data["firm"])))
    assert np.mean(own) > 0.9 > 0.85 > np.mean(plain)


@pytest.mark.parametrize("bad", [False, True])
def test_intervals_for_rows_in_time_cover_where_others_do_not(bad: bool) -> None:
    plain, own = [], []
    for seed in range(60):
        fit = rs.rht("y ~ .", in_time(seed, bad), k=2)
        plain.append(covers(fit.conf_int()))
        own.append(covers(fit.conf_int(cov="hac")))
    assert np.mean(own) > 0.88 > np.mean(plain)


def test_the_usual_ones_are_hc3_for_numbers(data: pd.DataFrame) -> None:
    one, other = (rs.rht("y ~ . - firm", data, cov=cov) for cov in ("sandwich", "hc3"))
    pd.testing.assert_frame_equal(one.cov_params(), other.cov_params(), rtol=1e-6)
    assert one.df_resid == other.df_resid


def test_asking_before_and_after_is_the_same(data: pd.DataFrame, fit: Any) -> None:
    plain = rs.rht("y ~ . - firm", data)
    pd.testing.assert_frame_equal(plain.cov_params(cluster=data["firm"]), fit.cov_params())
    pd.testing.assert_frame_equal(plain.conf_int(cluster=data["firm"]), fit.conf_int())
    pd.testing.assert_frame_equal(plain.tidy(k=1, cluster=data["firm"].to_numpy()), fit.tidy(k=1))
    hac = rs.rht("y ~ . - firm", data, cov="hac")
    pd.testing.assert_frame_equal(plain.conf_int(cov="hac"), hac.conf_int())
    pd.testing.assert_frame_equal(plain.cov_params(), rs.rht("y ~ . - firm", data).cov_params())


def test_a_dot_does_not_stand_for_the_clusters(fit: Any) -> None:
    assert not any("firm" in name for name in fit.params.index)
    assert fit.df_resid == 24
    assert fit.bse["x1"] == pytest.approx(np.sqrt(fit.cov_params().loc["x1", "x1"]))


def test_the_order_and_names_of_clusters_do_not_matter(data: pd.DataFrame, fit: Any) -> None:
    again = rs.rht(
        "y ~ .", data.assign(firm=data["firm"].str[1:].astype(int) * -7.5), cluster="firm"
    )
    pd.testing.assert_frame_equal(again.cov_params(), fit.cov_params())


def test_rows_that_are_left_out_are_in_no_cluster(data: pd.DataFrame) -> None:
    holed = data.assign(w=np.r_[np.zeros(32), np.ones(len(data) - 32)])
    holed.loc[40, "x3"] = np.nan
    fit = rs.rht("y ~ .", holed, weights="w", cluster="firm")
    assert fit.made.cluster == ("firm", 23)
    rest = holed.drop(index=[*range(32), 40])
    arrays = rs.rht_fit(rest.filter(like="x"), rest["y"], cluster=rest["firm"])
    np.testing.assert_allclose(fit.cov_params(), arrays.cov_params(), rtol=1e-8)


def test_two_classes() -> None:
    rng = np.random.default_rng(0)
    firm = np.repeat(np.arange(30), 20)
    X = rng.normal(size=(30, 2))[firm] + 0.5 * rng.normal(size=(600, 2))
    chance = 1 / (1 + np.exp(-X @ [1.0, -1.0] - 1.5 * rng.normal(size=30)[firm]))
    fit = rs.rht_fit(X, rng.random(600) < chance, family="binomial", k=2)
    own = fit.tidy(cluster=firm).set_index("term")
    assert (own["std_error"] > 1.3 * fit.bse).all()
    assert own["p_value"].between(0, 1).all()
    hac = fit.tidy(cov="hac").set_index("term")
    assert (hac["std_error"] > 1.1 * fit.bse).all()


def test_the_summary_says_which(data: pd.DataFrame, fit: Any, tmp_path: Path) -> None:
    assert dict(fit.summary().head)["Std. errors"] == "clustered by firm (25)"
    assert any(
        "24.0 degrees of freedom: the clusters less one" in note for note in fit.summary().notes
    )
    assert not any("method='split'" in note for note in fit.summary().notes)
    hac = rs.rht("y ~ . - firm", data, cov="hac")
    assert dict(hac.summary().head)["Std. errors"] == "Newey-West (rows in time)"
    assert "Std. errors" not in dict(rs.rht("y ~ . - firm", data).summary().head)
    fit.save(tmp_path / "m")
    for back in (rs.load(tmp_path / "m"), pickle.loads(pickle.dumps(fit))):
        assert str(back.summary()) == str(fit.summary())
        pd.testing.assert_frame_equal(back.cov_params(), fit.cov_params())
        with pytest.raises(rs.ParameterError, match="fit again with cov="):
            back.cov_params(cov="hac")


def test_what_draws_single_rows_is_refused(data: pd.DataFrame, fit: Any) -> None:
    with pytest.raises(rs.ParameterError, match="cluster='firm' says that they are not"):
        fit.conf_int(method="split")
    with pytest.raises(rs.ParameterError, match="cov='hac' says that they are not"):
        rs.inference.bootstrap("y ~ . - firm", data, cov="hac")
    with pytest.raises(rs.ParameterError, match="draws rows one by one"):
        rs.stability("y ~ .", data, cluster="firm")
    with pytest.raises(rs.ParameterError, match="draws rows one by one"):
        rs.rht("y ~ . - firm", data).conf_int(method="bootstrap", cluster=data["firm"])
    assert fit.cross_validate(folds=3).folds == 3


def test_mistakes_are_named(data: pd.DataFrame) -> None:
    X, y = data.filter(like="x"), data["y"]
    holed = data.assign(firm=data["firm"].where(data.index != 5))
    for bad, error, why in (
        (lambda: rs.rht("y ~ .", data, cov="cluster"), rs.ParameterError, "cluster='firm'"),
        (lambda: rs.rht("y ~ .", data, cluster="firn"), rs.DataError, "did you mean firm"),
        (lambda: rs.rht("y ~ .", data, cluster="firm", cov="hac"), rs.ParameterError, "contradict"),
        (lambda: rs.rht("y ~ .", holed, cluster="firm"), rs.DataError, r"missing in 1 row\(s\), 5"),
        (lambda: rs.rht("y ~ .", data.assign(firm=1), cluster="firm"), rs.DataError, "one cluster"),
        (
            lambda: rs.rht("y ~ .", data, cluster="firm", goal="predict"),
            rs.ParameterError,
            "robust refit",
        ),
        (lambda: rs.rht_fit(X, y, cluster="firm"), rs.DataError, r"cluster=data\['firm'\]"),
        (lambda: rs.rht_fit(X, y, cluster=data["firm"].iloc[::-1]), rs.DataError, "differs"),
        (lambda: rs.rht_fit(X, y, cluster=[1, 2]), rs.DataError, "label for each of the 400 rows"),
        (lambda: rs.rht("y ~ .", data, cov="hc9"), rs.ParameterError, "is not one of"),
    ):
        with pytest.raises(error, match=why):
            bad()


def test_a_family_of_the_users_has_the_sandwich_alone() -> None:
    from docs.extending.poisson import Poisson

    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    y = rng.poisson(np.exp(1.0 + 0.6 * X[:, 1]))
    with pytest.raises(rs.ParameterError, match="row_moves"):
        rs.rht_fit(X, y, family=Poisson(), cov="hc3")


def test_rows_whose_dates_are_not_in_order_are_no_series() -> None:
    sim = rs.simulate.linear(n=60, d=3, k=1, epsilon=0.0, rng=1)
    days = sim.data.set_index(pd.date_range("2024-01-01", periods=len(sim.data)))
    mixed = days.sample(frac=1.0, random_state=0)
    assert rs.rht("y ~ .", days, cov="hac").bse.notna().all()
    with pytest.raises(rs.DataError, match=r"data\.sort_index\(\)"):
        rs.rht("y ~ .", mixed, cov="hac")
    with pytest.raises(rs.DataError, match="in the order of time"):
        rs.rht("y ~ .", mixed).conf_int(cov="hac")
