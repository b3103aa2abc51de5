"""`tradewind doctor`: says what works on this machine, and what to do about what does not."""

from __future__ import annotations

from typing import Any

import typer

from tradewind.cli import options


def command(as_json: options.Json = False) -> None:
    """Look at the installation: MPI (two ranks really exchange data), libtradewind, cores, memory."""
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
    for _ in range(3):
        table.add_column(overflow="fold")
    for check in result["checks"]:
        mark = "[green]ok[/]" if check["ok"] else "[bold red]no[/]"
        table.add_row(mark, check["name"], escape(check["value"]))
        if check["advice"]:
            table.add_row("", "", f"[yellow]{escape(check['advice'])}[/]")
    console.print(table)
    if result["ok"]:
        console.print("everything works")
        return
    for feature in result["works"]:
        console.print(f"works: {feature}")
    for feature in result["does_not_work"]:
        console.print(f"[bold red]does not work:[/] {feature}")
