"""Machine code on disk: used only while it is that of the sources, and never in the way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

import robustsparse
from robustsparse.base.errors import RobustSparseWarning
from robustsparse.kernels import cache
from robustsparse.kernels.compiler import kernel

PACKAGE = Path(robustsparse.__file__).parent

# A kernel that is compiled soon and calls functions of another file.
MOVE = """
import numpy as np
from robustsparse import kernels
move = np.empty(2)
past = np.array([[1.0, 2.0, 3.0, 5.0]])
kernels.secant_move(past, 1, np.array([0.5, 1.0, 2.0, 1.0]), 0.1, move)
print(*move)
"""
FIT = """
import warnings
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import robustsparse as rs
    assert not caught
    sim = rs.simulate.linear(n=60, d=20, k=2, rng=1)
    fit = rs.rht_fit(sim.X, sim.y, k=2)
ours = [w for w in caught if issubclass(w.category, rs.RobustSparseWarning)]
print(len(ours), ours[0].filename, ours[0].message)
assert sorted(fit.support()) == sorted(sim.support())
"""


def run(code: str, package: Path, **environment: str) -> str:
    """What code prints in a process of its own, with the package in a folder."""
    process = start(code, package, **environment)
    printed, errors = process.communicate()
    assert not process.returncode, errors
    return printed.strip()


def start(code: str, package: Path, **environment: str) -> "subprocess.Popen[str]":
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    own = {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        # The folder of the process comes first among those that modules are looked for in.
        cwd=package,
        env={**inherited, **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a copy of the package."""
    shutil.copytree(
        PACKAGE, tmp_path / "package" / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "package"


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    """A path that no user can make a folder of, the superuser included: it is below a file."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "folder"


def kept(folder: Path) -> list[Path]:
    """Files of machine code below a folder."""
    return sorted(file for file in folder.rglob("robustsparse-*/*") if file.is_file())


@pytest.mark.parametrize("in_tree", [False, True])
def test_a_change_of_what_a_kernel_calls_compiles_it_anew(
    package: Path, tmp_path: Path, in_tree: bool
) -> None:
    environment = {} if in_tree else {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    before = run(MOVE, package, **environment)
    assert kept(tmp_path)
    assert run(MOVE, package, **environment) == before
    vectors = package / "robustsparse" / "kernels" / "vectors.py"
    source = vectors.read_text()
    changed = source.replace("y[i] += factor * x[i]", "y[i] += 2.0 * factor * x[i]")
    assert changed != source
    vectors.write_text(changed)
    assert run(MOVE, package, **environment) != before
    vectors.write_text(source)
    assert run(MOVE, package, **environment) == before


def test_fits_work_where_nothing_can_be_written(package: Path, blocked: Path) -> None:
    (package / "robustsparse" / "kernels" / "__pycache__").write_text("")
    count, filename, message = run(
        FIT, package, HOME=str(blocked), XDG_CACHE_HOME=str(blocked), LOCALAPPDATA=str(blocked)
    ).split(" ", 2)
    assert (count, filename) == ("1", "<string>")
    assert "NUMBA_CACHE_DIR" in message


def test_no_folder_is_made_where_the_home_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache.AppDirs, "user_cache_dir", os.path.join("~", ".cache"))
    monkeypatch.setattr(config, "CACHE_DIR", "")
    assert all(folder.is_absolute() for folder in cache._folders())


def test_processes_that_start_together_share_a_cache(package: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "cache")
    processes = [start(MOVE, package, NUMBA_CACHE_DIR=place) for _ in range(3)]
    printed = {process.communicate()[0] for process in processes}
    assert not any(process.returncode for process in processes)
    assert len(printed) == 1
    assert len(kept(tmp_path)) == 1


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the user names for the caches of this process."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "_noted", False)
    return tmp_path


def plus_one(x: int) -> int:
    return x + 1


def compiled_now() -> bool:
    """Whether a kernel, decorated anew as in a new process, had to be compiled for its first call."""
    again = kernel(plus_one)
    assert again(1) == 2
    return not sum(again.stats.cache_hits.values())


def test_the_cache_is_used(place: Path) -> None:
    assert [compiled_now() for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize("damage", ["empty", "half", "flipped", "other"])
def test_damaged_files_are_written_anew(place: Path, damage: str) -> None:
    assert compiled_now()
    (file,) = kept(place)
    content = file.read_bytes()
    middle = len(content) // 2
    flipped = bytes([content[middle] ^ 1])
    damaged = {
        "empty": b"",
        "half": content[:middle],
        "flipped": content[:middle] + flipped + content[middle + 1 :],
        "other": b"not machine code",
    }
    file.write_bytes(damaged[damage])
    assert [compiled_now() for _ in range(2)] == [True, False]
    assert kept(place) == [file]


def test_code_that_cannot_be_loaded_is_compiled(place: Path) -> None:
    assert compiled_now()
    (file,) = kept(place)
    cache._write(file, b"whole, but of another kind")
    assert [compiled_now() for _ in range(2)] == [True, False]


def test_only_old_folders_of_ours_are_removed(place: Path) -> None:
    old = [place / f"robustsparse-{i:032x}" for i in range(8)]
    for age, folder in enumerate(old):
        folder.mkdir()
        (folder / "code").write_text("")
        os.utime(folder, (1e9 - age, 1e9 - age))
    foreign = [place / "numba_1f", place / "robustsparse-notes", place / f"robustsparse-{8:033x}"]
    for folder in foreign:
        folder.mkdir()
        os.utime(folder, (0, 0))
    assert compiled_now()
    own = next(cache._folders())
    assert list(own.iterdir())
    assert {*place.iterdir()} == {own, *foreign, *old[: cache._OTHERS_KEPT]}


def test_a_folder_in_use_counts_as_recent(place: Path) -> None:
    assert compiled_now()
    own = next(cache._folders())
    os.utime(own, (1e9, 1e9))
    assert not compiled_now()
    assert own.stat().st_mtime > 1e9


def test_the_note_comes_once_and_only_with_compiling(
    blocked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(blocked))
    monkeypatch.setattr(cache, "_noted", False)
    compiled = kernel(plus_one)
    with pytest.warns(RobustSparseWarning, match="NUMBA_CACHE_DIR") as caught:
        assert compiled(1) == 2
    assert caught[0].filename == __file__
    # Warnings are errors in tests.
    assert compiled(1.0) == 2.0


def test_every_file_counts_in_the_digest(package: Path) -> None:
    kernels = package / "robustsparse" / "kernels"
    files = sorted(kernels.rglob("*.py"))
    digests = {cache.sources_digest(kernels)}
    for file in files:
        file.write_text(file.read_text() + "\n")
        digests.add(cache.sources_digest(kernels))
    assert len(digests) == len(files) + 1
    shutil.rmtree(kernels)
    assert cache.sources_digest(kernels) is None
