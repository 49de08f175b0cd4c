"""Fits on disk: bit-identical when read back, and no file can do harm."""

import datetime
import json
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs


@pytest.fixture(scope="module")
def sim() -> rs.simulate.Simulation:
    return rs.simulate.linear(n=54, d=12, k=3, epsilon=0.1, rng=1)


@pytest.fixture(scope="module")
def factors(sim: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = sim.data.assign(g=rng.choice(list("abc"), len(sim.y)), z=rng.uniform(1, 2, len(sim.y)))
    data["label"] = np.where(sim.y > 0, "up", "down")
    data.loc[3, "x1"] = np.nan
    return data


def stored(fit: rs.RHTResult, folder: Path) -> rs.RHTResult:
    fit.save(folder / "fit.rs")
    return rs.load(folder / "fit.rs")


def assert_same(one: rs.RHTResult, two: rs.RHTResult) -> None:
    for name in ("params", "fittedvalues", "resid", "row_weights"):
        a, b = getattr(one, name), getattr(two, name)
        pd.testing.assert_series_equal(a, b, check_exact=True, check_freq=False)
    for name in ("diagnostics", "history", "path", "cv", "cov"):
        a, b = getattr(one, name), getattr(two, name)
        if a is None:
            assert b is None
        else:
            pd.testing.assert_frame_equal(a, b, check_exact=True, check_freq=False)
    assert str(one.summary()) == str(two.summary())
    assert repr(one) == repr(two)
    assert one.support() == two.support()
    assert one.outliers() == two.outliers()


FITS: dict[str, dict[str, Any]] = {
    "automatic": {"formula": "y ~ . - label"},
    "plain": {"formula": "y ~ . - label", "refit": False, "k": 3},
    "transforms": {"formula": "y ~ scale(x1) + bs(z, df=4) + g:x2 + center(x3)", "k": 3},
    "kept": {"formula": "y ~ . - label", "keep": ["g"], "k": [1, 2, 3], "select": "cv"},
    "offset": {"formula": "y ~ . - label - z - 1", "offset": "z", "weights": "z", "k": 2},
    "blocks": {"formula": "y ~ . - label", "estimator": "mom", "k": 3},
    "instances": {
        "formula": "y ~ . - label",
        "estimator": rs.Trimmed(alpha=0.25),
        "loss": rs.Huber(delta=1.5),
        "k": 3,
    },
    "classes": {"formula": "label ~ . - y", "family": "binomial", "k": 2},
    "classes, plain": {"formula": "label ~ . - y", "family": "binomial", "k": 2, "refit": False},
}


@pytest.mark.parametrize("case", FITS)
def test_a_stored_fit_is_the_fit(case: str, factors: pd.DataFrame, tmp_path: Path) -> None:
    fit = rs.rht(data=factors, **FITS[case])
    back = stored(fit, tmp_path)
    assert_same(fit, back)
    assert back.estimator == fit.estimator or case == "blocks"
    assert back.loss == fit.loss
    for kind in ("response", "link"):
        for new in (None, factors, factors.iloc[::-1]):
            pd.testing.assert_series_equal(
                fit.predict(new, kind), back.predict(new, kind), check_exact=True
            )
    if fit.family == "binomial":
        pd.testing.assert_series_equal(
            fit.predict(factors, "class"), back.predict(factors, "class")
        )
    assert fit.score(factors) == back.score(factors)


def test_a_fit_to_arrays_is_stored_too(sim: Any, tmp_path: Path) -> None:
    fit = rs.rht_fit(sim.X, sim.y)
    back = stored(fit, tmp_path)
    assert_same(fit, back)
    pd.testing.assert_series_equal(fit.predict(sim.X), back.predict(sim.X), check_exact=True)
    assert fit.score(sim.X, sim.y) == back.score(sim.X, sim.y)


def test_values_that_json_has_no_word_for_come_back(sim: Any, tmp_path: Path) -> None:
    fit = rs.rht_fit(sim.X, sim.y, k=3)
    params, rows = fit.params.copy(), fit.diagnostics.copy()
    params.iloc[:3] = [-np.inf, np.inf, -0.0]
    rows.iloc[:4, rows.columns.get_loc("link")] = [-np.inf, np.inf, np.nan, 5e-324]
    odd = replace(fit, params=params, diagnostics=rows, scale=-np.inf, cov=-np.inf * abs(fit.cov))
    back = stored(odd, tmp_path)
    pd.testing.assert_series_equal(back.params, params, check_exact=True)
    pd.testing.assert_frame_equal(back.diagnostics, rows, check_exact=True)
    pd.testing.assert_frame_equal(back.cov, odd.cov, check_exact=True)
    assert back.scale == -np.inf
    assert np.signbit(back.params.iloc[2])
    # Readers other than Python's refuse its words for these.
    with zipfile.ZipFile(tmp_path / "fit.rs") as archive:
        text = archive.read("result.json").decode()
    assert json.loads(text, parse_constant=pytest.fail)["result"]


INDEXES: dict[str, Any] = {
    "range": lambda n: pd.RangeIndex(5, 5 + 2 * n, 2, name="id"),
    "text": lambda n: [f"row {i}" for i in range(n)],
    "duplicates": lambda n: [1] * n,
    "floats": lambda n: np.arange(n) / 3,
    "missing": lambda n: [np.nan, *range(n - 1)],
    "small integers": lambda n: pd.Index(np.arange(n), dtype="int8"),
    "mixed": lambda n: pd.Index(["a", *range(n - 1)], dtype=object),
    "truth": lambda n: np.arange(n) % 2 == 0,
    "times": lambda n: pd.date_range("2020-01-01", periods=n, freq="333ms"),
    "zone": lambda n: pd.date_range("2020-03-01", periods=n, tz="Europe/Berlin"),
    "no time": lambda n: pd.DatetimeIndex([pd.NaT, *pd.date_range("2020", periods=n - 1)]),
    "spans": lambda n: pd.timedelta_range("1s", periods=n, freq="7min"),
    "periods": lambda n: pd.period_range("2020-01", periods=n, freq="M"),
    "intervals": lambda n: pd.interval_range(0, n),
    "pairs": lambda n: pd.Index([(i, "a") for i in range(n)], tupleize_cols=False),
    "levels": lambda n: pd.MultiIndex.from_arrays(
        [list("ab") * (n // 2) + ["c"] * (n % 2), pd.date_range("2020", periods=n)],
        names=["g", None],
    ),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_row_labels_of_every_kind_come_back(kind: str, sim: Any, tmp_path: Path) -> None:
    data = sim.data.set_axis(INDEXES[kind](len(sim.y)), axis=0)
    fit = rs.rht("y ~ .", data, k=3)
    assert_same(fit, stored(fit, tmp_path))


def test_row_labels_that_cannot_be_stored_come_back_as_text(sim: Any, tmp_path: Path) -> None:
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(len(sim.y))]
    fit = rs.rht("y ~ .", sim.data.set_index(pd.Index(days, dtype=object)), k=3)
    assert list(stored(fit, tmp_path).resid.index) == [str(day) for day in days]


def own_median(X: np.ndarray, score: np.ndarray) -> np.ndarray:
    return np.median(X * score[:, None], axis=0)


@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_an_estimator_of_the_users_own_comes_back_as_its_name(sim: Any, tmp_path: Path) -> None:
    fit = rs.rht_fit(sim.X, sim.y, estimator=own_median, k=3)
    back = stored(fit, tmp_path)
    assert back.estimator == "own_median"
    assert_same(fit, back)


def test_functions_of_the_context_are_given_again(sim: Any, tmp_path: Path) -> None:
    context = {"half": lambda x: x / 2}
    fit = rs.rht("y ~ half(x1) + x2", sim.data, context=context, k=2)
    fit.save(tmp_path / "fit.rs")
    back = rs.load(tmp_path / "fit.rs", context=context)
    pd.testing.assert_series_equal(fit.predict(sim.data), back.predict(sim.data), check_exact=True)


# What a file may hold


def test_a_file_holds_one_text_and_no_training_data(tmp_path: Path) -> None:
    sim = rs.simulate.linear(n=100, d=400, k=3, rng=0)
    rs.rht("y ~ .", sim.data).save(tmp_path / "fit.rs")
    with zipfile.ZipFile(tmp_path / "fit.rs") as archive:
        assert archive.namelist() == ["result.json"]
        content = archive.read("result.json")
    json.loads(content)
    assert (tmp_path / "fit.rs").stat().st_size < 0.2 * sim.X.nbytes


def rewritten(path: Path, change: Any) -> Path:
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("result.json"))
    change(content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("result.json", json.dumps(content))
    return path


CHANGES: dict[str, tuple[Any, str]] = {
    "another format": (lambda c: c.update(format="other"), "not a model"),
    "a later version": (lambda c: c.update(version=99), "version 99"),
    "no result": (lambda c: c.pop("result"), "not a model|damaged"),
    "a field less": (lambda c: c["result"].pop("params"), "damaged or was changed"),
    "wrong length": (
        lambda c: c["result"]["diagnostics"]["columns"][0]["values"].pop(),
        "damaged or was changed",
    ),
    "wrong type": (lambda c: c["result"].update(params=7), "damaged or was changed"),
    "unknown family": (
        lambda c: c["result"].update(kind={"class": "os.system", "values": {}}),
        "not defined here",
    ),
    "unknown tag": (lambda c: c["result"].update(scale={"!": "code"}), "'code'"),
    "wrong values": (lambda c: c["result"]["estimator"].update(values={"x": 1}), "damaged"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_changed_file_is_refused(case: str, sim: Any, tmp_path: Path) -> None:
    change, says = CHANGES[case]
    rs.rht("y ~ .", sim.data, k=2).save(tmp_path / "fit.rs")
    with pytest.raises(rs.DataError, match=says):
        rs.load(rewritten(tmp_path / "fit.rs", change))


def test_a_foreign_file_is_refused(sim: Any, tmp_path: Path) -> None:
    rs.rht("y ~ .", sim.data, k=2).save(tmp_path / "fit.rs")
    whole = (tmp_path / "fit.rs").read_bytes()
    middle = len(whole) // 2
    damaged = whole[:middle] + bytes(64) + whole[middle + 64 :]
    foreign = {
        "text": b"y ~ x",
        "empty": b"",
        "pickle": pickle.dumps({"a": 1}),
        "cut": whole[:middle],
        "damaged": damaged,
    }
    for name, content in foreign.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(rs.DataError, match="not a model that robustsparse saved"):
            rs.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        rs.load(tmp_path / "nowhere")


def test_a_zip_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("data.csv", "1,2")
    with pytest.raises(rs.DataError, match="not a model"):
        rs.load(tmp_path / "other.zip")
