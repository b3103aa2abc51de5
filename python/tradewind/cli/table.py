"""Tables for a reader: every column that there is room for, and the names of those that there is not.

No name is cut and no number folded. Where a table is wider than it may be, first prose goes on on further lines, then
titles do, then columns are left out, the least important first. A note names them, and how to see them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

GAP = "  "
GLUE = "\N{NO-BREAK SPACE}"
"""Stands for a space between words that stay together, until lines are made."""
HOW_TO_SEE = "wider terminals, pipes and --json show all"


@dataclass(frozen=True)
class TextColumn:
    """A column: its title, and what may be done to it where room is short."""

    title: str
    number: bool = False
    """Aligned to the right."""
    prose: int = 0
    """Columns of the screen that folded text needs at least; 0: never folded."""
    indent: str = ""
    """Indent of the second and further lines of folded text."""
    drop: int = 0
    """Columns with the largest number are left out first; 0: never left out."""
    styles: Mapping[str, str] = field(default_factory=dict)
    """Styles of rich by the text of a cell."""


@dataclass(frozen=True)
class TextTable:
    """A table of texts."""

    columns: Sequence[TextColumn]
    rows: Sequence[Sequence[str]]
    title: str = ""
    warning: str = ""
    """Warnings about the numbers."""
    header: bool = True
    headings: Mapping[int, str] = field(default_factory=dict)
    """Lines that stand before rows, by the number of the row."""


@dataclass(frozen=True)
class Shown:
    """A table as it is printed."""

    header: list[str]
    """Lines of the titles and the rule below them."""
    lines: list[list[tuple[str, str]]]
    """Lines of the rows, as pieces of text and their styles."""
    notes: list[str]
    """Return the columns that were left out."""


def layout(table: TextTable, width: int | None, rule: str = "─") -> Shown:
    """Lay a table out on lines of at most `width` columns (None: as wide as it is).

    It is wider than that only where names and numbers alone are.
    """
    kept = list(range(len(table.columns)))
    widths = _widths(table, kept, width)
    dropped: list[int] = []
    while widths is None and (droppable := [i for i in kept if table.columns[i].drop]):
        first = max(droppable, key=lambda i: (_is_constant(table, i), table.columns[i].drop))
        dropped.append(first)
        kept.remove(first)
        widths = _widths(table, kept, width)
    if widths is None:
        widths = [_narrowest(table, i, titles=True) for i in kept]
        if width is not None and (prose := table.columns[kept[-1]].prose):
            # Prose at the end is folded; only a word that no line can hold, like a path, is wider.
            widths[-1] = min(widths[-1], max(prose, width - sum(widths[:-1]) - len(GAP) * (len(kept) - 1)))
    header = []
    if table.header:
        titles = [_fold_title(table.columns[i].title, w) for i, w in zip(kept, widths, strict=True)]
        height = max(map(len, titles), default=0)
        padded = [[""] * (height - len(lines)) + lines for lines in titles]  # titles stand on the rule
        header = ["".join(text for text, _ in line) for line in _lines(table, kept, widths, padded, titles=True)]
        header.append(rule * (sum(widths) + len(GAP) * (len(widths) - 1)))
    lines = []
    for number, row in enumerate(table.rows):
        if number in table.headings:
            lines.append([(table.headings[number], "")])
        cells = [_fold(table.columns[i], row[i], w) for i, w in zip(kept, widths, strict=True)]
        lines += _lines(table, kept, widths, cells)
    return Shown(header, lines, _notes(table, sorted(dropped), width))


def _fold(column: TextColumn, text: str, width: int) -> list[str]:
    if not column.prose:
        return [text]
    return textwrap.wrap(
        text, max(1, width), subsequent_indent=column.indent, break_long_words=False, break_on_hyphens=False
    ) or [""]


def _fold_title(text: str, width: int) -> list[str]:
    lines = textwrap.wrap(_glued(text), max(1, width), break_long_words=False, break_on_hyphens=False)
    return [line.replace(GLUE, " ") for line in lines] or [""]


def _glued(title: str) -> str:
    """A title like "x best" as one word."""
    return title.replace("x ", f"x{GLUE}") if title.startswith("x ") else title


def _longest_word(text: str) -> int:
    return max(map(len, text.split(" ")), default=0)


def _natural(table: TextTable, index: int) -> int:
    cells = max((len(row[index]) for row in table.rows), default=0)
    return max(cells, len(table.columns[index].title) if table.header else 0)


def _narrowest(table: TextTable, index: int, *, titles: bool) -> int:
    """The columns of the screen that a column needs where its prose and, if `titles`, its title are folded."""
    column = table.columns[index]
    title = (_longest_word(_glued(column.title)) if titles else len(column.title)) if table.header else 0
    if not column.prose:
        return max(title, *(len(row[index]) for row in table.rows), 0)
    longest = max((len(row[index]) for row in table.rows), default=0)
    word = max((len(column.indent) + _longest_word(row[index]) for row in table.rows), default=0)
    return max(title, word, min(longest, column.prose))


def _widths(table: TextTable, kept: list[int], width: int | None) -> list[int] | None:
    """The width of every column that is kept; None where they do not fit."""
    natural = [_natural(table, i) for i in kept]
    room = None if width is None else width - len(GAP) * (len(kept) - 1)
    if room is None or sum(natural) <= room:
        return natural
    for titles in (False, True):
        minimum = [_narrowest(table, i, titles=titles) for i in kept]
        spare = room - sum(minimum)
        if spare >= 0:
            return _shared_out(spare, minimum, natural)
    return None


def _shared_out(spare: int, minimum: list[int], natural: list[int]) -> list[int]:
    """Widths that grow from `minimum` towards `natural` in proportion to what they lack."""
    lack = [n - m for n, m in zip(natural, minimum, strict=True)]
    total = sum(lack)
    return [m + min(each, spare * each // total) for m, each in zip(minimum, lack, strict=True)]


def _is_constant(table: TextTable, index: int) -> bool:
    return len(table.rows) > 1 and len({row[index] for row in table.rows}) == 1


def _lines(
    table: TextTable, kept: list[int], widths: list[int], cells: list[list[str]], *, titles: bool = False
) -> list[list[tuple[str, str]]]:
    """The lines of one row, whose cells have one line or several. None ends in spaces."""
    lines = []
    for number in range(max(map(len, cells), default=0)):
        pieces: list[tuple[str, str]] = []
        for index, width, cell in zip(kept, widths, cells, strict=True):
            column, text = table.columns[index], cell[number] if number < len(cell) else ""
            aligned = text.rjust(width) if column.number else text.ljust(width)
            pieces.append((aligned, "" if titles else column.styles.get(text, "")))
            pieces.append((GAP, ""))
        while pieces and not pieces[-1][0].strip():
            pieces.pop()
        if pieces:
            pieces[-1] = (pieces[-1][0].rstrip(), pieces[-1][1])
        lines.append(pieces)
    return lines


def _notes(table: TextTable, dropped: list[int], width: int | None) -> list[str]:
    """Return the columns that were left out, with the value of those that are constant."""
    constant = [i for i in dropped if len({row[i] for row in table.rows}) == 1]
    others = [table.columns[i].title for i in dropped if i not in constant]
    notes = []
    if constant:
        each = ", ".join(f"{table.columns[i].title} {table.rows[0][i]}" for i in constant)
        notes.append(f"{'all rows' if len(table.rows) > 1 else 'also'}: {each}")
    if others:
        notes.append(f"left out on {width} columns: {', '.join(others)}; {HOW_TO_SEE}")
    return notes
