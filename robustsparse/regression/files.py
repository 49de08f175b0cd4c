"""Fits on disk: a zip archive of plain arrays and one JSON text. Nothing in it can run when it is read."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustsparse.algorithm.estimator import Estimator, Plain
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
from robustsparse.base.text import describe, shown
from robustsparse.base.zipped import opened_archive, write_archive
from robustsparse.design.fingerprint import Fingerprint
from robustsparse.design.row_audit import Dropped
from robustsparse.regression.call import Call, Rerun, gone
from robustsparse.regression.cells import Imputation
from robustsparse.regression.families import FAMILIES
from robustsparse.regression.family import Family
from robustsparse.regression.fit.contamination import BadShare
from robustsparse.regression.made import Made
from robustsparse.regression.members import Member, Members

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult

FORMAT = "robustsparse.RHTResult"
VERSION = 2
# How fields of a result are written and read that are not plain values.
_CODECS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "params": (series_to_json, series_from_json),
    "imputation": (
        lambda given: None if given is None else given.to_dict(),
        lambda stored: None if stored is None else Imputation.from_dict(stored),
    ),
    "fingerprint": (
        lambda given: None if given is None else given.to_dict(),
        lambda stored: None if stored is None else Fingerprint.from_dict(stored),
    ),
    **dict.fromkeys(
        ("diagnostics", "flags", "history", "path", "cv", "cov", "cells"),
        (frame_to_json, frame_from_json),
    ),
}
# Fields that are written in a way of their own, and one that is not written.
_OWN = ("estimator", "loss", "bad_share", "members", "made", "_call", "kind", "dropped", "spec")
# What follows from the diagnostics, written for readers of other versions.
_DERIVED = ("fittedvalues", "resid", "row_weights")
# What plain fields can be, so that a changed file is refused when it is read and not when it is used.
_WHOLE, _TRUTH, _NAMES = (int, np.integer), (bool, np.bool_), (tuple,)
_NUMBER = (*_WHOLE, float, np.floating)
_PLAIN: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("k", "n_iter"), _WHOLE),
    **dict.fromkeys(("scale", "step"), _NUMBER),
    **dict.fromkeys(
        ("converged", "intercept", "refitted", "offset_given", "undecided", "by_name"), _TRUTH
    ),
    **dict.fromkeys(("kept", "constant"), _NAMES),
    "groups": (dict,),
    "formula": (str, type(None)),
    **dict.fromkeys(("epsilon", "df_resid", "spread"), (*_NUMBER, type(None))),
    **dict.fromkeys(("classes", "taken_back", "cluster"), (tuple, type(None))),
    **dict.fromkeys(("references", "copies"), (dict,)),
    **dict.fromkeys(("told", "notes"), _NAMES),
    **dict.fromkeys(("select", "goal", "reason", "errors"), (str,)),
}
_PACKAGE = __name__.split(".")[0] + "."


def save_result(result: "RHTResult", path: str | Path) -> None:
    """Write a fit to a file."""
    made = result.made
    meta = _written(result) | _written(made)
    meta |= {"nobs": result.nobs, "family": result.family}
    meta |= {name: series_to_json(getattr(result, name)) for name in _DERIVED}
    meta["estimator"], meta["loss"] = _part(result.estimator), _part(result.loss)
    if type(made.kind) is not type(FAMILIES.get(made.kind.name)):
        meta["kind"] = _stored_family(made.kind)
    meta["dropped"] = _dropped(made.dropped)
    share = result.bad_share
    meta["bad_share"] = None if share is None else [share.share, share.upper, share.level]
    meta["members"] = [_written(result.members[k]) for k in result.members]
    meta["call"] = None if result._call is None else _call(result._call)
    meta["spec"] = None if made.spec is None else made.spec.to_dict()
    text = json.dumps({"format": FORMAT, "version": VERSION, "result": meta}, allow_nan=False)
    write_archive(path, {"result.json": text})


def _stored_family(family: Family) -> dict[str, Any]:
    part = _part(family)
    if "text" in part:
        raise DataError(
            f"the family {family.name!r} cannot be stored: it must be the newest class of its name, and have no values "
            "or be a dataclass of plain ones."
        )
    return part


def _codecs(cls: type[Any]) -> Iterator[tuple[str, Callable[[Any], Any], Callable[[Any], Any]]]:
    """Name, writer and reader of the fields of a dataclass that are not written in a way of their own."""
    for item in fields(cls):
        if item.name not in _OWN:
            yield item.name, *_CODECS.get(item.name, (to_json, from_json))


def _written(thing: Any) -> dict[str, Any]:
    return {name: write(getattr(thing, name)) for name, write, _ in _codecs(type(thing))}


def _has_default(item: "Field[Any]") -> bool:
    return item.default is not MISSING or item.default_factory is not MISSING


def _read(cls: type[Any], meta: dict[str, Any]) -> dict[str, Any]:
    # What older versions did not write has a default.
    later = {item.name for item in fields(cls) if _has_default(item)} - meta.keys()
    values = {name: read(meta[name]) for name, _, read in _codecs(cls) if name not in later}
    for name, kinds in _PLAIN.items():
        if name in values and not _is(values[name], kinds):
            raise DataError(
                f"the model is damaged or was changed: {name} is {shown(values[name])}, which it cannot be."
            )
    return values


def read_result(
    path: str | Path,
    result: type["RHTResult"],
    rerun: Rerun,
    context: Mapping[str, Any] | None = None,
    trusted: bool = False,
) -> "RHTResult":
    """A fit from a file.

    Parameters
    ----------
    path : str or Path
        The file.
    result : class
        `RHTResult`, which knows this module.
    rerun : callable
        Repeats a fit, for the fit's `Call`.
    context : dict, optional
        Functions that the formula used; they are not stored.
    trusted : bool
        Whether to unpack the file however large it becomes, and to run what its terms say.
    """
    meta = _contents(path, trusted)
    try:
        return _result(meta, result, rerun, context, trusted)
    except DataError:
        raise
    except Exception as error:
        # Whatever a changed file holds, the user should hear what is the matter.
        raise DataError(
            f"{str(path)!r} is damaged or was changed: {type(error).__name__} at {error}."
        ) from error


def _is(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value is of one of these kinds; a truth is no number."""
    return isinstance(value, kinds) and isinstance(value, _TRUTH) == (kinds is _TRUTH)


def _result(
    meta: dict[str, Any],
    result: type["RHTResult"],
    rerun: Rerun,
    context: Mapping[str, Any] | None,
    trusted: bool,
) -> "RHTResult":
    dropped = meta["dropped"]
    own = _read(result, meta)
    made = _read(Made, meta)
    _check_groups(made.get("groups", {}), own["params"])
    return result(
        **own,
        estimator=_as_part(meta["estimator"]),
        loss=_as_part(meta["loss"]),
        bad_share=None if meta["bad_share"] is None else BadShare(*meta["bad_share"]),
        members=_members(meta),
        made=Made(
            **made,
            kind=_family(meta),
            dropped=Dropped(
                dropped["missing"], dropped["infinite"], index_from_json(dropped["labels"]),
                dropped["columns"], dropped.get("weightless", 0),
            ),
            spec=None if meta["spec"] is None else _as_spec(meta["spec"], context, trusted),
        ),
        _call=_as_call(meta["call"], rerun, context),
    )  # fmt: skip


def _check_groups(groups: dict[Any, Any], params: "pd.Series[float]") -> None:
    """Raise unless groups are names with columns of the model."""
    for name, columns in groups.items():
        if not isinstance(name, str) or not isinstance(columns, tuple) or not columns:
            raise DataError(
                "the model is damaged or was changed: a group has no name or no columns."
            )
        if not all(isinstance(one, str) and one in params.index for one in columns):
            raise DataError(
                f"the model is damaged or was changed: the group {shown(name)} has a column that the model has not."
            )


def _members(meta: dict[str, Any]) -> Members:
    """The models of the path; files of earlier versions have none."""
    models = [Member(**_read(Member, stored)) for stored in meta.get("members", [])]
    return Members.of({model.k: model for model in models})


def _family(meta: dict[str, Any]) -> Family:
    """The family of a model: one of ours by its name, a user's by its class, which must be defined by now."""
    kind = _as_part(meta["kind"], needed=True) if "kind" in meta else FAMILIES[meta["family"]]
    if not isinstance(kind, Family):
        raise DataError(f"the model's family {meta['family']!r} is none.")
    return kind


def _as_spec(stored: dict[str, Any], context: Mapping[str, Any] | None, trusted: bool) -> Any:
    # Imported where it is used: a model of arrays need not wait for formulaic.
    from robustsparse.design.build import DesignSpec

    return DesignSpec.from_dict(stored, context, trusted=trusted)


def _contents(path: str | Path, trusted: bool) -> dict[str, Any]:
    with opened_archive(path, "model", trusted=trusted) as archive:
        stored = archive.json("result.json")
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise DataError(f"{str(path)!r} is not a model that robustsparse saved.")
    if stored.get("version") != VERSION:
        raise DataError(
            f"{str(path)!r} has format version {str(stored.get('version'))[:20]} and this package reads {VERSION}; "
            "install the package that wrote it, or fit again."
        )
    meta: dict[str, Any] = stored.get("result", {})
    return meta


def _part(part: Any) -> dict[str, Any]:
    """An estimator, a loss or a family: its class and numbers if these can be found again, else its text."""
    name = type(part).__name__
    values = (
        {f.name: getattr(part, f.name) for f in fields(part)}
        if is_dataclass(part)
        else getattr(part, "__dict__", {})
    )
    if _known().get(name) is type(part) and (is_dataclass(part) or not values):
        # The blocks of a fit cannot be drawn again from a generator that has moved on.
        plain = {k: v for k, v in values.items() if not isinstance(v, np.random.Generator)}
        try:
            return {"class": name, "values": {k: to_json(v) for k, v in plain.items()}}
        except DataError:
            # A function among its values, for one, cannot be stored.
            pass
    return {"text": describe(part)}


def _known() -> dict[str, type[Any]]:
    """Classes that a file can name: ours, and those of the user that derive from them; nothing is imported.

    Of several with one name the package's own counts, or the one that was defined last.
    """
    derived: list[type[Any]] = []
    waiting: list[type[Any]] = [Estimator, Family]
    while waiting:
        found = waiting.pop().__subclasses__()
        derived += found
        waiting += found
    losses = [loss for cls in derived for loss in getattr(cls, "losses", ())]
    every = [cls for cls in [*derived, *losses] if cls is not Plain]
    every.sort(key=lambda cls: cls.__module__.startswith(_PACKAGE))
    return {cls.__name__: cls for cls in every}


def _as_part(stored: dict[str, Any], *, needed: bool = False) -> Any:
    """The part, or the text that is left of one that the model can do without."""
    if "text" in stored:
        return stored["text"]
    name = str(stored["class"])
    known = _known().get(name)
    if known is not None:
        return known(**{key: from_json(v) for key, v in stored["values"].items()})
    if needed:
        raise DataError(
            f"the model names the class {name!r}, which is not defined here; import its module first."
        )
    return f"{name[:60]} (not defined here)"


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
    part = _part(value) if isinstance(value, Estimator | Family) or is_dataclass(value) else {}
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
        # Fits of older versions selected single columns, and so does a repetition of one.
        arguments.setdefault("group_terms", False)
    return Call(arguments, dict.fromkeys(stored["lost"], gone), rerun)
