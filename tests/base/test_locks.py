"""Locks between processes."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from robustsparse.base import locks
from robustsparse.base.locks import OccupiedError, locked

_HOLD = """
import pathlib, sys, time
from robustsparse.base.locks import locked
with locked(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["by the system", "by name"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "by name":
        monkeypatch.setattr(locks, "_system_lock", lambda path: None)
    return tmp_path / "lock"


def test_a_lock_excludes_and_is_given_back(path: Path) -> None:
    with locked(path), pytest.raises(OccupiedError, match=f"process {os.getpid()} on"):
        locked(path).__enter__()
    with locked(path):
        pass


def test_a_lock_is_given_back_after_an_error(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(path):
        _ = 1 / 0
    with locked(path):
        pass


def test_threads_exclude_each_other(path: Path) -> None:
    found = []

    def other() -> None:
        try:
            with locked(path):
                found.append("entered")
        except OccupiedError:
            found.append("refused")

    with locked(path):
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert found == ["refused"]


@pytest.mark.skipif(os.name != "posix", reason="processes are asked for otherwise")
def test_a_killed_owner_loses_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", _HOLD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(OccupiedError, match=f"process {process.pid} on"):
            locked(path).__enter__()
        process.kill()
    with locked(path):
        pass


@pytest.mark.skipif(os.name != "posix", reason="processes are asked for otherwise")
def test_a_name_counts_only_while_its_process_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_system_lock", lambda path: None)
    path = tmp_path / "lock"
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    path.write_text(f"process {done.pid} on {socket.gethostname()}")
    with locked(path):
        pass
    for owner in (f"process {done.pid} on elsewhere", "", "process x on", "process 1 on"):
        path.write_text(owner)
        with pytest.raises(OccupiedError, match="delete"):
            locked(path).__enter__()
