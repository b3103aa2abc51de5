"""The links that messages take, found without a simulation: what bounds and other simulators need to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.machine import Machine
from tradewind.simulation import Simulation
from tradewind.workload.exchange import Exchange


class Link(NamedTuple):
    """One direction of a link: from a port of a switch, or of a NIC (`port` is then the node)."""

    kind: str
    """injection, local, global or ejection."""
    switch: int
    """-1 for an injection."""
    port: int


class Message(NamedTuple):
    sender: int
    receiver: int
    stage: int
    """Of the whole exchange."""
    size: int
    """Bytes."""


def messages(simulation: Simulation) -> Iterator[Message]:
    """All messages of an exchange, sender by sender, in the order in which each posts them; none of no bytes."""
    exchange = simulation.exchange
    if not isinstance(exchange, Exchange):
        raise InputError(f"{exchange.name}: the messages of one exchange can be walked, not those of a program")
    schedules = [step.schedule for step in exchange.steps() if step.schedule for _ in range(step.repeat)]
    for rank in range(exchange.ranks):
        stage = 0
        for schedule in schedules:
            for own in range(schedule.stages):
                for sent in schedule.sends(rank, own):
                    if sent.count:
                        yield Message(rank, sent.peer, stage + own, sent.count * exchange.bytes_per_point)
            stage += schedule.stages


class Routes:
    """The paths of a machine whose routing does not look at queues."""

    def __init__(self, machine: _core.Machine) -> None:
        self.topology = machine.topology
        self._walker = _core.Walker(machine)
        self._kind = cache(lambda switch, port: self.topology.port(switch, port)[0])

    def path(self, source: int, target: int) -> list[Link]:
        """All links from one node to another, the NICs' among them."""
        each = self.topology.nodes_per_switch
        between = [Link(self._kind(s, p), s, p) for s, p, _ in self._walker.walk(source, target)]
        last = Link("ejection", target // each, self.topology.first_terminal + target % each)
        return [Link("injection", -1, source), *between, last]

    def is_fixed(self) -> bool:
        """Whether all packets between two nodes go one way; else a hash of ranks decides, which only it knows."""
        nodes = self.topology.nodes
        near = [(i * 7 % nodes, (i * 7 + 1 + i % 5) % nodes) for i in range(200)]
        pairs = near + [(i * 7 % nodes, (i * 13 + nodes // 2) % nodes) for i in range(200)]
        walk = self._walker.walk
        return all(walk(a, b, random) == walk(a, b) for a, b in pairs for random in range(1, 65536, 13001))


def loads(simulation: Simulation, routes: Routes) -> Counter[Link]:
    """Bytes of every link and NIC."""
    place, path = simulation.placement, cache(routes.path)
    load: Counter[Link] = Counter()
    for message in messages(simulation):
        source, target = place.node(message.sender), place.node(message.receiver)
        if source != target:
            load.update(dict.fromkeys(path(source, target), message.size))
    return load


def bandwidths(machine: Machine) -> dict[str, float]:
    """Bytes a second, by kind of link."""
    return {
        "injection": machine.nic.injection_bandwidth,
        "local": machine.link.bandwidth,
        "global": machine.link.global_.bandwidth or machine.link.bandwidth,
        "ejection": machine.nic.ejection_bandwidth,
    }


def latencies(machine: Machine) -> dict[str, float]:
    """Seconds, by kind of link."""
    far = machine.link.global_.latency
    return {
        "injection": machine.nic.latency,
        "local": machine.link.latency,
        "global": machine.link.latency if far is None else far,
        "ejection": machine.nic.latency,
    }
