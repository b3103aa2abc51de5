"""`tradewind verify trace FILE`, `simulate`, `advise` and `export`: a program that was recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options, trace_patterns
from tradewind.cli import simulation_options as simulating
from tradewind.cli.parameters import Argument, Option
from tradewind.cli.trace_export import export

if TYPE_CHECKING:
    from tradewind.replay.workload import TraceWorkload

WORD = "trace"
"""Stands in place of a pattern."""
HELP = {
    "verify": "Check whether a recorded program needs messages that are buffered, and would hang without.",
    "simulate": "Replay a recorded program on a machine, packet by packet.",
    "advise": "Find what would make a recorded program faster, by replays.",
    "show": trace_patterns.HELP,
    "export": "Write a trace for LogGOPSim, ATLAHS or SimGrid, or one of these as a trace of Tradewind.",
}

_Word = Annotated[str, Argument(metavar="trace", help="The word `trace`.", show_default=False)]
_File = Annotated[
    Path,
    Argument(metavar="FILE", help="A trace of `tradewind record`, of SimGrid, or in GOAL's form.", show_default=False),
]
_Computing = Annotated[
    float, Option("--computing", help="Factor on the recorded time of computations: 0.5 for cores twice as fast.")
]
_AllReduce = Annotated[str, Option("--allreduce", help="Algorithm of MPI_Allreduce, see `tradewind list algorithms`.")]
_Merge = Annotated[
    str | None,
    Option(
        "--merge",
        metavar="SIZE",
        help="Make messages of one rank to another one, of at most this size, where the sender waits for nothing else.",
        show_default="none",
    ),
]
_Overlap = Annotated[
    str,
    Option(
        "--overlap",
        help="Overlap messages with computing: receives (posted earlier), waits (behind the computing that follows), "
        "both, none.",
    ),
]


def verify(trace: _Word, file: _File, *, as_json: options.Json = False) -> int | None:
    """Check a trace, and print the result; exit code 1 where it is not safe, or cut. Raises InputError."""
    from tradewind.cli.output import print_result
    from tradewind.cli.trace_file import opened
    from tradewind.replay.buffering import verify_trace

    result = {"trace": file.name, **verify_trace(opened(file))}
    print_result(result, as_json, lambda: _show_verified(result))
    wild = result["wildcards"]
    safe = result["eager_limit"] == 0 and not (wild and wild["hang"]) and not result["cut_ranks"]
    return None if safe and not result["unmatched_messages"] and not result["requests_never_awaited"] else 1


@options.of_simulations(without=("model", "transport", "packing", "compute_imbalance"))
def simulate(
    trace: _Word,
    file: _File,
    machine: simulating.Machine,
    computing: _Computing = 1.0,
    allreduce: _AllReduce = "recursive-2",
    merge: _Merge = None,
    overlap: _Overlap = "none",
    *,
    simulated: options.Simulated,
    as_json: options.Json = False,
) -> None:
    """Replay a trace on a machine, and print the result. Raises InputError."""
    from dataclasses import replace

    from tradewind.base.units import byte_count
    from tradewind.cli.output import print_result
    from tradewind.cli.simulation_run import simulate_here
    from tradewind.simulation import prepare

    merge_bytes = 0 if merge is None else byte_count(merge)
    workload = replace(_workload(file, computing, allreduce), merge_bytes=merge_bytes, overlap=overlap)
    simulation = prepare(workload, machine, **simulated.chosen())
    result = simulate_here(simulation, simulated, as_json)
    print_result(result, as_json, lambda: _show_simulated(result))


def _workload(file: Path, computing: float, allreduce: str) -> TraceWorkload:
    from tradewind.cli.trace_file import opened
    from tradewind.replay.workload import TraceWorkload

    return TraceWorkload(opened(file), file.name, computing, allreduce)


def _show_simulated(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes, format_seconds
    from tradewind.cli.energy import say_energy
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.simulation_run import say_disturbed, say_orders
    from tradewind.cli.table import TextColumn, TextTable
    from tradewind.cli.trace_file import show_left_out

    columns = [TextColumn("in"), *(TextColumn(title, number=True) for title in ("min", "mean", "max", "share"))]
    rows = [
        [
            call,
            *(format_seconds(times[key]) for key in ("minimum_s", "mean_s", "maximum_s")),
            f"{100 * times['mean_s'] / result['time_s']:.0f} %" if result["time_s"] else "-",
        ]
        for call, times in result["calls"].items()
    ]
    title = f"{result['trace']} on {result['ranks']} ranks of {result['machine']}: {format_seconds(result['time_s'])}"
    show_table(TextTable(columns, rows, title))
    changed = "" if result["computing"] == 1 else f", computing times {result['computing']:g}"
    if "merge_bytes" in result:
        changed += f", messages merged up to {format_bytes(result['merge_bytes'])}"
    changed += f", overlap of {result['overlap']}" if "overlap" in result else ""
    show_text(f"recorded in {format_seconds(result['recorded_s'])}{changed}; MPI_Allreduce by {result['allreduce']}")
    show_text(f"{result['messages']:,} messages, {format_bytes(result['bytes'])}, collective calls included")
    show_text(_causes(result))
    _show_path(result)
    show_left_out(result["not_replayed"])
    say_energy(result)
    say_orders(result)
    say_disturbed(result)
    for picture in result.get("pictures", []):
        print(f"picture: {picture}")
    if "timeline" in result:
        print(f"time line: {result['timeline']}")


PATH_SHOWN = 8
"""Ranks and calls of the critical path that are printed."""


def _show_path(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_seconds
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    path, time_s = result["critical_path"], result["time_s"]
    if not time_s:
        return
    named = path["parts"][:PATH_SHOWN]
    rows = [
        [
            f"{part['rank']}",
            part["call"],
            *(format_seconds(part[key]) if part[key] else "-" for key in ("time_s", "messages_s")),
            f"{100 * (part['time_s'] + part['messages_s']) / time_s:.0f} %",
        ]
        for part in named
    ]
    columns = [TextColumn("rank", number=True), TextColumn("call")]
    columns += [TextColumn(title, number=True) for title in ("in it", "its messages", "share")]
    kinds = {"computing": "computing_s", "MPI calls": "calls_s", "messages on their way": "messages_s"}
    shares = ", ".join(f"{name} {100 * path[key] / time_s:.0f} %" for name, key in kinds.items())
    print()
    show_table(TextTable(columns, rows, f"critical path over {path['ranks']} ranks: {shares}"))
    if (others := time_s - sum(part["time_s"] + part["messages_s"] for part in named)) > 1e-9 * time_s:
        show_text(f"and {format_seconds(others)} in others")


def _causes(result: dict[str, Any]) -> str:
    from tradewind.base.units import format_seconds

    shares = {
        name: f"{format_seconds(result['causes'][key])} ({100 * result['causes'][key] / result['time_s']:.0f} %)"
        for name, key in (("computing", "computing_s"), ("imbalance", "imbalance_s"), ("network", "network_s"))
        if result["time_s"]
    }
    return "made of " + ", ".join(f"{name} {share}" for name, share in shares.items())


def _show_verified(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_bytes
    from tradewind.cli.screen import show_text

    title = f"{result['trace']}, {result['ranks']} ranks, {result['events']:,} calls"
    if "messages" in result:
        title += f": {result['messages']:,} messages, {format_bytes(result['bytes'])}"
    show_text(title)
    for each in result["order"]:
        first, other = each["ranks"]
        mine, theirs = map(_placed, each["calls"], each["places"])
        show_text(
            f"collective call {each['number']} of communicator {each['communicator']} differs: {mine} on rank {first}, "
            f"{theirs} on rank {other}"
        )
    for each in result["unmatched"]:
        way = "to" if each["sends"] else "from"
        show_text(
            f"no other end: {_named(each)}, {format_bytes(each['bytes'])} {way} rank {each['peer']}, tag {each['tag']}"
        )
    if (more := result["unmatched_messages"] - len(result["unmatched"])) > 0:
        show_text(f"... and {more:,} more without another end")
    for each in result["never_awaited"]:
        show_text(f"never waited for: {_named(each)}")
    if (more := result["requests_never_awaited"] - len(result["never_awaited"])) > 0:
        show_text(f"... and {more:,} more requests that are never waited for")
    if result["not_replayed"]:
        show_text("not checked: " + ", ".join(f"{n:,} {name}" for name, n in result["not_replayed"].items()))
    if not result["order"]:
        _show_ending(result)
    if result["cut"]:
        _show_cut(result)


def _show_ending(result: dict[str, Any]) -> None:
    """Print whether the calls end, and what waits where they do not."""
    from tradewind.base.units import format_bytes
    from tradewind.cli.screen import show_text

    in_order = "with the calls of threads in their recorded order " if result["threaded_ranks"] else ""
    if result["eager_limit"] == 0:
        without = "without the sends and receives above " if result["unmatched"] else ""
        ends = f"{without}{in_order}the program ends even where no message is buffered"
        show_text(
            f"as far as it was recorded: {ends}; not verified to the end" if result["cut"] else f"verified: {ends}"
        )
    elif result["eager_limit"] is None:
        show_text(f"{in_order}the program does not end, whatever is buffered:")
    else:
        show_text(
            f"{in_order}the program hangs unless messages of up to {format_bytes(result['eager_limit'])} are buffered "
            f"({result['eager_limit']} bytes); without buffers these wait for each other:"
        )
    _show_waiting(result["cycle"])
    if (found := result["wildcards"]) is not None and (result["eager_limit"] == 0 or found["hang"] is not None):
        _show_wildcards(found)


def _show_cut(result: dict[str, Any]) -> None:
    """Print the last calls of ranks that are not there to their end."""
    from tradewind.cli.screen import show_text

    show_text("not recorded to the end; if the program hung, then in calls behind these:")
    for each in result["cut"]:
        show_text(f"  {_named(each)}: {_ENDINGS.get(each['ending'], each['ending'])}")
    if (more := result["cut_ranks"] - len(result["cut"])) > 0:
        show_text(f"... and {more:,} more ranks")
    if result["unknown_messages"]:
        show_text(f"the other ends of {result['unknown_messages']:,} sends and receives would stand there, too")


_ENDINGS = {"killed": "it was killed", "full": "its disk was full", "aborted": "it called MPI_Abort"}


def _named(each: dict[str, Any]) -> str:
    if each["call"] is None:
        return f"rank {each['rank']}, without a call"
    return f"rank {each['rank']}, call {each['event']} ({_placed(each['call'], each['place'])})"


def _placed(call: str, place: dict[str, Any] | None) -> str:
    """Return a call, and where it stands in the program if the trace has that."""
    from tradewind.trace.source_lines import Place

    return call if place is None else f"{call} in {Place(**place)}"


def _show_waiting(chain: list[dict[str, Any]]) -> None:
    from tradewind.base.units import format_bytes
    from tradewind.cli.screen import show_text

    for each in chain:
        peer = "any rank" if each["peer"] is None else f"rank {each['peer']}"
        amount = "" if each["peer"] is None else f" {format_bytes(each['bytes'])}"
        way = f"to send{amount} to" if each["sends"] else f"to receive{amount} from"
        show_text(f"  {_named(each)}: {way} {peer}")


_BUFFERS = {
    "always": "whatever is buffered",
    "few": "unless more is buffered",
    "many": "where messages are buffered",
}
"""Where a hang is."""


def _show_wildcards(found: dict[str, Any]) -> None:
    """Print what other matchings of receives from any source lead to, if there are any."""
    from tradewind.cli.screen import show_text

    if not found["receives"]:
        return
    asked = found["receives"] - found["kept"]
    hang = found["hang"]
    if hang is None:
        states = f"{found['states']:,} other states"
        seen = "in all their matchings" if found["complete"] else f"in those that were tried: {states}, the maximum"
        show_text(f"verified: {asked:,} receives from any source or of any tag: the program ends {seen}")
    else:
        show_text(f"with another matching of receives from any source the program hangs {_BUFFERS[hang['buffers']]}:")
        for each in hang["taken"]:
            show_text(f"  {_named(each)} takes the message of rank {each['source']}, not of {each['recorded']}")
        show_text("then these wait:")
        _show_waiting(hang["waiting"])
        show_text("this holds if ranks make the same calls whichever message comes first")
    if found["kept"]:
        show_text(f"{found['kept']:,} more keep the message that they took: their ranks turn to its sender next")
    if found["unclear"]:
        waits = "a rank tests for what comes first, or needs a message that is kept"
        show_text(f"in {found['unclear']:,} states {waits}: not decided")


@options.of_simulations(
    without=(
        *("model", "transport", "packing", "timeline", "timeline_ranks", "compute_imbalance", "order"),
        *("links", "congestion", "force"),
    )
)
def advise(
    trace: _Word,
    file: _File,
    machine: simulating.Machine,
    computing: _Computing = 1.0,
    allreduce: _AllReduce = "recursive-2",
    *,
    simulated: options.Simulated,
    as_json: options.Json = False,
) -> None:
    """Try changes of a recorded program and of its run, and print what each saves. Raises InputError."""
    from tradewind.cli.output import print_result
    from tradewind.cli.simulation_run import line_report
    from tradewind.simulation.trace_advice import advise_trace

    workload = _workload(file, computing, allreduce)
    result = advise_trace(workload, machine, report=line_report(as_json), **simulated.chosen())
    print_result(result, as_json, lambda: _show_advice(result))


def _show_advice(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_seconds
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    columns = [TextColumn("change"), TextColumn("by"), *(TextColumn(title, number=True) for title in ("time", "saves"))]
    rows = [
        [each["change"], each["by"], format_seconds(each["time_s"]), _saved(each["saves_s"], result["time_s"])]
        for each in result["changes"]
    ]
    title = f"{result['trace']} on {result['ranks']} ranks of {result['machine']}: {format_seconds(result['time_s'])}"
    show_table(TextTable(columns, rows, title))
    show_text(_causes(result))
    balanced, free = (result["bounds"][key] for key in ("balanced_s", "free_network_s"))
    show_text(
        f"at best {format_seconds(balanced)} if all ranks computed as long as their mean, {format_seconds(free)} if "
        f"messages took no time"
    )
    for each in result["left_out"]:
        show_text(f"not tried: {each['change']}: {each['because']}")


def _saved(saves_s: float, time_s: float) -> str:
    return f"{100 * saves_s / time_s:.1f} %".replace("-0.0 %", "0.0 %") if time_s else "-"


COMMANDS: dict[str, Callable[..., int | None]] = {
    "verify": verify,
    "simulate": simulate,
    "advise": advise,
    "show": trace_patterns.show,
    "export": export,
}
