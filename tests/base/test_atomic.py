"""Files are there whole or not at all, whatever happens while they are written."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.base.atomic import written_whole
from robustsparse.base.errors import RobustSparseError, WriteError


def write(path: Path, text: str) -> None:
    with written_whole(path) as partial:
        partial.write_text(text)


def write_half(path: Path, error: BaseException) -> None:
    with written_whole(path) as partial:
        partial.write_text("half")
        raise error


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "fit.rs"
    target.write_text("old")
    with written_whole(target) as partial:
        partial.write_text("half of the n")
        assert target.read_text() == "old"
        partial.write_text("new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: Any) -> None:
    target = tmp_path / "fit.rs"
    target.write_text("old")
    expected = WriteError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        write_half(target, error)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_error_of_a_full_disk_is_ours_and_an_oserror(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match=r"fit\.rs' cannot be written \(No space left") as caught:
        write(tmp_path / "fit.rs", "new")
    assert caught.value.errno == errno.ENOSPC
    assert isinstance(caught.value, RobustSparseError)
    assert isinstance(caught.value, OSError)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions of another kind")
def test_permissions_are_those_of_any_new_file_or_of_the_old_one(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "new", "")
        (tmp_path / "plain").write_text("")
        (tmp_path / "shared").write_text("")
        (tmp_path / "shared").chmod(0o666)
        write(tmp_path / "shared", "")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == mode(tmp_path / "plain") == 0o640
    assert mode(tmp_path / "shared") == 0o666


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link, target = tmp_path / "link", tmp_path / "folder" / "target"
    link.symlink_to(target)
    for text in ("first", "second"):
        write(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    before = os.stat("/dev/null")
    write(Path("/dev/null"), "gone")
    assert os.stat("/dev/null").st_rdev == before.st_rdev


def test_long_names_and_endings(tmp_path: Path) -> None:
    for name in ("a" * 250, "a." + "b" * 200, "a.csv.gz"):
        write(tmp_path / name, "x")
        assert (tmp_path / name).read_text() == "x"
    with written_whole(tmp_path / "a.png") as partial:
        partial.write_text("")
        assert partial.suffix == ".png"


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "nowhere" / "fit.rs", tmp_path / "folder"):
        with pytest.raises(WriteError, match=path.name):
            write(path, "x")


@pytest.fixture(scope="module")
def fit() -> Any:
    sim = rs.simulate.linear(n=40, d=5, k=2, rng=0)
    return rs.rht("y ~ .", sim.data, k=2)


@pytest.fixture(scope="module")
def graph() -> Any:
    return rs.robust_ns(np.random.default_rng(0).standard_normal((30, 4)), k=1)


@pytest.mark.parametrize("writer", ["fit.save", "graph.save", "graph.to_csv", "graph.to_graphml"])
def test_every_writer_keeps_the_old_file_on_a_full_disk(
    writer: str, request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left")

    name, method = writer.split(".")
    write_to = getattr(request.getfixturevalue(name), method)
    target = tmp_path / "target"
    target.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(RobustSparseError, match="target"):
            write_to(target)
    assert target.read_text() == "old"
    write_to(target)
    assert target.read_bytes() != b"old"
    assert list(tmp_path.iterdir()) == [target]


_TOO_LARGE = """
import resource, signal, sys
import robustsparse as rs
fit = rs.load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (700, resource.RLIM_INFINITY))
try:
    fit.save(sys.argv[1])
except rs.RobustSparseError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of another kind")
def test_a_file_that_outgrows_its_room_leaves_the_old_model(fit: Any, tmp_path: Path) -> None:
    target = tmp_path / "fit.rs"
    fit.save(target)
    before = target.read_bytes()
    command = [sys.executable, "-c", _TOO_LARGE, str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cannot be written (File too large)" in done.stdout
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]
