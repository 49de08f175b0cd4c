"""Files that are there whole or not at all: a process killed while it writes leaves the old file as it was."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from robustsparse.base.errors import WriteError

# How the names of unfinished files begin and end, so that nobody else's file is ever taken for one.
PARTIAL_PREFIX, PARTIAL_SUFFIX = ".robustsparse-", ".part"
# A longer ending says nothing about the format of a file, and might exceed what a file system allows.
_LONGEST_ENDING = 20
_MODE_OF_NEW_FILES = 0o666


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, whose file takes the place of `path` once the block has ended without an error.

    It lies in the same folder and ends like `path`, for writers that go by the ending. Links are followed. A new file
    has the permissions of any new file, one that replaces another has those of the other.

    Raises
    ------
    WriteError
        If the file cannot be written; what was at `path` is still there.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "notes.txt"
    >>> with written_whole(target) as partial:
    ...     _ = partial.write_text("done")
    >>> target.read_text(), [file.name for file in target.parent.iterdir()]
    ('done', ['notes.txt'])
    """
    target = Path(os.path.realpath(path))
    try:
        if _is_special(target):
            yield target
            return
        partial = _new_partial(target)
        try:
            yield partial
            _move(partial, target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise _failure(path, error) from error


def _failure(path: str | os.PathLike[str], error: OSError) -> WriteError:
    reason = error.strerror or str(error)
    failure = WriteError(
        f"{str(path)!r} cannot be written ({reason}); what was there before is unchanged."
    )
    failure.errno = error.errno
    return failure


def _is_special(target: Path) -> bool:
    """Whether there is a pipe or a device, which can be written to but must not be replaced."""
    return target.exists() and not target.is_file() and not target.is_dir()


def _new_partial(target: Path) -> Path:
    """An empty file beside the target that nobody can read who cannot read the target."""
    mode = _MODE_OF_NEW_FILES
    if target.exists():
        # Replacing needs no right to write to a file, but who took that right away meant something.
        with target.open("r+b"):
            mode = stat.S_IMODE(target.stat().st_mode)
    ending = target.suffix if len(target.suffix) <= _LONGEST_ENDING else ""
    name = f"{PARTIAL_PREFIX}{os.getpid()}-{secrets.token_hex(4)}{PARTIAL_SUFFIX}{ending}"
    partial = target.with_name(name)
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    if target.exists():
        _copy_permissions(target, partial)
    return partial


def _copy_permissions(source: Path, copy: Path) -> None:
    """Mode and owner of one file for another; who may not give files away keeps them."""
    about = source.stat()
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(copy, about.st_uid, about.st_gid)
    copy.chmod(stat.S_IMODE(about.st_mode))


def _move(partial: Path, target: Path) -> None:
    """Put a finished file in its place; the disk has it first, or a power cut could leave an empty one."""
    _flush(partial, os.O_RDWR)
    partial.replace(target)
    if hasattr(os, "O_DIRECTORY"):
        # Some file systems cannot flush a folder; the file is in its place all the same.
        with suppress(OSError):
            _flush(target.parent, os.O_RDONLY)


def _flush(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
