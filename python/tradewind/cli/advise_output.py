"""`tradewind advise output`: in place, threads or servers, and how many, from rates that are measured here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from tradewind.cli import options
from tradewind.cli.parameters import ONE_OR_MORE, Argument, Option

HELP = {"advise": "Find out whether output is best written in place, on threads or on servers, and by how many."}


def command(
    what: Annotated[str, Argument(help="output", show_default=False)],
    plan: Annotated[Path, Option("--plan", help="Plan file: PLAN.toml.", show_default=False)],
    ranks: Annotated[
        int,
        Option("-n", "--ranks", help="Cores of the run, servers included.", show_default=False, allowed=ONE_OR_MORE),
    ],
    interval: Annotated[
        str, Option("--interval", help="Time that the model takes between outputs, like 3s.", show_default=False)
    ],
    grid: Annotated[str, Option("--grid", help="Grid: O<N>, or NXxNY.")] = "O320",
    levels: Annotated[int, Option("--levels", help="Levels of each field.", allowed=(1, 10_000))] = 1,
    fields: Annotated[str, Option("--fields", help="Comma list of the fields that are written.")] = "t",
    *,
    as_json: options.Json = False,
) -> None:
    """Measure encoding, disk and memory here, and print what will bound the output."""
    from tradewind.base.units import seconds
    from tradewind.cli.output import print_result
    from tradewind.fieldserver.plan.field import OutputField
    from tradewind.fieldserver.plan.geometry import Gaussian, Regular
    from tradewind.fieldserver.plan.plan_file import load_plan
    from tradewind.fieldserver.server.advice import advise
    from tradewind.layout.mesh_rows import mesh_extents

    del what
    n, ny = mesh_extents(grid)
    geometry = Regular.box(n, ny) if ny else Gaussian.octahedral(n)
    numbers = tuple(float(level) for level in range(1, levels + 1))
    made = [OutputField(name, geometry, numbers) for name in dict.fromkeys(fields.split(","))]
    result = advise(load_plan(plan), made, ranks, seconds(interval))
    print_result(result, as_json, lambda: _show(result, ranks))


def _show(result: dict[str, Any], ranks: int) -> None:
    from tradewind.base.units import format_bytes, format_rate, format_seconds
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    columns = [
        TextColumn("way"),
        TextColumn("interval", number=True),
        TextColumn("lost", number=True),
        TextColumn("bound by"),
    ]
    rows = [
        [way["name"], format_seconds(way["interval_s"]), format_seconds(way["lost_s"]), way["bottleneck"]]
        for way in result["results"]
    ]
    load, rates = result["load"], result["rates"]
    show_table(TextTable(columns, rows, f"an output interval on {ranks} cores"))
    print()
    show_text(f"best: {result['best']}, bound by the {result['bottleneck']}")
    show_text(
        f"an output of {format_bytes(rates['raw_bytes'])} takes {format_seconds(load['encode_s'])} to encode on a core "
        f"and {format_seconds(load['disk_s'])} at {format_rate(rates['disk_bytes_per_s'])} to disk"
    )


COMMANDS: dict[str, Callable[..., None]] = {"advise": command}
