"""Settings shared by all tests."""

import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

# The first example of a test may compile a kernel, which takes seconds; and a run must not pass or
# fail by the luck of its draw.
settings.register_profile("robustsparse", deadline=None, derandomize=True)
# For the fuzzers, now and then: other examples in each run, and many of them.
settings.register_profile("long", deadline=None, max_examples=3500)
settings.load_profile("robustsparse")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="let the fuzzers run for long")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--long"):
        settings.load_profile("long")


@pytest.fixture
def data() -> pd.DataFrame:
    """Twenty-four labelled rows: a response, two numbers and a factor."""
    n = 24
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "y": rng.normal(size=n),
            "a": rng.normal(size=n),
            "b": rng.uniform(1, 2, n),
            "g": ["u", "v", "w"] * (n // 3),
        },
        index=[f"row{i}" for i in range(n)],
    )


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A Dask client of two workers in processes of their own."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as workers,
        Client(workers, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window, driven from outside."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("there is no Chromium; apt-get install chromium chromium-driver")
    pytest.importorskip("selenium", reason="pages are tried with selenium, of the extra test")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = chromium
    # Containers mostly run as root, which Chromium's sandbox refuses.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = Chrome(options=options, service=Service(driver))
    window.set_window_size(1280, 800)
    yield window
    window.quit()
