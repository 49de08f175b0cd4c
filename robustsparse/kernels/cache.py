"""Machine code of the kernels on disk, so that an installation compiles each of them once.

numba's own cache compiles a kernel anew when the file changes that it stands in. But functions and constants of other
files are compiled into a kernel too, and after an update of the package it would run on with the old ones. Here one
folder belongs to one state of all the files in `kernels/`. Besides, numba raises an error where there is no folder that
it can write to, and at a damaged file; here what cannot be read is compiled.
"""

import hashlib
import os
import pickle
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numba
from numba import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from robustsparse.base.errors import RobustSparseWarning

_SOURCES = Path(__file__).parent
_PREFIX = "robustsparse-"
_OURS = re.compile(_PREFIX + "[0-9a-f]{32}")
# Folders of other states of the files that stay, the last used ones: other environments or branches may share a place.
_OTHERS_KEPT = 3
_CHECKSUM = 32


def sources_digest(folder: Path) -> str | None:
    """Digest of all source files below a folder and of what compiles them; None if there are none, as in an archive."""
    files = sorted(folder.rglob("*.py"))
    if not files:
        return None
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for file in files:
        content = file.read_bytes()
        digest.update(f"\n{file.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:32]


# Taken when the kernels are imported: files that change later are not what this process compiles.
_digest = sources_digest(_SOURCES)
_noted = False


def _folders() -> Iterator[Path]:
    """Folders for the machine code, best first: where the user says, else in the package or among the user's caches."""
    if _digest is None:
        return
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR, _PREFIX + _digest)
        return
    yield _SOURCES / "__pycache__" / (_PREFIX + _digest)
    caches = Path(AppDirs("robustsparse", appauthor=False).user_cache_dir)
    # The home of a user who has none is not resolved, and would become a folder named "~" wherever the process runs.
    if caches.is_absolute():
        yield caches / (_PREFIX + _digest)


def _read(path: Path) -> bytes | None:
    """What was written to a file, or None if it is not there or not whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    data = content[_CHECKSUM:]
    return data if hashlib.sha256(data).digest() == content[:_CHECKSUM] else None


def _write(path: Path, data: bytes) -> bool:
    """Write a file in one move, for others may read it meanwhile; returns whether that was possible."""
    folder = path.parent
    temporary = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        first = not folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(hashlib.sha256(data).digest() + data)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        return False
    if first:
        _remove_old(folder)
    return True


def _remove_old(folder: Path) -> None:
    """Remove folders beside this one that belong to other states of the files, but for the last used ones.

    Whoever should still use one of those only has to compile again, and several may remove them at the same time.
    """
    used: list[tuple[float, Path]] = []
    for other in folder.parent.iterdir():
        if _OURS.fullmatch(other.name) and other != folder and not other.is_symlink():
            with suppress(OSError):
                used.append((other.stat().st_mtime, other))
    for _, other in sorted(used, reverse=True)[_OTHERS_KEPT:]:
        shutil.rmtree(other, ignore_errors=True)


def _note_once() -> None:
    """Tell the user, at the line that called the package, that nothing is kept."""
    global _noted
    if _noted or _digest is None:
        return
    _noted = True
    inside = (str(_SOURCES.parent), str(Path(numba.__file__).parent))
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(
        "no folder can be written to that would keep the compiled code of robustsparse, so that each process compiles "
        "it again, for some seconds; set the environment variable NUMBA_CACHE_DIR to a folder that can be written to.",
        RobustSparseWarning,
        stacklevel=level,
    )


class KernelCache(NullCache):
    """The machine code of one kernel for all types of its arguments.

    Parameters
    ----------
    function : callable
        The kernel before it is compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = function.__qualname__.rpartition(".")[2]
        self._identity = (function.__module__, function.__qualname__, function.__code__.co_code)
        self._used = False

    @property
    def cache_path(self) -> str | None:
        """The folder that is asked first."""
        return next(map(str, _folders()), None)

    def _file(self, types: Any, codegen: Any) -> str:
        """Name of a file; the processor is part of it, since one folder may serve several machines."""
        key = repr((self._identity, types, codegen.magic_tuple()))
        return f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}"

    @property
    def on_disk(self) -> bool:
        """Whether there is machine code for some types of arguments."""
        return any(True for folder in _folders() for _ in folder.glob(f"{self._name}-*"))

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """Machine code for these types of arguments, if it is on disk."""
        target_context.refresh()
        name = self._file(sig, target_context.codegen())
        for folder in _folders():
            data = _read(folder / name)
            if data is None:
                continue
            # Whatever may be wrong with it, the kernel can be compiled.
            with suppress(Exception):
                found = CompileResult._rebuild(target_context, *pickle.loads(data))
                self._mark_as_used(folder)
                return found
        return None

    def _mark_as_used(self, folder: Path) -> None:
        if not self._used:
            self._used = True
            with suppress(OSError):
                os.utime(folder)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Put the machine code for these types of arguments on disk, wherever that is possible."""
        # Addresses of this process would be part of the code.
        if data.library.has_dynamic_globals:
            return
        name, code = self._file(sig, data.codegen), dumps(data._reduce())
        if not any(_write(folder / name, code) for folder in _folders()):
            _note_once()
