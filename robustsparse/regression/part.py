"""`Part`: what the methods of a result that stand in files of their own have in common."""

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from robustsparse.regression.result import RHTResult


class Part:
    """Methods of `RHTResult` on one subject; they only read it."""

    @property
    def _fit(self) -> "RHTResult":
        """The result that these are methods of."""
        return cast("RHTResult", self)
