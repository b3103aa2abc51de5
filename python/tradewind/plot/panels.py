"""Parts of a machine as panels of a picture: some switches with the links among them, in the colour of their load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from tradewind import _core
from tradewind.machine.shapes import Point, circle
from tradewind.plot.svg import Line, Panel

if TYPE_CHECKING:
    from tradewind.machine.link_loads import Integers, Loads

MAX_SPOTS = 600
MAX_LINES = 4000


def links_of(topology: _core.Topology, switch: int) -> Iterator[tuple[str, int]]:
    """(kind, other switch) of every link of a switch."""
    for kind, other, _ in _ports_of(topology, switch):
        yield kind, other


def _ports_of(topology: _core.Topology, switch: int) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """(kind, other switch, ports at both ends as switch * radix + port) of every link of a switch."""
    for port in range(topology.radix):
        kind, other, back = topology.port(switch, port)
        if kind in ("local", "global"):
            yield kind, other, (switch * topology.radix + port, other * topology.radix + back)


def few_links(topology: _core.Topology, switches: Sequence[int]) -> bool:
    """Whether all links among some switches can be drawn; those of a file may have any number each."""
    inside = set(switches)
    ends = (other for switch in switches for _, other in links_of(topology, switch) if other in inside)
    maximum = 2 * MAX_LINES  # each link counted at both ends
    return sum(1 for _ in islice(ends, maximum + 1)) <= maximum


def part(
    topology: _core.Topology,
    places: dict[int, Point],
    switches: Sequence[int],
    title: str,
    in_rows: bool = False,
    loads: Loads | None = None,
) -> Panel:
    """Return some switches and the links among them; if there are too many, those of one switch, or the busiest."""
    if few_links(topology, switches):
        lines = list(_lines(topology, switches, switches, loads))
        title += f": {len(switches)} switches, {len(lines)} links"
    elif loads:
        lines = list(islice(_busiest_lines(topology, switches, loads), MAX_LINES))
        title += f": {len(switches)} switches, and the {len(lines)} busiest links"
    else:
        lines = list(_lines(topology, [switches[len(switches) // 2]], switches))
        title += f": {len(switches)} switches, and the links of one of them"
    hosts = topology.nodes // topology.nodes_per_switch
    hollow = frozenset(i for i, switch in enumerate(switches) if switch >= hosts)
    labels = [f"switch {switch}" for switch in switches]
    return Panel(title, [places[switch] for switch in switches], lines, labels, hollow, in_rows)


def _lines(
    topology: _core.Topology, starts: Sequence[int], switches: Sequence[int], loads: Loads | None = None
) -> Iterator[Line]:
    """The links from some switches to others, each once: a pair may have several."""
    number = {switch: i for i, switch in enumerate(switches)}
    parallels: Counter[tuple[int, int]] = Counter()
    for start in starts:
        for kind, end, ports in _ports_of(topology, start):
            if end not in number or (len(starts) > 1 and end < start):
                continue
            busy = loads.share(*ports) if loads else None
            yield Line(number[start], number[end], kind, parallel=parallels[start, end], busy=busy)
            parallels[start, end] += 1


def _busiest_lines(topology: _core.Topology, switches: Sequence[int], loads: Loads) -> Iterator[Line]:
    """The links among some switches that carried something, the busiest first."""
    number = {switch: i for i, switch in enumerate(switches)}
    drawn: set[int] = set()
    for link in loads.busiest_first():
        start, end, port = int(loads.senders[link]), int(loads.receivers[link]), int(loads.ports[link])
        if start not in number or end not in number or port in drawn:
            continue
        drawn.add(int(loads.backs[link]))  # the way back has the same line
        kind = topology.port(*divmod(port, topology.radix))[0]
        yield Line(number[start], number[end], kind, busy=float(loads.shares[link]))


def by_load(lines: list[Line], loads: Loads, spot_of: Integers) -> list[Line]:
    """Lines between spots that are many switches each, with the share of the busiest link between the two."""
    cells = loads.cells(spot_of)

    def share(start: int, end: int) -> float:
        return cells.get((start, end), (0.0, 0))[0]

    return [replace(line, busy=max(share(line.start, line.end), share(line.end, line.start))) for line in lines]


def busiest_of(lines: list[Line]) -> list[Line]:
    """Return at most `MAX_LINES` lines, the busiest first."""
    return sorted(lines, key=lambda line: -(line.busy or 0.0))[:MAX_LINES]


def star(topology: _core.Topology, loads: Loads | None) -> Panel:
    """One switch with its nodes around it."""
    nodes = min(topology.nodes, MAX_SPOTS)
    title = f"1 switch, {topology.nodes} nodes" + (f", {nodes} of them shown" if nodes < topology.nodes else "")
    lines = [Line(0, 1 + node, busy=float(loads.nics[node]) if loads else None) for node in range(nodes)]
    labels = ["switch 0", *(f"node {node}" for node in range(nodes))]
    return Panel(title, [(0.0, 0.0), *circle(nodes)], lines, labels, frozenset(range(1, nodes + 1)))


def neighbours(topology: _core.Topology, switch: int, loads: Loads | None) -> Panel:
    """One switch of very many, and those that it is linked to."""
    links = list(_ports_of(topology, switch))[:MAX_SPOTS]
    title = f"one of {topology.switches} switches, and the {len(links)} that it is linked to"
    lines = [
        Line(0, 1 + i, kind, busy=loads.share(*ports) if loads else None) for i, (kind, _, ports) in enumerate(links)
    ]
    labels = [f"switch {switch}", *(f"switch {other}" for _, other, _ in links)]
    return Panel(title, [(0.0, 0.0), *circle(len(links))], lines, labels)
