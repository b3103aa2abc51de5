"""`tradewind export trace FILE`: a trace in the form of another tool, or of Tradewind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from tradewind.cli import options
from tradewind.cli.parameters import Argument, Option


def export(
    trace: Annotated[str, Argument(metavar="trace", help="The word `trace`.", show_default=False)],
    file: Annotated[Path, Argument(metavar="FILE", help="A trace in any form.", show_default=False)],
    output: Annotated[Path, Option("-o", "--output", metavar="FILE", help="The trace to write.", show_default=False)],
    form: Annotated[
        str | None,
        Option(
            "--form",
            help="goal (LogGOPSim, ATLAHS), ti (SimGrid) or trace (Tradewind).",
            show_default="by the suffix: .goal, .ti or .txt, .trace",
        ),
    ] = None,
    allreduce: Annotated[
        str, Option("--allreduce", help="Algorithm of MPI_Allreduce where the form has messages in its place.")
    ] = "recursive-2",
    *,
    as_json: options.Json = False,
) -> None:
    """Write a trace in a form. Raises InputError."""
    from tradewind.cli.output import print_result
    from tradewind.cli.trace_file import opened
    from tradewind.replay.export import export_trace, form_named

    chosen = form_named(form, output)
    read = opened(file)
    result = {"trace": str(output), "form": chosen.value, "ranks": read.size, "problems": list(read.problems)}
    result |= export_trace(read, output, chosen, allreduce)
    print_result(result, as_json, lambda: _show(result))


def _show(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes
    from tradewind.cli.screen import show_text
    from tradewind.cli.trace_file import show_left_out

    moved = f", {result['messages']:,} messages, {format_bytes(result['bytes'])}" if "messages" in result else ""
    show_text(f"trace: {result['trace']}, {result['ranks']} ranks{moved}")
    if "not_replayed" in result:
        show_left_out(result["not_replayed"])
