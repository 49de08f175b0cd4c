"""What happens while a kernel compiles."""

import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import numba
import pytest
from numba.core import event

from robustsparse.kernels.compiler import part
from robustsparse.kernels.vectors import dot


class Collecting(event.Listener):
    """Whether garbage is collected while something compiles."""

    def __init__(self) -> None:
        self.seen: list[bool] = []

    def on_start(self, event: Any) -> None:
        self.seen.append(gc.isenabled())

    def on_end(self, event: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


def compiling(function: Callable[..., Any]) -> bool:
    listener = Collecting()
    with event.install_listener("numba:compile", listener):
        function.compile((numba.float64[::1], numba.float64[::1]))  # type: ignore[attr-defined]
    assert listener.seen
    return any(listener.seen)


def other(x: Any, y: Any) -> Any:
    return x[0] + y[0]


@pytest.mark.parametrize("collected", [True, False])
def test_garbage_waits_until_a_kernel_is_compiled(collected: bool) -> None:
    (gc.enable if collected else gc.disable)()
    assert not compiling(part(dot.py_func))
    assert gc.isenabled() == collected


def test_garbage_waits_no_longer_than_an_error() -> None:
    gc.enable()
    with pytest.raises(numba.TypingError):
        part(dot.py_func).compile((numba.float64, numba.float64))
    assert gc.isenabled()


def test_compiling_of_others_is_left_alone() -> None:
    gc.enable()
    assert compiling(numba.njit(other))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
def test_a_process_forked_meanwhile_collects_garbage() -> None:
    """As when one thread compiles while another one forks."""
    gc.enable()
    found: list[int] = []

    class Forking(Collecting):
        def on_start(self, event: Any) -> None:
            child = os.fork()
            if not child:
                os._exit(0 if gc.isenabled() else 1)
            found.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    with event.install_listener("numba:compile", Forking()):
        part(dot.py_func).compile((numba.float64[::1], numba.float64[::1]))
    assert found == [0]
