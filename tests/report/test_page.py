"""One page of HTML with everything in it."""

import base64
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from robustsparse.report.page import Section, page, picture, rows_table


def test_text_is_shown_as_it_is() -> None:
    text = page("a < b", "x & y", [Section("<h>", "<p>body</p>")])
    assert "<title>a &lt; b</title>" in text
    assert "x &amp; y" in text
    assert "<h2>&lt;h&gt;</h2>" in text
    assert "<p>body</p>" in text


def test_a_picture_is_in_the_page_and_its_figure_closed() -> None:
    _, axes = plt.subplots(2, 2, figsize=(4, 3))
    html = picture(axes, 'a "picture"')
    found = re.search(r'width="(\d+)" src="data:image/png;base64,([^"]+)"', html)
    assert found is not None
    assert base64.b64decode(found.group(2)).startswith(b"\x89PNG")
    assert 200 < int(found.group(1)) < 500
    assert "a &quot;picture&quot;" in html
    assert plt.get_fignums() == []


def test_rows_have_their_labels_and_numbers_few_digits() -> None:
    days = pd.DatetimeIndex(["2020-01-01", "2020-01-02"])
    html = rows_table(pd.DataFrame({"y": [1.23456, np.nan], "<f>": ["both", ""]}, index=days))
    assert "<td>2020-01-01</td><td>1.235</td>" in html
    assert "<td>–</td>" in html
    assert "<th>&lt;f&gt;</th>" in html
