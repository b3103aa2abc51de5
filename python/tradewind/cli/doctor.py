"""`tradewind doctor`: says what works on this machine, and what to do about what does not."""

from __future__ import annotations

from typing import Any

import typer

from tradewind.cli import options


def command(as_json: options.Json = False) -> None:
    """Look at the installation: compiler, MPI (two ranks really exchange data), cores, memory."""
    from tradewind.cli.answer import answer
    from tradewind.launch.checkup import checkup

    result = checkup()
    answer(result, as_json, lambda: _show(result))
    if not result["ok"]:
        raise typer.Exit(1)


def _show(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    table = Table(show_header=False, box=None)
    for check in result["checks"]:
        mark = "[green]ok[/]" if check["ok"] else "[bold red]broken[/]"
        table.add_row(mark, check["name"], escape(check["value"]))
        if check["advice"]:
            table.add_row("", "", f"[yellow]{escape(check['advice'])}[/]")
    console.print(table)
    console.print("everything works" if result["ok"] else "[bold red]something is broken: see above[/]")
