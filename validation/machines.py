"""Small machines and exchanges, the same for the programs of this folder and the tests of the simulator."""

from __future__ import annotations

from typing import Any

from tradewind.machine import Machine, MachineFile
from tradewind.workload.exchange import Exchange

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
    **tables: Any,
) -> MachineFile:
    """`memory_bandwidth` is that of one copy; a node serves any number of them, unless `node` has a limit."""
    values: dict[str, Any] = {
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
        "node": {"memory_bandwidth": "1000TB/s", "flow_memory_bandwidth": memory_bandwidth},
        "packet": {"size": packet},
        "source": {"link": "chosen"},
    }
    for name, table in tables.items():
        values[name] = {**values.get(name, {}), **table}
    return MachineFile("small", Machine.model_validate(values))


def pair(elements: int) -> Exchange:
    """Two ranks that send each other one message of 8 bytes an element."""
    return Exchange("allreduce", 2, algorithm="recursive-2", count=elements)


def all_to_all(ranks: int, algorithm: str, points: int = 1, times: int = 1) -> Exchange:
    """Every rank sends every other 8 * points bytes."""
    grid = (ranks, points, ranks)
    return Exchange("transpose", ranks, grid, (ranks, 1), algorithm=algorithm, slab="xz", times=times)
