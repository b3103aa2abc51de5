"""The ports that packets of deterministic routings take, walked independently of the simulator.

Of torus, fat-tree and dragonfly also independently of the routing's code.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from small import messages

from tradewind import _core
from tradewind.workload.exchange import Exchange


def ports(machine: _core.Machine, values: dict[str, Any], source: int, target: int) -> Iterator[tuple[int, int]]:
    """(switch, port) on the way from node to node, ejection included."""
    topology = machine.topology
    each = topology.nodes_per_switch
    at, end = source // each, target // each
    step = {"torus": _torus, "fattree": _fattree, "dragonfly": _dragonfly}.get(values["kind"])
    if step is None or "up_ports" in values:
        yield from ((switch, port) for switch, port, _ in _core.Walker(machine).walk(source, target))
        at = end
    while at != end:
        assert step is not None
        port = step(topology, values, at, target)
        yield at, port
        at = topology.port(at, port)[1]
    yield end, topology.first_terminal + target % each


def _torus(topology: _core.Topology, values: dict[str, Any], at: int, target: int) -> int:
    end = target // topology.nodes_per_switch
    for d, n in enumerate(values["shape"]):
        if here_there := (end % n - at % n) % n:
            return 2 * d + (here_there > n / 2)
        at, end = at // n, end // n
    raise AssertionError("there already")


def _fattree(topology: _core.Topology, values: dict[str, Any], at: int, target: int) -> int:
    k = values["down_ports"]
    level, w = divmod(at, k ** (values["levels"] - 1))
    end = target // k
    if w // k**level != end // k**level:
        return k + target // k**level % k
    return end // k ** (level - 1) % k


def _dragonfly(topology: _core.Topology, values: dict[str, Any], at: int, target: int) -> int:
    """Where two groups have one link: to the switch that holds it, columns first, across, and on."""
    columns, size = values["columns"], values["rows"] * values["columns"]
    end = target // topology.nodes_per_switch
    if at // size != end // size:
        for switch in range(at - at % size, at - at % size + size):
            for port in range(topology.radix):
                kind, other, _ = topology.port(switch, port)
                if kind == "global" and other // size == end // size:
                    if switch == at:
                        return port
                    end = switch
                    break
            else:
                continue
            break
    row, column = divmod(end % size, columns)
    return column if at % size % columns != column else columns + row


def expected(
    exchange: Exchange, machine: _core.Machine, values: dict[str, Any], placement: _core.Placement, packet: int
) -> tuple[np.ndarray, int]:
    """Bytes of every port, and packets through all ports and NICs."""
    topology = machine.topology
    load = np.zeros(topology.switches * topology.radix, np.uint64)
    hops = 0
    for sender, receiver, size in messages(exchange):
        source, target = placement.node(sender), placement.node(receiver)
        if source == target:
            continue
        packets = -(-size // packet) if packet else 1
        hops += packets
        for switch, port in ports(machine, values, source, target):
            load[switch * topology.radix + port] += np.uint64(size)
            hops += packets
    return load, hops
