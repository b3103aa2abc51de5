"""Energy of a simulation: power of its nodes and switches times time, and the bytes that move.

A node of a job draws its idle power all the time. A rank adds, for its share of the cores of its node, the difference
to the busy power while it computes, and the difference to the waiting power for the rest of the time: while it posts,
copies and receives messages and waits for them. So ranks with less to do draw less. Cores of a node that the job holds
without a rank stay idle. The switches count in proportion to the nodes that the job holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tradewind import _core
from tradewind.machine import Machine
from tradewind.machine.power import Power

NO_POWER = "no power in this machine file"
NO_HOPS = "the loggp model counts no hops, and power.network is joules per byte and hop"
NO_USAGE = "simulated by an earlier version, which kept no usage"
ENERGY_KEYS = (
    "energy_j",
    "energy_parts_j",
    "node_power_w",
    "rank_power_w",
    "power_imbalance",
    "no_energy",
    "kwh_per_forecast_day",
)
GROWS = ("computing_s", "computing_minimum_s", "computing_maximum_s", "copied_bytes", "carried_bytes")
"""Keys of a usage that grow with its repetitions."""
_JOULES_PER_KWH, _SECONDS_PER_DAY = 3.6e6, 86400.0


def node_share(machine: Machine, ranks: int, ranks_per_node: int, threads: int) -> float:
    """Return the share of the cores of its node that a rank computes on."""
    cores = machine.node.cores
    if cores is None or not machine.has_core_rates:
        return 1 / ranks_per_node
    return min(threads, cores / min(ranks, ranks_per_node)) / cores


@dataclass(frozen=True)
class Held:
    """Nodes that a job holds, and what its computations ask of them."""

    ranks_per_node: int = 1
    node_share: float = 1.0
    """Share of the cores of its node that a rank computes on."""
    copied_bytes: float = 0.0
    """Bytes that the computations of all ranks copy."""


def usage_of(
    machine: _core.Machine,
    busy_s: tuple[float, float, float],
    placement: _core.Placement,
    held: Held,
    carried_bytes: float | None,
) -> dict[str, Any]:
    """Return what the energy of a simulation depends on beside power and time.

    `busy_s`: seconds of computing of all ranks, of the rank with the least and of that with the most.
    `nodes` of the job, and its `switches` in proportion; `ranks`, and the share of a node that each has; the seconds of
    computing of all ranks, of the rank with the least and of that with the most; the bytes that computations copy, and
    `carried_bytes`, the bytes times the ports that they go through (None where the model knows no ports).
    """
    nodes = -(-placement.ranks // held.ranks_per_node)
    computing_s, least_s, most_s = busy_s
    return {
        "nodes": nodes,
        "switches": nodes * machine.topology.switches / machine.nodes,
        "ranks": placement.ranks,
        "node_share": held.node_share,
        "computing_s": computing_s,
        "computing_minimum_s": least_s,
        "computing_maximum_s": most_s,
        "copied_bytes": held.copied_bytes,
        "carried_bytes": carried_bytes,
    }


def repeated(usage: Mapping[str, Any], times: float) -> dict[str, Any]:
    """Return the usage of a number of repetitions."""
    return {key: value * times if key in GROWS and value is not None else value for key, value in usage.items()}


def energy_of(power: Power | None, usage: Mapping[str, Any] | None, time_s: float) -> dict[str, Any]:
    """Return the energy of a simulation that takes `time_s`, or ``no_energy``, the reason why it is not known.

    ``energy_j``; ``energy_parts_j``: of nodes as if they were idle (idle), what ranks add while they compute and while
    they wait, of memory, network and switches; ``node_power_w``: the mean of a node of the job, its share of all parts
    included; ``rank_power_w``: the minimum, mean and maximum over the ranks, each with its share of the idle power of
    its node; ``power_imbalance``: the maximum over the mean.
    """
    if power is None or usage is None:
        return {"no_energy": NO_POWER if power is None else NO_USAGE}
    if power.network is not None and usage["carried_bytes"] is None:
        return {"no_energy": NO_HOPS}
    ranks, nodes, share = usage["ranks"], usage["nodes"], usage["node_share"]
    waiting_s = max(0.0, ranks * time_s - usage["computing_s"])
    parts = {
        "idle": power.idle * nodes * time_s,
        "computing": (power.busy - power.idle) * share * usage["computing_s"],
        "waiting": (power.waiting - power.idle) * share * waiting_s,
        "memory": (power.memory or 0.0) * usage["copied_bytes"],
        "network": (power.network or 0.0) * (usage["carried_bytes"] or 0.0),
        "switches": (power.switch or 0.0) * usage["switches"] * time_s,
    }
    found: dict[str, Any] = {"energy_j": sum(parts.values()), "energy_parts_j": parts}
    if time_s > 0:
        seconds = {
            "minimum": usage["computing_minimum_s"],
            "mean": usage["computing_s"] / ranks,
            "maximum": usage["computing_maximum_s"],
        }
        found["node_power_w"] = found["energy_j"] / time_s / nodes
        found["rank_power_w"] = {
            name: power.idle * nodes / ranks + share * rank_power(power, computing_s / time_s)
            for name, computing_s in seconds.items()
        }
        found["power_imbalance"] = found["rank_power_w"]["maximum"] / found["rank_power_w"]["mean"]
    return found


def rank_power(power: Power, computing: float) -> float:
    """Return the watts that the ranks of a whole node add to its idle power, if they compute a part of the time."""
    computing = min(computing, 1.0)
    return (power.busy - power.idle) * computing + (power.waiting - power.idle) * (1 - computing)


def with_energy(result: Mapping[str, Any], power: Power | None) -> dict[str, Any]:
    """Return the result of a simulation with the energy that its usage and its time have."""
    others = {key: value for key, value in result.items() if key not in ENERGY_KEYS}
    found = energy_of(power, result.get("usage"), result["time_s"])
    if "energy_j" in found and "forecast_days_per_day" in result:
        found["kwh_per_forecast_day"] = kwh_per_forecast_day(found["energy_j"], result["step_s"])
    return {**others, **found}


def kwh_per_forecast_day(energy_j: float, step_s: float) -> float:
    """Return the kilowatt-hours of a forecast day, of the joules of a step of `step_s` seconds."""
    return energy_j / _JOULES_PER_KWH * _SECONDS_PER_DAY / step_s
