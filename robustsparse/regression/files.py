"""Fits on disk: a zip archive of plain arrays and one JSON text. Nothing in it can run when it is read."""

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustsparse.algorithm.gradients import Mean, MedianOfMeans, Trimmed
from robustsparse.algorithm.losses import Huber, Logistic, Squared
from robustsparse.base.archive import (
    frame_from_json,
    frame_to_json,
    from_json,
    index_from_json,
    index_to_json,
    series_from_json,
    series_to_json,
    to_json,
)
from robustsparse.base.errors import DataError
from robustsparse.base.text import describe
from robustsparse.design.frames import Dropped
from robustsparse.regression.call import Call, Rerun, gone
from robustsparse.regression.fit.contamination import BadShare

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult

FORMAT = "robustsparse.RHTResult"
VERSION = 2
# The only classes that a file can name; anything else comes back as its text.
_KNOWN = {c.__name__: c for c in (Trimmed, MedianOfMeans, Mean, Squared, Huber, Logistic)}
_SERIES = ("params", "fittedvalues", "resid", "row_weights")
_FRAMES = ("diagnostics", "history", "path", "cv", "cov")
_PLAIN = (
    "k", "nobs", "scale", "converged", "n_iter", "formula", "family", "select", "step", "refitted",
    "kept", "classes", "references", "constant", "offset_given", "intercept",
    "epsilon",
)  # fmt: skip


def save_result(result: "RHTResult", path: str | Path) -> None:
    """Write a fit to a file."""
    meta = {name: to_json(getattr(result, name)) for name in _PLAIN}
    meta |= {name: series_to_json(getattr(result, name)) for name in _SERIES}
    meta |= {name: frame_to_json(getattr(result, name)) for name in _FRAMES}
    meta["estimator"], meta["loss"] = _part(result.estimator), _part(result.loss)
    meta["dropped"] = _dropped(result.dropped)
    share = result.bad_share
    meta["bad_share"] = None if share is None else [share.share, share.upper, share.level]
    meta["call"] = None if result._call is None else _call(result._call)
    meta["spec"] = None if result.spec is None else result.spec.to_dict()
    text = json.dumps({"format": FORMAT, "version": VERSION, "result": meta}, allow_nan=False)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("result.json", text)


def read_result(
    path: str | Path, rerun: Rerun, context: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Fields of a fit from a file.

    Parameters
    ----------
    path : str or Path
        The file.
    rerun : callable
        Repeats a fit, for the fit's `Call`.
    context : dict, optional
        Functions that the formula used; they are not stored.
    """
    meta = _contents(path)
    try:
        return {**_fields(meta, context), "_call": _as_call(meta["call"], rerun, context)}
    except DataError:
        raise
    except Exception as error:
        # Whatever a changed file holds, the user should hear what is the matter.
        raise DataError(
            f"{str(path)!r} is damaged or was changed: {type(error).__name__} at {error}."
        ) from error


def _fields(meta: dict[str, Any], context: Mapping[str, Any] | None) -> dict[str, Any]:
    out = {name: from_json(meta[name]) for name in _PLAIN}
    out |= {name: series_from_json(meta[name]) for name in _SERIES}
    out |= {name: frame_from_json(meta[name]) for name in _FRAMES}
    out["estimator"], out["loss"] = _as_part(meta["estimator"]), _as_part(meta["loss"])
    dropped = meta["dropped"]
    out["dropped"] = Dropped(
        dropped["missing"], dropped["infinite"], index_from_json(dropped["labels"]), dropped["columns"],
        dropped.get("weightless", 0),
    )  # fmt: skip
    out["bad_share"] = None if meta["bad_share"] is None else BadShare(*meta["bad_share"])
    out["spec"] = None if meta["spec"] is None else _as_spec(meta["spec"], context)
    return out


def _as_spec(stored: dict[str, Any], context: Mapping[str, Any] | None) -> Any:
    # Imported where it is used: a model of arrays need not wait for formulaic.
    from robustsparse.design.build import DesignSpec

    return DesignSpec.from_dict(stored, context)


def _contents(path: str | Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            stored = json.loads(archive.read("result.json"))
    # A damaged header can name a compression that zipfile does not know, hence NotImplementedError.
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, ValueError, EOFError):
        raise DataError(f"{str(path)!r} is not a model that robustsparse saved.") from None
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise DataError(f"{str(path)!r} is not a model that robustsparse saved.")
    if stored.get("version") != VERSION:
        raise DataError(
            f"{str(path)!r} has format version {stored.get('version')} and this package reads {VERSION}; "
            "install the package that wrote it, or fit again."
        )
    meta: dict[str, Any] = stored.get("result", {})
    return meta


def _part(part: Any) -> dict[str, Any]:
    """A gradient estimator or a loss: its class and numbers if it is ours, else its text."""
    name = type(part).__name__
    if is_dataclass(part) and _KNOWN.get(name) is type(part):
        values = {f.name: getattr(part, f.name) for f in fields(part)}
        # The blocks of a fit cannot be drawn again from a generator that has moved on.
        known = {
            key: to_json(v) for key, v in values.items() if not isinstance(v, np.random.Generator)
        }
        return {"class": name, "values": known}
    return {"text": describe(part)}


def _as_part(stored: dict[str, Any]) -> Any:
    if "text" in stored:
        return stored["text"]
    values = {key: from_json(v) for key, v in stored["values"].items()}
    return _KNOWN[stored["class"]](**values)


def _dropped(dropped: Dropped) -> dict[str, Any]:
    return {
        "missing": dropped.missing,
        "infinite": dropped.infinite,
        "labels": index_to_json(dropped.labels),
        "columns": {str(name): int(count) for name, count in dropped.columns.items()},
        "weightless": dropped.weightless,
    }


def _call(call: Call) -> dict[str, Any]:
    """The arguments of a call that are plain values or parts of ours; the others have to be given again."""
    stored: dict[str, Any] = {}
    for name, value in call.arguments.items():
        # A generator has moved on, and functions of the context are given when the file is read.
        if name == "context" or isinstance(value, np.random.Generator):
            continue
        stored[name] = _storable(value)
    lost = [*call.watched, *(name for name, value in stored.items() if value is None)]
    return {"arguments": {k: v for k, v in stored.items() if v is not None}, "lost": lost}


def _storable(value: Any) -> dict[str, Any] | None:
    """An argument as JSON, or None if it is code or something else of the user's own."""
    part = _part(value) if is_dataclass(value) else {}
    if "class" in part:
        return {"part": part}
    plain = list(value) if isinstance(value, range | pd.Index) else value
    try:
        return {"plain": to_json(plain)}
    except DataError:
        return None


def _as_call(
    stored: dict[str, Any] | None, rerun: Rerun, context: Mapping[str, Any] | None
) -> Call | None:
    if stored is None:
        return None
    arguments = {
        name: _as_part(value["part"]) if "part" in value else from_json(value["plain"])
        for name, value in stored["arguments"].items()
    }
    if "formula" in arguments:
        arguments["context"] = context
    return Call(arguments, dict.fromkeys(stored["lost"], gone), rerun)
