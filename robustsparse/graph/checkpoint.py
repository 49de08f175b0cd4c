"""Finished parts of a long run on disk, so that a killed run goes on where it stopped."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustsparse.errors import ParameterError

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
        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise ParameterError(f"checkpoint={str(folder)!r} is a file; give a folder.")
        place.mkdir(parents=True, exist_ok=True)
        about = place / _ABOUT
        if not about.exists():
            if any(place.iterdir()):
                raise ParameterError(
                    f"checkpoint={str(folder)!r} holds other files; give an empty or a new folder."
                )
            _replace(about, json.dumps({"digest": digest}).encode())
        elif json.loads(about.read_text()).get("digest") != digest:
            raise ParameterError(
                f"checkpoint={str(folder)!r} holds a run on other data or with other arguments; give another "
                "folder, or delete this one."
            )
        return cls(place)

    def read(self, name: str) -> Parts | None:
        """Arrays of a finished part, or None."""
        if self.folder is None or not (self.folder / f"{name}.npz").exists():
            return None
        with np.load(self.folder / f"{name}.npz", allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}

    def write(self, name: str, parts: Parts) -> Parts:
        """Keep a finished part, whole or not at all; returns it."""
        if self.folder is not None:
            partial = self.folder / f"{name}.{os.getpid()}.part"
            with partial.open("wb") as file:
                np.savez(file, **parts)  # type: ignore[arg-type]
            partial.replace(self.folder / f"{name}.npz")
        return parts


def _replace(path: Path, content: bytes) -> None:
    partial = path.with_suffix(f".{os.getpid()}.part")
    partial.write_bytes(content)
    partial.replace(path)
