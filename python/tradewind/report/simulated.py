"""Tables of what was simulated: each case with its time, its bound and its cost, and how each sweep was simulated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tradewind.base.units import format_bytes, format_count, format_seconds
from tradewind.report.measured import inputs
from tradewind.report.table import (
    Cell,
    PageColumn,
    PageTable,
    Row,
    byte_count,
    count,
    joules,
    number,
    ratio,
    seconds,
    table_of_cases,
    text,
)
from tradewind.study.cases.records import Record
from tradewind.study.claims.quantity import quantity_of

SIMULATED = (
    PageColumn("Exchange"),
    number("Ranks"),
    PageColumn("Split", hint="ranks along x, y"),
    number("Load imbalance (subdomains)", "", "points of the largest subdomain over the mean"),
    PageColumn("Machine"),
    PageColumn("Routing"),
    number("Time", "s", "of one whole exchange"),
    number("Energy", "J", "of one whole exchange, or of a step, at the power of the machine file"),
    number("Bound", "s", "time of the busiest link or NIC alone: no schedule is faster"),
    number("Load imbalance (links)", "", "bytes of the busiest link over the mean of those that carried anything"),
    number("Messages"),
    number("Mean size", "B", "bytes per message"),
    number("Packets", "", "packets per message of mean size"),
    number("Packet-hops", "", "packets times the ports that they pass"),
    number("Took", "s", "wall time of the simulation"),
)

NETWORKS = (
    PageColumn("Sweep"),
    PageColumn("Machines"),
    PageColumn("Routing"),
    PageColumn("Model"),
    PageColumn("Buffers"),
    PageColumn("Largest packet"),
    PageColumn("Placement"),
    PageColumn("Seed"),
    PageColumn("Split of ranks"),
    PageColumn("Changed values"),
)


def simulated_table(records: Sequence[Record]) -> PageTable:
    """Each simulated case with its time, its bound and its cost."""
    rows = [(i, _simulated(record)) for i, record in enumerate(records) if record["kind"] == "simulate"]
    return table_of_cases("simulated-table", "Simulated exchanges", SIMULATED, rows)


def _simulated(record: Record) -> Row:
    result, cells = record["result"], inputs(record)
    steps, messages = result["step_time_s"], result["messages"]
    parts = ", ".join(f"{name} {format_seconds(time)}" for name, time in steps.items()) if len(steps) > 1 else ""
    packets = packets_per_message(result)
    return {
        **cells,
        "Exchange": Cell(cells["Exchange"].text, note=_repetitions(record)),
        "Load imbalance (subdomains)": ratio(record["layout_imbalance"]),
        "Machine": text(record["machine"]),
        "Routing": text(record["routing"]),
        "Time": Cell(format_seconds(record["time_s"]), record["time_s"], hint=parts),
        "Energy": joules(quantity_of(record, "energy")),
        "Bound": seconds(result.get("bound_s")),
        "Load imbalance (links)": ratio(result.get("imbalance")),
        "Messages": count(messages),
        "Mean size": byte_count(result["bytes"] / messages if messages else None),
        "Packets": Cell("1" if packets == 1 else f"≈ {format_count(packets)}", packets),
        "Packet-hops": count(result.get("packet_hops") or 0),
        "Took": seconds(record["wall_s"]),
    }


def _repetitions(record: Record) -> str:
    """Return, for extrapolated repetitions, how many were simulated and what twice as many changed."""
    result = record["result"]
    simulated = result.get("simulated_times", record["times"])
    if simulated == record["times"]:
        return ""
    change = f"{100 * result['extrapolated_change']:+.2g} %"
    return f"{simulated:.0f} of {record['times']} repetitions simulated; {change} on half as many"


def packets_per_message(result: dict[str, Any]) -> int:
    """The number of packets of the mean message."""
    packet, messages = result.get("packet_bytes", "message"), result["messages"]
    return 1 if packet == "message" or not messages else max(1, math.ceil(result["bytes"] / messages / packet))


def network_table(records: Sequence[Record]) -> PageTable:
    """Return how each sweep was simulated: what its cases have in common."""
    simulated = [record for record in records if record["kind"] == "simulate"]
    sweeps = dict.fromkeys(record["sweep"] for record in simulated)
    rows = [_network([record for record in simulated if record["sweep"] == sweep]) for sweep in sweeps]
    return PageTable("how-table", "How each sweep was simulated", NETWORKS, rows)


def _network(mine: Sequence[Record]) -> Row:
    labels = {"Machines": "machine", "Routing": "routing", "Model": "model", "Buffers": "buffers"}
    labels |= {"Placement": "placement", "Seed": "seed", "Changed values": "settings"}
    splits = dict.fromkeys(f"{record['ranks']} = {record['split']}" for record in mine if record["split"])
    return {
        "Sweep": text(mine[0]["sweep"]),
        **{title: Cell(_joined(mine, label)) for title, label in labels.items()},
        "Largest packet": Cell(f"{_sizes(mine)} ({_filled(mine)})"),
        "Split of ranks": Cell(", ".join(splits)),
    }


def _sizes(mine: Sequence[Record]) -> str:
    sizes = dict.fromkeys(record["result"].get("packet_bytes", "message") for record in mine)
    return ", ".join("a message" if size == "message" else format_bytes(size) for size in sizes)


def _filled(mine: Sequence[Record]) -> str:
    """Whether messages are longer than a packet."""
    packets = {packets_per_message(record["result"]) for record in mine}
    if packets == {1}:
        return "one packet per message in every case"
    return "one packet per message in some cases" if 1 in packets else "several packets per message"


def _joined(records: Sequence[Record], label: str) -> str:
    return ", ".join(str(value) for value in dict.fromkeys(record[label] for record in records) if value is not None)
