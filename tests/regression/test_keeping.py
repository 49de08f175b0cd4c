"""The data of a fit: whether they have changed since, and copies that a fit keeps."""

import gc
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import robustsparse as rs

QUICK: dict[str, Callable[..., Any]] = {
    "bootstrap": lambda fit, **how: fit.conf_int(method="bootstrap", resamples=4, **how),
    "split": lambda fit, **how: fit.conf_int(method="split", **how),
    "cross-validation": lambda fit, **how: fit.cross_validate(folds=3, **how).predictions,
}


@pytest.fixture
def data() -> pd.DataFrame:
    sim = rs.simulate.linear(n=60, d=6, k=2, epsilon=0.0, rng=5)
    return sim.data.assign(w=np.linspace(0.5, 2.0, 60), label="row")


@pytest.mark.parametrize("method", QUICK)
def test_data_that_have_changed_are_refused(data: pd.DataFrame, method: str) -> None:
    fit = rs.rht("y ~ . - w - label", data)
    before, table = data.copy(), QUICK[method](fit)
    data["label"] = "other"
    pd.testing.assert_frame_equal(QUICK[method](fit), table)
    data.loc[data.index[3], "x4"] += 1.0
    with pytest.raises(rs.DataError, match=r"have changed since the fit, in x4"):
        QUICK[method](fit)
    with pytest.raises(rs.DataError, match=r"the response"):
        QUICK[method](fit, data=before.assign(y=0.0))
    pd.testing.assert_frame_equal(QUICK[method](fit, data=before), table)


def test_arrays_that_have_changed_are_refused(data: pd.DataFrame) -> None:
    X, y = data.filter(like="x").to_numpy(), data["y"].to_numpy(copy=True)
    fit = rs.rht_fit(X, y)
    y[0] += 1.0
    with pytest.raises(rs.DataError, match="the response"):
        fit.cross_validate(folds=3)


@pytest.mark.parametrize("method", QUICK)
@pytest.mark.parametrize("kind", ["pandas", "polars", "array", "sparse", "frame"])
def test_a_fit_that_keeps_its_data_needs_no_other(
    data: pd.DataFrame, method: str, kind: str
) -> None:
    X, y = data.filter(like="x"), data["y"]
    how = {"keep_data": True}
    if kind in ("pandas", "polars"):
        given = data.copy() if kind == "pandas" else pl.from_pandas(data)
        fit = rs.rht("y ~ . - label", given, weights="w", **how)
        del given
    else:
        made = {"array": X.to_numpy, "sparse": lambda: sp.csr_array(X), "frame": X.copy}[kind]()
        fit = rs.rht_fit(made, y.to_numpy().copy(), weights=data["w"].tolist(), **how)
        del made
    gc.collect()
    first = QUICK[method](fit)
    pd.testing.assert_frame_equal(QUICK[method](pickle.loads(pickle.dumps(fit))), first)


def test_only_the_used_columns_are_kept(data: pd.DataFrame) -> None:
    fit = rs.rht("y ~ x1 + x2 + log(x3 + 10)", data, weights="w", keep_data=True)
    assert fit._call is not None
    assert list(fit._call.watched["data"]().columns) == ["y", "x1", "x2", "x3", "w"]


def test_the_copy_does_not_follow_the_data(data: pd.DataFrame) -> None:
    fit = rs.rht("y ~ x1 + x2", data, keep_data=True)
    first = fit.conf_int(method="split")
    data["y"] = 0.0
    pd.testing.assert_frame_equal(fit.conf_int(method="split"), first)


def test_a_file_knows_the_data_and_has_none_of_them(data: pd.DataFrame, tmp_path: Path) -> None:
    rs.rht("y ~ . - w - label", data, keep_data=True).save(tmp_path / "m")
    back = rs.load(tmp_path / "m")
    with pytest.raises(
        rs.DataError, match=r"Pass them again: conf_int\(method='split', data=data\)"
    ):
        back.conf_int(method="split")
    assert len(back.conf_int(method="split", data=data))
    with pytest.raises(rs.DataError, match="in x1"):
        back.conf_int(method="split", data=data.assign(x1=data["x2"]))
