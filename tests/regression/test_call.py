"""Intervals that repeat the fit: the arguments of the call again, and no data kept."""

import gc
import inspect
import pickle
import weakref
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import robustsparse as rs
from robustsparse.inference import bootstrap, split
from robustsparse.regression.arguments import Arguments

COLUMNS = ["low", "high", "estimate", "frequency"]
FORMULA = "y ~ . - w - o + double(x7)"


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    sim = rs.simulate.linear(n=90, d=12, k=2, epsilon=0.1, rng=5)
    n = len(sim.y)
    frame = sim.data.assign(w=np.linspace(0.5, 2, n), o=np.linspace(-1, 1, n))
    frame.loc[3, "x1"] = np.nan
    return frame


def options(data: pd.DataFrame) -> dict[str, Any]:
    """Something other than the default for everything that changes a fit."""
    return {
        "estimator": rs.Trimmed(0.25),
        "loss": "huber",
        "epsilon": 0.12,
        "k": [1, 2, 4],
        "select": "cv",
        "keep": "x5",
        "weights": "w",
        "offset": data["o"].to_numpy() + 0.5,
        "context": {"double": lambda x: 2 * x},
        "standardize": "winsor",
        "rng": 3,
        "n_jobs": 1,
    }


@pytest.mark.parametrize(
    ("method", "direct", "own"),
    [("split", split, {"splits": 2}), ("bootstrap", bootstrap, {"resamples": 4})],
)
def test_intervals_of_a_fit_are_those_of_the_direct_call(
    data: pd.DataFrame, method: str, direct: Any, own: dict[str, int]
) -> None:
    call = options(data)
    fit = rs.rht(FORMULA, data, **call)
    table = fit.conf_int(0.9, method, **own)
    pd.testing.assert_frame_equal(table, direct(FORMULA, data, level=0.9, **own, **call)[COLUMNS])
    other = fit.conf_int(0.9, method, rng=4, **own)
    assert not other["low"].equals(table["low"])


def test_the_sandwich_stays_as_it_was(data: pd.DataFrame) -> None:
    fit = rs.rht("y ~ .", data, k=2)
    pd.testing.assert_frame_equal(fit.conf_int(), fit.conf_int(method="sandwich"))
    assert list(fit.conf_int().columns) == COLUMNS[:2]
    with pytest.raises(rs.ParameterError, match="resamples is for"):
        fit.conf_int(resamples=3)
    with pytest.raises(rs.ParameterError, match="data is for"):
        fit.conf_int(data=data)
    with pytest.raises(rs.ParameterError, match="method"):
        fit.conf_int(method="jackknife")


@pytest.mark.parametrize("kind", ["dense", "sparse", "frame"])
def test_fits_to_arrays_are_repeated_too(data: pd.DataFrame, kind: str) -> None:
    data = data.dropna()
    frame = data.drop(columns=["y", "w", "o"])
    kinds: dict[str, Any] = {"dense": np.asarray, "sparse": sp.csr_matrix, "frame": pd.DataFrame}
    X, y, names = kinds[kind](frame), data["y"].to_numpy(), list(frame)
    fit = rs.rht_fit(X, y, names=names, keep=["x5"], k=2, rng=1)
    table = fit.conf_int(method="split")
    same = split("y ~ . - w - o", data, keep="x5", k=2, rng=1)
    # A sparse design is standardized by another way, which rounds differently.
    pd.testing.assert_frame_equal(table, same[COLUMNS], atol=1e-8)


# Whether the iterations settle is not the subject here.
@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_two_classes_are_repeated() -> None:
    sim = rs.simulate.logistic(n=200, d=6, k=2, epsilon=0.0, rng=3)
    y = np.where(sim.y > 0, "yes", "no")
    fit = rs.rht_fit(sim.X, y, family="binomial", k=2)
    table = fit.conf_int(method="split")
    assert set(table.index) >= {"Intercept"}
    assert (table["low"] < table["high"]).all()


def test_no_data_are_kept(data: pd.DataFrame) -> None:
    mine, offset = data.copy(), np.zeros(len(data))
    fit = rs.rht("y ~ .", mine, k=2, offset=offset)
    watched = weakref.ref(mine), weakref.ref(offset)
    del mine, offset
    gc.collect()
    assert watched[0]() is None
    assert watched[1]() is None
    with pytest.raises(rs.DataError, match=r"conf_int\(method='split', data=data\)"):
        fit.conf_int(method="split")
    with pytest.raises(rs.DataError, match=r"offset=\.\.\."):
        fit.conf_int(method="split", data=data)
    zeros = np.zeros(len(data))
    again = rs.rht("y ~ .", data, k=2, offset=zeros).conf_int(method="split")
    pd.testing.assert_frame_equal(fit.conf_int(method="split", data=data, offset=zeros), again)


def test_arrays_that_are_gone_are_asked_for(data: pd.DataFrame) -> None:
    data = data.dropna()
    X = data[["x1", "x2", "x3"]].to_numpy()
    # A list cannot be watched.
    fit = rs.rht_fit(X, data["y"].to_list(), k=1)
    with pytest.raises(rs.DataError, match=r"data=\(X, y\)"):
        fit.conf_int(method="bootstrap")
    with pytest.raises(rs.ParameterError, match=r"pair \(X, y\)"):
        fit.conf_int(method="bootstrap", data=X)
    table = fit.conf_int(method="split", data=(X, data["y"]))
    assert list(table.columns) == COLUMNS


def test_other_data_are_refused(data: pd.DataFrame) -> None:
    fit = rs.rht("y ~ .", data, k=2)
    with pytest.raises(rs.DataError, match="pass the data of the fit"):
        fit.conf_int(method="split", data=data.iloc[:50])


def test_polars_frames_can_be_fitted_again(data: pd.DataFrame) -> None:
    frame = pl.from_pandas(data)
    fit = rs.rht("y ~ .", frame, k=2)
    table = fit.conf_int(method="split")
    pd.testing.assert_frame_equal(table, rs.rht("y ~ .", data, k=2).conf_int(method="split"))


def test_a_stored_fit_repeats_its_call_on_data_given_again(
    data: pd.DataFrame, tmp_path: Path
) -> None:
    call = options(data)
    fit = rs.rht(FORMULA, data, **call)
    fit.save(tmp_path / "fit")
    back = rs.load(tmp_path / "fit", context=call["context"])
    with pytest.raises(rs.DataError, match="data=data"):
        back.conf_int(method="split")
    table = back.conf_int(method="split", data=data, offset=call["offset"])
    pd.testing.assert_frame_equal(table, fit.conf_int(method="split"))


# Whether the iterations settle is not the subject here.
@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_what_cannot_be_stored_is_asked_for(data: pd.DataFrame, tmp_path: Path) -> None:
    def median(X: np.ndarray, score: np.ndarray) -> np.ndarray:
        return np.median(X * score[:, None], axis=0)

    fit = rs.rht("y ~ .", data, estimator=median, k=2, rng=np.random.default_rng(0))
    fit.save(tmp_path / "fit")
    back = rs.load(tmp_path / "fit")
    with pytest.raises(rs.DataError, match=r"estimator=\.\.\."):
        back.conf_int(method="split", data=data)
    assert len(back.conf_int(method="split", data=data, estimator=median))


def test_a_pickled_fit_has_no_data(data: pd.DataFrame) -> None:
    fit = rs.rht("y ~ .", data, k=2)
    text = pickle.dumps(fit)
    back = pickle.loads(text)
    with pytest.raises(rs.DataError, match="data=data"):
        back.conf_int(method="split")
    table = back.conf_int(method="split", data=data)
    pd.testing.assert_frame_equal(table, fit.conf_int(method="split"))


def test_defaults_are_the_same_everywhere() -> None:
    defaults = {field.name: field.default for field in fields(Arguments)}
    for call in (rs.rht, rs.rht_fit):
        own = inspect.signature(call).parameters
        assert {name: own[name].default for name in defaults} == defaults


def test_arguments_that_nobody_has_are_named() -> None:
    sim = rs.simulate.linear(60, 10, 2, rng=0)
    X, y = sim.X, sim.y
    fit = rs.rht_fit(X, y, k=2)
    with pytest.raises(rs.ParameterError, match=r"'resample' .*did you mean resamples"):
        fit.conf_int(method="bootstrap", resample=20)
    with pytest.raises(rs.ParameterError, match=r"'epsilo' .*did you mean epsilon"):
        rs.inference.split("y ~ .", sim.data, epsilo=0.2)
    with pytest.raises(rs.ParameterError, match=r"'treshold' .*stability.*did you mean threshold"):
        rs.stability("y ~ .", sim.data, treshold=0.7)
    with pytest.raises(rs.ParameterError, match=r"'splits' .*bootstrap\(\); did you mean split\?"):
        fit.conf_int(method="bootstrap", splits=3)
