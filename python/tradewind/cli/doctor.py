"""`tradewind doctor`: lists what works on this machine, and a remedy for what does not."""

from __future__ import annotations

from typing import Any

from tradewind.cli import options


def command(as_json: options.Json = False) -> int:
    """Look at the installation: MPI (two ranks really exchange data), libtradewind, output files, cores, memory."""
    from tradewind.cli.output import print_result
    from tradewind.launch.checkup import checkup

    result = checkup()
    print_result(result, as_json, lambda: _show(result))
    if not result["ok"]:
        return 1
    return 0


def _show(result: dict[str, Any]) -> None:
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable
    from tradewind.launch.checkup import NOT_INSTALLED

    rows = []
    for check in result["checks"]:
        mark = "ok" if check["ok"] else "-" if check["value"] == NOT_INSTALLED else "no"
        rows.append([mark, check["name"], check["value"]])
        if check["advice"]:
            rows.append(["", "", f"-> {check['advice']}"])
    columns = [TextColumn("", styles={"ok": "green", "no": "bold red"}), TextColumn(""), TextColumn("", prose=30)]
    show_table(TextTable(columns, rows, header=False))
    if result["ok"]:
        show_text("everything works")
        return
    for feature in result["works"]:
        show_text(f"works: {feature}", indent="  ")
    for feature in result["does_not_work"]:
        show_text(f"does not work: {feature}", "bold red", indent="  ")
