"""Graphs to touch: one file without anything from elsewhere, harmless whatever the nodes are called."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustsparse as rs
from robustsparse.base.errors import DataError, WriteError
from robustsparse.graph.path import graph_from_path
from robustsparse.graph.result import GraphResult

# What a page of the largest graph that we promise may take.
MOST_BYTES = 2_000_000
BAD = [
    "<script>document.title='bad'</script>",
    "</script><b>",
    "{{title}}",
    "a&b\u2028c\x00",
    "plain",
]


def chain(nodes: list[str]) -> GraphResult:
    """Each node tied to the next."""
    d = len(nodes)
    omega = 2.0 * np.eye(d) - 0.9 * (np.eye(d, k=1) + np.eye(d, k=-1))
    ties = np.abs(omega) * ~np.eye(d, dtype=bool)
    return graph_from_path(nodes, [ties], [0.1], np.linalg.inv(omega), method="chain", nobs=9)


def text_of(graph: GraphResult, folder: Path, groups: Any = None) -> str:
    graph.to_html(folder / "graph.html", groups)
    return (folder / "graph.html").read_text(encoding="utf-8")


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="graph">(.*?)</script>', text, re.S)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_page_holds_the_edges_strongest_first_with_their_numbers(tmp_path: Path) -> None:
    graph = rs.robust_ns(rs.simulate.graph(n=100, d=10, rng=1).data, max_edges=8)
    data, edges = data_of(text_of(graph, tmp_path)), graph.edges()
    assert data["nodes"] == list(graph.nodes)
    named = [(data["nodes"][edge[0]], data["nodes"][edge[1]]) for edge in data["edges"]]
    assert named == list(zip(edges["node1"], edges["node2"], strict=True))
    columns = ["partial_corr", "weight", "stability"]
    known = edges[[name for name in columns if name in edges]].to_numpy()
    np.testing.assert_allclose([edge[2:] for edge in data["edges"]], known, rtol=1e-3)


def test_names_cannot_become_markup(tmp_path: Path) -> None:
    text = text_of(chain(BAD), tmp_path, groups=BAD)
    # The elements of the page itself, and none by a name.
    assert text.count("<script") == text.count("</script") == 2
    assert "<b>" not in text
    assert data_of(text)["nodes"][:3] == BAD[:3]
    assert data_of(text)["nodes"][3] == "a&b\\u2028c\\x00"


def test_groups_have_the_looks_of_the_plot(tmp_path: Path) -> None:
    groups = pd.Series({"a": "u", "b": "v"}, name="part")
    data = data_of(text_of(chain(["a", "b", "c"]), tmp_path, groups))
    assert data["grouped"] == "part"
    assert [look["name"] for look in data["looks"]] == ["u", "v", "no group"]
    assert [data["looks"][i]["color"] for i in data["look"]] == ["#0072B2", "#D55E00", "#999999"]


def test_a_graph_without_edges_and_numbers_that_are_none(tmp_path: Path) -> None:
    assert data_of(text_of(chain(["a", "b"]).at(n_edges=0), tmp_path))["edges"] == []
    unknown = chain(["a", "b"])
    unknown.covariance[:] = np.nan
    assert data_of(text_of(unknown, tmp_path))["edges"][0][2] is None


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "graph.html").write_text("old")
    with pytest.raises(DataError, match="groups has 1 values"):
        chain(["a", "b"]).to_html(tmp_path / "graph.html", groups=["u"])
    assert (tmp_path / "graph.html").read_text() == "old"
    with pytest.raises(WriteError, match="cannot be written"):
        chain(["a", "b"]).to_html(tmp_path / "nowhere" / "graph.html")


# ------------------------------------------------------------------------------ in a real browser


@pytest.fixture(scope="module")
def stocks() -> tuple[GraphResult, "pd.Series[str]"]:
    """452 stocks and the 2,000 pairs with the largest rank correlations."""
    prices, info = rs.datasets.stocks()
    S = np.log(prices).diff().iloc[1:].rank().corr().to_numpy()
    ties = np.abs(S) * ~np.eye(len(S), dtype=bool)
    cut = np.sort(ties[np.triu_indices(len(S), 1)])[-2000]
    ties = np.where(ties >= cut, ties, 0.0)
    nodes = list(prices.columns)
    graph = graph_from_path(nodes, [ties], [cut], S, method="rank correlations", nobs=len(prices))
    return graph, info.set_index("ticker")["sector"]


def open_page(browser: Any, graph: GraphResult, folder: Path, groups: Any = None) -> Path:
    path = folder / "graph.html"
    graph.to_html(path, groups)
    browser.get_log("browser")
    browser.get(path.as_uri())
    return path


def find(browser: Any, name: str) -> None:
    """Ask for a node by name, which brings it to the middle."""
    field = browser.find_element("id", "search")
    field.clear()
    field.send_keys(name, "\ue007")


def hover(browser: Any, x: int = 0, y: int = 0) -> str:
    """What the page tells at a place, from the middle of the network."""
    from selenium.webdriver.common.action_chains import ActionChains

    canvas = browser.find_element("id", "network")
    ActionChains(browser).move_to_element_with_offset(canvas, x, y).perform()
    return str(browser.find_element("id", "tip").text)


def test_a_large_graph_is_searched_thinned_and_asked(
    browser: Any, stocks: tuple[GraphResult, Any], tmp_path: Path
) -> None:
    graph, sectors = stocks
    page = open_page(browser, graph, tmp_path, sectors)
    assert (len(graph.nodes), graph.n_edges) == (452, 2000)
    assert page.stat().st_size < MOST_BYTES

    first = graph.edges().iloc[0]
    partial = graph.partial_corr().loc[first["node1"]].drop(first["node1"])
    find(browser, first["node1"])
    told = hover(browser)
    assert told.startswith(f"{first['node1']}\n{sectors[first['node1']]}, ")
    strongest = partial[partial.abs().idxmax()]
    assert f"{partial.abs().idxmax()} {strongest:.2f}".replace("-", "\u2212") in told

    count = browser.find_element("id", "count")
    count.clear()
    count.send_keys("1", "\ue004")
    assert browser.find_element("id", "slider").get_property("value") == "1"
    find(browser, first["node1"])
    assert f"{sectors[first['node1']]}, 1 neighbor\n" in hover(browser)
    assert first["node2"] in hover(browser)
    slider = browser.find_element("id", "slider")
    slider.send_keys("\ue010")  # the key End
    assert count.get_property("value") == "2000"

    # Nothing was fetched, and nothing complained.
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.get_log("browser") == []


def drawn(browser: Any) -> int:
    """Dots of the canvas that are not empty, once the page has drawn."""
    script = """
      const done = arguments[0], canvas = document.getElementById("network");
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const dots = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        done(dots.filter((value, i) => i % 4 === 3 && value > 0).length);
      }));"""
    return int(browser.execute_async_script(script))


def test_zoom_groups_and_the_pointer_change_the_picture(
    browser: Any, stocks: tuple[GraphResult, Any], tmp_path: Path
) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    graph, sectors = stocks
    open_page(browser, graph, tmp_path, sectors)
    all_of_it = drawn(browser)
    browser.find_element("css selector", "#groups button").click()
    assert drawn(browser) < all_of_it
    browser.find_element("css selector", "#groups button").click()
    canvas = browser.find_element("id", "network")
    for _ in range(3):
        ActionChains(browser).drag_and_drop_by_offset(canvas, 400, 0).perform()
    assert drawn(browser) < all_of_it
    browser.find_element("css selector", "[data-zoom=fit]").click()
    before = drawn(browser)
    browser.find_element("css selector", "[data-zoom='1.4']").click()
    assert drawn(browser) != before


def test_an_edge_tells_its_partial_correlation(browser: Any, tmp_path: Path) -> None:
    graph = chain(["a", "b"])
    open_page(browser, graph, tmp_path)
    told = hover(browser)
    assert told.startswith("a \u2013 b\npartial correlation 0.45")


def test_bad_names_do_no_harm(browser: Any, tmp_path: Path) -> None:
    open_page(browser, chain(BAD), tmp_path, groups=BAD)
    find(browser, "<script>")
    assert hover(browser).startswith(BAD[0])
    assert browser.title == "Robust graph of 5 variables"
    assert browser.get_log("browser") == []


def test_who_is_not_there_is_not_found(browser: Any, tmp_path: Path) -> None:
    open_page(browser, chain(["a", "b"]), tmp_path)
    find(browser, "zebra")
    assert browser.find_element("id", "found").text == "no node has this in its name"
