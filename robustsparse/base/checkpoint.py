"""Finished parts of a long run on disk, so that a killed run goes on where it stopped."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.atomic import PARTIAL_PREFIX, PARTIAL_SUFFIX, written_whole
from robustsparse.base.errors import ParameterError
from robustsparse.base.locks import OccupiedError, locked

_ABOUT = "run.json"
_LOCK = f"{PARTIAL_PREFIX}lock"
# The digest of a part among its arrays.
_SEAL = "seal"
# Bytes of the file that names the run; another program's of the same name may be long.
_LONGEST_ABOUT = 10_000
Parts = dict[str, NDArray[Any]]


def fingerprint(arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]) -> str:
    """Digest of everything that a result depends on, the version of this package included.

    Examples
    --------
    >>> data = {"X": np.arange(3.0)}
    >>> fingerprint(data, {"k": 3}) == fingerprint(data, {"k": 4})
    False
    """
    about = {"version": _version(), "settings": dict(settings)}
    digest = hashlib.sha256(json.dumps(about, sort_keys=True, default=repr).encode())
    for name, values in sorted(arrays.items()):
        digest.update(f"{name} {values.dtype} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _version() -> str:
    # Imported where it is used: the package imports this module before it knows its version.
    from robustsparse import __version__

    return __version__


@dataclass(frozen=True)
class Checkpoint:
    """A folder with the finished parts of one run; without a folder nothing is kept."""

    folder: Path | None
    digest: str = ""

    @classmethod
    @contextmanager
    def open(cls, folder: str | os.PathLike[str] | None, digest: str) -> Iterator["Checkpoint"]:
        """Start a run in a folder, or go on with the one that is there if it is the same.

        For as long as the block runs no other run can use the folder. One that is refused stays as it was.

        Parameters
        ----------
        folder : path or None
            Made if it does not exist.
        digest : str
            `fingerprint` of the run.
        """
        if folder is None:
            yield cls(None)
            return
        with ExitStack() as held:
            try:
                place = Path(folder)
                place.mkdir(parents=True, exist_ok=True)
                _check(place, digest)
                held.enter_context(locked(place / _LOCK))
                _start(place, digest)
            except OccupiedError as owner:
                raise ParameterError(
                    f"checkpoint={folder!r} is in use by another run ({owner}); wait for it, or give another folder."
                ) from None
            except (OSError, TypeError) as error:
                raise ParameterError(
                    f"checkpoint={folder!r} cannot be used ({error}); give a folder that can be written."
                ) from error
            yield cls(place, digest)

    def read(self, name: str) -> Parts | None:
        """Arrays of a finished part, or None if there is none that can be read."""
        if self.folder is None:
            return None
        try:
            # Opened here, because numpy leaves a damaged file open.
            with (
                (self.folder / f"{name}.npz").open("rb") as file,
                np.load(file, allow_pickle=False) as stored,
            ):
                parts = {key: stored[key] for key in stored.files}
            seal = str(parts.pop(_SEAL))
        except Exception:
            # However a part is damaged, it is made again.
            return None
        return parts if seal == self._seal(name, parts) else None

    def write(self, name: str, parts: Parts) -> Parts:
        """Keep a finished part, whole or not at all; returns it."""
        if self.folder is not None:
            seal = np.array(self._seal(name, parts))
            with written_whole(self.folder / f"{name}.npz") as partial:
                np.savez(partial, **{**parts, _SEAL: seal})  # type: ignore[arg-type]
        return parts

    def _seal(self, name: str, parts: Parts) -> str:
        """Digest of a part, which no other part has, nor the same part of another run."""
        return fingerprint(parts, {"run": self.digest, "part": name})


def _check(place: Path, digest: str) -> None:
    """Refuse a folder that is not this run's, and leave it as it is."""
    about = place / _ABOUT
    if not about.exists():
        if any(not path.name.startswith(".") for path in place.iterdir()):
            raise ParameterError(
                f"checkpoint={str(place)!r} holds other files; give an empty or a new folder."
            )
    elif _stored_digest(about) != digest:
        raise ParameterError(
            f"checkpoint={str(place)!r} holds a run on other data, with other arguments or of another version of this "
            "package; give another folder, or delete this one."
        )


def _stored_digest(about: Path) -> Any:
    try:
        with about.open(encoding="utf-8") as file:
            return json.loads(file.read(_LONGEST_ABOUT))["digest"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _start(place: Path, digest: str) -> None:
    """Mark a locked folder as this run's, and remove what a killed run left half written."""
    _check(place, digest)
    for left_over in place.glob(f"{PARTIAL_PREFIX}*{PARTIAL_SUFFIX}*"):
        left_over.unlink(missing_ok=True)
    if not (place / _ABOUT).exists():
        with written_whole(place / _ABOUT) as partial:
            partial.write_text(json.dumps({"digest": digest, "version": _version()}))
