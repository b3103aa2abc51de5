"""Print `--help`: what a command is for, an example, and its options as tables, like all others (see `screen`).

On a terminal the help fits its lines: the options that matter most are described, the others named. Elsewhere, as in
``tradewind simulate --help | less``, all are described.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from tradewind.cli.parameters import HELP, Option, Parameter

REQUIRED = "required"
_MAIN, _KIND, _OWN, _REST = range(4)
"""Ranks of rows: needed or asked for; of a kind; of the command; of a panel."""


@dataclass(frozen=True)
class _Row:
    """A line of a help: an option, a command or a kind."""

    section: str
    spelled: str
    name: str
    """Its shortest form, where there is no room to describe it."""
    text: str
    rank: int


def general_help(about: str, commands: Mapping[str, str]) -> str:
    """The help of `tradewind` itself."""
    version = Annotated[bool, Option("--version", help="Print the version.")]
    parameter = inspect.Parameter("version", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=version)
    rows = [_Row("Commands", name, name, text, _MAIN) for name, text in commands.items()]
    rows += _rows([Parameter(parameter)], own_panel="")
    return _fitted("", "Usage: tradewind COMMAND ... [OPTIONS]", about, rows)


def help_text(
    path: str,
    about: str,
    parameters: Sequence[Parameter],
    *,
    example: str = "",
    kinds: tuple[str, Mapping[str, str]] | None = None,
    kind_panel: str = "",
    without: str = "",
    note: str = "",
) -> str:
    """The help of a command that is called `path`.

    `kinds`: a heading, and what its first argument may be. `kind_panel`: the heading of the options of a kind.
    `without`: the name of an argument that the path has, or that the kinds explain. `note`: what stands at the end.
    """
    shown = [each for each in parameters if each.name != without and not each.declared.hidden]
    named = [each for each in parameters if each.is_argument and (kinds or each.name != without)]
    arguments = [each.spelling if each.required else f"[{each.spelling}]" for each in named]
    usage = " ".join(["Usage:", path, *arguments, "[OPTIONS]"])
    rows = _rows(shown, kind_panel)
    if kinds:
        rows += [_Row(kinds[0], name, name, text, _MAIN) for name, text in kinds[1].items()]
    return _fitted(path, usage, about, rows, example, note)


def _rows(parameters: Sequence[Parameter], own_panel: str) -> list[_Row]:
    rows = []
    for each in parameters:
        panel = each.declared.panel
        rank = _KIND if panel and panel == own_panel else _REST if panel else _OWN
        section = panel or ("Arguments" if each.is_argument else "Options")
        name = max(each.flags or [each.spelling], key=len)
        rows.append(_Row(section, _spelled(each), name, _described(each), _MAIN if each.required else rank))
    last = max((number for number, row in enumerate(rows) if row.section == "Options"), default=-1)
    rows.insert(last + 1, _Row("Options", HELP, HELP, "Show this and exit.", _REST))
    return rows


def _fitted(path: str, usage: str, about: str, rows: Sequence[_Row], example: str = "", note: str = "") -> str:
    """The help with as many rows described as the screen has lines for, those that matter most first.

    `path`: the command whose help describes all where there is no terminal; "": that is left out.
    """
    from tradewind.cli.screen import USUAL, folded, height_of, width_of

    width, height = width_of(sys.stdout), height_of(sys.stdout)
    if height is not None and width is None:
        width = USUAL
    beginning = [usage, "", about, *(["", f"Example: {example}"] if example else [])]
    head = folded("\n".join(beginning), width, indent="  ")
    order = sorted(range(len(rows)), key=lambda number: rows[number].rank)

    def text(count: int) -> str:
        described = set(order[:count])
        all_of = [f"`{path} --help | less` describes all."] if path and count < len(rows) else []
        ends = [folded(line, width) for line in (*([note] if note else []), *all_of)]
        return "\n\n".join([head, *_sections(rows, described, width), *(["\n".join(ends)] if ends else [])]) + "\n"

    least, most = 0, len(rows)
    if height is None or text(most).count("\n") < height:
        return text(most)
    while least < most:  # the largest count that fits
        middle = (least + most + 1) // 2
        least, most = (middle, most) if text(middle).count("\n") < height else (least, middle - 1)
    return text(least)


def _sections(rows: Sequence[_Row], described: set[int], width: int | None) -> list[str]:
    from tradewind.cli.screen import folded, table_lines
    from tradewind.cli.table import TextColumn, TextTable

    blocks = []
    for title in dict.fromkeys(row.section for row in rows):
        own = [(number in described, row) for number, row in enumerate(rows) if row.section == title]
        shown = [["", row.spelled, row.text] for is_described, row in own if is_described]
        others = ", ".join(row.name for is_described, row in own if not is_described)
        if not shown:
            blocks.append(folded(f"{title}: {others}", width, indent="  "))
            continue
        columns = [TextColumn(""), TextColumn(""), TextColumn("", prose=30)]
        lines = table_lines(TextTable(columns, shown, header=False), width)
        also = [folded(f"  and {others}", width, indent="  ")] if others else []
        blocks.append("\n".join([f"{title}:", *lines, *also]))
    return blocks


def default_of(parameter: Parameter) -> str:
    """The value that a parameter has where none is given, in words where it has some; "" where there is none."""
    shown, default = parameter.declared.show_default, parameter.default
    if isinstance(shown, str):
        return shown
    if parameter.required:
        return REQUIRED
    if default is None or default is False or default == "":
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def _spelled(parameter: Parameter) -> str:
    takes_value = not parameter.is_argument and not parameter.is_flag
    return f"{parameter.spelling} {parameter.placeholder}" if takes_value else parameter.spelling


def _described(parameter: Parameter) -> str:
    text, default = parameter.declared.help, default_of(parameter)
    if default == REQUIRED:
        return f"{text} [required]".strip()
    return f"{text} [default: {default}]".strip() if default else text
