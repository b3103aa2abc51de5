"""`tradewind show trace FILE`: the patterns of a recorded program, and a program file that has them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from tradewind.cli import options
from tradewind.cli.parameters import Argument, Option

HELP = "Find the patterns of a recorded program, and write them as a program file."
_SHOWN = 12
"""Kinds of messages without a pattern that the table has."""


def show(
    trace: Annotated[str, Argument(metavar="trace", help="The word `trace`.", show_default=False)],
    file: Annotated[Path, Argument(metavar="FILE", help="A trace of `tradewind record`.", show_default=False)],
    output: Annotated[
        Path | None,
        Option("-o", "--output", help="Write the time step as a program file: FILE.toml.", show_default="none"),
    ] = None,
    grid: Annotated[
        str | None,
        Option("--grid", help="Points NXxNYxNZ of the program, x where ranks follow each other.", show_default="found"),
    ] = None,
    *,
    as_json: options.Json = False,
) -> None:
    """Print the patterns of a trace. Raises InputError."""
    from tradewind.base.errors import InputError
    from tradewind.base.extents import parse_extents
    from tradewind.cli.output import print_result
    from tradewind.cli.trace_file import opened
    from tradewind.recognition.recognise import recognise, report
    from tradewind.recognition.text import save_program

    points = None if grid is None else parse_extents(grid, 3, "grid")
    if points is not None and min(points) < 1:
        raise InputError(f"grid {grid}: 1 or more points along each direction are allowed")
    found = recognise(opened(file), None if points is None else (points[0], points[1], points[2]))
    if output is not None:
        save_program(found, output)
    result = report(found, file.name) | ({} if output is None else {"program": str(output)})
    print_result(result, as_json, lambda: _show(result))


def _show(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes, format_seconds
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    columns = [TextColumn("exchange"), TextColumn("what")]
    columns += [TextColumn(title, number=True) for title in ("per step", "messages", "bytes", "share")]
    rows = [
        [
            each["name"],
            each["about"],
            f"{each['per_step']:g}",
            f"{each['messages']:,}",
            format_bytes(each["bytes"]),
            f"{100 * each['bytes'] / result['bytes']:.1f} %" if result["bytes"] else "-",
        ]
        for each in result["exchanges"]
    ]
    title = f"{result['trace']} on {result['ranks']} ranks: {result['steps']} steps"
    show_table(TextTable(columns, rows, title))
    for each in result["exchanges"]:
        for note in each["notes"]:
            show_text(f"{each['name']}: {note}", "yellow")
    explained = result["explained"]
    show_text(
        f"{100 * explained['share_of_messages']:.1f} % of {result['messages']:,} messages and "
        f"{100 * explained['share_of_bytes']:.1f} % of {format_bytes(result['bytes'])} are in these steps; "
        f"a rank computes {format_seconds(result['computing_s'])} per step"
    )
    left = result["not_explained"]
    for each in left[:_SHOWN]:
        show_text(
            f"not in them: {each['messages']:,} {each['call']} of {format_bytes(each['bytes_each'])}: {each['why']}"
        )
    if more := left[_SHOWN:]:
        show_text(f"... and {sum(each['messages'] for each in more):,} more of {len(more)} other kinds")
    if "program" in result:
        print(f"program: {result['program']}")
