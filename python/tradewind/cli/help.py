"""What `--help` prints: the options of a command as tables, like all others (see `screen`)."""

from __future__ import annotations

import sys
from typing import Any

import typer

REQUIRED = "required"


class Command(typer.core.TyperCommand):
    """A command whose help is as wide as the terminal, and has no boxes."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_text(self, ctx.command_path, None))


def help_text(command: Any, path: str, commands: dict[str, str] | None) -> str:
    """The help of a command that is called `path`; of one with `commands` below it, theirs, too."""
    from tradewind.cli.screen import folded, table_lines, width_of
    from tradewind.cli.table import Column, Table

    arguments = ["COMMAND", "..."] if commands else []
    arguments += [
        _spelled(each) if each.required else f"[{_spelled(each)}]" for each in command.params if is_argument(each)
    ]
    usage = " ".join(["Usage:", path, *arguments, "[OPTIONS]"])
    sections: dict[str, list[list[str]]] = {}
    for each in command.params:
        title = getattr(each, "rich_help_panel", None) or ("Arguments" if is_argument(each) else "Options")
        sections.setdefault(title, []).append([_spelled(each), _described(each)])
    sections.setdefault("Options", []).append(["--help", "Show this and exit."])
    if commands:
        sections["Commands"] = [[name, text] for name, text in commands.items()]
    width = width_of(sys.stdout)
    blocks = [folded(f"{usage}\n\n{command.help}", width)]
    for title, rows in sections.items():
        columns = [Column(""), Column(""), Column("", prose=30)]
        table = Table(columns, [["", *row] for row in rows], header=False)
        blocks.append("\n".join([f"{title}:", *table_lines(table, width)]))
    return "\n\n".join(blocks) + "\n"


def is_argument(parameter: Any) -> bool:
    """Whether a parameter is given by its place, not by its name."""
    return not any(flag.startswith("-") for flag in parameter.opts)


def name_of(parameter: Any) -> str:
    """What stands for the value of a parameter."""
    longest = max(parameter.opts, key=len)
    return str(parameter.metavar or longest.lstrip("-").replace("-", "_").upper())


def flags_of(parameter: Any) -> str:
    """How an option is written."""
    return ", ".join([*parameter.opts, *parameter.secondary_opts])


def default_of(parameter: Any) -> str:
    """The value that a parameter has where none is given, in words where it has some; "" where there is none."""
    shown, default = getattr(parameter, "show_default", True), getattr(parameter, "default", None)
    if isinstance(shown, str):
        return shown
    if getattr(parameter, "required", False):
        return REQUIRED
    if default is None or default is False or default == "":
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def _spelled(parameter: Any) -> str:
    if is_argument(parameter):
        return name_of(parameter)
    return flags_of(parameter) if parameter.is_flag else f"{flags_of(parameter)} {name_of(parameter)}"


def _described(parameter: Any) -> str:
    text, default = parameter.help or "", default_of(parameter)
    if default == REQUIRED:
        return f"{text} [required]".strip()
    return f"{text} [default: {default}]".strip() if default else text
