"""`Summary`: the pieces of a printed summary, and its three forms."""

from dataclasses import dataclass
from typing import overload

import pandas as pd

from robustsparse.base.errors import ParameterError
from robustsparse.report.summary import markup
from robustsparse.report.summary.numbers import format_table
from robustsparse.report.summary.text import MIN_WIDTH, Pieces, render
from robustsparse.report.summary.words import one_line, printable
from robustsparse.report.summary.writing import Path, as_page, handed_over


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """A fit in words and numbers: printed as text, shown as HTML in notebooks, exported as LaTeX.

    Attributes
    ----------
    title : str
        The method.
    head : tuple of (label, value)
        What was fitted and how; short pairs stand two on a line.
    table : DataFrame
        One row a term, numbers unformatted; columns such as `Estimate`, `Std. Error`, `95% CI low`,
        `95% CI high`, `t`, `p`. The name decides how a column is printed; what is missing prints
        as a dash.
    notes : tuple of str
        Sentences below the table.
    empty : str
        Printed in place of a table without rows.

    Examples
    --------
    >>> table = pd.DataFrame({"Estimate": [1.98, -0.51], "p": [0.0, 0.0123]}, index=["x3", "x17"])
    >>> summary = Summary("Robust Hard Thresholding", (("Rows", "300"),), table)
    >>> summary.text(width=60).splitlines()[-2]
    'x17  -0.5100  0.0123'
    """

    title: str
    head: tuple[tuple[str, str], ...]
    table: pd.DataFrame
    notes: tuple[str, ...] = ()
    empty: str = "no term selected"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """Rich display in notebooks."""
        return markup.to_html(self._pieces())

    def text(self, width: int = 80) -> str:
        r"""Summary as plain text.

        Parameters
        ----------
        width : int
            Columns of the page, at least 60; no line is longer. Long names lose their middle.

        Returns
        -------
        str
            Lines separated by ``"\n"``.

        Examples
        --------
        >>> table = pd.DataFrame({"Estimate": [1.98, -0.51], "p": [0, 0.0123]}, index=["x3", "x17"])
        >>> head = (("Rows", "300"), ("Terms", "2 of 1000"))
        >>> notes = ("3 rows were rejected.",)
        >>> print(Summary("Robust Hard Thresholding", head, table, notes).text(60))
        Robust Hard Thresholding
        ============================================================
        Rows:  300                    Terms: 2 of 1000
        ------------------------------------------------------------
             Estimate       p
        x3    1.9800  <2e-16
        x17  -0.5100  0.0123
        ------------------------------------------------------------
        - 3 rows were rejected.
        ============================================================
        """
        if width < MIN_WIDTH:
            raise ParameterError(f"width={width!r} must be at least {MIN_WIDTH} columns.")
        return render(self._pieces(), width)

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: Path) -> None: ...

    def to_html(self, path: Path | None = None) -> str | None:
        """Summary as HTML.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to, as a page of its own; written whole or not at all.

        Returns
        -------
        str or None
            A fragment of HTML, unless it was written.

        Examples
        --------
        >>> table = pd.DataFrame({"Estimate": [1.98]}, index=["dose_mg"])
        >>> Summary("Robust Hard Thresholding", (), table).to_html().splitlines()[1]
        '<p><b>Robust Hard Thresholding</b></p>'
        """
        fragment = self._repr_html_()
        return handed_over(fragment if path is None else as_page(self.title, fragment), path)

    @overload
    def to_latex(self, path: None = None) -> str: ...

    @overload
    def to_latex(self, path: Path) -> None: ...

    def to_latex(self, path: Path | None = None) -> str | None:
        r"""Summary as a floating LaTeX table; needs the package ``booktabs``.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to, whole or not at all.

        Returns
        -------
        str or None
            From ``\begin{table}`` to ``\end{table}``, unless it was written; names are complete and escaped.

        Examples
        --------
        >>> table = pd.DataFrame({"Estimate": [1.98]}, index=["dose_mg"])
        >>> print(Summary("Robust Hard Thresholding", (), table).to_latex())
        \begin{table}[htbp]
        \centering\small
        \caption{Robust Hard Thresholding}
        \par\medskip
        \begin{tabular}{@{}lr@{}}
        \toprule
         & Estimate \\
        \midrule
        dose\_mg & $1.980$ \\
        \bottomrule
        \end{tabular}
        \end{table}
        """
        return handed_over(markup.to_latex(self._pieces()), path)

    def _pieces(self) -> Pieces:
        """Everything as printable lines, for the three renderers."""
        return Pieces(
            title=one_line(self.title),
            head=[(one_line(label), one_line(value)) for label, value in self.head],
            names=[printable(name) for name in self.table.index],
            columns=format_table(self.table),
            notes=[one_line(note) for note in self.notes],
            empty=one_line(self.empty),
        )
