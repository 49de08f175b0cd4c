"""How far numba compiles a function: to machine code if Python calls it, else no further than its callers need.

Whoever calls a compiled function gets a copy of it, optimizes the whole and makes machine code of it. numba does both
for the function by itself as well, which takes a fifth of the time of compiling and is of no use if it is never called
but so.
"""

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering

# All flags have the same one, since numba computes it from their names.
_HASH = hash(Flags())


class _Flags(Flags):
    """Flags that are compared as they are stored: numba asks every time that it looks up how to call a function."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether all flags are equal."""
        same = isinstance(other, _Flags) and self._values == other._values
        return bool(same or super().__eq__(other))

    def __hash__(self) -> int:
        """The hash that numba gives flags."""
        return _HASH


class KernelPipeline(Compiler):
    """What numba does, with flags that are compared sooner."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.state.flags = _Flags(self.state.flags)


class _Unfinished(JITCodeLibrary):
    """Code that machine code is made of with that of its callers, which optimize it unless it sums in any order."""

    # Whether sums may be reordered. Then the order must not depend on the caller, or the same sums would round
    # otherwise.
    reorders = False

    def _optimize_final_module(self) -> None:
        if self.reorders:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class _Offer(LoweringPass):
    """Offer code to callers, which numba leaves out together with the machine code."""

    _name = "offer_unfinished_code"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Hand on the code by a function that cannot be called from Python."""
        lowered = state["cr"]
        made, env = lowered.fndesc, lowered.env
        function = _dynfunc.make_function(
            made.lookup_module(), made.qualname, "", 0, env, (state.library,)
        )
        state.targetctx.insert_user_function(function, made, [state.library])
        state["cr"] = lowered._replace(cfunc=function)
        return True


class PartPipeline(KernelPipeline):
    """The same without machine code."""

    def define_pipelines(self) -> Any:
        """The steps, in which the code is offered as soon as it is there."""
        state = self.state
        state.library = _Unfinished(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.reorders = bool(state.flags.fastmath)
        state.flags.no_compile = True
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.add_pass_after(_Offer, NativeLowering)
            pipeline.finalize()
        return pipelines
