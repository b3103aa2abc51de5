"""`tradewind bench`: measures the ways to do one exchange on real MPI ranks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradewind.cli import options

_ALL = "Comma list, or `all`."


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
    grid: options.Grid = None,
    split: options.Split = None,
    slab: options.Slab = "all",
    width: options.Width = 3,
    periodic: options.Periodic = "",
    count: options.Count = 3,
    times: options.Times = 1,
    fields: options.Fields = 1,
    dtype: options.Dtype = "f8",
    as_json: options.Json = False,
) -> None:
    """Measure the ways to do one exchange on MPI ranks, and lay them beside a memory copy."""
    from tradewind import units
    from tradewind.launch import bench

    answers, ranks = _place(ranks)
    exchange = options.make_exchange(
        pattern,
        ranks,
        grid=grid,
        split=split,
        slab=slab,
        width=width,
        periodic=periodic,
        count=count,
        times=times,
        fields=fields,
        dtype=dtype,
    )
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
    if answers:
        from tradewind.cli.answer import answer

        answer(result, as_json, lambda: _show(result))


def _place(ranks: int | None) -> tuple[bool, int]:
    """Whether this process is the one that answers, and the number of ranks."""
    from tradewind.errors import InputError
    from tradewind.launch import is_rank

    if not is_rank():
        if ranks is None:
            raise InputError("how many ranks? Say -n RANKS, or start this command with mpiexec or srun")
        return True, ranks
    from tradewind.launch.worker import abort_on_error
    from tradewind.mpi import MPI

    abort_on_error()
    running = MPI.COMM_WORLD.Get_size()
    if ranks not in (None, running):
        raise InputError(f"-n {ranks}, but {running} ranks are running: leave it out under mpiexec or srun")
    return MPI.COMM_WORLD.Get_rank() == 0, running


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
            str(row["messages"]),
        )
    console.print(table)
    console.print(
        f"{format_bytes(result['bytes'])} arrive at the rank that receives most; a memory copy moves "
        f"{format_rate(result['copy_bytes_per_s'])} a rank; pack and local copy {format_seconds(result['floor_s'])}; "
        f"{result['provenance']['mpi']}, {result['provenance']['cpu']}"
    )
    for item in result["skipped"]:
        console.print(f"[dim]skipped {item['algorithm']}: {item['reason']}[/]", highlight=False)
