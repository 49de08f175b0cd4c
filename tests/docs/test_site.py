"""The site: built without a warning, every public name in it, no dead link, and looked at in a browser."""

import functools
import inspect
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import robustsparse as rs

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs/site"
sys.path.insert(0, str(SITE))

import names  # noqa: E402

WIDTHS = ((1280, 900), (390, 844))
LOOKED_AT = (
    "index.html",
    "start.html",
    "guides/graphs.html",
    "from/r.html",
    "reference/RHTResult.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as the one command builds it, with warnings as errors."""
    pytest.importorskip("mkdocstrings", reason="the site is built with the extra docs")
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q"]
    done = subprocess.run(
        [*command, "-f", str(SITE / "mkdocs.yml"), "-d", str(place)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return place


class Found(HTMLParser):
    """Anchors of a page, what it links to, and what it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif "src" in given or (tag == "link" and "href" in given):
            self.loads.append(given.get("src") or given["href"])


def dead(site: Path, page: Path, link: str, pages: dict[Path, Found]) -> bool:
    """Whether a link within the site leads nowhere."""
    parts = urlsplit(link)
    if parts.scheme in ("https", "http", "mailto"):
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    target = target / "index.html" if target.is_dir() else target
    missing = parts.fragment and target in pages and parts.fragment not in pages[target].anchors
    return not target.is_file() or bool(missing and not parts.fragment.startswith("__"))


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    # The page for what is not found has addresses from the root of a server.
    pages = {page: Found(page) for page in site.resolve().rglob("*.html") if page.stem != "404"}
    assert len(pages) > 80
    broken = [
        (page.name, link)
        for page, found in pages.items()
        for link in [*found.links, *found.loads]
        if dead(site, page, link, pages)
    ]
    assert broken == []
    assert [load for found in pages.values() for load in found.loads if "//" in load] == []


def test_every_public_name_has_its_page_and_every_method_its_anchor(site: Path) -> None:
    for name in names.public_names():
        page = site / "reference" / f"{name}.html"
        anchors = Found(page).anchors
        value = functools.reduce(getattr, name.split("."), rs)
        methods = [] if not inspect.isclass(value) else [m for m in vars(value) if m[0] != "_"]
        mine = [m for m in methods if inspect.isfunction(inspect.getattr_static(value, m))]
        wanted = [name, *(f"{name}.{method}" for method in mine)]
        assert {f"robustsparse.{one}" for one in wanted} <= anchors
        assert "When to use it" in page.read_text(encoding="utf-8")


def test_the_reference_shows_examples_and_attributes(site: Path) -> None:
    fit = (site / "reference/RHTResult.html").read_text(encoding="utf-8")
    assert "Attributes" in fit
    assert 'id="robustsparse.RHTResult.predict"' in fit
    call = (site / "reference/rht.html").read_text(encoding="utf-8")
    assert "&gt;&gt;&gt;" in call
    # The call itself, with its defaults.
    assert "doc-signature" in call


def test_vignettes_offer_their_notebooks(site: Path) -> None:
    for script in (ROOT / "vignettes").glob("[0-9][0-9]-*.py"):
        assert (site / "vignettes" / f"{script.stem}.ipynb").is_file()
        page = (site / "vignettes" / f"{script.stem}.html").read_text(encoding="utf-8")
        assert f'href="{script.stem}.ipynb"' in page


# ------------------------------------------------------------------------------ in a real browser


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing of each file."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site, served."""
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(("width", "height"), WIDTHS)
def test_pages_fit_the_screen(browser: Any, address: str, width: int, height: int) -> None:
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get_log("browser")
    try:
        for page in LOOKED_AT:
            browser.get(f"{address}/{page}")
            root = "document.documentElement"
            assert browser.execute_script(f"return {root}.scrollWidth <= {root}.clientWidth"), page
            assert browser.find_element("css selector", "h1").is_displayed()
            broken = "return [...document.images].filter(i => i.complete && !i.naturalWidth).length"
            assert browser.execute_script(broken) == 0
            loaded = "return performance.getEntriesByType('resource').map(entry => entry.name)"
            assert all(name.startswith(address) for name in browser.execute_script(loaded))
        assert browser.get_log("browser") == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# Ten everyday tasks of who knows lm, glmnet or scikit-learn: two links from the home page, and words of the answer.
TASKS = {
    "fit a formula": ("Guides", "Fit a sparse model", 'rs.rht("y ~ .", data)'),
    "choose the number of terms": ("Guides", "Fit a sparse model", "How many terms"),
    "predict with intervals": ("Guides", "Predict and judge", 'interval="prediction"'),
    "find outlying rows": ("Guides", "Find bad rows", "fit.outliers()"),
    "handle missing values": ("Guides", "Missing and wrong cells", 'na_action="impute"'),
    "classify, with a ROC curve": ("Guides", "Two classes", "fit.plot_roc()"),
    "get p-values and intervals": ("Guides", "Intervals and stability", "fit.conf_int()"),
    "put models into a table": ("Guides", "Tables and plots for a paper", "rs.table("),
    "estimate and explore a graph": ("Guides", "Estimate a graph and explore it", "to_html"),
    "use it in a pipeline": ("Guides", "Pipelines and the command line", "TrustedRows"),
    "translate cv.glmnet": ("R", None, "cv.glmnet(X, y)"),
    "look up a method": ("Reference", "RHTResult", "Confidence intervals, by term."),
}


@pytest.mark.parametrize("task", TASKS)
def test_everyday_tasks_are_two_clicks_away(browser: Any, address: str, task: str) -> None:
    *clicks, words = TASKS[task]
    browser.set_window_size(1280, 900)
    browser.get(f"{address}/index.html")
    for text in filter(None, clicks):
        browser.get(shown_link(browser, text))
    wait(browser, lambda _: words in browser.find_element("css selector", "article").text)


def shown_link(browser: Any, text: str) -> str:
    """Where the first link that a reader sees by this name leads."""

    def seen(_: Any) -> str | None:
        links = browser.find_elements("link text", text)
        return next((link.get_attribute("href") for link in links if link.is_displayed()), None)

    return str(wait(browser, seen))


def wait(browser: Any, met: Any) -> Any:
    """What a condition gives once it is met: a page on a busy machine comes in parts."""
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.support.wait import WebDriverWait

    passing = (StaleElementReferenceException,)
    return WebDriverWait(browser, 60, ignored_exceptions=passing).until(met)


# ------------------------------------------------------------------------ calls of other packages

_CODE = re.compile(r"`([^`]+)`")
_ROW = re.compile(r"^\| (.+) \| (.+) \|$", re.M)


def calls(page: str) -> list[tuple[str, str]]:
    """Cells of the tables of a page: calls elsewhere, and here."""
    rows = [row for row in _ROW.findall(page) if row[1] != "here"]
    return [row for row in rows if _CODE.search(row[1])]


@pytest.mark.parametrize("path", sorted((SITE / "pages/from").glob("*.md")), ids=lambda p: p.stem)
def test_calls_in_tables_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import doctest

    monkeypatch.chdir(tmp_path)
    page = path.read_text(encoding="utf-8")
    space: dict[str, Any] = {"__name__": "__main__"}
    for example in doctest.DocTestParser().get_examples(page):
        exec(example.source, space)
    assert len(calls(page)) > 10
    for elsewhere, here in calls(page):
        # Of the other packages, scikit-learn is there to run.
        both = elsewhere + here if path.stem == "scikit-learn" else here
        for call in _CODE.findall(both):
            exec(call, space)
