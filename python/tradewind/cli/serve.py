"""`tradewind serve`: a field server beside a model in C or Fortran."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from tradewind.cli import options
from tradewind.cli.parameters import Argument, Option


def command(
    plan: Annotated[Path | None, Argument(help="Plan file: which fields go where.", show_default="required")] = None,
    transport: Annotated[
        str, Option("--transport", help="How fields come from the model, see `tradewind list`.")
    ] = "isend-irecv",
    packing: Annotated[str, Option("--packing", help="How they are packed, see `tradewind list`.")] = "buffer",
    channel: Annotated[
        int | None,
        Option("--channel", hidden=True, help="Open file to the model that has started this as its local server."),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Write and read for the model that runs in the same job: mpiexec -n 12 ./model : -n 1 tradewind serve plan.toml"""
    from tradewind.base.errors import InputError, PlanError

    if channel is not None:
        from tradewind.fieldserver.server.process_server import serve_locally

        serve_locally(channel)
        return 0
    if plan is None:
        raise InputError("name a plan file, as in tradewind serve plan.toml")
    from tradewind.cli.output import print_result
    from tradewind.fieldserver.server.joining import RemoteError, join
    from tradewind.launch.worker import abort_on_error
    from tradewind.mpi.library import MPI

    abort_on_error()
    try:
        server = join(plan, MPI.COMM_WORLD, transport, packing)
    except RemoteError:
        return 2
    result = {"server": server.number, **server.serve()}
    print_result(result, as_json, lambda: _show(result))
    if server.problem and not server.left:
        raise PlanError(f"server {server.number}: {server.problem}")
    if server.problem:
        print(f"server {server.number}: {server.problem}; another one has taken over", file=sys.stderr)
    return 0


def _show(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes, format_rate, format_seconds
    from tradewind.cli.screen import show_text

    total_s, busy_s = result["total_s"], result["busy_s"]
    show_text(f"server {result['server']}: busy {format_seconds(busy_s)} of {format_seconds(total_s)}")
    for name, sink in result["sinks"].items():
        rate = sink["bytes"] / sink["seconds"] if sink["seconds"] else 0.0
        show_text(f"  {name}: {sink['files']} files, {format_bytes(sink['bytes'])}, {format_rate(rate)}")
