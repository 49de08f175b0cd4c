"""Fits on disk: bit-identical when read back, and no file can do harm."""

import datetime
import json
import pickle
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.algorithm.estimator import Estimator
from robustsparse.regression.gaussian import Gaussian


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


@pytest.fixture(scope="module")
def odd_rows(factors: pd.DataFrame) -> pd.DataFrame:
    """Rows and columns that a fit leaves out, each for its own reason."""
    data = factors.drop(columns="label").assign(one=1.0)
    data.loc[4, "x2"] = np.inf
    data.loc[[5, 6], "z"] = 0.0
    return data


def test_how_a_fit_was_made_comes_back(odd_rows: pd.DataFrame, tmp_path: Path) -> None:
    offset = np.linspace(0.0, 1.0, len(odd_rows))
    fit = rs.rht(
        "y ~ . - z",
        odd_rows,
        keep="x5",
        weights="z",
        offset=offset,
        epsilon="auto",
        na_action="drop",
    )
    back = stored(fit, tmp_path)
    assert fit.bad_share is not None
    assert back.bad_share == fit.bad_share
    assert (back.epsilon, back.converged, back.scale) == (fit.epsilon, fit.converged, fit.scale)
    for name in ("missing", "infinite", "weightless", "columns"):
        assert getattr(back.dropped, name) == getattr(fit.dropped, name) != 0
    assert back.dropped.labels.tolist() == fit.dropped.labels.tolist() == [3, 4, 5, 6]
    for name in ("select", "step", "refitted", "kept", "constant", "references", "offset_given"):
        assert getattr(back, name) == getattr(fit, name)
        assert getattr(fit, name)


def test_a_given_share_of_bad_rows_comes_back_as_given(sim: Any, tmp_path: Path) -> None:
    back = stored(rs.rht_fit(sim.X, sim.y, k=2, epsilon=0.15), tmp_path)
    assert back.bad_share is None
    assert back.epsilon == 0.15


@pytest.mark.parametrize("own", [True, False])
def test_an_estimator_comes_back_without_its_generator(own: bool, sim: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0) if own else 4
    fit = rs.rht_fit(sim.X, sim.y, k=2, estimator=rs.MedianOfMeans(9, redraw=False, rng=rng))
    back = stored(fit, tmp_path)
    assert back.estimator == rs.MedianOfMeans(9, redraw=False, rng=None if own else 4)


# A stored call


def repeated(fit: rs.RHTResult, **options: Any) -> pd.DataFrame:
    return fit.conf_int(method="split", rng=0, splits=2, n_jobs=1, **options)


CALLS: dict[str, dict[str, Any]] = {
    "range": {"k": range(1, 4)},
    "index": {"k": pd.Index([1, 3])},
    "list": {"k": [1, 3], "keep": ["x5"]},
    "generator": {"k": 2, "rng": np.random.default_rng(1), "keep": ["x5"], "intercept": False},
    "parts": {"k": 2, "estimator": rs.Trimmed(0.25), "loss": rs.Huber(0.8), "family": Gaussian()},
    "numbers": {"k": np.int64(2), "epsilon": 0.2, "step": 0.7, "tol": 1e-4},
}


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.parametrize("arrays", [True, False])
def test_a_stored_call_is_the_call(case: str, arrays: bool, sim: Any, tmp_path: Path) -> None:
    call, data = CALLS[case], (sim.X, sim.y) if arrays else sim.data
    fit = rs.rht_fit(*data, **call) if arrays else rs.rht("y ~ .", data, **call)
    back = stored(fit, tmp_path)
    pd.testing.assert_frame_equal(repeated(back, data=data), repeated(fit, data=data))


def test_a_stored_call_asks_for_what_was_not_stored(sim: Any, tmp_path: Path) -> None:
    weights = np.linspace(0.5, 1.5, len(sim.y))
    context = {"half": lambda x: x / 2}
    fit = rs.rht("y ~ . + half(x1)", sim.data, k=2, weights=weights, context=context)
    fit.save(tmp_path / "fit.rs")
    back = rs.load(tmp_path / "fit.rs", context=context)
    with pytest.raises(rs.DataError, match="data=data"):
        repeated(back)
    with pytest.raises(rs.DataError, match=r"weights=\.\.\."):
        repeated(back, data=sim.data)
    wanted = repeated(fit, data=sim.data, weights=weights)
    pd.testing.assert_frame_equal(repeated(back, data=sim.data, weights=weights), wanted)


def test_a_fit_that_cannot_be_repeated_stays_one(sim: Any, tmp_path: Path) -> None:
    back = stored(replace(rs.rht_fit(sim.X, sim.y, k=2), _call=None), tmp_path)
    with pytest.raises(rs.ParameterError, match="cannot be refitted"):
        repeated(back, data=(sim.X, sim.y))


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


@dataclass(frozen=True)
class Cautious(rs.Trimmed):
    """A class of the user's that derives from one of ours, and holds all that it needs in its fields."""

    beta: float = 0.5


class Bare(Estimator):
    """No fields, and nothing beside them."""

    def __call__(self, X: np.ndarray, score: np.ndarray) -> np.ndarray:
        return own_median(X, score)


class Hidden(Bare):
    """What it holds no file can know."""

    def __init__(self, secret: float) -> None:
        self.secret = secret


@pytest.mark.filterwarnings("ignore::robustsparse.ConvergenceWarning")
def test_a_class_of_the_users_own_comes_back_if_its_fields_tell_all(
    sim: Any, tmp_path: Path
) -> None:
    def back(estimator: Any) -> Any:
        return stored(rs.rht_fit(sim.X, sim.y, estimator=estimator, k=3), tmp_path).estimator

    assert back(Cautious(0.2, 0.7)) == Cautious(0.2, 0.7)
    assert type(back(Bare())) is Bare
    assert isinstance(back(Hidden(3.0)), str)


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
        json.loads(archive.read("result.json"))
    assert (tmp_path / "fit.rs").stat().st_size < 0.2 * sim.X.nbytes


def content(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("result.json"))


def test_a_file_says_what_it_is(sim: Any, tmp_path: Path) -> None:
    """What other versions and other programs look for; a change is another version of the format."""
    fit = rs.rht("y ~ .", sim.data, k=2)
    fit.save(tmp_path / "fit.rs")
    found = content(tmp_path / "fit.rs")
    assert (found["format"], found["version"]) == ("robustsparse.RHTResult", 2)
    result = found["result"]
    assert (result["nobs"], result["family"]) == (fit.nobs, "gaussian")
    assert result["loss"] == {"class": "Squared", "values": {}}
    assert result["estimator"] == {"class": "Trimmed", "values": {"alpha": fit.estimator.alpha}}
    # A family of the package is known by its name.
    assert "kind" not in result
    for name in ("fittedvalues", "resid", "row_weights"):
        assert result[name]["values"] == getattr(fit, name).tolist()


def test_a_file_that_does_not_count_rows_of_weight_zero_is_read(sim: Any, tmp_path: Path) -> None:
    rs.rht_fit(sim.X, sim.y, k=2).save(tmp_path / "fit.rs")
    file = rewritten(tmp_path / "fit.rs", lambda c: c["result"]["dropped"].pop("weightless"))
    assert rs.load(file).dropped.weightless == 0


def test_a_file_without_degrees_of_freedom_is_read(sim: Any, tmp_path: Path) -> None:
    fit = rs.rht_fit(sim.X, sim.y, k=3)
    assert stored(fit, tmp_path).df_resid == fit.df_resid
    old = rs.load(rewritten(tmp_path / "fit.rs", lambda c: c["result"].pop("df_resid")))
    assert old.df_resid is None
    assert list(old.summary().table)[-2:] == ["z", "p"]
    assert (old.pvalues < fit.pvalues).all()


def test_a_large_file_is_read_if_it_is_trusted(
    sim: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = rs.rht_fit(sim.X, sim.y, k=2)
    fit.save(tmp_path / "fit.rs")
    for name in ("_FREE_TEXT", "_FREE_ROOM", "_TEXT_RATIO", "_ROOM_RATIO"):
        monkeypatch.setattr(f"robustsparse.base.zipped.{name}", 0)
    with pytest.raises(rs.DataError, match="trusted"):
        rs.load(tmp_path / "fit.rs")
    assert_same(fit, rs.load(tmp_path / "fit.rs", trusted=True))


def rewritten(path: Path, change: Any) -> Path:
    found = content(path)
    change(found)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("result.json", json.dumps(found))
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
    "no degrees": (lambda c: c["result"].update(df_resid="many"), "df_resid is 'many'"),
    "wrong type": (lambda c: c["result"].update(params=7), "damaged or was changed"),
    "unknown family": (
        lambda c: c["result"].update(kind={"class": "os.system", "values": {}}),
        "not defined here",
    ),
    "a family that is text": (
        lambda c: c["result"].update(kind={"text": "gaussian"}),
        "family 'gaussian' is none",
    ),
    "a family that is an estimator": (
        lambda c: c["result"].update(kind={"class": "Mean", "values": {}}),
        "family 'gaussian' is none",
    ),
    "an unknown family": (lambda c: c["result"].update(family="gamma"), "damaged.* at 'gamma'"),
    "a text for a truth": (lambda c: c["result"].update(intercept="x"), "intercept is 'x'"),
    "a list for a number": (lambda c: c["result"].update(scale=[]), r"scale is \[\]"),
    "a number for names": (lambda c: c["result"].update(kept=-1), "kept is -1"),
    "a truth for a number": (lambda c: c["result"].update(k=True), "k is True"),
    "unknown tag": (lambda c: c["result"].update(scale={"!": "code"}), "'code'"),
    "wrong values": (lambda c: c["result"]["estimator"].update(values={"x": 1}), "damaged"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_changed_file_is_refused(case: str, sim: Any, tmp_path: Path) -> None:
    change, says = CHANGES[case]
    rs.rht("y ~ .", sim.data, k=2).save(tmp_path / "fit.rs")
    with pytest.raises(rs.DataError, match=says):
        rs.load(rewritten(tmp_path / "fit.rs", change))


@pytest.mark.parametrize("name", ["Plain", "os.system"])
def test_a_class_that_is_not_known_leaves_its_name_and_nothing_else(
    name: str, sim: Any, tmp_path: Path
) -> None:
    rs.rht("y ~ .", sim.data, k=2).save(tmp_path / "fit.rs")
    path = rewritten(
        tmp_path / "fit.rs", lambda c: c["result"]["estimator"].update({"class": name})
    )
    assert rs.load(path).estimator == f"{name} (not defined here)"


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
