"""`ModelTable`: several models in one table, as text, HTML and LaTeX."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from robustsparse.report.summary.markup import escape_tex, tex_number
from robustsparse.report.summary.numbers import Column
from robustsparse.report.summary.text import note_lines, table_lines
from robustsparse.report.summary.words import measure, one_line, printable
from robustsparse.report.summary.writing import Path, as_page, handed_over

_CELL = "padding:0.1em 0.8em;background:transparent;"
_RULE = "border-top:1px solid currentColor;"


class Cell(NamedTuple):
    """What stands in one place of a table: a number or a word, with stars, or in brackets below another."""

    text: str = ""
    stars: str = ""
    brackets: tuple[str, str] = ("", "")

    def plain(self, room: int) -> str:
        """As text; what follows the digits takes `room` columns, so that these end below each other."""
        if not self.text:
            return ""
        left, right = self.brackets
        return f"{left}{self.text}{(right + self.stars).ljust(room)}"

    def html(self) -> str:
        """As HTML."""
        left, right = self.brackets
        # Without a height of its own a superscript would push its line down.
        stars = f'<sup style="line-height:0">{self.stars}</sup>' if self.stars else ""
        return f"{left}{html.escape(self.text)}{right}{stars}"

    def latex(self) -> str:
        """As LaTeX."""
        if not self.text:
            return ""
        left, right = self.brackets
        numbers = ", ".join(tex_number(part) for part in self.text.split(", "))
        if self.stars:
            numbers = f"{numbers.removesuffix('$')}^{{{self.stars}}}$"
        return f"{left}{numbers}{right}"


class Row(NamedTuple):
    """A line of the table: its name, which lines below an estimate do not have, and a cell for each model."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ModelTable:
    """Models side by side: printed as text, shown as HTML in notebooks, exported as LaTeX.

    Attributes
    ----------
    models : tuple of str
        Names of the models, one a column.
    terms, facts : tuple of Row
        Lines with estimates, and those with what else is known of the models.
    notes : tuple of str
        Sentences below the table.
    title : str
        Above it; may be empty.

    Examples
    --------
    >>> import pandas as pd
    >>> import robustsparse as rs
    >>> rs.table([pd.Series({"Intercept": 0.5, "dose": 2.0})], names=["one"]).models
    ('one',)
    """

    models: tuple[str, ...]
    terms: tuple[Row, ...]
    facts: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    title: str = ""

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """Rich display in notebooks."""
        title = f"<caption>{html.escape(one_line(self.title))}</caption>" if self.title else ""
        heading = "".join(_head(name) for name in self.models)
        bodies = "".join(
            f'<tbody style="{_RULE}">{"".join(map(_html_row, rows))}</tbody>'
            for rows in (self.terms, self.facts)
            if rows
        )
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f'<div class="robustsparse-table"><table style="border-collapse:collapse;{_RULE}border-bottom:1px solid '
            f'currentColor">{title}<thead><tr><th></th>{heading}</tr></thead>{bodies}</table>'
            f"{f'<ul>{notes}</ul>' if notes else ''}</div>"
        )

    def text(self, width: int = 80) -> str:
        """The table as plain text.

        Parameters
        ----------
        width : int
            Columns of the page; models that have no room stand below.

        Returns
        -------
        str

        Examples
        --------
        >>> import robustsparse as rs
        >>> import pandas as pd
        >>> table = rs.table([pd.Series({"Intercept": 0.5, "dose": 2.0})], below=None)
        >>> print(table.text())
        ================
                     (1)
        ----------------
        Intercept  0.500
        dose       2.000
        ----------------
        Terms          1
        ================
        """
        rows = (*self.terms, *self.facts)
        cells = [[row.cells[j] for row in rows] for j in range(len(self.models))]
        columns = [_column(name, *part) for name, part in zip(self.models, cells, strict=True)]
        lines = table_lines([printable(row.name) for row in rows], columns, width)
        wide = min(max(map(measure, lines)), width)
        ruled = _ruled(lines, len(self.terms), len(rows), "-" * wide)
        title = [one_line(self.title)] if self.title else []
        notes = ["-" * wide, *note_lines(self.notes, width)] if self.notes else []
        rule = "=" * wide
        return "\n".join(line.rstrip() for line in [*title, rule, *ruled, *notes, rule])

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: Path) -> None: ...

    def to_html(self, path: Path | None = None) -> str | None:
        """The table as HTML; written to a file, whole or not at all, if there is a path.

        Parameters
        ----------
        path : str or Path, optional
            The file; without one the text is returned.

        Returns
        -------
        str or None

        Examples
        --------
        >>> import robustsparse as rs
        >>> import pandas as pd
        >>> table = rs.table([pd.Series({"Intercept": 0.5, "dose": 2.0})], below=None)
        >>> table.to_html().startswith("<div")
        True
        """
        fragment = self._repr_html_()
        return handed_over(
            fragment if path is None else as_page(self.title or "Models", fragment), path
        )

    @overload
    def to_latex(self, path: None = None) -> str: ...

    @overload
    def to_latex(self, path: Path) -> None: ...

    def to_latex(self, path: Path | None = None) -> str | None:
        r"""The table as LaTeX, which needs the package ``booktabs``; written to a file if there is a path.

        Parameters
        ----------
        path : str or Path, optional
            The file; without one the text is returned.

        Returns
        -------
        str or None

        Examples
        --------
        >>> import robustsparse as rs
        >>> import pandas as pd
        >>> table = rs.table([pd.Series({"Intercept": 0.5, "dose": 2.0})], below=None)
        >>> table.to_latex().splitlines()[6]
        'Intercept & $0.500$ \\\\'
        """
        heading = "".join(f" & {escape_tex(printable(name))}" for name in self.models)
        rule = [r"\midrule", *map(_tex_row, self.facts)] if self.facts else []
        caption = [rf"\caption{{{escape_tex(one_line(self.title))}}}"] if self.title else []
        notes = [rf"\footnotesize {escape_tex(one_line(note))}\par" for note in self.notes]
        lines = [
            r"\begin{table}[htbp]",
            r"\centering\small",
            *caption,
            rf"\begin{{tabular}}{{@{{}}l{'c' * len(self.models)}@{{}}}}",
            r"\toprule",
            rf"{heading} \\",
            r"\midrule",
            *map(_tex_row, self.terms),
            *rule,
            r"\bottomrule",
            r"\end{tabular}",
            *([r"\par\medskip", *notes] if notes else []),
            r"\end{table}",
        ]
        return handed_over("\n".join(lines) + "\n", path)


def _column(name: str, *cells: Cell) -> Column:
    # A closing bracket and stars stand in the same place, right of the digits.
    room = max((len(cell.stars) + len(cell.brackets[1]) for cell in cells), default=0)
    return Column(printable(name), tuple(cell.plain(room) for cell in cells), True)


def _ruled(lines: Sequence[str], terms: int, rows: int, rule: str) -> list[str]:
    """Lines of one or several blocks, with rules below their headings and between terms and facts."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line:
            blocks[-1].append(line)
        else:
            blocks.append([])
    found: list[str] = []
    for block in blocks:
        head = len(block) - rows
        found += [*([""] if found else []), *block[:head], rule, *block[head : head + terms]]
        found += [rule, *block[head + terms :]] if terms < rows else []
    return found


def _head(name: str) -> str:
    return f'<th scope="col" style="text-align:center;{_CELL}">{html.escape(printable(name))}</th>'


def _html_row(row: Row) -> str:
    cells = "".join(
        f'<td style="text-align:center;{_CELL}">{cell.html()}</td>' for cell in row.cells
    )
    name = html.escape(printable(row.name))
    return f'<tr><th scope="row" style="text-align:left;font-weight:normal;{_CELL}">{name}</th>{cells}</tr>'


def _tex_row(row: Row) -> str:
    cells = "".join(f" & {cell.latex()}" for cell in row.cells)
    return rf"{escape_tex(printable(row.name))}{cells} \\"
