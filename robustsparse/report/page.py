"""One HTML page with everything in it: words, tables and pictures, and nothing that is fetched from elsewhere."""

import base64
import html
from dataclasses import dataclass
from typing import Any

import pandas as pd

from robustsparse.base.text import plain
from robustsparse.report.plots.embedding import as_png

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1.2rem; }
h1 { font-size: 1.6rem; margin-bottom: 0.2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
p.about { color: #888; margin-top: 0; }
figure { margin: 0; overflow-x: auto; } figure img { max-width: 100%; height: auto; background: white; }
.scroll { overflow-x: auto; max-height: 32rem; overflow-y: auto; }
table.rows { border-collapse: collapse; font-size: 0.9rem; }
table.rows th, table.rows td { padding: 0.15rem 0.7rem; text-align: right; border-bottom: 1px solid var(--line); }
table.rows th:first-child, table.rows td:first-child { text-align: left; }
table.rows td.word { text-align: left; }
table.rows thead th { position: sticky; top: 0; background: Canvas; }
pre { background: var(--soft); padding: 0.6rem 0.9rem; overflow-x: auto; }
"""


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, and a body in HTML."""

    heading: str
    body: str


def page(title: str, about: str, sections: list[Section]) -> str:
    """A whole page.

    Parameters
    ----------
    title, about : str
        What it is of; a line below.
    sections : list of Section
        Its parts.

    Examples
    --------
    >>> text = page("A fit", "of two rows", [Section("Rows", rows_table(pd.DataFrame({"y": [1.5]})))])
    >>> text.startswith("<!DOCTYPE html>"), "http" in text
    (True, False)
    """
    parts = "".join(
        f"<section><h2>{html.escape(part.heading)}</h2>\n{part.body}</section>\n"
        for part in sections
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        f'<h1>{html.escape(title)}</h1>\n<p class="about">{html.escape(about)}</p>\n{parts}</body>\n</html>\n'
    )


def picture(axes: Any, words: str) -> str:
    """What was drawn, within the page; `words` stand in its place where it cannot be seen."""
    png, width = as_png(axes)
    data = base64.b64encode(png).decode()
    return f'<figure><img alt="{html.escape(words)}" width="{width}" src="data:image/png;base64,{data}"></figure>'


def rows_table(frame: pd.DataFrame, corner: str = "row") -> str:
    """A table by row label, numbers with four digits."""
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in (corner, *frame.columns))
    body = "".join(
        f"<tr><td>{html.escape(plain(label))}</td>{''.join(map(_cell, values))}</tr>\n"
        for label, *values in frame.itertuples(name=None)
    )
    return f'<div class="scroll"><table class="rows"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"<td>{'–' if value != value else f'{value:.4g}'}</td>"
    return f'<td class="word">{html.escape(plain(value))}</td>'
