"""Robust Neighborhood Selection, the paper's Algorithm 2, and what makes it work on data as they come.

:mod:`~robustsparse.graph.rows` finds the rows and cells that cannot be trusted, :mod:`~robustsparse.graph.ranking`
orders the edges, :mod:`~robustsparse.graph.nodes` runs Algorithm 1 on every node.
"""

from robustsparse.graph.selection import robust_ns

__all__ = ["robust_ns"]
