"""Archives that `save` writes and `load` reads: zip files of JSON and plain arrays.

A file may come from anywhere, so that nothing is unpacked before the room it asks for is known and in proportion to the
size of the file. Limits are far above what a model or a graph of any size needs.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.atomic import written_whole
from robustsparse.base.errors import DataError

# Bytes that any file may unpack to, and how many more for each of its own: texts, and the values made of them.
_FREE_TEXT, _TEXT_RATIO = 8 << 20, 64
_FREE_ROOM, _ROOM_RATIO = 32 << 20, 128
# An archive of ours has some dozen members; one read by zipfile is the whole list of them.
_MOST_MEMBERS, _LARGEST_READ = 20_000, 4 << 20
# Characters of an error's text that a message repeats: it may quote what the file holds.
_LONGEST_REASON = 300
# Brackets within brackets; ours are a dozen deep.
_DEEPEST = 100
_CHUNK = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
# Kinds of numpy types that plain arrays have.
_NUMBERS = "biuf"


def write_archive(path: str | Path, members: Mapping[str, str | bytes]) -> None:
    """Write an archive whole or not at all."""
    with (
        written_whole(path) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in members.items():
            archive.writestr(name, content)


@contextmanager
def opened_archive(
    path: str | Path, what: str = "model", *, trusted: bool = False
) -> Iterator["Archive"]:
    """An archive to read from.

    Parameters
    ----------
    path : str or Path
        The file.
    what : str
        What it should hold, for messages.
    trusted : bool
        Whether to unpack it however large it becomes.

    Raises
    ------
    DataError
        If the file is no archive of ours, or would take more room than such an archive does.
    """
    with open(path, "rb") as file:
        try:
            zipped = zipfile.ZipFile(_Bounded(file))
        except Exception as error:
            # A damaged directory can make zipfile raise nearly anything.
            raise _foreign(path, what) from error
        with zipped:
            yield Archive(path, what, zipped, trusted)


@contextmanager
def damage_named(path: str | Path) -> Iterator[None]:
    """Turn whatever a damaged or forged content raises into an error that names the file."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__} at {error}"
        raise DataError(
            f"{str(path)!r} is damaged or was changed: {reason[:_LONGEST_REASON]}."
        ) from error


def _foreign(path: str | Path, what: str) -> DataError:
    return DataError(f"{str(path)!r} is not a {what} that robustsparse saved.")


class _Bounded:
    """A file that refuses to be read in large pieces, as a false directory would have zipfile do."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.close = file.seek, file.tell, file.close
        self.seekable = file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _LARGEST_READ:
            raise zipfile.BadZipFile(f"{size} bytes in one piece")
        return self._file.read(_LARGEST_READ if size < 0 else size)


class Archive:
    """Members of an archive, unpacked one by one."""

    def __init__(self, path: str | Path, what: str, zipped: zipfile.ZipFile, trusted: bool) -> None:
        self._path, self._what, self._zipped, self._trusted = path, what, zipped, trusted
        self._size = Path(path).stat().st_size
        members = zipped.infolist()
        plain = all(m.compress_type in _METHODS and not m.flag_bits & _ENCRYPTED for m in members)
        if not plain or len(members) > _MOST_MEMBERS:
            raise _foreign(path, what)
        self._require_room(sum(member.file_size for member in members))

    @property
    def names(self) -> frozenset[str]:
        """Names of the members."""
        return frozenset(self._zipped.namelist())

    def begins(self, name: str, length: int) -> bytes:
        """The first bytes of a member; none if it is not there or cannot be read."""
        try:
            with self._zipped.open(name) as member:
                return member.read(length)
        except Exception:
            return b""

    def json(self, name: str) -> Any:
        """What a member says in JSON."""
        try:
            allowed = _FREE_TEXT + _TEXT_RATIO * self._size
            if self._zipped.getinfo(name).file_size > allowed and not self._trusted:
                raise self._too_large()
            with self._zipped.open(name) as member:
                text = self._read_text(member).decode()
            return json.loads(text, parse_constant=_refuse_constant)
        except DataError:
            raise
        except Exception as error:
            raise _foreign(self._path, self._what) from error

    def array(self, name: str) -> NDArray[Any]:
        """A plain array; its header is believed only if as many bytes follow as it promises."""
        size = self._zipped.getinfo(name).file_size
        with self._zipped.open(name) as member:
            version = np.lib.format.read_magic(member)
            if version != (1, 0):
                raise DataError(f"array {name!r} has version {version}")
            shape, columns_first, dtype = np.lib.format.read_array_header_1_0(member)
            bytes_promised = dtype.itemsize * int(np.prod(shape, dtype=object))
            if dtype.kind not in _NUMBERS or bytes_promised != size - member.tell():
                raise DataError(f"array {name!r} does not hold what its header says")
            values = np.empty(bytes_promised // dtype.itemsize, dtype=dtype)
            _fill(member, values)
        return values.reshape(shape, order="F" if columns_first else "C")

    def _read_text(self, member: Any) -> bytes:
        """A text, read in pieces for as long as the values in it have room."""
        room, chunks = _Room(), []
        while chunk := member.read(_CHUNK):
            room.add(chunk)
            if room.deepest > _DEEPEST:
                raise _foreign(self._path, self._what)
            self._require_room(room.bytes)
            chunks.append(chunk)
        return b"".join(chunks)

    def _require_room(self, size: int) -> None:
        if size > _FREE_ROOM + _ROOM_RATIO * self._size and not self._trusted:
            raise self._too_large()

    def _too_large(self) -> DataError:
        return DataError(
            f"{str(self._path)!r} has {self._size:,} bytes and asks for more memory than a {self._what} of that size "
            "needs; if you know where it comes from, read it with load(path, trusted=True)."
        )


def _fill(member: Any, values: NDArray[Any]) -> None:
    """Read an array piece by piece."""
    room = values.view(np.uint8)
    for start in range(0, len(room), _CHUNK):
        piece = room[start : start + _CHUNK]
        chunk = member.read(len(piece))
        if len(chunk) < len(piece):
            raise EOFError(f"{member.name!r} ends early")
        piece[:] = np.frombuffer(chunk, dtype=np.uint8)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _table(entries: Mapping[bytes, int]) -> NDArray[np.int16]:
    """Numbers by the code of a character."""
    table = np.zeros(256, dtype=np.int16)
    for characters, value in entries.items():
        table[list(characters)] = value
    return table


class _Room:
    """How much memory the values of a JSON text take, and how deep they are nested, told from its signs alone."""

    # What Python needs for a number in a list, a text, a list and a dictionary.
    _BYTES = _table({b",": 40, b'"': 60, b"[": 72, b"{": 240})
    _STEPS = _table({b"[{": 1, b"]}": -1})

    def __init__(self) -> None:
        self.bytes = self.depth = self.deepest = 0
        self._in_text = 0
        self._held = b""

    def add(self, chunk: bytes) -> None:
        """Count a further piece of the text."""
        piece = self._held + chunk
        # A backslash belongs to the character after it, which may be in the next piece.
        trailing = len(piece) - len(piece.rstrip(b"\\"))
        self._held = b"\\" if trailing % 2 else b""
        piece = piece[: len(piece) - len(self._held)]
        signs = np.frombuffer(piece.replace(rb"\\", b"..").replace(rb"\"", b".."), dtype=np.uint8)
        if not len(signs):
            return
        quotes = np.cumsum(signs == ord('"'), dtype=np.uint8) + np.uint8(self._in_text)
        outside = (quotes & 1) == 0
        steps = np.cumsum(np.where(outside, self._STEPS[signs], 0), dtype=np.int32)
        self.bytes += len(signs) + int(self._BYTES[signs[outside]].sum(dtype=np.int64))
        self.deepest = max(self.deepest, self.depth + int(steps.max()))
        self.depth += int(steps[-1])
        self._in_text = int(quotes[-1] & 1)
