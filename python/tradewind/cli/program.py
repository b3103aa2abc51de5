"""`tradewind verify program FILE`, `simulate program FILE` and `bench program FILE`: a whole time step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from tradewind.cli import options
from tradewind.cli import ranks as mpi_ranks
from tradewind.cli import simulation_options as simulating
from tradewind.cli.parameters import REPETITIONS, WARMUP, Argument, Option

WORD = "program"
"""Stands in place of a pattern."""
HELP = {
    "verify": "Prove that every exchange of a program is right, and that the program cannot deadlock.",
    "simulate": "Simulate a program on a machine, packet by packet.",
    "bench": "Run a program with real arrays on MPI ranks, check it and time it.",
}

_Word = Annotated[str, Argument(metavar="program", help="The word `program`.", show_default=False)]
_File = Annotated[Path, Argument(metavar="FILE", help="A program file.", show_default=False)]
_Ranks = Annotated[
    int | None, Option("-n", "--ranks", help="Number of ranks to which it is scaled.", show_default="those of the file")
]
_Scale = Annotated[
    str, Option("--scale", help="On other ranks: strong, the same grid, or weak, a grid that grows with the ranks.")
]


def verify(
    program: _Word,
    file: _File,
    transport: Annotated[
        str | None,
        Option("--transport", help="Posting orders to prove, beside the exchanges' own.", show_default="all"),
    ] = None,
    ranks: _Ranks = None,
    scale: _Scale = "strong",
    *,
    as_json: options.Json = False,
) -> None:
    """Prove a program file, and print the result. Raises InputError, VerificationError."""
    from tradewind.cli.output import print_result
    from tradewind.verification import verify_program
    from tradewind.workload.program_scaling import load_scaled

    names = None if transport in (None, "all") else str(transport).split(",")
    result = verify_program(load_scaled(file, ranks, scale), names)
    print_result(result, as_json, lambda: show_verified(result))


@options.of_simulations(without=("model", "transport", "packing"))
def simulate(
    program: _Word,
    file: _File,
    machine: simulating.Machine,
    ranks: _Ranks = None,
    scale: _Scale = "strong",
    *,
    simulated: options.Simulated,
    as_json: options.Json = False,
) -> None:
    """Simulate a program file on a machine, and print the result. Raises InputError."""
    from tradewind.cli.output import print_result
    from tradewind.cli.simulation_run import simulate_here
    from tradewind.simulation import prepare
    from tradewind.workload.program_scaling import load_scaled

    simulation = prepare(load_scaled(file, ranks, scale), machine, **simulated.chosen())
    result = simulate_here(simulation, simulated, as_json)
    print_result(result, as_json, lambda: _show_simulated(result))


def bench(
    program: _Word,
    file: _File,
    ranks: mpi_ranks.Ranks = None,
    repeat: Annotated[int, Option("--repeat", help="Number of samples.", allowed=REPETITIONS)] = 20,
    warmup: Annotated[int, Option("--warmup", help="Passes before the first sample.", allowed=WARMUP)] = 3,
    check: mpi_ranks.Check = True,
    watchdog: mpi_ranks.Watchdog = 0.0,
    timeout: mpi_ranks.Timeout = None,
    *,
    as_json: options.Json = False,
) -> None:
    """Run a program file on MPI ranks, and print its times. Raises InputError, and PlanError where a rank fails."""
    from tradewind.cli.output import print_result
    from tradewind.launch.program import bench_program

    place = mpi_ranks.place_of(ranks)
    with place.collective(as_json), mpi_ranks.busy(f"running {file}", quiet=as_json or not place.prints):
        result = bench_program(
            file,
            place.ranks,
            repeat=repeat,
            warmup=warmup,
            check=check,
            watchdog_s=watchdog,
            timeout_s=mpi_ranks.seconds(timeout),
        )
    if place.prints:
        print_result(result, as_json, lambda: _show_measured(result))


def show_verified(result: dict[str, Any]) -> None:
    """Print what was proved of a program."""
    from tradewind.base import units
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    columns = [TextColumn("exchange"), TextColumn("transport", drop=1)]
    columns += [TextColumn(title, number=True) for title in ("times", "stages", "messages", "bytes")]
    rows = [
        [
            row["name"],
            row["transport"],
            *(f"{row[key]:,}" for key in ("times", "stages", "messages")),
            units.format_bytes(row["bytes"]),
        ]
        for row in result["exchanges"]
    ]
    groups = ", ".join(f"{group['ranks']} in {group['name']}" for group in result["groups"])
    show_table(TextTable(columns, rows, f"{result['program']} on {result['ranks']} ranks ({groups})"))
    show_text("verified: every expected point arrives exactly once, and no open exchange writes what another touches")
    orders = ", ".join(result["orders"])
    show_text(f"verified: free of deadlock across exchanges, even where every send is synchronous: {orders}")
    show_text(
        f"{result['stages']:,} stages, {result['messages']:,} messages, in {units.format_seconds(result['wall_s'])}"
    )


def _show_simulated(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes, format_seconds
    from tradewind.cli.energy import say_energy
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.simulation_run import say_disturbed, say_orders, say_skipped
    from tradewind.cli.table import TextColumn, TextTable

    ends = result.get("step_end_s") or result["step_time_s"]
    rows = [[name, format_seconds(end)] for name, end in ends.items()]
    title = f"{result['program']} on {result['ranks']} ranks of {result['machine']}: {format_seconds(result['time_s'])}"
    show_table(TextTable([TextColumn("step"), TextColumn("last rank done at", number=True)], rows, title))
    show_text(f"{result['stages']:,} stages, {result['messages']:,} messages, {format_bytes(result['bytes'])}")
    say_energy(result)
    say_skipped(result)
    say_orders(result)
    say_disturbed(result)
    for picture in result.get("pictures", []):
        print(f"picture: {picture}")
    if "timeline" in result:
        print(f"time line: {result['timeline']}")


def _show_measured(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes, format_seconds
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    rows = [[name, format_seconds(seconds)] for name, seconds in result["steps"].items()]
    title = f"{result['program']} on {result['ranks']} ranks: median {format_seconds(result['median_s'])}"
    over = "oversubscribed: more ranks than cores" if result["oversubscribed"] else ""
    show_table(
        TextTable([TextColumn("step"), TextColumn("median of the slowest rank", number=True)], rows, title, over)
    )
    show_text(f"{result['stages']:,} stages, {result['messages']:,} messages, {format_bytes(result['bytes'])}")
    if result["checked"]:
        show_text("checked: every exchange brings the expected result, bit for bit")
    if still := [row["name"] for row in result["exchanges"] if not row["goes_on_at_pokes"]]:
        show_text(f"nothing goes on at pokes of {', '.join(still)}: their transports cannot without waiting")
    mpi_ranks.show_warnings(result["warnings"])


COMMANDS: dict[str, Callable[..., None]] = {"verify": verify, "simulate": simulate, "bench": bench}
