"""Print for a reader: as wide as the terminal, and in full where there is no terminal.

Lines are folded between words on a terminal, or where the environment variable COLUMNS has its width. Elsewhere a
line is as long as it is, and none ends in spaces: what reads it may be `grep`, or a file.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import TextIO

from tradewind.cli.table import GLUE, TextTable, layout

USUAL = 80


def width_of(stream: TextIO) -> int | None:
    """The columns that a line may have; None: as many as it needs."""
    text = os.environ.get("COLUMNS", "")
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    if not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    except OSError:
        return USUAL


def height_of(stream: TextIO) -> int | None:
    """The lines that fit on the screen; None without a screen."""
    text = os.environ.get("LINES", "")
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    try:
        return os.get_terminal_size(stream.fileno()).lines or None if stream.isatty() else None
    except OSError:
        return None


def folded(text: str, width: int | None, indent: str = "") -> str:
    """A text whose lines are folded between words; what goes on stands below `indent`.

    No word is cut, and no bracket that is shorter than half a line.
    """
    if width is None:
        return text
    bracket = re.compile(rf"\[[^\]]{{,{width // 2}}}\]")
    text = bracket.sub(lambda found: found[0].replace(" ", GLUE), text)
    lines = []
    for line in text.splitlines():
        spaces = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line, width, subsequent_indent=spaces + indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(lines).replace(GLUE, " ")


def show_text(text: str, style: str = "", indent: str = "") -> None:
    """Print text for a reader."""
    _print([(folded(text, width_of(sys.stdout), indent), style)])


def show_table(table: TextTable) -> None:
    """Print a table, and below it what there was no room for."""
    shown = layout(table, width_of(sys.stdout), "─" if (sys.stdout.encoding or "").lower().startswith("utf") else "-")
    if table.title:
        show_text(table.title)
        if table.warning:
            show_text(table.warning, "bold yellow")
        print()
    for line in shown.header:
        _print([(line, "bold")])
    for pieces in shown.lines:
        _print(pieces)
    for note in shown.notes:
        show_text(note, "dim")


def table_lines(table: TextTable, width: int | None) -> list[str]:
    """The lines of a table without styles."""
    shown = layout(table, width)
    return [*shown.header, *("".join(text for text, _ in pieces) for pieces in shown.lines), *shown.notes]


def _print(pieces: list[tuple[str, str]]) -> None:
    """Print a line. Styles are for terminals that want them."""
    if not any(style for _, style in pieces) or not sys.stdout.isatty():
        print("".join(text for text, _ in pieces))
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text.assemble(*pieces))
