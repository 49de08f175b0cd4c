"""Finished parts of a long run on disk, so that a killed run goes on where it stopped."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from robustsparse.base.errors import ParameterError

_ABOUT = "run.json"
Parts = dict[str, NDArray[Any]]


def fingerprint(arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]) -> str:
    """Digest of everything that a result depends on.

    Examples
    --------
    >>> data = {"X": np.arange(3.0)}
    >>> fingerprint(data, {"k": 3}) == fingerprint(data, {"k": 4})
    False
    """
    digest = hashlib.sha256(json.dumps(dict(settings), sort_keys=True, default=repr).encode())
    for name, values in sorted(arrays.items()):
        digest.update(f"{name} {values.dtype} {values.shape}".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Checkpoint:
    """A folder with the finished parts of one run; without a folder nothing is kept."""

    folder: Path | None

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None, digest: str) -> "Checkpoint":
        """Start a run in a folder, or go on with the one that is there if it is the same.

        Parameters
        ----------
        folder : path or None
            Made if it does not exist.
        digest : str
            `fingerprint` of the run.
        """
        if folder is None:
            return cls(None)
        try:
            place = Path(folder)
            place.mkdir(parents=True, exist_ok=True)
            _start(place, digest)
        except (OSError, TypeError, json.JSONDecodeError) as error:
            raise ParameterError(
                f"checkpoint={folder!r} cannot be used ({error}); give a folder that can be written."
            ) from error
        return cls(place)

    def read(self, name: str) -> Parts | None:
        """Arrays of a finished part, or None if there is none that can be read."""
        if self.folder is None:
            return None
        try:
            with np.load(self.folder / f"{name}.npz", allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
        except (OSError, ValueError, EOFError, BadZipFile):
            return None

    def write(self, name: str, parts: Parts) -> Parts:
        """Keep a finished part, whole or not at all; returns it."""
        if self.folder is not None:
            content = BytesIO()
            np.savez(content, **parts)  # type: ignore[arg-type]
            _replace(self.folder / f"{name}.npz", content.getvalue())
        return parts


def _start(place: Path, digest: str) -> None:
    """Mark an empty folder as this run's, or make sure that it is."""
    about = place / _ABOUT
    for left_over in place.glob("*.part"):
        left_over.unlink(missing_ok=True)
    if not about.exists():
        if any(not path.name.startswith(".") for path in place.iterdir()):
            raise ParameterError(
                f"checkpoint={str(place)!r} holds other files; give an empty or a new folder."
            )
        _replace(about, json.dumps({"digest": digest}).encode())
        return
    stored = json.loads(about.read_text())
    if not isinstance(stored, dict) or stored.get("digest") != digest:
        raise ParameterError(
            f"checkpoint={str(place)!r} holds a run on other data or with other arguments; give another folder, or "
            "delete this one."
        )


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole, even after a power cut, or not at all."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
