"""What a graph writes: files of its own, tables, and the forms of other programs."""

from pathlib import Path
from typing import Any

from robustsparse.graph.files import save_graph, to_csv, to_graphml, to_html, to_networkx
from robustsparse.graph.part import Part


class Exporting(Part):
    """Methods of `GraphResult` that write; they only read it."""

    def to_networkx(self, groups: Any = None) -> Any:
        """Graph of networkx (an extra: ``pip install robustsparse[graph]``).

        Its edges have the attributes `weight`, `partial_corr` and, where known, `stability`, its nodes `degree`.

        Parameters
        ----------
        groups : mapping, Series or sequence, optional
            Group of each node, which becomes the attribute `group`.

        Returns
        -------
        networkx.Graph

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> graph.to_networkx().number_of_edges()
        8
        """
        return to_networkx(self._graph, groups)

    def to_graphml(self, path: str | Path, groups: Any = None) -> None:
        """Write the graph as GraphML, which Cytoscape, Gephi, igraph and networkx read; names are called `label`.

        It is written by networkx (an extra: ``pip install robustsparse[graph]``).

        Parameters
        ----------
        path : str or Path
            The file.
        groups : mapping, Series or sequence, optional
            Group of each node, which becomes the attribute `group`.

        Examples
        --------
        >>> import tempfile
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.to_graphml(f"{folder}/edges.graphml")
        """
        to_graphml(self._graph, path, groups)

    def to_csv(self, path: str | Path) -> None:
        """Write the table of edges, strongest first, one a line.

        A name that begins with =, +, -, @, tab or return gets an apostrophe before it, or a spreadsheet would run it.

        Parameters
        ----------
        path : str or Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.to_csv(f"{folder}/edges.csv")
        ...     len(pd.read_csv(f"{folder}/edges.csv"))
        8
        """
        to_csv(self._graph, path)

    def to_html(self, path: str | Path, groups: Any = None) -> None:
        """Write the graph as a page to touch: one file that opens in any browser and loads nothing else.

        It zooms and moves, finds nodes by name, shows the strongest edges, as many as a slider says, and tells the
        partial correlations of the node or edge under the pointer. Nodes lie where `plot` puts them; the layout knows
        the edges, not the groups.

        Parameters
        ----------
        path : str or Path
            The file; it is there whole or not at all.
        groups : mapping, Series or sequence, optional
            Group of each node, by name (nodes may be missing) or in the order of `nodes`: its color, and an entry of
            the legend that hides it. A series' name heads the legend.

        Raises
        ------
        WriteError
            If the file cannot be written; what was there before is unchanged.

        Examples
        --------
        >>> import tempfile
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.to_html(f"{folder}/graph.html", groups={"x1": "first", "x2": "first"})
        """
        to_html(self._graph, path, groups)

    def save(self, path: str | Path) -> None:
        """Write the graph to a file that `robustsparse.load` reads; it holds numbers and text, never code.

        Parameters
        ----------
        path : str or Path
            The file; it is there whole or not at all.

        Examples
        --------
        >>> import tempfile
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.save(f"{folder}/graph.rs")
        ...     rs.load(f"{folder}/graph.rs").n_edges
        8
        """
        save_graph(self._graph, path)
