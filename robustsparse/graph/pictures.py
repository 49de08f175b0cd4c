"""What a graph draws."""

from typing import Any

from robustsparse.base.matrices import canonical
from robustsparse.graph.part import Part
from robustsparse.report.plots import plot_graph_cuts, plot_graph_path, plot_network


class Pictures(Part):
    """Methods of `GraphResult` that draw."""

    def plot(
        self, groups: Any = None, ax: Any = None, *, labels: Any = "auto", legend: bool = True
    ) -> Any:
        """Draw the graph as a network, its nodes colored by group; returns the Axes.

        Parameters
        ----------
        groups : mapping, Series or sequence, optional
            Group of each node, by name (nodes may be missing) or in the order of `nodes`.
        ax : Axes, optional
            Where to draw; a new figure if None.
        labels : {"auto"}, bool, int or sequence of str
            Which nodes to name: up to 30 all, else none; all or none; so many, of the largest degree; these.
        legend : bool
            Name the groups beside the network or below it. False leaves that to one legend for several networks:
            ``figure.legend(*ax.get_legend_handles_labels())``.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> ax = graph.plot(groups=["first"] * 5 + ["second"] * 5)
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['first', 'second']
        """
        graph = self._graph
        return plot_network(graph.adjacency, graph.nodes, groups, ax, labels=labels, legend=legend)

    def plot_path(self, ax: Any = None) -> Any:
        """Draw what the graph was chosen by against the number of edges, or the number of edges along the path.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure if None.

        Returns
        -------
        Axes

        Examples
        --------
        >>> import robustsparse as rs
        >>> graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
        >>> graph.plot_path().get_xlabel()
        'number of edges'
        """
        if self._graph.cuts is not None and self._graph.k is None:
            return plot_graph_cuts(self._graph.cuts, self._graph.n_edges, ax)
        place = self._graph._chosen_step()
        value = None if place is None else float(self._graph.path.index.to_numpy()[place])
        return plot_graph_path(self._graph.path, value, self._graph.n_edges, ax)

    def _chosen_step(self) -> int | None:
        """The first step of the path that is the chosen graph."""
        graph = canonical(self._graph.adjacency)
        same = (i for i, step in enumerate(self._graph.steps) if not (step != graph).nnz)
        return next(same, None)
