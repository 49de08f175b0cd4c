"""How the loops are compiled: on first use, once for all processes of an installation."""

from collections.abc import Callable
from typing import Any

from numba import njit

# Division by zero gives an infinity as in numpy; checking every divisor would take longer to compile and to run.
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}


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
