"""How the loops are compiled: on first use, once for all processes of an installation."""

import gc
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

# Division by zero gives an infinity as in numpy; checking every divisor would take longer to compile and to run. There
# are no expressions of whole arrays that were worth looking for and fusing.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "no_rewrites": True}


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that Python calls, and keep the machine code on disk.

    Other threads can run Python meanwhile.
    """
    return njit(function, cache=True, nogil=True, **_OPTIONS, **options)


def brief(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that is over in microseconds: to let other threads run and wait for them would take longer."""
    return njit(function, cache=True, **_OPTIONS, **options)


def part(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that only other compiled ones call, and whose code is kept with theirs."""
    return njit(function, no_cpython_wrapper=True, **_OPTIONS, **options)


class _UncollectedCompiling(event.Listener):
    """No collection of Python's garbage while a kernel compiles.

    The compiler makes so many objects that all there are would be searched again and again, which takes a tenth of the
    time. Only one thread compiles at a time.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._collected = False

    @staticmethod
    def _ours(event: Any) -> bool:
        return str(event.data["dispatcher"].py_func.__module__).startswith(__package__)

    def on_start(self, event: Any) -> None:
        """Stop collecting."""
        if self._ours(event):
            if not self._depth:
                self._collected = gc.isenabled()
                gc.disable()
            self._depth += 1

    def on_end(self, event: Any) -> None:
        """Collect again, unless nothing was collected before."""
        if self._ours(event):
            self._depth -= 1
            if not self._depth and self._collected:
                gc.enable()


event.register("numba:compile", _UncollectedCompiling())
