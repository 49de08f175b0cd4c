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

from robustsparse.call import Call, Rerun, gone
from robustsparse.contamination import BadShare
from robustsparse.errors import DataError
from robustsparse.formulas.state import from_json, to_json
from robustsparse.frames import Dropped
from robustsparse.gradients import Mean, MedianOfMeans, Trimmed
from robustsparse.losses import Huber, Logistic, Squared
from robustsparse.report import describe

if TYPE_CHECKING:
    from robustsparse.results import RHTResult

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
        dropped["missing"], dropped["infinite"], _as_index(dropped["labels"]), dropped["columns"],
        dropped.get("weightless", 0),
    )  # fmt: skip
    out["bad_share"] = None if meta["bad_share"] is None else BadShare(*meta["bad_share"])
    out["spec"] = None if meta["spec"] is None else _as_spec(meta["spec"], context)
    return out


def _as_spec(stored: dict[str, Any], context: Mapping[str, Any] | None) -> Any:
    # Imported where it is used: a model of arrays need not wait for formulaic.
    from robustsparse.design import DesignSpec

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


def _index(index: pd.Index) -> dict[str, Any]:
    if isinstance(index, pd.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "name": to_json(index.name)}
    if isinstance(index, pd.MultiIndex):
        levels = [_index(index.get_level_values(i)) for i in range(index.nlevels)]
        return {"levels": levels, "names": [to_json(name) for name in index.names]}
    if isinstance(index, pd.CategoricalIndex):
        codes, order = index.codes.tolist(), bool(index.ordered)
        parts = {"codes": codes, "ordered": order, "categories": _index(index.categories)}
        return {**parts, "name": to_json(index.name)}
    if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex | pd.PeriodIndex):
        return {"times": index.asi8.tolist(), **_clock(index), "name": to_json(index.name)}
    values = [_label(v.item() if isinstance(v, np.generic) else v) for v in index]
    return {"values": values, "dtype": str(index.dtype), "name": to_json(index.name)}


def _clock(index: Any) -> dict[str, Any]:
    """How the whole numbers of an index of times are to be read."""
    if isinstance(index, pd.PeriodIndex):
        return {"period": index.freqstr}
    zone = getattr(index, "tz", None)
    return {
        "dtype": f"{index.dtype.kind}8[{index.unit}]",
        "zone": None if zone is None else str(zone),
    }


def _label(value: Any) -> Any:
    """A row label; of a type that cannot be stored, its text."""
    try:
        return to_json(value)
    except DataError:
        return str(value)


def _as_index(stored: dict[str, Any]) -> pd.Index:
    if "levels" in stored:
        arrays = [_as_index(level) for level in stored["levels"]]
        return pd.MultiIndex.from_arrays(
            arrays, names=[from_json(name) for name in stored["names"]]
        )
    name = from_json(stored["name"])
    if "range" in stored:
        return pd.RangeIndex(*stored["range"]).rename(name)
    if "times" in stored:
        times: pd.Index = _as_times(stored).rename(name)
        return times
    if "codes" in stored:
        groups = pd.CategoricalDtype(_as_index(stored["categories"]), stored["ordered"])
        return pd.CategoricalIndex(
            pd.Categorical.from_codes(stored["codes"], dtype=groups), name=name
        )
    values = [from_json(v) for v in stored["values"]]
    index: pd.Index = pd.Index(values, dtype=stored["dtype"], name=name, tupleize_cols=False)
    return index


def _as_times(stored: dict[str, Any]) -> Any:
    if "period" in stored:
        periods: Any = pd.PeriodIndex
        return periods.from_ordinals(stored["times"], freq=stored["period"])
    times: Any = pd.Index(np.array(stored["times"], dtype="i8").view(stored["dtype"]))
    return times if stored["zone"] is None else times.tz_localize("UTC").tz_convert(stored["zone"])


def series_to_json(series: "pd.Series[Any]") -> dict[str, Any]:
    """A series as what JSON can hold."""
    return {
        "index": _index(series.index),
        "values": to_json(series.to_numpy().tolist()),
        "dtype": "object" if series.dtype.kind not in "biuf" else str(series.dtype),
        "name": to_json(series.name),
    }


def series_from_json(stored: dict[str, Any]) -> "pd.Series[Any]":
    """A series from what `series_to_json` made of it."""
    values = from_json(stored["values"])
    dtype = None if stored["dtype"] == "object" else stored["dtype"]
    return pd.Series(
        values, _as_index(stored["index"]), dtype=dtype, name=from_json(stored["name"])
    )


def frame_to_json(frame: pd.DataFrame | None) -> dict[str, Any] | None:
    """A data frame as what JSON can hold; None stays None."""
    if frame is None:
        return None
    columns = [series_to_json(frame.iloc[:, i]) for i in range(frame.shape[1])]
    for column in columns:
        del column["index"]
    return {"index": _index(frame.index), "names": _index(frame.columns), "columns": columns}


def frame_from_json(stored: dict[str, Any] | None) -> pd.DataFrame | None:
    """A data frame from what `frame_to_json` made of it."""
    if stored is None:
        return None
    index = stored["index"]
    columns = {i: series_from_json({**c, "index": index}) for i, c in enumerate(stored["columns"])}
    frame = pd.DataFrame(columns, index=_as_index(index))
    frame.columns = _as_index(stored["names"])
    return frame


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
        "labels": _index(dropped.labels),
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
