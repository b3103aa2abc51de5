"""`tradewind simulate`: how long an exchange takes on a machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.cli import options
from tradewind.cli import simulation_options as simulating
from tradewind.cli.kinds import Asked

if TYPE_CHECKING:
    from tradewind.simulation import Progress, Simulation, Watch
    from tradewind.simulation.processes import Processes
    from tradewind.workload.exchange import Exchange


@options.of_patterns
@options.with_options
def command(
    pattern: options.Pattern,
    ranks: options.Ranks,
    machine: simulating.Machines,
    routing: simulating.Routings = None,
    algorithm: simulating.Algorithms = None,
    model: simulating.Model = "packet",
    buffers: simulating.Buffers = "credits",
    protocol: simulating.Protocol = "send",
    packet: simulating.Packet = None,
    transport: simulating.Transport = None,
    packing: simulating.Packing = None,
    posting: simulating.Posting = "together",
    processes: simulating.Processes = None,
    *,
    run: options.RunOptions,
    links: simulating.Links = None,
    congestion: simulating.Congestion = None,
    timeline: simulating.Timeline = None,
    timeline_ranks: simulating.TimelineRanks = None,
    force: simulating.Force = False,
    asked: Asked,
    as_json: options.Json = False,
) -> None:
    """Simulate an exchange on a machine, packet by packet."""
    from tradewind.cli import sharing
    from tradewind.cli.output import print_result

    listed = any("," in (text or "") or text == "all" for text in (machine, routing, algorithm))

    def prepared() -> list[_Request]:
        combinations = list(_product(pattern, machine, routing, algorithm, run.ranks_per_node))
        split = _common_split(pattern, ranks, [name for _, _, name in combinations], asked)
        chosen = {"model": model, "buffers": buffers, "protocol": protocol, "packet": packet, **run.chosen()}
        chosen |= {"timeline": timeline, "timeline_ranks": timeline_ranks, "transport": transport, "packing": packing}
        chosen["posting"] = posting
        chosen["threads"] = sharing.threads(here, processes) if run.threads is None else run.threads
        requests = [
            _Request(
                options.exchange(asked, pattern, ranks, one_algorithm, **split),
                one_machine,
                {**chosen, "routing": one_routing},
            )
            for one_machine, one_routing, one_algorithm in combinations
        ]
        _check_files([request.simulation for request in requests], links, congestion)
        return requests

    here = sharing.those_that_run()
    with sharing.one_voice(here, as_json):
        sharing.check(here, processes)
        requests = prepared() if here is None else here.agree(prepared)
        results = []
        for request in requests:
            if here is None or here.index == 0:
                _announce(request.simulation, here.count if here is not None else processes or 1, as_json)
                _warn(request.simulation)
            folder = _folder(congestion, request.simulation) if listed else congestion or False
            with _progress(here) as report:
                results.append(_simulate(request, here, processes, report, force, links=links, congestion=folder))
    if here is None or here.index == 0:
        single = len(results) == 1 and not listed
        print_result(results[0] if single else results, as_json, lambda: _show(results))


@dataclass(frozen=True)
class _Request:
    """One simulation as it was asked for."""

    exchange: Exchange
    machine: str
    options: dict[str, Any]
    """Keyword arguments of `tradewind.simulation.prepare`."""

    @cached_property
    def simulation(self) -> Simulation:
        from tradewind.simulation import prepare

        return prepare(self.exchange, self.machine, **self.options)


def _simulate(
    request: _Request,
    here: Processes | None,
    wanted: int | None,
    report: Watch | None,
    force: bool,
    **more: Any,
) -> dict[str, Any]:
    """Simulate on the processes that run, on as many as are wanted, or on this one alone."""
    if here is not None:
        return here.run(request.simulation, report, force, **more)
    if wanted is not None:
        from tradewind.launch.simulate import simulate

        return simulate(
            wanted, request.exchange, request.machine, progress=report, force=force, **more, **request.options
        )
    request.simulation.check_memory(force)
    return request.simulation.run(report, **more)


def _check_files(runs: list[Simulation], links: Path | None, congestion: Path | None) -> None:
    """Before anything is simulated: what cannot be written of these simulations."""
    from tradewind.base.errors import InputError

    for name, file in (("links", links), ("timeline", runs[0].timeline)):
        if file is not None and len(runs) > 1:
            raise InputError(f"--{name} {file}: one simulation is allowed, not a list of {len(runs)}")
    runs[0].check_files(links, congestion or False)


def _folder(congestion: Path | None, run: Simulation) -> Path | bool:
    """Return the folder for the pictures of one simulation of a list."""
    if congestion is None:
        return False
    return congestion / "-".join((run.file.name, run.machine.routing, str(run.exchange.as_dict()["algorithm"])))


def _common_split(pattern: str, ranks: int, algorithms: list[str | None], asked: Asked) -> dict[str, Any]:
    """The split that suits all algorithms of a list, where none is asked for: only then can they be compared."""

    from tradewind.workload.on_grid import common_split

    first, *others = dict.fromkeys(algorithms)
    if "split" in asked.given or not others:
        return {}
    exchange = options.exchange(asked, pattern, ranks, first)
    split = common_split(exchange, [name for name in others if name])
    return {} if split is None else {"split": split}


def _product(
    pattern: str, machines: str, routings: str | None, algorithms: str | None, ranks_per_node: int
) -> Iterator[tuple[str, str | None, str | None]]:
    """All combinations of the comma lists; `all` routings are those of the machine's topology."""
    from tradewind import _core
    from tradewind.machine import load_machine, machine_names
    from tradewind.method.method import NODE_FAMILIES
    from tradewind.workload.registry import pattern_named

    core = pattern_named(pattern).core_pattern

    def algorithm_names() -> list[str | None]:
        if algorithms == "all":
            names = [entry.name for entry in _core.algorithms() if entry.pattern == core]
            radices = dict.fromkeys(NODE_FAMILIES, ranks_per_node)
            return [name.replace("-k", f"-{radices.get(name, 4)}") for name in names]
        return list(algorithms.split(",")) if algorithms else [None]

    for machine in machine_names() if machines == "all" else machines.split(","):
        names: list[str | None] = list(routings.split(",")) if routings else [None]
        if routings == "all":
            kind = load_machine(machine).machine.topology.kind
            names = [entry.name for entry in _core.routings() if entry.topology == kind]
        for routing in names:
            for algorithm in algorithm_names():
                yield machine, routing, algorithm


def _announce(run: Simulation, processes: int, as_json: bool) -> None:
    """Says on standard error what the simulation will cost, shared by so many processes."""
    import sys

    from tradewind.base.units import format_bytes, format_count, format_seconds
    from tradewind.cli.screen import folded, width_of

    if as_json and not sys.stderr.isatty():
        return
    cost = replace(run, threads=run.threads * processes).forecast()
    hops = f"{format_count(cost['packet_hops'])} packet-hops, " if run.model == "packet" else ""
    text = (
        f"{run.exchange.name} on {run.file.name}: about {format_count(cost['messages'])} messages, {hops}"
        f"{format_bytes(cost['memory_bytes'])} of memory, {format_seconds(cost['wall_s'])}"
    )
    print(folded(text, width_of(sys.stderr), indent="  "), file=sys.stderr)


def _warn(run: Simulation) -> None:
    """Says on standard error, where packets are so coarse that the time misleads, what to use instead."""
    import sys

    from tradewind.cli.screen import folded, width_of

    coarse = run.coarseness()
    if coarse is not None:
        print(folded(f"warning: {coarse}", width_of(sys.stderr), indent="  "), file=sys.stderr)


@contextmanager
def _progress(here: Processes | None) -> Iterator[Watch | None]:
    """A progress bar on standard error when a terminal looks on, by the first process."""
    import sys

    if not sys.stderr.isatty() or (here is not None and here.index > 0):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def watch(now: Progress) -> None:
            bar.update(task, completed=now.fraction, description=now.text)

        yield watch


_BOTTLENECKS = {
    "injection": "injection port (node to switch)",
    "ejection": "ejection port (switch to node)",
    "link": "link between switches",
    "global link": "global link between groups",
}
"""Names of the ports and links that set the bound."""


def _show(results: list[dict[str, Any]]) -> None:
    from tradewind.base.units import format_bytes, format_count, format_seconds
    from tradewind.cli.screen import say, show_table
    from tradewind.cli.table import Column, Table

    first = results[0]
    columns = [
        Column("machine"),
        Column("routing", drop=1),
        Column("algorithm"),
        Column("time", number=True),
        Column("bound", number=True, drop=2),
        Column("load imbalance", number=True, drop=3),
        Column("messages", number=True, drop=4),
        Column("packet-hops", number=True, drop=5),
    ]
    rows = [
        [
            r["machine"],
            r.get("routing", "-"),
            r["algorithm"],
            format_seconds(r["time_s"]),
            format_seconds(r["bound_s"]) if "bound_s" in r else "-",
            f"{r['imbalance']:.2f}" if "imbalance" in r else "-",
            format_count(r["messages"]),
            format_count(r["packet_hops"]) if "packet_hops" in r else "-",
        ]
        for r in results
    ]
    title = f"{first['pattern']} on {first['ranks']} ranks: {format_count(first['bytes'])}B in messages"
    show_table(Table(columns, rows, title))
    if len(results) == 1:
        steps = ", ".join(f"{name} {format_seconds(s)}" for name, s in first["step_time_s"].items())
        print()
        say(f"by step: {steps}")
        if "bound_by" in first:
            packet = first["packet_bytes"]
            size = "one packet per message" if packet == "message" else f"packets of {format_bytes(packet)}"
            buffers = "finite" if first["buffers"] == "credits" else first["buffers"]
            bottleneck = _BOTTLENECKS.get(first["bound_by"], first["bound_by"])
            say(f"bottleneck: {bottleneck}; {size}; {buffers} buffers")
    for picture in (picture for r in results for picture in r.get("pictures", [])):
        print(f"picture: {picture}")
    if "timeline" in first:
        print(f"time line: {first['timeline']}")
