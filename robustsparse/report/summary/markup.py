r"""The summary as HTML and as LaTeX (booktabs), everything escaped, names complete."""

import html
import re
from collections.abc import Sequence

from robustsparse.report.summary.numbers import Column
from robustsparse.report.summary.text import Pair, Pieces, head_rows
from robustsparse.report.summary.words import printable

# Only layout: colors and fonts are the notebook's, so that dark themes work.
_CELL = "padding:0.1em 0.6em;background:transparent;"
_NAME = f'style="text-align:left;font-weight:normal;{_CELL}"'
_NUMBER = f'style="text-align:right;white-space:pre;font-family:monospace;{_CELL}"'
_RULE = "border-top:1px solid currentColor;border-bottom:1px solid currentColor;"


def to_html(pieces: Pieces) -> str:
    """Title, head, table and notes as a fragment of HTML."""
    parts = ['<div class="robustsparse-summary">', f"<p><b>{html.escape(pieces.title)}</b></p>"]
    if pieces.head:
        rows = "".join(map(_html_head_row, head_rows(pieces.head)))
        parts.append(f"<table><tbody>{rows}</tbody></table>")
    if pieces.names:
        parts.append(_html_table(pieces.names, pieces.columns))
    else:
        parts.append(f"<p>{html.escape(pieces.empty)}</p>")
    if pieces.notes:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in pieces.notes)
        parts.append(f"<ul>{notes}</ul>")
    return "\n".join([*parts, "</div>"])


def _html_head_row(row: tuple[Pair, ...]) -> str:
    span = ' colspan="3"' if len(row) == 1 else ""
    cells = "".join(
        f'<th scope="row" {_NAME}>{html.escape(label)}:</th>'
        f"<td{span} {_NAME}>{html.escape(value)}</td>"
        for label, value in row
    )
    return f"<tr>{cells}</tr>"


def _html_table(names: Sequence[str], columns: Sequence[Column]) -> str:
    heading = "".join(
        f'<th scope="col" style="text-align:{"right" if column.numeric else "left"};{_CELL}">'
        f"{html.escape(column.name)}</th>"
        for column in columns
    )
    rows = "".join(
        f'<tr><th scope="row" {_NAME}>{html.escape(name)}</th>'
        + "".join(_html_cell(column, i) for column in columns)
        + "</tr>"
        for i, name in enumerate(names)
    )
    return (
        f'<table style="border-collapse:collapse;{_RULE}"><thead style="{_RULE}"><tr>'
        f"<th {_NAME}></th>{heading}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _html_cell(column: Column, i: int) -> str:
    return f"<td {_NUMBER if column.numeric else _NAME}>{html.escape(column.cells[i])}</td>"


# What means something to TeX, or is another glyph in its default fonts. Brackets and stars are
# enclosed: at the start of a row they would be taken for an argument of the line break before.
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"$\sim$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "–": r"\textendash{}",
    "…": r"\ldots{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "²": r"$^2$",
}
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi",
    "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "varphi", "χ": "chi", "ψ": "psi",
    "ω": "omega",
}  # fmt: skip
_TEX |= {letter: rf"$\{name}$" for letter, name in _GREEK.items()}
_NUMBER_PARTS = re.compile(r"(<?)(-?)([0-9.]+)(?:e([+-][0-9]+))?")


def escape_tex(text: str) -> str:
    r"""Text that TeX prints as it stands.

    Examples
    --------
    >>> print(escape_tex("log(dose_mg) & 5%"))
    log(dose\_mg) \& 5\%
    """
    # Two hyphens would become a dash.
    return re.sub("-(?=-)", "-{}", "".join(_TEX.get(c, c) for c in printable(text)))


def tex_number(cell: str) -> str:
    """Number in mathematics; the padding after it becomes space of the same width."""
    body = cell.strip()
    parts = _NUMBER_PARTS.fullmatch(body)
    if parts is None:
        return escape_tex(body)
    less, minus, digits, power = parts.groups()
    exponent = rf" \times 10^{{{int(power)}}}" if power else ""
    padding = len(cell) - len(cell.rstrip())
    blank = (
        rf"\phantom{{{'0' * padding if '.' in body else '.' + '0' * (padding - 1)}}}"
        if padding
        else ""
    )
    return f"${less}{minus}{digits}{exponent}${blank}"


def to_latex(pieces: Pieces) -> str:
    """Title as caption, head, table and notes as a floating table."""
    caption = rf"\caption{{{escape_tex(pieces.title)}}}"
    parts = [r"\begin{table}[htbp]", r"\centering\small", caption]
    if pieces.head:
        parts += [
            r"\begin{tabular}{@{}llll@{}}",
            *map(_tex_head_row, head_rows(pieces.head)),
            r"\end{tabular}",
        ]
    parts += [r"\par\medskip", *_tex_table(pieces.names, pieces.columns, pieces.empty)]
    if pieces.notes:
        parts += [r"\par\medskip", r"\begin{minipage}{\linewidth}\footnotesize"]
        parts += [rf"{escape_tex(note)}\par" for note in pieces.notes]
        parts.append(r"\end{minipage}")
    return "\n".join([*parts, r"\end{table}"]) + "\n"


def _tex_head_row(row: tuple[Pair, ...]) -> str:
    cells = [(escape_tex(label) + ":", escape_tex(value)) for label, value in row]
    if len(cells) == 2:
        return " & ".join(part for cell in cells for part in cell) + r" \\"
    label, value = cells[0]
    # A box of its own: ragged lines would otherwise redefine the line break of the table.
    box = rf"\parbox[t]{{0.72\linewidth}}{{\raggedright {value}}}"
    return rf"{label} & \multicolumn{{3}}{{l}}{{{box}}} \\"


def _tex_table(names: Sequence[str], columns: Sequence[Column], empty: str) -> list[str]:
    if not names:
        return [escape_tex(empty)]
    layout = "".join("r" if column.numeric else "l" for column in columns)
    heading = "".join(f" & {escape_tex(column.name)}" for column in columns)
    rows = [
        escape_tex(name) + "".join(f" & {_tex_cell(column, i)}" for column in columns) + r" \\"
        for i, name in enumerate(names)
    ]
    return [
        rf"\begin{{tabular}}{{@{{}}l{layout}@{{}}}}",
        r"\toprule",
        rf"{heading} \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _tex_cell(column: Column, i: int) -> str:
    cell = column.cells[i]
    return tex_number(cell) if column.numeric else escape_tex(cell)
