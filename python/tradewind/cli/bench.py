"""`tradewind bench`: measures the ways to do one exchange on real MPI ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
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
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            help="Write what ranks do when, in the fastest: for Perfetto, or a picture (.svg, .png, .pdf, .html).",
            show_default=False,
        ),
    ] = None,
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
    from tradewind.launch import bench

    place = _place(ranks)
    with place.together(as_json):
        exchange = asked.exchange(pattern, place.ranks)
        with _busy(f"measuring on {place.ranks} ranks", quiet=as_json or not place.answers):
            result = bench(
                exchange,
                algorithm.split(",") if algorithm else None,
                transport.split(","),
                packing.split(","),
                repeat=repeat,
                warmup=warmup,
                check=check,
                timeline=timeline,
                timeout_s=units.seconds(timeout) if timeout else None,
            )
    if place.answers:
        answer(result, as_json, lambda: _show(result))


@dataclass(frozen=True)
class _Place:
    """Where this process stands: alone, or one of the ranks of a job that somebody else has started."""

    ranks: int
    rank: int | None = None

    @property
    def answers(self) -> bool:
        return not self.rank

    @contextmanager
    def together(self, as_json: bool) -> Iterator[None]:
        """Among ranks an error of one ends all: the others would wait for it."""
        from tradewind.cli.answer import refuse
        from tradewind.errors import PlanError, TradewindError
        from tradewind.launch.worker import leave_together

        try:
            yield
        except TradewindError as error:
            if self.rank is None:
                raise
            if not isinstance(error, PlanError):  # else another rank has a reason to tell
                refuse(str(error), as_json)
            leave_together(error)


def _place(ranks: int | None) -> _Place:
    from tradewind.errors import InputError
    from tradewind.launch import is_rank

    if not is_rank():
        if ranks is None:
            raise InputError("how many ranks? Say -n RANKS, or start this command with mpiexec or srun")
        return _Place(ranks)
    from tradewind.launch.worker import abort_on_error
    from tradewind.mpi import MPI

    abort_on_error()
    running = MPI.COMM_WORLD.Get_size()
    place = _Place(running, MPI.COMM_WORLD.Get_rank())
    if ranks not in (None, running):
        with place.together(as_json=False):
            raise InputError(f"-n {ranks}, but {running} ranks are running: leave it out under mpiexec or srun")
    return place


@contextmanager
def _busy(text: str, *, quiet: bool) -> Iterator[None]:
    """A sign of life while ranks are at work, where a terminal looks on."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status(text):
        yield


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
    if result["timeline"] is not None:
        console.print(f"time line: {result['timeline']}", highlight=False, soft_wrap=True, markup=False)
