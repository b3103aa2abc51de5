"""Print `--help`: the options of a command as tables, like all others (see `screen`)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from tradewind.cli.kinds import Family

REQUIRED = "required"


class Command(typer.core.TyperCommand):
    """A command whose help is as wide as the terminal, and has no boxes."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_text(self, ctx.command_path, None))


class KindCommand(Command):
    """A command about a kind, see `tradewind.cli.kinds`: without one, its help says which there are."""

    family: Family
    kind: str | None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if self.kind is not None:
            path = f"{ctx.command_path} {self.kind}"
            formatter.write(help_text(self, path, None, without=self.family.what))
            return
        text = help_text(self, ctx.command_path, None, kinds=(f"{self.family.what.capitalize()}s", self.family.kinds()))
        plural = f"`{ctx.command_path} {self.family.what.upper()} --help` shows the options of one."
        formatter.write(f"{text}\n{plural}\n")

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        if self.kind is None and "--help" not in args:
            from tradewind.base.errors import InputError

            raise InputError(f"which {self.family.what}? {', '.join(self.family.kinds())} are known")
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if type(error).__name__ != "NoSuchOption" or self.kind is None:
                raise
            from tradewind.base.errors import InputError

            raise InputError(self._strange(str(error.option_name))) from None  # type: ignore[attr-defined]

    def _strange(self, flag: str) -> str:
        """Return the error for an option that this kind does not have."""
        from tradewind.base.names import unknown

        assert self.kind is not None
        others = [
            kind for kind in self.family.kinds() if any(each.flag == flag for each in self.family.own_options(kind))
        ]
        if others:
            return f"{flag} says nothing about {self.kind}: leave it out ({', '.join(others)} take it)"
        return unknown("option", flag, [name for each in self.params for name in each.opts if name.startswith("--")])


def help_text(
    command: Any,
    path: str,
    commands: dict[str, str] | None,
    *,
    kinds: tuple[str, Mapping[str, str]] | None = None,
    without: str = "",
) -> str:
    """The help of a command that is called `path`; of one with `commands` below it, theirs, too.

    `kinds`: a heading, and what its first argument may be. `without`: the name of an argument that the path has.
    """
    from tradewind.cli.screen import folded, table_lines, width_of
    from tradewind.cli.table import Column, Table

    arguments = ["COMMAND", "..."] if commands else []
    shown = [each for each in command.params if each.name != without and not getattr(each, "hidden", False)]
    named = [each for each in shown if is_argument(each)]
    arguments += [_spelled(each) if each.required else f"[{_spelled(each)}]" for each in named]
    usage = " ".join(["Usage:", path, *arguments, "[OPTIONS]"])
    sections: dict[str, list[list[str]]] = {}
    for each in shown:
        title = getattr(each, "rich_help_panel", None) or ("Arguments" if is_argument(each) else "Options")
        sections.setdefault(title, []).append([_spelled(each), _described(each)])
    sections.setdefault("Options", []).append(["--help", "Show this and exit."])
    if commands:
        sections["Commands"] = [[name, text] for name, text in commands.items()]
    if kinds:
        sections[kinds[0]] = [[name, text] for name, text in kinds[1].items()]
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
    """Return the placeholder for the value of a parameter."""
    longest = max(parameter.opts, key=len)
    return str(parameter.metavar or longest.lstrip("-").replace("-", "_").upper())


def flags_of(parameter: Any) -> str:
    """Return the spelling of an option."""
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
