"""Networks: what is drawn in which color, that nothing overlaps, and what is said of wrong input."""

from io import BytesIO
from itertools import combinations
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import same_color, to_hex

import robustsparse as rs
from robustsparse.base.errors import DataError, ParameterError
from robustsparse.report.plots import (
    PALETTE,
    graph_path_frame,
    network_layout,
    plot_graph_path,
    plot_network,
)
from robustsparse.report.plots.artists import PointLabels
from robustsparse.report.plots.looks import MAX_GROUPS

mpl.use("Agg")

SIZES = [(3.5, 3.0), (7.0, 5.0), (4.0, 6.0)]
# Boxes may touch: rounding of pixels.
PIXEL = 1.0
NODES = list("abcdef")
CHAIN = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
GRAPH = np.pad(CHAIN, (0, 1))


def cluster(d: int = 100) -> tuple[Any, list[str], list[str]]:
    adjacency = rs.simulate.graph(5, d, kind="cluster", rng=0).adjacency
    return adjacency, [f"x{i}" for i in range(d)], [f"group {i * 5 // d}" for i in range(d)]


def axes(size: tuple[float, float]) -> Axes:
    return plt.subplots(figsize=size, layout="constrained")[1]


def drawn(ax: Axes) -> Axes:
    ax.figure.figure.savefig(BytesIO(), format="png", dpi=100)
    return ax


def nodes_in_pixels(ax: Axes) -> Any:
    points = [c.get_offsets() for c in ax.collections if isinstance(c, PathCollection)]
    return ax.transData.transform(np.vstack(points))


def labels_of(ax: Axes) -> list[Any]:
    found = [artist for artist in ax.artists if isinstance(artist, PointLabels)]
    return [text for artist in found for text in artist.texts if text.get_visible()]


def test_edges_are_one_collection_in_the_colors_of_the_groups() -> None:
    ax = plot_network(GRAPH, NODES, list("uuuvvv"))
    (lines,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert len(lines.get_segments()) == 4
    colors = [to_hex(color).upper() for color in lines.get_colors()]
    # c-d joins two groups and lies below: a-b and b-c are u, d-e is v.
    assert colors[1:] == [PALETTE[0], PALETTE[0], PALETTE[1]]
    assert colors[0] not in PALETTE


def test_what_was_drawn_can_be_had() -> None:
    frame = network_layout(GRAPH, NODES, list("uuuvvv"))
    assert list(frame.columns) == ["x", "y", "degree", "group", "color", "marker"]
    assert frame["degree"].tolist() == [1, 2, 2, 2, 1, 0]
    assert frame["color"].tolist() == [PALETTE[0]] * 3 + [PALETTE[1]] * 3
    assert frame.loc["f", "y"] < frame["y"].drop("f").min()


def test_groups_do_not_move_the_nodes() -> None:
    adjacency, nodes, groups = cluster()
    with_groups = network_layout(adjacency, nodes, groups)
    pd.testing.assert_frame_equal(
        with_groups[["x", "y"]], network_layout(adjacency, nodes)[["x", "y"]]
    )


def test_eleven_groups_have_looks_of_their_own() -> None:
    frame = network_layout(np.zeros((11, 11)), [f"x{i}" for i in range(11)], range(11))
    assert len(set(zip(frame["color"], frame["marker"], strict=True))) == 11
    assert frame["color"].nunique() == 11


def test_of_too_many_groups_the_smallest_are_grey() -> None:
    d = MAX_GROUPS + 6
    groups = [*range(d), *range(3, d)]
    ax = plot_network(np.zeros((len(groups),) * 2), [f"x{i}" for i in range(len(groups))], groups)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(legend) == MAX_GROUPS + 1
    assert legend[-1] == "other groups"
    # The three groups of one node are not among those with a color.
    assert not {"0", "1", "2"} & set(legend)


def test_nodes_without_a_group_are_grey_and_named_so() -> None:
    ax = plot_network(GRAPH, NODES, {"a": "u", "b": "u"})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["u", "no group"]
    frame = network_layout(GRAPH, NODES, {"a": "u", "b": "u"})
    assert same_color(frame.loc["c", "color"], "0.6")


@pytest.mark.parametrize("size", [*SIZES, (7.0, 3.0)])
@pytest.mark.parametrize("kind", ["cluster", "band"])
def test_legend_covers_no_node(size: tuple[float, float], kind: str) -> None:
    adjacency = rs.simulate.graph(5, 100, kind=kind, rng=0).adjacency
    _, nodes, groups = cluster()
    long = pd.Series(groups, index=nodes, name="sector").str.replace("group", "Consumer Goods No.")
    ax = drawn(plot_network(adjacency, nodes, long, axes(size)))
    box = ax.get_legend().get_window_extent()
    at = nodes_in_pixels(ax)
    inside = (at > [box.x0, box.y0]).all(axis=1) & (at < [box.x1, box.y1]).all(axis=1)
    assert not inside.any()
    frame = ax.get_window_extent()
    assert box.x0 >= frame.x0 - PIXEL
    assert box.x1 <= frame.x1 + PIXEL
    assert box.y0 >= frame.y0 - PIXEL
    assert ax.get_legend().get_title().get_text() == "sector"


@pytest.mark.parametrize("size", SIZES)
def test_all_nodes_are_within_the_axes(size: tuple[float, float]) -> None:
    adjacency, nodes, groups = cluster()
    ax = drawn(plot_network(adjacency, nodes, groups, axes(size)))
    box, at = ax.get_window_extent(), nodes_in_pixels(ax)
    assert len(at) == 100
    assert (at > [box.x0, box.y0]).all()
    assert (at < [box.x1, box.y1]).all()


@pytest.mark.parametrize("size", SIZES)
def test_labels_do_not_overlap(size: tuple[float, float]) -> None:
    nodes = [f"systolic blood pressure at visit {i} ($mmHg$)" for i in range(8)]
    ring = np.roll(np.eye(8), 1, axis=1)
    ax = drawn(plot_network(ring + ring.T, nodes, ax=axes(size)))
    texts = labels_of(ax)
    assert len(texts) == 8
    boxes = [text.get_window_extent() for text in texts]
    frame = ax.get_window_extent()
    for box in boxes:
        assert box.x0 >= frame.x0 - PIXEL
        assert box.x1 <= frame.x1 + PIXEL
    for one, two in combinations(boxes, 2):
        assert (
            one.x1 <= two.x0 + PIXEL
            or two.x1 <= one.x0 + PIXEL
            or one.y1 <= two.y0 + PIXEL
            or two.y1 <= one.y0 + PIXEL
        )


def test_which_nodes_are_labeled() -> None:
    adjacency, nodes, _ = cluster()
    assert labels_of(plot_network(adjacency, nodes)) == []
    degrees = np.asarray(adjacency).sum(axis=1)
    (first,) = labels_of(plot_network(adjacency, nodes, labels=1))
    assert first.get_text() == nodes[int(degrees.argmax())]
    chosen = labels_of(plot_network(adjacency, nodes, labels=["x7", "x3"]))
    assert {text.get_text() for text in chosen} == {"x3", "x7"}
    assert len(labels_of(plot_network(GRAPH, NODES))) == 6
    assert labels_of(plot_network(GRAPH, NODES, labels=False)) == []


def test_isolated_nodes_are_counted() -> None:
    ax = plot_network(GRAPH, NODES)
    assert [text.get_text() for text in ax.texts] == ["1 node without edges"]
    assert not list(plot_network(CHAIN, NODES[:5]).texts)
    alone = drawn(plot_network(np.zeros((40, 40)), [f"x{i}" for i in range(40)]))
    assert [text.get_text() for text in alone.texts] == ["40 nodes without edges"]


def test_wrong_input_is_named() -> None:
    with pytest.raises(DataError, match="groups has 2 values; there are 6 nodes"):
        plot_network(GRAPH, NODES, ["u", "v"])
    with pytest.raises(DataError, match=r"adjacency has shape \(6, 6\); 5 nodes need"):
        plot_network(GRAPH, NODES[:5])
    with pytest.raises(ParameterError, match="labels: 'zz' is no node"):
        plot_network(GRAPH, NODES, labels=["zz"])
    with pytest.raises(ParameterError, match="labels='some' must be"):
        plot_network(GRAPH, NODES, labels="some")
    with pytest.raises(ParameterError, match="labels=-1 must be a whole number"):
        plot_network(GRAPH, NODES, labels=-1)
    with pytest.raises(ParameterError, match="labels=None must be"):
        plot_network(GRAPH, NODES, labels=None)


def test_subfigures_and_plain_figures_serve() -> None:
    figure = plt.figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    drawn(plot_network(GRAPH, NODES, list("uuuvvv"), left.subplots()))
    plot_network(GRAPH, NODES, ax=right.subplots())
    figure.savefig(BytesIO(), format="png")
    drawn(plot_network(GRAPH, NODES, ax=plt.subplots(figsize=(1, 1))[1]))


# ------------------------------------------------------------------------------------ along the path


def graph_path(name: str = "lambda", measure: str | None = "criterion") -> pd.DataFrame:
    index = pd.Index([1, 2, 3, 4] if name == "k" else [0.4, 0.2, 0.1, 0.05], name=name)
    table = {"n_edges": [0, 4, 9, 30]}
    return pd.DataFrame(
        table if measure is None else {**table, measure: [5.0, 1.0, 2.0, np.inf]}, index=index
    )


def test_the_path_runs_from_sparse_to_dense() -> None:
    frame = graph_path_frame(graph_path().iloc[::-1])
    assert frame["n_edges"].tolist() == [0, 4, 9, 30]
    assert frame["best"].tolist() == [False, True, False, False]
    assert np.isnan(frame["by"].iloc[-1])
    ax = plot_graph_path(graph_path())
    low, high = ax.get_xlim()
    assert low > high
    assert graph_path_frame(graph_path("k").iloc[::-1])["n_edges"].tolist() == [0, 4, 9, 30]


@pytest.mark.parametrize("name", ["k", "lambda"])
@pytest.mark.parametrize("measure", [None, "criterion", "instability"])
def test_the_measure_has_an_axis_of_its_own(name: str, measure: str | None) -> None:
    ax = drawn(plot_graph_path(graph_path(name, measure)))
    names = [other.get_ylabel() for other in ax.figure.axes]
    assert names == (["number of edges"] if measure is None else ["number of edges", measure])


def test_the_chosen_graph_is_marked() -> None:
    at = plot_graph_path(graph_path(), value=0.2, n_edges=4)
    assert [text.get_text() for text in at.texts] == ["lambda = 0.2"]
    cut = plot_graph_path(graph_path(), n_edges=1234)
    assert [text.get_text() for text in cut.texts] == ["1,234 edges"]


def test_one_step_and_no_step() -> None:
    drawn(plot_graph_path(graph_path().iloc[:1], value=0.4))
    with pytest.raises(ParameterError, match="no path to draw"):
        plot_graph_path(graph_path().iloc[:0])


def test_groups_stand_in_the_legend_by_the_numbers_in_their_names() -> None:
    ax = plot_network(GRAPH, NODES, ["g10", "g9", "g1", "g10", "g2", "g2"])
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["g1", "g2", "g9", "g10"]


def test_one_legend_can_serve_several_networks() -> None:
    long = ["Consumer Discretionary"] * 3 + ["Information Technology"] * 3
    figure, (left, right) = plt.subplots(1, 2, figsize=(4.0, 3.0), layout="constrained")
    plot_network(GRAPH, NODES, long, left, legend=False)
    plot_network(GRAPH, NODES, long, right)
    assert left.get_legend() is None
    handles, names = left.get_legend_handles_labels()
    assert names == ["Consumer Discretionary", "Information Technology"]
    assert [to_hex(handle.get_color()).upper() for handle in handles] == list(PALETTE[:2])
    # What the legend does not take goes to the network.
    drawn(left)
    high = [np.ptp(nodes_in_pixels(ax)[:, 1]) for ax in (left, right)]
    assert high[0] > high[1]
    plt.close(figure)
