"""The call behind a fit, so that it can be repeated on parts of the rows."""

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robustsparse.base.errors import DataError, ParameterError

# Arguments that have a value for each row, unless they name a column.
ROWWISE = ("data", "X", "y", "weights", "offset")

# The method that is not one of intervals.
CROSS_VALIDATION = "cross-validation"

Rerun = Callable[[str, int, dict[str, Any]], Any]


def gone() -> None:
    """What is left of an argument that is no longer in memory."""


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
        Makes intervals, or cross-validates, from the name of a method, the number of rows and the arguments.
    """

    arguments: dict[str, Any]
    watched: dict[str, Callable[[], Any]]
    rerun: Rerun

    @classmethod
    def of(cls, arguments: Mapping[str, Any], rerun: Rerun) -> "Call":
        """What to remember of these arguments."""
        rowwise = [name for name in ROWWISE if not _is_plain(arguments.get(name))]
        rest = {name: value for name, value in arguments.items() if name not in rowwise}
        return cls(rest, {name: _watch(arguments[name]) for name in rowwise}, rerun)

    def __reduce__(self) -> tuple[Any, ...]:
        # What is watched belongs to this process; a copy in another has to be given it again.
        return Call, (self.arguments, dict.fromkeys(self.watched, gone), self.rerun)

    def repeated(self, method: str, nobs: int, data: Any, changes: Mapping[str, Any]) -> Any:
        """What a method makes that repeats the fit, on the data it was made of."""
        given = {**self._given(data), **changes}
        alive = {name: ref() for name, ref in self.watched.items() if name not in given}
        for name, value in alive.items():
            if value is None:
                raise DataError(self._lost(name, method))
        return self.rerun(method, nobs, {**self.arguments, **alive, **given})

    def _given(self, data: Any) -> dict[str, Any]:
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
        crossed = method == CROSS_VALIDATION
        who = method if crossed else f"method={method!r}"
        call = f"cross_validate({again})" if crossed else f"conf_int(method={method!r}, {again})"
        return (
            f"{who} repeats the fit, and {what} of it are no longer in memory: a result keeps no data. "
            f"Pass them again: {call}."
        )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _watch(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:
        # A list, for one, cannot be watched, and a copy would be data kept.
        return gone
