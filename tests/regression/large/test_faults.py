"""Workers and drivers that are killed, rounds that do not end, and what is refused."""

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import pytest

import robustsparse as rs
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.design.stores import dask_columns
from robustsparse.design.stores.arrays import ArrayColumns
from robustsparse.design.stores.store import Blocks, Threads
from robustsparse.regression.arguments import Arguments
from robustsparse.regression.large import rounds
from robustsparse.regression.large.fit import Limits, fit_store

N, D = 120, 3000


def problem() -> tuple[Any, Any]:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N, D))
    y = X[:, [5, 700, 2500]] @ [2.0, -2.0, 2.0] + rng.normal(size=N)
    y[:10] = 30.0
    return X, y


def blocks(X: Any) -> Blocks:
    return Blocks(ArrayColumns(X), Threads(2), 500)


@pytest.fixture(autouse=True)
def _few_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_FIRST", 320)


def test_a_worker_killed_in_the_middle_of_a_fit(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = problem()
    # A task for each chunk, so that some are lost and others are not.
    monkeypatch.setattr(dask_columns, "_ENOUGH_ENTRIES", 1)
    killed: list[int] = []
    objections = rounds._objections

    def kill_first(log: Any, store: Any, *rest: Any) -> Any:
        if not killed:
            worker = next(iter(cluster.cluster.workers.values()))
            killed.append(worker.process.pid)
            os.kill(worker.process.pid, signal.SIGKILL)
        return objections(log, store, *rest)

    monkeypatch.setattr(rounds, "_objections", kill_first)
    fit = rs.rht_fit(dask.array.from_array(X, chunks=(N, 300)), y, client=cluster)
    assert killed
    assert np.abs(fit.params - rs.rht_fit(X, y).params).max() <= 1e-10


KILLED = """
import os
from robustsparse.regression.large import rounds
import tests.regression.large.test_faults as here
rounds._FIRST = 320
store = rounds.Progress.store
def last(self, checkpoint):
    store(self, checkpoint)
    os._exit(9)
rounds.Progress.store = last
X, y = here.problem()
here.fit_store(here.blocks(X), y, here.Arguments(), here.Limits(10**9, {folder!r}))
"""


def test_a_killed_driver_goes_on(tmp_path: Path) -> None:
    X, y = problem()
    whole = blocks(X)
    expected = fit_store(whole, y, Arguments(), Limits(10**9))
    code = KILLED.format(folder=str(tmp_path / "kept"))
    root = str(Path(__file__).parents[3])
    done = subprocess.run([sys.executable, "-c", code], cwd=root, check=False)
    assert done.returncode == 9
    store = blocks(X)
    fit = fit_store(store, y, Arguments(), Limits(10**9, tmp_path / "kept"))
    assert (fit.params == expected.params).all()
    # The statistics and the first proof are not made again.
    assert store.passes == whole.passes - 2
    with pytest.raises(ParameterError, match="other data"):
        fit_store(store, y + 1.0, Arguments(), Limits(10**9, tmp_path / "kept"))


def test_a_run_that_is_not_proved_is_no_answer() -> None:
    X, y = problem()
    with pytest.raises(DataError, match="could not be proved on all columns within 1 rounds"):
        fit_store(blocks(X), y, Arguments(), Limits(10**9, max_rounds=1))


def test_too_little_memory_for_the_columns_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem()
    monkeypatch.setattr(rounds, "_COPIES", 1500)
    with pytest.raises(DataError, match="times as much memory="):
        fit_store(blocks(X), y, Arguments(), Limits(10**9))


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        ({"split": 2, "k": 2}, "split=False"),
        ({"estimator": "mom"}, "'trim' withstands"),
        ({"estimator": lambda X, score: X.T @ score / len(score)}, "must be 'trim' or 'mean'"),
        ({"groups": {"g": [1, 2]}}, "select single columns"),
        ({"na_action": "impute"}, "impute the columns first"),
        ({"goal": "predict"}, "goal='select'"),
    ],
)
def test_what_needs_all_columns_is_refused(arguments: Any, remedy: str) -> None:
    X, y = problem()
    with pytest.raises(ParameterError, match=remedy):
        rs.rht_fit(blocks(X), y, **arguments)


def test_too_few_labels_to_select_by() -> None:
    X, _ = problem()
    with pytest.raises(ParameterError, match="goal='select'"):
        rs.rht_fit(blocks(X[:24]), np.arange(24) % 2, family="binomial")


def test_a_missing_value_is_named() -> None:
    X, y = problem()
    X[3, 1234] = np.nan
    with pytest.raises(DataError, match=r"column 'x1235' of X has 1 missing.*row 3"):
        rs.rht_fit(blocks(X), y)


def test_wrong_cells_are_refused_unless_they_are_to_stay() -> None:
    X, y = problem()
    rng = np.random.default_rng(0)
    for j in range(0, D, 2):
        X[rng.choice(N, 4, replace=False), j] = 40.0 + 5.0 * rng.random(4)
    assert len(rs.rht_fit(X, y).cells()) > 0
    with pytest.raises(DataError, match=r"look wrong.*cells=False"):
        rs.rht_fit(blocks(X), y)
    fit = rs.rht_fit(blocks(X), y, cells=False)
    assert np.abs(fit.params - rs.rht_fit(X, y, cells=False).params).max() <= 1e-10


def test_other_calls_do_not_gather_what_dask_holds() -> None:
    with pytest.raises(DataError, match=r"compute\(\)"):
        rs.robust_ns(dask.array.from_array(problem()[0], chunks=(N, 500)))


def test_intervals_that_select_again_need_the_memory() -> None:
    X, y = problem()
    store = blocks(X)
    fit = rs.rht_fit(store, y)
    with pytest.raises(DataError, match="needs the columns in memory"):
        fit.conf_int(method="bootstrap")


def test_progress_tells_passes_rounds_and_columns(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rs.rht_fit(blocks(X), y, verbose=True)
    told = capsys.readouterr().err
    assert "pass 1, statistics of all columns" in told
    assert "round 1" in told
    assert "of 3,000 columns held: proof" in told
