"""`tradewind simulate`: how long an exchange takes on a machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradewind.cli import options
from tradewind.cli import simulation_options as simulating
from tradewind.cli.kinds import Asked

if TYPE_CHECKING:
    from tradewind.simulation import Simulation, Watch
    from tradewind.simulation.processes import Processes
    from tradewind.workload.exchange import Exchange


@options.of_patterns
@options.of_simulations(without=("routing", "mpi_progress"))
def command(
    pattern: options.Pattern,
    ranks: options.Ranks,
    machine: simulating.Machines,
    routing: simulating.Routings = None,
    algorithm: simulating.Algorithms = None,
    processes: simulating.Processes = None,
    *,
    simulated: options.Simulated,
    asked: Asked,
    as_json: options.Json = False,
) -> None:
    """Simulate an exchange on a machine, packet by packet."""
    from tradewind.cli import sharing
    from tradewind.cli.output import print_result
    from tradewind.cli.simulation_run import announce, progress_bar
    from tradewind.workload.registry import pattern_named

    listed = any("," in (text or "") or text == "all" for text in (machine, routing, algorithm))

    def prepared() -> list[_Request]:
        chosen = simulated.chosen()
        chosen.setdefault("threads", sharing.threads(here, processes))
        core = pattern_named(pattern).meant(asked.given).core_pattern
        combinations = list(_product(core, machine, routing, algorithm, chosen))
        split = _common_split(pattern, ranks, [name for _, _, name in combinations], asked)
        requests = [
            _Request(
                options.exchange(asked, pattern, ranks, one_algorithm, **split),
                one_machine,
                {**chosen, "routing": one_routing},
            )
            for one_machine, one_routing, one_algorithm in combinations
        ]
        _check_files([request.simulation for request in requests], simulated)
        return requests

    here = sharing.those_that_run()
    with sharing.one_voice(here, as_json):
        sharing.check(here, processes)
        requests = prepared() if here is None else here.agree(prepared)
        results = []
        for request in requests:
            if here is None or here.index == 0:
                announce(request.simulation, here.count if here is not None else processes or 1, as_json)
            folder = _folder(simulated.congestion, request.simulation) if listed else simulated.congestion or False
            with progress_bar(quiet=here is not None and here.index > 0) as report:
                results.append(
                    _simulate(
                        request, here, processes, report, simulated.force, links=simulated.links, congestion=folder
                    )
                )
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


def _check_files(runs: list[Simulation], simulated: options.Simulated) -> None:
    """Before anything is simulated: what cannot be written of these simulations."""
    from tradewind.base.errors import InputError

    for name, file in (("links", simulated.links), ("timeline", runs[0].options.timeline)):
        if file is not None and len(runs) > 1:
            raise InputError(f"--{name} {file}: one simulation is allowed, not a list of {len(runs)}")
    runs[0].check_files(simulated.links, simulated.congestion or False)


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
    core: str, machines: str, routings: str | None, algorithms: str | None, chosen: dict[str, Any]
) -> Iterator[tuple[str, str | None, str | None]]:
    """All combinations of the comma lists; `all` routings are those of the machine's topology."""
    from tradewind import _core
    from tradewind.machine import load_machine, machine_names
    from tradewind.method.method import NODE_FAMILIES
    from tradewind.simulation.checks import ranks_per_node_on

    def algorithm_names(machine: str) -> list[str | None]:
        if algorithms == "all":
            file = load_machine(machine, chosen["settings"])
            ranks_per_node = ranks_per_node_on(file, chosen.get("ranks_per_node", 1))
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
            for algorithm in algorithm_names(machine):
                yield machine, routing, algorithm


_BOTTLENECKS = {
    "injection": "injection port (node to switch)",
    "ejection": "ejection port (switch to node)",
    "link": "link between switches",
    "global link": "global link between groups",
}
"""Names of the ports and links that set the bound."""


def _show(results: list[dict[str, Any]]) -> None:
    from tradewind.base.units import format_bytes, format_count, format_seconds
    from tradewind.cli.energy import energy_text, say_energy
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.simulation_run import say_disturbed, say_orders, say_skipped, spread_of
    from tradewind.cli.table import TextColumn, TextTable

    first = results[0]
    spread = ("shortest", "median", "longest") if "order_time_s" in first else ()
    with_energy = any("energy_j" in r for r in results)
    columns = [
        TextColumn("machine"),
        TextColumn("routing", drop=1),
        TextColumn("algorithm"),
        TextColumn("time", number=True),
        *([TextColumn("energy", number=True, drop=6)] if with_energy else []),
        *(TextColumn(name, number=True) for name in spread),
        TextColumn("bound", number=True, drop=2),
        TextColumn("load imbalance", number=True, drop=3),
        TextColumn("messages", number=True, drop=4),
        TextColumn("packet-hops", number=True, drop=5),
    ]
    rows = [
        [
            r["machine"],
            r.get("routing", "-"),
            r["algorithm"],
            format_seconds(r["time_s"]),
            *([energy_text(r)] if with_energy else []),
            *(format_seconds(time) for time in spread_of(r) if spread),
            format_seconds(r["bound_s"]) if "bound_s" in r else "-",
            f"{r['imbalance']:.2f}" if "imbalance" in r else "-",
            format_count(r["messages"]),
            format_count(r["packet_hops"]) if "packet_hops" in r else "-",
        ]
        for r in results
    ]
    title = f"{first['pattern']} on {first['ranks']} ranks: {format_count(first['bytes'])}B in messages"
    show_table(TextTable(columns, rows, title))
    if len(results) == 1:
        steps = ", ".join(f"{name} {format_seconds(s)}" for name, s in first["step_time_s"].items())
        print()
        show_text(f"by step: {steps}")
        if "bound_by" in first:
            packet = first["packet_bytes"]
            size = "one packet per message" if packet == "message" else f"packets of {format_bytes(packet)}"
            buffers = "finite" if first["buffers"] == "credits" else first["buffers"]
            bottleneck = _BOTTLENECKS.get(first["bound_by"], first["bound_by"])
            show_text(f"bottleneck: {bottleneck}; {size}; {buffers} buffers")
        say_energy(first)
        say_skipped(first)
        say_orders(first)
    say_disturbed(first)
    for picture in (picture for r in results for picture in r.get("pictures", [])):
        print(f"picture: {picture}")
    if "timeline" in first:
        print(f"time line: {first['timeline']}")
