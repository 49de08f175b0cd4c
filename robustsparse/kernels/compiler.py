"""How the loops are compiled: on first use, once for all processes of an installation."""

import gc
import os
from collections.abc import Callable
from typing import Any

from numba import njit, version_info
from numba.core import event
from numba.core.dispatcher import Dispatcher

from robustsparse.base.compiling import compiling_begins
from robustsparse.kernels.cache import KernelCache

# Division by zero gives an infinity as in numpy; checking every divisor would take longer to compile and to run. There
# are no expressions of whole arrays that were worth looking for and fusing.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, "no_rewrites": True}
# The first and the last version of numba whose insides `pipelines` was tried with; with others all is compiled the long
# way.
_TRIED = (0, 61), (0, 68)


def shortcuts(version: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of kernels, and of parts of them, that a version of numba compiles sooner with."""
    if not _TRIED[0] <= version <= _TRIED[1]:
        return {}, {}
    from robustsparse.kernels.pipelines import KernelPipeline, PartPipeline

    return {"pipeline_class": KernelPipeline}, {"pipeline_class": PartPipeline}


_KERNEL, _PART = shortcuts(version_info.short)


def _kept(function: Callable[..., Any] | None, options: dict[str, Any]) -> Any:
    """Compile a function, and keep the machine code on disk."""
    if function is None:
        return lambda later: _kept(later, options)
    compiled = njit(function, **_KERNEL, **_OPTIONS, **options)
    # Without the compiler, as for debugging, it is the function itself.
    if isinstance(compiled, Dispatcher):
        compiled._cache = KernelCache(function)
    return compiled


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that Python calls, and keep the machine code on disk.

    Other threads can run Python meanwhile.
    """
    return _kept(function, {"nogil": True, **options})


def brief(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that is over in microseconds: to let other threads run and wait for them would take longer."""
    return _kept(function, options)


def part(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function that only other compiled ones call, and whose code is kept with theirs."""
    return njit(function, no_cpython_wrapper=True, **_PART, **_OPTIONS, **options)


def is_compiled(compiled: Any) -> bool:
    """Whether a kernel can be called without waiting for the compiler, for some types of arguments at least."""
    return (
        not isinstance(compiled, Dispatcher) or bool(compiled.overloads) or compiled._cache.on_disk
    )


class _UncollectedCompiling(event.Listener):
    """The user is told, and no garbage of Python's is collected, while a kernel compiles.

    The compiler makes so many objects that all there are would be searched again and again, which takes about a tenth
    of the time. Only one thread compiles at a time.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._collected = gc.isenabled()

    @staticmethod
    def _ours(occurrence: Any) -> bool:
        return str(occurrence.data["dispatcher"].py_func.__module__).startswith(__package__)

    def on_start(self, occurrence: Any) -> None:
        """Stop collecting."""
        if self._ours(occurrence):
            self._depth += 1
            if self._depth == 1:
                compiling_begins()
                self._collected = gc.isenabled()
                gc.disable()

    def on_end(self, occurrence: Any) -> None:
        """Collect again, unless nothing was collected before."""
        if self._ours(occurrence):
            self._depth -= 1
            if not self._depth:
                self._resume()

    def forget(self) -> None:
        """What another thread compiled when this process was forked is not compiled here."""
        if self._depth:
            self._depth = 0
            self._resume()

    def _resume(self) -> None:
        if self._collected:
            gc.enable()


_compiling = _UncollectedCompiling()
event.register("numba:compile", _compiling)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_compiling.forget)
