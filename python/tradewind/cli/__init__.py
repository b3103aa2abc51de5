"""The command line `tradewind`: one file a command, each with one function `command`.

A command's file is imported only when it runs, so that `tradewind --help` responds at once. Imports inside functions,
and modules that are `Deferred`, leave out what a command does not need; tests/cli/test_start.py holds that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradewind.cli.command import Command

COMMANDS = {
    "study": "Run or resume studies, and write their reports.",
    "simulate": "Simulate an exchange on a machine, packet by packet.",
    "advise": "Find the best algorithm for an exchange, or machine, by simulation.",
    "verify": "Prove that a schedule delivers every byte once and cannot deadlock.",
    "show": "Print the stages of a rank, or draw the communication matrix.",
    "bench": "Measure the methods for one exchange on MPI ranks.",
    "calibrate": "Measure this machine and write its machine file.",
    "tune": "Find the fastest method for an exchange, and keep it for plans.",
    "run": "Run a dwarf (a small model) on MPI ranks, or simulate its step.",
    "record": "Record what any MPI program calls, without changing it.",
    "serve": "Write and read for a model in C or Fortran of the same job.",
    "compare": "Compare two results, machines or tuning files, in words.",
    "export": "Write results as one tidy table (CSV), or a trace in another form.",
    "report": "Write the report of a study again.",
    "list": "List what has a name: machines, algorithms, dwarfs, studies, ...",
    "config": "Print compiler and linker flags for programs in C, C++ and Fortran.",
    "doctor": "Check that everything Tradewind needs is installed and works.",
    "completion": "Print what completes commands in bash, zsh or fish.",
}


_ABOUT = "Verify, run, measure and simulate the communication of weather models."


def main() -> None:
    """Run the command that the arguments name, or show the help where there are none, and exit with its code."""
    from tradewind.cli import output

    # Pydantic would read what every installed package declares, to look for plugins that no command uses.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    sys.exit(output.run(make_app(), sys.argv[1:]))


def make_app() -> Callable[[Sequence[str]], int | None]:
    """The command line: a function of its arguments that returns the exit code, None for 0."""
    return _run


def _run(arguments: Sequence[str]) -> int | None:
    name, *rest = arguments or ["--help"]
    if name in COMMANDS:
        return command_for(name, rest)(rest)
    if name == "--version":
        from importlib.metadata import version

        print(version("tradewind"))
        return 0
    if name != "--help":
        from tradewind.base.errors import InputError
        from tradewind.base.names import unknown

        known = ["--version", "--help"] if name.startswith("-") else [*COMMANDS]  # `list` is a command's file here
        raise InputError(unknown("option" if name.startswith("-") else "command", name, known))
    from tradewind.cli.help import general_help

    print(general_help(_ABOUT, COMMANDS), end="")
    return 0


_WORDS = {
    "program": ("program", ("verify", "simulate", "bench")),
    "model": ("model", ("verify", "simulate")),
    "trace": ("trace", ("verify", "simulate", "advise", "show", "export")),
    "output": ("advise_output", ("advise",)),
}
"""Words in place of a pattern: the file of each, and the commands that take it."""


def words_of(name: str) -> list[str]:
    """Return the words that a command takes in place of a pattern."""
    return [word for word, (_, commands) in _WORDS.items() if name in commands]


def command_for(name: str, arguments: Sequence[str]) -> Command:
    """A command; of one that is about a kind, with the options of the kind that arguments name."""
    import importlib

    from tradewind.cli.command import Command

    word = arguments[0] if arguments else ""
    if word in words_of(name):
        module = importlib.import_module(f"tradewind.cli.{_WORDS[word][0]}")
        return Command(f"{name} {word}", module.COMMANDS[name], module.HELP[name])
    function = importlib.import_module(f"tradewind.cli.{name}").command
    return Command(name, function, COMMANDS[name], arguments)
