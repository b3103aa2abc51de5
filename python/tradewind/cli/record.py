"""`tradewind record`: runs any MPI program and writes down what its ranks call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from tradewind.trace.model import Trace

_FUNCTIONS = 12
"""Functions that the table of a run shows."""
Output = Annotated[Path, Option("-o", "--output", metavar="FILE", help="The trace.")]
Join = Annotated[
    Path | None,
    Option("--join", metavar="FOLDER", help="Join the files of ranks that a batch job has left; runs nothing."),
]
Timeline = Annotated[
    Path | None,
    Option("--timeline", metavar="FILE", help="Also a time line, for Perfetto, or a picture by the suffix."),
]


def command(
    words: Annotated[
        list[str] | None,
        Argument(metavar="-- COMMAND", help="The program as it is started, launcher first.", show_default=False),
    ] = None,
    output: Output = Path("run.trace"),
    join: Join = None,
    timeline: Timeline = None,
    as_json: options.Json = False,
) -> int:
    """Run a command as it is; every MPI call of its ranks goes into one trace."""
    from tradewind.base.errors import InputError
    from tradewind.cli.output import print_result
    from tradewind.launch.record import join_folder, record, summary
    from tradewind.timeline.files import check, save

    if join is not None and words:
        raise InputError(f"--join {join}: runs no command, and {words[0]!r} is one")
    if timeline is not None:
        check(timeline)
    trace, code = record(words or [], output) if join is None else (join_folder(join, output), 0)
    if timeline is not None:
        from tradewind.trace.time_line import time_line

        save(time_line(trace), timeline)
    result = summary(trace, output) | {"exit_code": code}
    print_result(result, as_json, lambda: _show(result, trace))
    return 1 if code else 0


def _show(result: dict[str, Any], trace: Trace) -> None:
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable
    from tradewind.trace.counts import counts

    total = counts(trace).groupby("call")[["calls", "bytes", "received", "seconds"]].sum()
    busiest = total.sort_values("seconds", ascending=False).head(_FUNCTIONS)
    rows = [
        [name, str(int(calls)), str(int(sent)), str(int(received)), f"{seconds:.3g}"]
        for name, calls, sent, received, seconds in busiest.itertuples()
    ]
    titles = ("calls", "bytes sent", "bytes received", "seconds")
    show_table(TextTable([TextColumn("function"), *(TextColumn(title, number=True) for title in titles)], rows))
    show_text(
        f"trace: {result['trace']}, {result['ranks']} ranks, {result['events']} events, {result['bytes']} bytes "
        f"({result['bytes_per_event']:.1f} per event); {result['library']}"
    )
    for problem in result["problems"]:
        show_text(problem, "yellow")
    if result["exit_code"]:
        show_text(f"the command ended with exit code {result['exit_code']}", "bold red")
