"""Small machines and exchanges, and what the core answers for them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tradewind import _core
from tradewind.exchange import Exchange
from tradewind.machine import Machine, MachineFile
from tradewind.simulation import Simulation, prepare

CROSSBAR = {"kind": "crossbar", "nodes": 64}
TORUS = {"kind": "torus", "shape": [4, 3, 2], "nodes_per_switch": 2}
FATTREE = {"kind": "fattree", "levels": 3, "down_ports": 4}
DRAGONFLY = {"kind": "dragonfly", "rows": 2, "columns": 3, "groups": 7, "nodes_per_switch": 2, "global_links": 1}
OWN_ROUTING = {"crossbar": "direct", "torus": "dimension-order", "fattree": "d-mod-k", "cubemesh": "direct"}
"""Of topologies whose first one is not called minimal."""

NS = 1000
"""Picoseconds."""


def machine(
    topology: dict[str, Any],
    routing: str | None = None,
    *,
    bandwidth: str = "10GB/s",
    latency: str = "100ns",
    nic_bandwidth: str | None = None,
    ejection_bandwidth: str | None = None,
    nic_latency: str | None = None,
    send_overhead: str = "0ns",
    receive_overhead: str = "0ns",
    memory_bandwidth: str = "100GB/s",
    packet: str = "4KiB",
    global_link: dict[str, str] | None = None,
) -> MachineFile:
    values = {
        "title": "a small machine",
        "routing": routing or OWN_ROUTING.get(topology["kind"], "minimal"),
        "topology": topology,
        "link": {"bandwidth": bandwidth, "latency": latency, "global": global_link or {}},
        "nic": {
            "injection_bandwidth": nic_bandwidth or bandwidth,
            "ejection_bandwidth": ejection_bandwidth or nic_bandwidth or bandwidth,
            "latency": nic_latency or latency,
            "send_overhead": send_overhead,
            "receive_overhead": receive_overhead,
        },
        "node": {"memory_bandwidth": memory_bandwidth},
        "packet": {"size": packet},
        "source": {"link": "chosen"},
    }
    return MachineFile("small", Machine.model_validate(values))


def pair(elements: int) -> Exchange:
    """Two ranks that send each other one message of 8 bytes an element."""
    return Exchange("allreduce", 2, algorithm="recursive-2", count=elements)


def all_to_all(ranks: int, algorithm: str, points: int = 1, times: int = 1) -> Exchange:
    """Every rank sends every other 8 * points bytes."""
    grid = (ranks, points, ranks)
    return Exchange("transpose", ranks, grid, (ranks, 1), algorithm, slab="xz", times=times)


def core(
    simulation: Simulation, threads: int = 1, progress: Any = None, adaptive: bool = True
) -> _core.SimulationResult:
    steps = [(step.name, step.schedule, step.repeat) for step in simulation.exchange.steps()]
    run = _core.simulate_packets if simulation.model == "packet" else _core.simulate_loggp
    return run(
        simulation.machine,
        steps,
        simulation.exchange.bytes_per_point,
        simulation.placement,
        simulation.packet_bytes,
        threads,
        simulation.seed,
        progress,
        adaptive,
    )


def run(exchange: Exchange, file: MachineFile, threads: int = 1, **options: Any) -> _core.SimulationResult:
    return core(prepare(exchange, file, **options), threads)


def messages(exchange: Exchange) -> Iterator[tuple[int, int, int]]:
    """(sender, receiver, bytes) of all messages."""
    for step in exchange.steps():
        for _ in range(step.repeat):
            for stage in range(step.schedule.stages):
                for rank in range(exchange.ranks):
                    for message in step.schedule.sends(rank, stage):
                        yield rank, message.peer, message.count * exchange.bytes_per_point


def terminal_bytes(result: _core.SimulationResult, topology: _core.Topology) -> np.ndarray:
    """[node]: bytes that each node has received."""
    ports = result.port_bytes.reshape(topology.switches, topology.radix)
    first, count = topology.first_terminal, topology.nodes_per_switch
    return ports[: topology.nodes // count, first : first + count].reshape(-1)
