"""`tradewind advise`: the best algorithm and radix for an exchange on a machine, by simulation."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradewind.cli import options
from tradewind.cli import simulation_options as simulating
from tradewind.cli.kinds import Asked
from tradewind.cli.parameters import Option

if TYPE_CHECKING:
    from tradewind.simulation.advice import Report

_PARTS = ("latency", "bandwidth", "congestion")


@options.of_patterns
@options.of_simulations(only=("threads", "placement", "seed", "ranks_per_node", "settings"))
def command(
    pattern: options.Pattern,
    ranks: options.Ranks,
    machine: simulating.Machines,
    algorithm: Annotated[
        str | None,
        Option("--algorithm", help="Comma list to choose from, like ring-k,burst.", show_default="all"),
    ] = None,
    routing: Annotated[
        str | None, Option("--routing", help="See `tradewind list routings`.", show_default="the machine's own")
    ] = None,
    packet: Annotated[
        str | None,
        Option(
            "--packet",
            help="Packet size, or `message` for one packet per message.",
            show_default="the machine's own, or message if those take too long",
        ),
    ] = None,
    by: Annotated[
        str,
        Option(
            "--by",
            help="`time`: find the fastest; `energy`: the fewest joules, on machines with power.",
            known=lambda: ("time", "energy"),
        ),
    ] = "time",
    budget: Annotated[
        str, Option("--budget", help="Limit of the processor time of all simulations, like 60s or 10min.")
    ] = "60s",
    picture: Annotated[
        Path | None,
        Option("--picture", help="Draw energy against time: FILE.svg, .png, .pdf or .html.", show_default=False),
    ] = None,
    *,
    simulated: options.Simulated,
    asked: Asked,
    as_json: options.Json = False,
) -> None:
    """Find the best algorithm and radix for an exchange on a machine, by simulation."""
    from tradewind.base import units
    from tradewind.cli.output import print_result
    from tradewind.machine import machine_names
    from tradewind.simulation.advice import advise
    from tradewind.simulation.machine_comparison import compare_machines

    machines = machine_names() if machine == "all" else machine.split(",")
    chosen = simulated.chosen()
    chosen |= {
        "algorithms": algorithm.split(",") if algorithm else None,
        "packet": packet,
        "routing": routing,
        "by": by,
    }
    chosen["budget_s"] = units.seconds(budget)
    exchange = options.exchange(asked, pattern, ranks)
    if picture is not None:
        _check_picture(picture, machines, chosen["settings"])
    with _busy(chosen["budget_s"], quiet=as_json) as progress:
        if len(machines) == 1:
            result, show = advise(exchange, machine, progress=progress, **chosen), _show
        else:
            result, show = compare_machines(exchange, machines, progress=progress, **chosen), _show_machines
    if picture is not None:
        _draw(result, picture)
    print_result(result, as_json, lambda: show(result))


def _check_picture(path: Path, machines: list[str], settings: dict[str, str] | None) -> None:
    """Raises InputError, before anything is simulated, for a file that cannot be, and machines without power."""
    from tradewind.base.errors import InputError, gathered
    from tradewind.machine import load_machine
    from tradewind.plot.methods import check_name
    from tradewind.simulation.energy import NO_POWER

    problems: list[str] = []
    with gathered(problems):
        check_name(path, "picture")
    if all(load_machine(machine, settings).machine.power is None for machine in machines):
        problems.append(f"--picture {path}: {NO_POWER}, {', '.join(machines)}; a table [power] is needed in one")
    if problems:
        raise InputError(*problems)


def _draw(result: dict[str, Any], path: Path) -> None:
    """Draw the algorithms of all machines that have joules; where the budget did not do for any, nothing."""
    from tradewind.plot.pareto import save_pareto

    advices = [each for each in result.get("machines", [result]) if "pareto" in each]
    if advices:
        save_pareto(advices, path, f"{result['pattern']} on {result['ranks']:,} ranks")
        result["picture"] = str(path)


@contextmanager
def _busy(budget_s: float, *, quiet: bool) -> Iterator[Report | None]:
    """Show progress on standard error, where that is a terminal."""
    from rich.console import Console

    from tradewind.base.units import format_seconds

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    began = time.process_time()
    with console.status("screening") as status:

        def update(text: str) -> None:
            left_s = max(0.0, budget_s - (time.process_time() - began))
            status.update(f"{text}, at most {format_seconds(left_s)} of processor time to go")

        yield update


def _show(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_count, format_seconds
    from tradewind.cli.energy import energy_text
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    title = f"{result['pattern']} on {result['ranks']} ranks of {result['machine']}, {result['routing']}"
    columns = [
        TextColumn("algorithm"),
        TextColumn("time", number=True),
        *(TextColumn("energy", number=True) for _ in range("pareto" in result)),
        TextColumn("x best", number=True),
        *(TextColumn(title, number=True, drop=drop) for title, drop in (("bound", 1), ("stages", 2), ("messages", 3))),
        *(TextColumn(part, number=True, drop=1) for part in _PARTS),
        TextColumn("bound by"),
    ]
    rows = [
        [
            r["algorithm"],
            format_seconds(r["time_s"]),
            *([energy_text(r)] if "pareto" in result else []),
            f"{r['ratio']:.2f}",
            format_seconds(r["bound_s"]) if "bound_s" in r else "-",
            f"{r['stages']:,}",
            format_count(r["messages"]),
            *(f"{100 * r[f'{part}_s'] / r['time_s'] if r['time_s'] else 0:.0f} %" for part in _PARTS),
            r["reason"],
        ]
        for r in result["results"]
    ]
    show_table(TextTable(columns, rows, title))
    best = result["best"]
    print()
    show_text(f"best: {best}; {_how(result)}" if best else "nothing could be simulated: give it more time")
    if "pareto" in result:
        show_text(f"neither time nor energy can fall without the other rising: {', '.join(result['pareto'])}")
    for line in _left_out(result["left_out"]):
        show_text(line, "dim", indent="  ")
    _show_picture(result)


def _show_picture(result: dict[str, Any]) -> None:
    if "picture" in result:
        print(f"picture: {result['picture']}")


def _show_machines(result: dict[str, Any]) -> None:
    from tradewind.base.units import format_seconds
    from tradewind.cli.energy import energy_text
    from tradewind.cli.screen import show_table, show_text
    from tradewind.cli.table import TextColumn, TextTable

    with_energy = any("pareto" in advice for advice in result["machines"])
    columns = [
        TextColumn("machine"),
        TextColumn("routing", drop=3),
        TextColumn("nodes", number=True, drop=2),
        TextColumn("ranks per node", number=True, drop=2),
        TextColumn("algorithm"),
        TextColumn("time", number=True),
        *([TextColumn("energy", number=True)] if with_energy else []),
        TextColumn("x best", number=True),
        *(TextColumn(part, number=True, drop=1) for part in _PARTS),
        TextColumn("bound by"),
    ]
    rows = []
    for advice in result["machines"]:
        best = advice["results"][0]
        shares = [f"{100 * best[f'{part}_s'] / best['time_s'] if best['time_s'] else 0:.0f} %" for part in _PARTS]
        rows.append(
            [
                advice["machine"],
                advice["routing"],
                f"{math.ceil(result['ranks'] / advice['ranks_per_node']):,}",
                str(advice["ranks_per_node"]),
                advice["best"],
                format_seconds(best["time_s"]),
                *([energy_text(best)] if with_energy else []),
                f"{advice['ratio']:.2f}",
                *shares,
                best["reason"],
            ]
        )
    show_table(TextTable(columns, rows, f"{result['pattern']} on {result['ranks']} ranks, by machine"))
    print()
    show_text(_ranked(result["machines"]) if result["best"] else "nothing could be simulated: give it more time")
    if len(result["machines"]) > 1:
        show_text("ranges: over several orders of packets that come to a switch at one time", "dim", indent="  ")
    named: dict[str, list[str]] = {}
    for advice in result["machines"]:
        named.setdefault(_how(advice), []).append(advice["machine"])
    for how, machines in named.items():
        show_text(f"{', '.join(machines)}: {how}", indent="  ")
    for each in result["left_out"]:
        show_text(f"left out {each['machine']}: {each['reason']}", "dim", indent="  ")
    _show_picture(result)


def _ranked(machines: list[dict[str, Any]]) -> str:
    """Return the machines in the order of their times, in words: by what factor they differ, and how sure that is."""
    best, *others = machines
    text = f"best: {best['machine']}"
    if best.get("by") == "energy":
        return text + "".join(f"; {each['machine']} takes {each['ratio']:.2f} times as many joules" for each in others)
    for each in others:
        low, high = each["ratio_range"] or (None, None)
        if low is None:
            text += f"; {each['machine']} takes {each['ratio']:.2f} times as long (a single simulation each)"
        elif low <= 1:
            text += f"; {each['machine']} is as fast within the spread (a factor of {low:.2f} to {high:.2f})"
        else:
            spread = "in any order of packets" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
            text += f"; {each['machine']} takes {each['ratio']:.2f} times as long ({spread})"
    return text


def _how(result: dict[str, Any]) -> str:
    """Return the detail of a machine's simulations."""
    from tradewind.base.units import format_bytes

    packet = result["packet_bytes"]
    if result["model"] == "loggp":
        return "by the loggp model alone, without congestion: the budget did not do for packets"
    return "one packet per message" if packet == "message" else f"packets of {format_bytes(packet)}"


def _left_out(items: list[dict[str, Any]]) -> list[str]:
    """One line a reason, with the times without congestion that are known."""
    from tradewind.base.units import format_seconds

    named: dict[str, list[str]] = {}
    for item in items:
        known = "" if item["loggp_s"] is None else f" ({format_seconds(item['loggp_s'])})"
        named.setdefault(item["reason"], []).append(item["algorithm"] + known)
    return [f"left out, {reason}: {', '.join(names)}" for reason, names in named.items()]
