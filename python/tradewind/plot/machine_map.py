"""A machine as a picture: its switches and links, or where these are too many, its blocks and one block in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tradewind import _core
from tradewind.errors import InputError
from tradewind.machine import MachineFile
from tradewind.plot.shapes import Point, circle, levels
from tradewind.plot.standing import MOST_DOTS, Standing, standing, tree_levels
from tradewind.plot.svg import SUFFIXES, Line, Panel, draw, save
from tradewind.topology import FatTree, Table

_MOST_SPOTS = 600
_MOST_LINES = 4000
_SPOTS_OF_PLANE = 1500


def panels(topology: _core.Topology, table: Table) -> list[Panel]:
    """What a picture of a machine shows."""
    switches = range(topology.switches)
    if topology.switches == 1:
        return [_star(topology)]
    if topology.switches <= _MOST_SPOTS and _few_links(topology, switches):
        found = standing(table, topology.switches)
        return [_panel(topology, found.places(), switches, "all switches and links", found.in_rows)]
    if isinstance(table, FatTree):
        return _tree_panels(topology, table)
    found = standing(table, topology.switches)
    if len(found.inside) > MOST_DOTS:
        return [_neighbours(topology)]
    block = found.switches_of(0)
    places = dict(zip(block, found.inside, strict=True))
    first = _panel(topology, places, block, f"one {found.name}", found.in_rows)
    return [_blocks_panel(found), first] if len(found.blocks) > 1 else [first]


def links_of(topology: _core.Topology, switch: int) -> Iterator[tuple[str, int]]:
    """(kind, other switch) of every link of a switch."""
    for port in range(topology.radix):
        kind, other, _ = topology.port(switch, port)
        if kind in ("local", "global"):
            yield kind, other


def _few_links(topology: _core.Topology, switches: Sequence[int]) -> bool:
    """Whether all links among some switches can be drawn, by those of one of them."""
    inside = set(switches)
    links = sum(other in inside for _, other in links_of(topology, switches[len(switches) // 2]))
    return links * len(switches) <= 2 * _MOST_LINES  # each link counted at both ends


def _panel(
    topology: _core.Topology, places: dict[int, Point], switches: Sequence[int], title: str, in_rows: bool = False
) -> Panel:
    """Some switches and the links among them; only those of one switch where all are too many."""
    if _few_links(topology, switches):
        lines = list(_lines(topology, switches, switches))
        title += f": {len(switches)} switches, {len(lines)} links"
    else:
        lines = list(_lines(topology, [switches[len(switches) // 2]], switches))
        title += f": {len(switches)} switches, and the links of one of them"
    hosts = topology.nodes // topology.nodes_per_switch
    hollow = frozenset(i for i, switch in enumerate(switches) if switch >= hosts)
    labels = [f"switch {switch}" for switch in switches]
    return Panel(title, [places[switch] for switch in switches], lines, labels, hollow, in_rows)


def _lines(topology: _core.Topology, starts: Sequence[int], switches: Sequence[int]) -> Iterator[Line]:
    """The links from some switches to others, each once: a pair may have several."""
    number = {switch: i for i, switch in enumerate(switches)}
    turns: Counter[tuple[int, int]] = Counter()
    for start in starts:
        for kind, end in links_of(topology, start):
            if end not in number or (len(starts) > 1 and end < start):
                continue
            yield Line(number[start], number[end], kind, turn=turns[start, end])
            turns[start, end] += 1


def _blocks_panel(found: Standing) -> Panel:
    """The blocks of a large machine, and how many links each two have."""
    kind = "global" if found.name == "group" else "local"
    lines = [Line(a, b, kind, links) for a, b, links in found.between]
    if len(lines) > _MOST_LINES:
        lines = [line for line in lines if line.start == 0]
    counts = sorted({line.links for line in lines})
    several = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    title = f"{len(found.blocks)} {found.name}s of {len(found.inside)} switches; a line is {several} links"
    labels = [f"{found.name} {b}" for b in range(len(found.blocks))]
    return Panel(title, list(found.blocks), lines, labels, in_rows=found.name == "plane")


def _star(topology: _core.Topology) -> Panel:
    """One switch with its nodes around it."""
    nodes = min(topology.nodes, _MOST_SPOTS)
    title = f"1 switch, {topology.nodes} nodes" + (f", {nodes} of them shown" if nodes < topology.nodes else "")
    lines = [Line(0, 1 + node) for node in range(nodes)]
    labels = ["switch 0", *(f"node {node}" for node in range(nodes))]
    return Panel(title, [(0.0, 0.0), *circle(nodes)], lines, labels, frozenset(range(1, nodes + 1)))


def _neighbours(topology: _core.Topology) -> Panel:
    """One switch of very many, and those that it is linked to."""
    others = [(kind, other) for kind, other in links_of(topology, 0)][:_MOST_SPOTS]
    title = f"one of {topology.switches} switches, and the {len(others)} that it is linked to"
    lines = [Line(0, 1 + i, kind) for i, (kind, _) in enumerate(others)]
    labels = ["switch 0", *(f"switch {other}" for _, other in others)]
    return Panel(title, [(0.0, 0.0), *circle(len(others))], lines, labels)


def _tree_panels(topology: _core.Topology, table: FatTree) -> list[Panel]:
    """The upper levels of a large fat-tree, a spot for the switches of one subtree at one level, and one leaf tree."""
    pods, sizes = zip(*tree_levels(table), strict=True)
    up = table.ports()[1]
    shown = [level for level in range(table.levels) if pods[level] <= _SPOTS_OF_PLANE]
    widths = [pods[level] for level in shown]
    first = [sum(widths[:i]) for i in range(len(widths))]
    lines = [
        Line(first[i] + pod, first[i + 1] + pod * pods[level + 1] // pods[level], "local", sizes[level] * up[level])
        for i, level in enumerate(shown[:-1])
        for pod in range(pods[level])
    ]
    labels = [f"level {level}: {sizes[level]} switches" for level in shown for _ in range(pods[level])]
    spots = ", ".join(str(sizes[level]) for level in reversed(shown))
    title = f"levels {table.levels - 1} to {shown[0]}, in subtrees: a spot is {spots} switches"
    upper = [Panel(title, levels(widths), lines, labels)] if len(shown) > 1 else []
    return [*upper, _leaf_tree(topology, table)]


def _leaf_tree(topology: _core.Topology, table: FatTree) -> Panel:
    (pods, _), (above, size) = tree_levels(table)[:2]
    leaves = range(pods // above)
    if len(leaves) + size > MOST_DOTS:
        return _neighbours(topology)
    switches = [*leaves, *range(pods, pods + size)]
    places = dict(zip(switches, levels([len(leaves), size]), strict=True))
    return _panel(topology, places, switches, "levels 0 and 1 of one subtree")


def save_map(file: MachineFile, path: Path) -> None:
    """Writes the picture of a machine as SVG, PNG, PDF or HTML, by the name of the file.

    Raises InputError for another kind of file, or where it cannot be written.
    """
    if path.suffix not in SUFFIXES:
        raise InputError(f"picture {path}: a name that ends in {', '.join(SUFFIXES)} is allowed")
    topology = file.machine.topology.build()
    subtitle = f"{topology.describe()}: {topology.switches:,} switches, {topology.nodes:,} nodes"
    save(draw(panels(topology, file.machine.topology), file.machine.title, subtitle), path)
