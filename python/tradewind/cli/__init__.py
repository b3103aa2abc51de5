"""The command line `tradewind`: one file a command, each with one function `command`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command that the arguments name and exits with its code."""
    import typer

    from tradewind.cli import answer, show, verify

    app = typer.Typer(no_args_is_help=True, add_completion=False, help="Communication of weather and climate models.")
    app.command("verify")(verify.command)
    app.command("show")(show.command)
    sys.exit(answer.run(app, sys.argv[1:]))
