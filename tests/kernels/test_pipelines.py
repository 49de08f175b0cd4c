"""Parts that are compiled with the kernels that call them, and flags that are compared sooner."""

import numpy as np
import pytest
from numba.core.compiler import Flags
from numba.core.dispatcher import Dispatcher

from robustsparse.kernels import compiler
from robustsparse.kernels.compiler import kernel, part, shortcuts
from robustsparse.kernels.pipelines import _Flags, _Unfinished


@part
def _doubled(x):  # type: ignore[no-untyped-def]
    return 2.0 * x


@part
def _fourfold(x):  # type: ignore[no-untyped-def]
    return _doubled(_doubled(x))


@kernel
def _total(values):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(values)):
        total += _fourfold(values[i]) + _doubled(values[i])
    return total


def test_a_version_of_numba_that_was_not_tried_compiles_the_long_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert shortcuts((0, 60)) == shortcuts((0, 99)) == ({}, {})
    assert all("pipeline_class" in options for options in shortcuts((0, 61)))
    for name in ("_KERNEL", "_PART"):
        monkeypatch.setattr(compiler, name, {})
    doubled = part(getattr(_doubled, "py_func", _doubled))

    @kernel
    def total(values):  # type: ignore[no-untyped-def]
        out = 0.0
        for value in values:
            out += doubled(value)
        return out

    if isinstance(total, Dispatcher):
        total._cache = type(_doubled._cache)()
    assert total(np.arange(4.0)) == 12.0


def test_parts_of_parts_are_compiled_with_the_kernel() -> None:
    if not isinstance(_total, Dispatcher):
        pytest.skip("nothing is compiled")
    _total._cache = type(_doubled._cache)()
    assert _total(np.arange(4.0)) == 36.0
    for inside in (_doubled, _fourfold):
        assert [type(made.library) for made in inside.overloads.values()] == [_Unfinished]


def test_flags_are_those_of_numba() -> None:
    plain, ours = Flags(), _Flags(Flags())
    assert ours == plain
    assert hash(ours) == hash(plain)
    ours.nrt = True
    assert ours != plain
    assert ours == ours.copy()
    assert type(ours.copy()) is _Flags
    plain.nrt = True
    assert ours == plain
