"""`Part`: what the methods of a graph that stand in files of their own have in common."""

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from robustsparse.graph.result import GraphResult


class Part:
    """Methods of `GraphResult` on one subject; they only read it."""

    @property
    def _graph(self) -> "GraphResult":
        """The result that these are methods of."""
        return cast("GraphResult", self)
