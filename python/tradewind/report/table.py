"""Tables of a page: captions, columns with units, and cells that show a text and stand for a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tradewind.base.units import format_bytes, format_count, format_joules, format_rate, format_seconds


@dataclass(frozen=True)
class PageColumn:
    """A column, whose title is its name in every row."""

    title: str
    unit: str = ""
    """Unit of the values, for the header of the CSV."""
    hint: str = ""
    """A longer explanation, shown as a tooltip of the title."""
    is_number: bool = False

    @property
    def header(self) -> str:
        """The title and the unit, as CSV has it."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True)
class Cell:
    """Text for a reader, and the value for the CSV and for sorting."""

    text: str
    value: float | str | None = None
    """Number in the column's unit; None: the text is the value."""
    order: float | None = None
    """Sorting key, if it is not the value."""
    note: str = ""
    """A second line, in small type."""
    tags: tuple[tuple[str, str], ...] = ()
    """(look, text): look is "good", "bad" or "none"."""
    lines: tuple[str, ...] = ()
    """More lines below the text."""
    hint: str = ""
    """Shown as a tooltip."""
    link: str = ""
    """The address that the text leads to."""
    line_groups: tuple[tuple[int, ...], ...] = ()
    """The groups of cases that each of the lines is about."""

    @property
    def is_empty(self) -> bool:
        """Whether the cell shows nothing."""
        return not (self.text or self.tags or self.lines)


Row = dict[str, Cell]


@dataclass(frozen=True)
class PageTable:
    """A table with its caption; `name`: its id on the page."""

    name: str
    caption: str
    columns: Sequence[PageColumn]
    rows: Sequence[Row]
    cases: Sequence[int] = ()
    """The number of each row's case; empty where rows are not cases."""
    groups: Sequence[Sequence[int]] = ()
    """The groups of cases that each row is about (see `tradewind.report.facets`); empty where that is not known."""


def table_of_cases(
    name: str, caption: str, columns: Sequence[PageColumn], rows: Sequence[tuple[int, Row]]
) -> PageTable:
    """Return a table whose rows are cases: (number of the case, row). Columns without any value are left out."""
    cases, found = [number for number, _ in rows], [row for _, row in rows]
    shown = [column for column in columns if any(not row[column.title].is_empty for row in found)]
    return PageTable(name, f"{caption}: {len(found)} cases", shown, found, cases)


def number(title: str, unit: str = "", hint: str = "") -> PageColumn:
    """A column of numbers."""
    return PageColumn(title, unit, hint, is_number=True)


def text(value: object) -> Cell:
    """A cell that shows its value; nothing for None, and for 0 of what does not apply."""
    return Cell(str(value) if value else "")


def _cell(show: Callable[[float], str], value: float | None) -> Cell:
    return Cell("") if value is None else Cell(show(value), float(value))


def seconds(value: float | None) -> Cell:
    """A time. Its column has the unit "s"."""
    return _cell(format_seconds, value)


def joules(value: float | None) -> Cell:
    """An energy. Its column has the unit "J"."""
    return _cell(format_joules, value)


def byte_count(value: float | None) -> Cell:
    """A size. Its column has the unit "B"."""
    return _cell(format_bytes, value)


def rate(value: float | None) -> Cell:
    """A bandwidth. Its column has the unit "B/s"."""
    return _cell(format_rate, value)


def count(value: float | None) -> Cell:
    """A large number of things."""
    return _cell(format_count, value)


def ratio(value: float | None, digits: int = 3) -> Cell:
    """A number without a unit, with `digits` significant digits."""
    return _cell(lambda shown: f"{shown:.{digits}g}", value)


def whole(value: int | None) -> Cell:
    """An integer in full."""
    return _cell(lambda shown: f"{shown:.0f}", value)
