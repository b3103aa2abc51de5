"""Small networks of every kind, for tests that hold for all of them."""

from pathlib import Path
from typing import Any

from tradewind import _core
from tradewind.machine.topology import TOPOLOGIES

Values = dict[str, Any]
"""The [topology] table of a machine file."""

PETERSEN = str(Path(__file__).parent / "machine" / "petersen.links")


def _torus(nodes: int, *shape: int) -> Values:
    return {"kind": "torus", "shape": list(shape), "nodes_per_switch": nodes}


def _fattree(down: int | list[int], levels: int, up: int | list[int] | None = None) -> Values:
    values: Values = {"kind": "fattree", "levels": levels, "down_ports": down}
    return values if up is None else values | {"up_ports": up}


def _dragonfly(rows: int, columns: int, groups: int, nodes: int, global_links: int) -> Values:
    sizes = {"rows": rows, "columns": columns, "groups": groups}
    return {"kind": "dragonfly", **sizes, "nodes_per_switch": nodes, "global_links": global_links}


def _plus(leaves: int, spines: int, groups: int, nodes: int, global_links: int) -> Values:
    sizes = {"leaves": leaves, "spines": spines, "groups": groups}
    return {"kind": "dragonflyplus", **sizes, "nodes_per_switch": nodes, "global_links": global_links}


def _hyperx(nodes: int, links: int | list[int], *shape: int) -> Values:
    return {"kind": "hyperx", "shape": list(shape), "links": links, "nodes_per_switch": nodes}


def _graph(nodes: int, node_switches: int | None = None) -> Values:
    values: Values = {"kind": "graph", "file": PETERSEN, "nodes_per_switch": nodes}
    return values if node_switches is None else values | {"node_switches": node_switches}


NETWORKS: dict[str, list[Values]] = {
    "torus": [_torus(2, 5), _torus(1, 4, 5), _torus(2, 2, 3, 4), _torus(1, 1, 6)],
    "fattree": [
        _fattree(2, 3),
        _fattree(3, 3),
        _fattree(5, 1),
        _fattree(4, 2, 2),
        _fattree([4, 3, 2], 3, [2, 1]),
        _fattree([2, 3, 4], 3, [3, 5]),
    ],
    # One switch a group, one row, groups that divide no links evenly, more links than groups.
    "dragonfly": [
        _dragonfly(2, 3, 4, 2, 1),
        _dragonfly(1, 4, 5, 1, 1),
        _dragonfly(3, 2, 4, 1, 2),
        _dragonfly(1, 1, 4, 2, 4),
        _dragonfly(1, 4, 5, 1, 3) | {"arrangement": "relative"},
        _dragonfly(2, 3, 4, 1, 1) | {"arrangement": "absolute"},
        _dragonfly(3, 1, 6, 1, 2) | {"arrangement": "circulant"},
    ],
    "dragonflyplus": [
        _plus(3, 2, 5, 2, 2),
        _plus(2, 4, 3, 1, 3),
        _plus(1, 1, 3, 1, 2),
        _plus(4, 3, 1, 2, 0),
        _plus(2, 3, 4, 1, 2) | {"arrangement": "circulant"},
    ],
    "hyperx": [_hyperx(2, 1, 4, 3), _hyperx(1, [2, 1, 3], 2, 3, 4), _hyperx(3, 2, 1, 5)],
    "complete": [
        {"kind": "complete", "switches": 6, "links": 2, "nodes_per_switch": 2},
        {"kind": "complete", "switches": 1, "nodes_per_switch": 3},
    ],
    "hypercube": [
        {"kind": "hypercube", "dimensions": 4, "nodes_per_switch": 2},
        {"kind": "hypercube", "dimensions": 1, "links": 3, "nodes_per_switch": 1},
    ],
    "slimfly": [{"kind": "slimfly", "q": q, "nodes_per_switch": 2} for q in (3, 4, 5)],
    "cubemesh": [
        {"kind": "cubemesh", "gpu": "P100"},
        {"kind": "cubemesh", "gpu": "V100"},
        {"kind": "cubemesh", "gpu": "V100", "boxes": 3},
    ],
    "graph": [_graph(2), _graph(1, 4)],
    "crossbar": [{"kind": "crossbar", "nodes": 7}],
}
"""By kind; the first of each is the one that has what is typical of it."""

ROUTED = [(values, entry.name) for entry in _core.routings() for values in NETWORKS[entry.topology]]
"""Every network with every routing that it may have."""


def build(values: Values) -> _core.Topology:
    return TOPOLOGIES[values["kind"]].model_validate(values).build()


def network_id(value: Any) -> str:
    return build(value).describe() if isinstance(value, dict) else str(value)


def machine(values: Values, routing: str) -> _core.Machine:
    links = {"link_bandwidth": 1e10, "global_bandwidth": 1e10, "injection_bandwidth": 1e10, "ejection_bandwidth": 1e10}
    latencies = {"link_latency": 1e-7, "global_latency": 1e-7, "injection_latency": 1e-7, "ejection_latency": 1e-7}
    node = {"send_overhead": 0.0, "receive_overhead": 0.0, "memory_bandwidth": 1e11}
    return _core.Machine(topology=build(values), routing=routing, **links, **latencies, **node)
