"""A look at the page of the graph of stocks, for the guide: `python docs/explorer.py` from the root.

It needs Chromium with its driver, and selenium (of the extra test).
"""

import io
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

import robustsparse as rs

PICTURE = Path(__file__).parent / "figures/explorer.png"
STOCK = "AAPL"


def write_page(path: Path) -> None:
    """The graph of the README as a page."""
    prices, info = rs.datasets.stocks()
    graph = rs.robust_ns(np.log(prices).diff().iloc[1:], k=4, max_edges=2000)
    graph.to_html(path, info.set_index("ticker")["sector"])


def look(path: Path) -> bytes:
    """What a reader sees who has asked for a stock, as a PNG."""
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    with Chrome(options=options, service=Service(shutil.which("chromedriver"))) as browser:
        screen = {"width": 1280, "height": 760, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        browser.get(path.as_uri())
        browser.find_element("id", "search").send_keys(STOCK, "\ue007")
        browser.find_element("css selector", "[data-zoom=fit]").click()
        return browser.get_screenshot_as_png()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.html"
        write_page(path)
        png = look(path)
    # No palette: it would give small marks of the legend the colors of others.
    Image.open(io.BytesIO(png)).convert("RGB").save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
