"""The call behind a fit, so that it can be repeated on parts of the rows."""

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robustsparse.base.errors import DataError, ParameterError
from robustsparse.base.text import listed
from robustsparse.design.design import Design
from robustsparse.design.fingerprint import Fingerprint

# Arguments that have a value for each row, unless they name a column.
ROWWISE = ("data", "X", "y", "weights", "offset", "cluster")

# The methods that are not ones of intervals.
CROSS_VALIDATION, UPDATE, AUGMENT = "cross-validation", "update", "augment"
# Not a method at all: whether the data are still those of the fit, which `update` asks.
UNCHANGED = "unchanged"
_ASKED = {
    CROSS_VALIDATION: "cross_validate",
    UPDATE: "update",
    UNCHANGED: "update",
    AUGMENT: "augment",
}

Rerun = Callable[[str, "Before", dict[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Before:
    """What the data of a fit were, to tell whether they still are.

    Attributes
    ----------
    nobs : int
        Number of rows that the fit used.
    fingerprint : Fingerprint or None
        Of what they held; unknown of fits by earlier versions.
    """

    nobs: int
    fingerprint: Fingerprint | None

    def check(self, design: Design) -> None:
        """Raise if a design is not that of the fit."""
        n = len(design.rows)
        if n != self.nobs:
            raise DataError(
                f"the fit used {self.nobs} rows and the data now have {n} to use; pass the data of the fit."
            )
        if self.fingerprint is None:
            return
        changes = self.fingerprint.changes(Fingerprint.of(design), design.names)
        if changes:
            raise DataError(
                f"the data have changed since the fit, in {listed(changes, quote=False)}: what they give now is not of "
                "this model. Pass the data of the fit as data=..., or fit again; with keep_data=True a fit keeps a "
                "copy of the columns that it uses."
            )


def gone() -> None:
    """What is left of an argument that is no longer in memory."""


@dataclass(frozen=True, eq=False)
class Kept:
    """An argument of which the fit has a copy of its own."""

    value: Any

    def __call__(self) -> Any:
        """The copy."""
        return self.value


@dataclass(frozen=True, eq=False, repr=False)
class Call:
    """Arguments of a fit, without the data: these are only watched, and stay the user's alone.

    Attributes
    ----------
    arguments : dict
        Arguments of `rht` or `rht_fit` by name.
    watched : dict of callables
        For the arguments that hold the data, what returns them, or None once they are gone.
    rerun : callable
        Makes intervals, cross-validates, or fits again: from a method's name, what the data were, and the arguments.
    """

    arguments: dict[str, Any]
    watched: dict[str, Callable[[], Any]]
    rerun: Rerun

    @classmethod
    def of(
        cls, arguments: Mapping[str, Any], rerun: Rerun, copies: Mapping[str, Any] | None = None
    ) -> "Call":
        """What to remember of these arguments; copies of some of those that hold data are kept."""
        rowwise = [name for name in ROWWISE if not _is_plain(arguments.get(name))]
        rest = {name: value for name, value in arguments.items() if name not in rowwise}
        kept = {name: Kept(value) for name, value in (copies or {}).items() if name in rowwise}
        return cls(rest, {**{name: _watch(arguments[name]) for name in rowwise}, **kept}, rerun)

    def __reduce__(self) -> tuple[Any, ...]:
        # What is watched belongs to this process; a copy in another has to be given it again.
        mine = {name: ref if isinstance(ref, Kept) else gone for name, ref in self.watched.items()}
        return Call, (self.arguments, mine, self.rerun)

    def repeated(self, method: str, before: Before, data: Any, changes: Mapping[str, Any]) -> Any:
        """What a method makes that repeats the fit, on the data it was made of."""
        return self.rerun(method, before, self.whole(method, data, changes))

    @property
    def keeps_data(self) -> bool:
        """Whether the data are kept."""
        return any(isinstance(ref, Kept) for ref in self.watched.values())

    def whole(self, method: str, data: Any, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with the data, which a method needs, and with some of them changed."""
        given = {**self.given(data), **changes}
        alive = {name: ref() for name, ref in self.watched.items() if name not in given}
        for name, value in alive.items():
            if value is None:
                raise DataError(self._lost(name, method))
        return {**self.arguments, **alive, **given}

    def given(self, data: Any) -> dict[str, Any]:
        """The data given now, under the names of the arguments that they were first given as."""
        if data is None:
            return {}
        if "formula" in self.arguments:
            return {"data": data}
        if not isinstance(data, tuple) or len(data) != 2:
            raise ParameterError("data must be the pair (X, y) for a model fitted to arrays.")
        return dict(zip(("X", "y"), data, strict=True))

    def _lost(self, name: str, method: str) -> str:
        whole = name in ("data", "X", "y")
        pair = "data" if "formula" in self.arguments else "(X, y)"
        what = "the data" if whole else f"the argument {name!r}"
        again = f"data={pair}" if whole else f"{name}=..."
        other = _ASKED.get(method)
        who = (UPDATE if method == UNCHANGED else method) if other else f"method={method!r}"
        call = f"{other}({again})" if other else f"conf_int(method={method!r}, {again})"
        needs = "needs the data of the fit" if method == AUGMENT else "repeats the fit"
        return (
            f"{who} {needs}, and {what} of it are no longer in memory: a result keeps no data. "
            f"Pass them again: {call}; or fit with keep_data=True."
        )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _watch(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:
        # A list, for one, cannot be watched, and a copy would be data kept.
        return gone
