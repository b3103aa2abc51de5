"""`tradewind bench`: measures the ways to do one exchange on real MPI ranks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradewind.cli import options

_ALL = "Comma list, or `all`."


@options.with_options
def command(
    pattern: options.Pattern,
    ranks: Annotated[
        int | None,
        typer.Option(
            "-n", "--ranks", help="MPI ranks to start; under mpiexec or srun those that run.", show_default=False
        ),
    ] = None,
    algorithm: Annotated[str | None, typer.Option("--algorithm", help=_ALL, show_default="the pattern's own")] = None,
    transport: Annotated[str, typer.Option("--transport", help=_ALL)] = "isend-irecv",
    packing: Annotated[str, typer.Option("--packing", help=_ALL)] = "buffer",
    repeat: Annotated[int, typer.Option("--repeat", help="Samples of each combination.")] = 20,
    warmup: Annotated[int, typer.Option("--warmup", help="Exchanges before the samples.")] = 3,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="First compare with the reference answer, bit for bit.")
    ] = True,
    timeout: Annotated[
        str | None, typer.Option("--timeout", help="Stop the ranks after this time, like 10min.", show_default="never")
    ] = None,
    *,
    asked: options.PatternOptions,
    as_json: options.Json = False,
) -> None:
    """Measure the ways to do one exchange on MPI ranks, and lay them beside a memory copy."""
    from tradewind import units
    from tradewind.cli.answer import answer
    from tradewind.cli.place import busy, place_of
    from tradewind.launch import bench

    place = place_of(ranks)
    with place.together(as_json):
        exchange = asked.exchange(pattern, place.ranks)
        with busy(f"measuring on {place.ranks} ranks", quiet=as_json or not place.answers):
            result = bench(
                exchange,
                algorithm.split(",") if algorithm else None,
                transport.split(","),
                packing.split(","),
                repeat=repeat,
                warmup=warmup,
                check=check,
                timeout_s=units.seconds(timeout) if timeout else None,
            )
    if place.answers:
        answer(result, as_json, lambda: _show(result))


def _show(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from tradewind.units import format_bytes, format_rate, format_seconds

    console = Console()
    exchange = result["exchange"]
    over = " [bold yellow](oversubscribed: more ranks than cores)[/]" if result["oversubscribed"] else ""
    table = Table(title=f"{exchange['pattern']} on {result['ranks']} ranks{over}", title_justify="left")
    for name in ("algorithm", "transport", "packing"):
        table.add_column(name)
    for name in ("median", "least", "rate", "x memory copy", "x pack and copy", "messages"):
        table.add_column(name, justify="right")
    for row in sorted(result["results"], key=lambda row: float(row["median_s"])):
        table.add_row(
            row["algorithm"],
            row["transport"],
            row["packing"],
            format_seconds(row["median_s"]),
            format_seconds(row["min_s"]),
            format_rate(row["bytes_per_s"]),
            *(f"{r:.2f}" if (r := row[key]) is not None else "-" for key in ("ratio_to_copy", "ratio_to_floor")),
            "-" if row["messages"] is None else str(row["messages"]),
        )
    console.print(table)
    console.print(
        f"{format_bytes(result['bytes'])} arrive at the rank that receives most; a memory copy moves "
        f"{format_rate(result['copy_bytes_per_s'])} a rank; pack and local copy {format_seconds(result['floor_s'])}; "
        f"{result['provenance']['mpi']}, {result['provenance']['cpu']}"
    )
    for item in result["skipped"]:
        console.print(f"[dim]skipped {item['algorithm']}: {item['reason']}[/]", highlight=False)
