"""Print `--help`: the options of a command as tables, like all others (see `screen`)."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated

from tradewind.cli.parameters import HELP, Option, Parameter

REQUIRED = "required"


def general_help(about: str, commands: Mapping[str, str]) -> str:
    """The help of `tradewind` itself."""
    version = Annotated[bool, Option("--version", help="Print the version.")]
    parameter = inspect.Parameter("version", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=version)
    return help_text("tradewind", about, [Parameter(parameter)], commands=commands)


def help_text(
    path: str,
    about: str,
    parameters: Sequence[Parameter],
    *,
    commands: Mapping[str, str] | None = None,
    kinds: tuple[str, Mapping[str, str]] | None = None,
    without: str = "",
) -> str:
    """The help of a command that is called `path`; of one with `commands` below it, theirs, too.

    `kinds`: a heading, and what its first argument may be. `without`: the name of an argument that the path has.
    """
    from tradewind.cli.screen import folded, table_lines, width_of
    from tradewind.cli.table import TextColumn, TextTable

    arguments = ["COMMAND", "..."] if commands else []
    shown = [each for each in parameters if each.name != without and not each.declared.hidden]
    named = [each for each in shown if each.is_argument]
    arguments += [each.spelling if each.required else f"[{each.spelling}]" for each in named]
    usage = " ".join(["Usage:", path, *arguments, "[OPTIONS]"])
    sections: dict[str, list[list[str]]] = {}
    for each in shown:
        title = each.declared.panel or ("Arguments" if each.is_argument else "Options")
        sections.setdefault(title, []).append([_spelled(each), _described(each)])
    sections.setdefault("Options", []).append([HELP, "Show this and exit."])
    if commands:
        sections["Commands"] = [[name, text] for name, text in commands.items()]
    if kinds:
        sections[kinds[0]] = [[name, text] for name, text in kinds[1].items()]
    width = width_of(sys.stdout)
    blocks = [folded(f"{usage}\n\n{about}", width)]
    for title, rows in sections.items():
        columns = [TextColumn(""), TextColumn(""), TextColumn("", prose=30)]
        table = TextTable(columns, [["", *row] for row in rows], header=False)
        blocks.append("\n".join([f"{title}:", *table_lines(table, width)]))
    return "\n\n".join(blocks) + "\n"


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
