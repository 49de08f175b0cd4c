"""Parts of a run on disk."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustsparse as rs
from robustsparse.base.checkpoint import Checkpoint, fingerprint
from robustsparse.base.errors import ParameterError

PART = {"value": np.array([0.1, np.pi]), "node": np.array([1, 2])}


def names(folder: Path) -> set[str]:
    """Files that a user sees in a folder."""
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_part_comes_back_as_it_was(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path / "run", "abc") as store:
        assert store.read("nodes-0") is None
        assert store.write("nodes-0", PART) is PART
    with Checkpoint.open(tmp_path / "run", "abc") as store:
        again = store.read("nodes-0")
    assert again is not None
    assert again.keys() == PART.keys()
    assert again["value"].tolist() == [0.1, np.pi]
    assert again["node"].tolist() == [1, 2]


def test_without_a_folder_nothing_is_kept() -> None:
    with Checkpoint.open(None, "") as store:
        store.write("nodes-0", PART)
        assert store.read("nodes-0") is None


def test_another_run_is_refused(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path, "abc"):
        pass
    with pytest.raises(ParameterError, match="other data, with other arguments"):
        Checkpoint.open(tmp_path, "abd").__enter__()


def test_a_folder_says_which_run_and_version_it_is_of(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path / "runs" / "of today", "abc"):
        about = (tmp_path / "runs" / "of today" / "run.json").read_text()
    assert json.loads(about) == {"digest": "abc", "version": rs.__version__}


def test_a_folder_that_another_run_took_in_the_meantime_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other run began and ended between our first look at the folder and our lock on it."""

    @contextmanager
    def late(path: Path) -> Iterator[None]:
        (path.parent / "run.json").write_text(json.dumps({"digest": "abd"}))
        yield

    monkeypatch.setattr("robustsparse.base.checkpoint.locked", late)
    with pytest.raises(ParameterError, match="other arguments"):
        Checkpoint.open(tmp_path, "abc").__enter__()


def test_a_second_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path, "abc") as first:
        with pytest.raises(ParameterError, match=r"in use by another run \(process \d+ on"):
            Checkpoint.open(tmp_path, "abc").__enter__()
        first.write("nodes-0", PART)
        assert first.read("nodes-0") is not None
    with Checkpoint.open(tmp_path, "abc") as second:
        assert second.read("nodes-0") is not None


@pytest.mark.parametrize("files", [["thesis.txt"], ["film.part"], ["nodes-0.17.part", "a.npz"]])
def test_a_refused_folder_stays_as_it_was(tmp_path: Path, files: list[str]) -> None:
    for name in files:
        (tmp_path / name).write_text("precious")
    (tmp_path / ".hidden.part").write_text("precious")
    with pytest.raises(ParameterError, match="other files"):
        Checkpoint.open(tmp_path, "abc").__enter__()
    assert {path.name for path in tmp_path.iterdir()} == {*files, ".hidden.part"}
    assert all(path.read_text() == "precious" for path in tmp_path.iterdir())


def test_the_folder_of_another_run_stays_as_it_was(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path, "abc"):
        pass
    (tmp_path / "film.part").write_text("precious")
    before = names(tmp_path)
    with pytest.raises(ParameterError, match="other arguments"):
        Checkpoint.open(tmp_path, "abd").__enter__()
    assert names(tmp_path) == before


def test_files_of_others_survive_in_a_folder_of_ours(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path, "abc"):
        pass
    (tmp_path / "film.part").write_text("precious")
    with Checkpoint.open(tmp_path, "abc"):
        pass
    assert (tmp_path / "film.part").read_text() == "precious"


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path, "abc"):
        pass
    left = tmp_path / ".robustsparse-17-0badcafe.part.npz"
    left.write_bytes(b"half")
    with Checkpoint.open(tmp_path, "abc") as store:
        assert store.read("nodes-0") is None
    assert not left.exists()


def test_what_is_removed_by_others_first_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / ".robustsparse-17-0badcafe.part.npz"
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter([gone]))
    with Checkpoint.open(tmp_path, "abc") as store:
        assert store.read("nodes-0") is None


def test_hidden_files_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").write_text("")
    with Checkpoint.open(tmp_path, "abc"):
        assert names(tmp_path) == {"run.json"}


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="cannot be used"):
        Checkpoint.open(tmp_path / "file", "abc").__enter__()


@pytest.mark.parametrize("content", [b"", b"PK", b"not an archive", b"\x93NUMPY\x01\x00"])
def test_a_damaged_part_is_made_again(tmp_path: Path, content: bytes) -> None:
    with Checkpoint.open(tmp_path, "abc") as store:
        (tmp_path / "nodes-0.npz").write_bytes(content)
        assert store.read("nodes-0") is None
        store.write("nodes-0", PART)
        assert store.read("nodes-0") is not None


class Trap:
    """Unpickled, it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.write_text, (self.path, "caught"))


def test_nothing_in_a_part_can_run(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path / "run", "abc") as store:
        trap = np.array([Trap(tmp_path / "caught")], dtype=object)
        np.savez(tmp_path / "run" / "nodes-0.npz", value=trap, seal=np.array("abc"))
        assert store.read("nodes-0") is None
    assert not (tmp_path / "caught").exists()


def test_flipped_bits_of_a_part_are_noticed(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path, "abc") as store:
        store.write("nodes-0", PART)
        path = tmp_path / "nodes-0.npz"
        whole = path.read_bytes()
        for place in range(0, len(whole), 7):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            got = store.read("nodes-0")
            assert got is None or got["value"].tolist() == PART["value"].tolist()


def test_parts_that_were_swapped_are_noticed(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path / "one", "abc") as store:
        store.write("nodes-0", PART)
        store.write("nodes-64", PART)
        shutil.copy(tmp_path / "one" / "nodes-0.npz", tmp_path / "one" / "nodes-64.npz")
        assert store.read("nodes-0") is not None
        assert store.read("nodes-64") is None


def test_parts_of_another_run_are_noticed(tmp_path: Path) -> None:
    with Checkpoint.open(tmp_path / "one", "abc") as store:
        store.write("nodes-0", PART)
    with Checkpoint.open(tmp_path / "two", "abd") as other:
        shutil.copy(tmp_path / "one" / "nodes-0.npz", tmp_path / "two" / "nodes-0.npz")
        assert other.read("nodes-0") is None


LONG = json.dumps({"digest": "abc", "about": "x" * 20_000})


@pytest.mark.parametrize("content", ["", "[]", "{", "3", "[" * 5000, '{"digest": 3}', LONG])
def test_a_damaged_folder_is_named(tmp_path: Path, content: str) -> None:
    with Checkpoint.open(tmp_path, "abc"):
        pass
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ParameterError, match="checkpoint="):
        Checkpoint.open(tmp_path, "abc").__enter__()


def test_what_is_no_path_is_named() -> None:
    with pytest.raises(ParameterError, match="checkpoint=3"):
        Checkpoint.open(3, "abc").__enter__()  # type: ignore[arg-type]


def test_an_error_in_the_run_gives_the_folder_back(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="of the run"), Checkpoint.open(tmp_path, "abc"):
        raise OSError("of the run")
    with Checkpoint.open(tmp_path, "abc"):
        pass


def test_fingerprints_tell_data_and_settings_apart() -> None:
    data = {"X": np.arange(6.0)}
    base = fingerprint(data, {"k": 3})
    assert base == fingerprint({"X": np.arange(6.0)}, {"k": 3})
    assert fingerprint(data, {"k": 3, "l": 2}) == fingerprint(data, {"l": 2, "k": 3})
    both = {"Y": np.ones(2), **data}
    assert fingerprint(both, {}) == fingerprint(dict(reversed(both.items())), {})
    others = [
        fingerprint(data, {"k": 4}),
        fingerprint(data, {"l": 3}),
        fingerprint(data, {"k": 3, "l": 3}),
        fingerprint(data, {}),
        fingerprint({"Y": np.arange(6.0)}, {"k": 3}),
        fingerprint({"X": np.arange(6.0).reshape(2, 3)}, {"k": 3}),
        fingerprint({"X": np.arange(6)}, {"k": 3}),
        fingerprint({"X": np.nextafter(np.arange(6.0), 9)}, {"k": 3}),
    ]
    assert len({base, *others}) == 1 + len(others)


def test_fingerprints_tell_versions_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    base = fingerprint({}, {"k": 3})
    monkeypatch.setattr(rs, "__version__", "0.0.0")
    assert fingerprint({}, {"k": 3}) != base


SETTINGS: dict[str, dict[str, Any]] = {
    "k": {"k": 2},
    "estimator": {"estimator": "mean"},
    "instance": {"estimator": rs.Trimmed(alpha=0.3)},
    "screen": {"screen": False},
    "standardize": {"standardize": "sd"},
    "step": {"step": 0.5},
    "max_iter": {"max_iter": 7},
    "tol": {"tol": 1e-7},
    "rng": {"rng": 1},
}


@pytest.mark.parametrize("changed", SETTINGS)
def test_every_setting_makes_another_run(changed: str, tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((30, 4))
    same: dict[str, Any] = {"k": 1, "estimator": "trim", "checkpoint": tmp_path}
    rs.robust_ns(X, **same)
    # What a run does not depend on is no other run.
    rs.robust_ns(X, **same, n_jobs=1, verbose=False)
    with pytest.raises(ParameterError, match="other arguments"):
        rs.robust_ns(X, **same | SETTINGS[changed])
