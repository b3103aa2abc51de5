"""The command line `tradewind`: one file a command, each with one function `command`.

A command's file is imported only when it runs, so that `tradewind --help` responds at once.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

COMMANDS = {
    "study": "Run or resume a study or a folder of studies, and write the reports.",
    "simulate": "Simulate an exchange on a machine, packet by packet.",
    "advise": "Find the best algorithm and radix for an exchange on a machine, by simulation.",
    "verify": "Prove that a schedule delivers every byte once and cannot deadlock.",
    "show": "Print the stages of a rank, or draw the communication matrix.",
    "bench": "Measure the methods for one exchange on MPI ranks.",
    "calibrate": "Measure this machine and write its machine file.",
    "tune": "Find the fastest method for an exchange on MPI ranks and keep it for plans.",
    "run": "Run a dwarf (a small model) on MPI ranks, or simulate its time step.",
    "serve": "Write and read for a model in C or Fortran that runs in the same job.",
    "report": "Write the report of a study again.",
    "list": "List machines, topologies, routings, patterns, algorithms, transports, dwarfs or studies.",
    "config": "Print compiler and linker flags for programs in C, C++ and Fortran.",
    "doctor": "Check that everything Tradewind needs is installed and works.",
}


def main() -> None:
    """Run the command that the arguments name, or show the help where there are none, and exit with its code."""
    from tradewind.cli import output

    sys.exit(output.run(make_app(), sys.argv[1:] or ["--help"]))


def make_app() -> typer.Typer:
    """The command line as a typer application."""
    import typer

    app = typer.Typer(
        cls=_lazy_group(),
        name="tradewind",
        add_completion=False,
        help="The communication of weather and climate models: verified, run, measured and simulated.",
        pretty_exceptions_enable=False,
    )

    @app.callback(invoke_without_command=True)
    def options(
        version: bool = typer.Option(False, "--version", help="Print the version."),
    ) -> None:
        if version:
            from importlib.metadata import version as installed

            print(installed("tradewind"))
            raise typer.Exit

    return app


def _lazy_group() -> type[typer.core.TyperGroup]:
    import typer

    class Commands(typer.core.TyperGroup):
        """Knows the names and summaries of all commands, and imports one when it is asked for."""

        def list_commands(self, ctx: Any) -> list[str]:
            return list(COMMANDS)

        def format_help(self, ctx: Any, formatter: Any) -> None:
            from tradewind.cli.help import help_text

            formatter.write(help_text(self, ctx.command_path, COMMANDS))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            if args[0] not in COMMANDS:
                if not args[0].startswith("-"):
                    from tradewind.base.errors import InputError
                    from tradewind.base.names import unknown

                    raise InputError(unknown("command", args[0], COMMANDS))
                return super().resolve_command(ctx, args)
            return args[0], command_for(args[0], args[1:]), args[1:]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return command_for(cmd_name, []) if cmd_name in COMMANDS else None

    return Commands


def command_for(name: str, arguments: Sequence[str]) -> Any:
    """A command as typer runs it; of one that is about a kind, with the options of the kind that arguments name."""
    import typer

    from tradewind.cli.help import Command, KindCommand

    if name in ("verify", "simulate", "bench") and arguments[:1] == ["program"]:
        return _of_programs(name)
    if name == "advise" and arguments[:1] == ["output"]:
        return _of_output(name)
    function = importlib.import_module(f"tradewind.cli.{name}").command
    one = typer.Typer(add_completion=False)
    family = getattr(function, "family", None)
    if family is None:
        one.command(name, cls=Command, help=COMMANDS[name])(function)
        return typer.main.get_command(one)
    kind = family.named(arguments)
    one.command(name, cls=KindCommand, help=COMMANDS[name])(function.general() if kind is None else function.of(kind))
    command = typer.main.get_command(one)
    command.family, command.kind = family, kind  # type: ignore[attr-defined]
    return command


def _of_output(name: str) -> Any:
    """The command about the output of a model, in place of a pattern."""
    import typer

    from tradewind.cli import advise_output
    from tradewind.cli.help import Command

    one = typer.Typer(add_completion=False)
    one.command(name, cls=Command, help=advise_output.HELP)(advise_output.command)
    return typer.main.get_command(one)


def _of_programs(name: str) -> Any:
    """The command of this name about a program, in place of a pattern."""
    import typer

    from tradewind.cli import program
    from tradewind.cli.help import Command

    one = typer.Typer(add_completion=False)
    one.command(name, cls=Command, help=program.HELP[name])(program.COMMANDS[name])
    return typer.main.get_command(one)
