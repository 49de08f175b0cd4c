"""A lock that other processes see, and that does not outlive its owner."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

# Characters of a lock file that are read: a process and a host need no more.
_LONGEST_OWNER = 300


class OccupiedError(Exception):
    """Someone else holds the lock; the text says who."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file for as long as the block runs; two threads of a process exclude each other too.

    The system takes the lock back however its process ends. Where it cannot lock files, the lock is a file with the
    number and the host of its process, and counts no more once there is no such process on this host.

    Raises
    ------
    OccupiedError
        If the lock is held already.
    """
    handle = _system_lock(path)
    if handle is None:
        _own_lock(path)
    try:
        yield
    finally:
        # A file that the system locks stays: who deletes it could take it away from one that waits for it.
        if handle is None:
            path.unlink(missing_ok=True)
        else:
            os.close(handle)


def _system_lock(path: Path) -> int | None:
    """A file locked by the system, or None where it locks none."""
    if sys.platform == "win32":
        return None
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            raise OccupiedError(_owner(path)) from None
        path.unlink(missing_ok=True)
        return None
    os.ftruncate(handle, 0)
    os.write(handle, _signature())
    return handle


def _own_lock(path: Path) -> None:
    """Make the lock file, in the place of one whose owner is gone."""
    if path.exists() and not _may_live(_owner(path)):
        path.unlink(missing_ok=True)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise OccupiedError(f"{_owner(path)}; if that is gone, delete {str(path)!r}") from None
    os.write(handle, _signature())
    os.close(handle)


def _signature() -> bytes:
    return f"process {os.getpid()} on {socket.gethostname()}".encode()


def _owner(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LONGEST_OWNER) or "an unknown process"
    except OSError:
        return "an unknown process"


def _may_live(owner: str) -> bool:
    """Whether the process that signed a lock may still run; only one of this host is known to be gone."""
    words = owner.split()
    if len(words) != 4 or words[3] != socket.gethostname() or not words[1].isdecimal():
        return True
    # Elsewhere the same call would end the process instead of asking for it.
    if os.name != "posix":
        return True
    try:
        os.kill(int(words[1]), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
