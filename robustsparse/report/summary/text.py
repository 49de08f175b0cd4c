"""The summary as plain text, never wider than the page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from robustsparse.report.summary.numbers import Column
from robustsparse.report.summary.words import left, measure, right, shorten, shorten_all, wrap

Pair = tuple[str, str]

# Narrower pages have no room for a name and a number side by side.
MIN_WIDTH = 60
# Space between columns of the table, labels and values of the head, halves of the head.
GAP = 2
LABEL_GAP = 1
GUTTER = 2
# Room for the names: headings are broken to keep the first, the table is folded to keep the second.
NAME_WIDTH = 24
NARROW_NAME_WIDTH = 16
# Broken headings may be this wide whatever their cells.
HEADING_WIDTH = 8
# Labels of the head that are longer stand in a line of their own.
LABEL_WIDTH = 18


@dataclass(frozen=True)
class Pieces:
    """A summary without line breaks and with its numbers formatted: what each of its forms is made of.

    Attributes
    ----------
    title : str
        The method.
    head : list of (label, value)
        What was fitted and how.
    names, columns : list of str, list of Column
        Rows and columns of the table.
    notes : list of str
        Sentences below the table.
    empty : str
        What stands in place of a table without rows.
    """

    title: str
    head: list[Pair]
    names: list[str]
    columns: list[Column]
    notes: list[str]
    empty: str


def render(pieces: Pieces, width: int) -> str:
    """Title, head, table and notes between rules."""
    thick, thin = "=" * width, "-" * width
    lines = [*wrap(pieces.title, width), thick]
    if pieces.head:
        lines += [*head_lines(pieces.head, width), thin]
    if pieces.names:
        lines += table_lines(pieces.names, pieces.columns, width)
    else:
        lines += wrap(pieces.empty, width)
    if pieces.notes:
        lines += [thin, *note_lines(pieces.notes, width)]
    return "\n".join(line.rstrip() for line in [*lines, thick])


def note_lines(notes: Sequence[str], width: int) -> list[str]:
    """Each note with a hyphen in front."""
    lines: list[str] = []
    for note in notes:
        lines += hanging("- ", note, width)
    return lines


def hanging(label: str, value: str, width: int) -> list[str]:
    """Label, then the value beside it, wrapped within its own column."""
    indent = measure(label)
    first, *rest = wrap(value, width - indent)
    return [label + first, *(" " * indent + line for line in rest)]


def head_rows(head: Sequence[Pair], width: int = 80) -> list[tuple[Pair, ...]]:
    """Arrange labels and values in rows of one (long) or two (short) pairs.

    A run of short pairs reads down the left column first, then down the right one.

    Examples
    --------
    >>> head_rows([("a", "1"), ("b", "2"), ("c", "3"), ("Call", "rht(" + "x" * 70 + ")")])[:2]
    [(('a', '1'), ('c', '3')), (('b', '2'),)]
    """
    room = (width - GUTTER) // 2 - label_width(head) - LABEL_GAP
    rows: list[tuple[Pair, ...]] = []
    run: list[Pair] = []
    for label, value in head:
        if measure(label) < LABEL_WIDTH and measure(value) <= room:
            run.append((label, value))
        else:
            rows += [*_two_columns(run), ((label, value),)]
            run = []
    return rows + _two_columns(run)


def _two_columns(run: Sequence[Pair]) -> list[tuple[Pair, ...]]:
    half = (len(run) + 1) // 2
    return [tuple(run[i::half]) for i in range(half)]


def label_width(head: Sequence[Pair]) -> int:
    """Columns for the labels with their colons."""
    return min(max(measure(label) + 1 for label, _ in head), LABEL_WIDTH)


def head_lines(head: Sequence[Pair], width: int) -> list[str]:
    """Labels and values, two pairs on a line where they are short."""
    labels, half = label_width(head), (width - GUTTER) // 2
    lines: list[str] = []
    for row in head_rows(head, width):
        cells = [left(f"{label}:", labels + LABEL_GAP) for label, _ in row]
        if len(row) == 2:
            one, two = (cell + value for cell, (_, value) in zip(cells, row, strict=True))
            lines.append(left(one, half + GUTTER) + two)
        elif measure(cells[0]) <= labels + LABEL_GAP:
            lines += hanging(cells[0], row[0][1], width)
        else:
            lines += wrap(f"{row[0][0]}: {row[0][1]}", width)
    return lines


def table_lines(names: Sequence[str], columns: Sequence[Column], width: int) -> list[str]:
    """Terms and their numbers; folded into blocks below each other if too wide."""
    limit = width - NAME_WIDTH - GAP
    clipped = [_clip(column, limit) for column in columns]
    longest = max(map(measure, names))
    name_width, blocks = _fold(clipped, longest, width)
    shown = shorten_all(names, name_width)
    lines: list[str] = []
    for i, block in enumerate(blocks):
        lines += [""] * (i > 0) + _block_lines(shown, block, name_width)
    return lines


def _clip(column: Column, limit: int) -> Column:
    """Text that would not leave room for the names is shortened; numbers always fit."""
    name = " ".join(shorten(word, limit) for word in column.name.split())
    return replace(column, name=name, cells=tuple(shorten(cell, limit) for cell in column.cells))


Heading = tuple[Column, list[str], int]


def _fold(columns: Sequence[Column], longest: int, width: int) -> tuple[int, list[list[Heading]]]:
    """Headings on one line if there is room, else on several; the names take what is left."""
    for broken, enough in ((False, NAME_WIDTH), (True, NARROW_NAME_WIDTH)):
        headings = [_heading(column, broken) for column in columns]
        room = width - sum(w + GAP for _, _, w in headings)
        if room >= min(longest, enough):
            return min(longest, room), [headings]
    name_width = min(longest, NAME_WIDTH)
    return name_width, _blocks(headings, width - name_width)


def _heading(column: Column, broken: bool) -> Heading:
    narrow = max([HEADING_WIDTH, *map(measure, column.name.split())])
    lines = wrap(column.name, narrow if broken else max(measure(column.name), 1))
    return column, lines, max([column.width, *map(measure, lines)])


def _blocks(headings: Sequence[Heading], room: int) -> list[list[Heading]]:
    blocks: list[list[Heading]] = [[]]
    used = 0
    for heading in headings:
        used += heading[2] + GAP
        if used > room and blocks[-1]:
            blocks.append([])
            used = heading[2] + GAP
        blocks[-1].append(heading)
    return blocks


def _block_lines(names: Sequence[str], block: Sequence[Heading], name_width: int) -> list[str]:
    height = max((len(lines) for _, lines, _ in block), default=0)
    table = [left("", name_width)] * height + [left(name, name_width) for name in names]
    for column, lines, width in block:
        place = right if column.numeric else left
        heading = [""] * (height - len(lines)) + lines
        cells = [place(cell, width) for cell in (*heading, *column.cells)]
        table = [line + " " * GAP + cell for line, cell in zip(table, cells, strict=True)]
    return table
