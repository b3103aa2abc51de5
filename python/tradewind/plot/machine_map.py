"""A machine as a picture: its switches and links, or where these are too many, its blocks and one block in full.

With the loads of a simulation lines have the colour of the busiest link that they stand for, and what is shown in full
is the part with the busiest link of all.

A map is SVG that this package writes, and its page adds a small script that names what is nearest: switches and links
have places, but no axes and scales, for which Vega exists, and whose script alone is six times as large as a page of
dragonfly-MM.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.base.tables import Table
from tradewind.machine import MachineFile
from tradewind.machine.groups import Groups, groups_of
from tradewind.machine.shapes import levels
from tradewind.machine.switch_coordinates import MAX_DOTS, SwitchCoordinates, switch_coordinates, tree_levels
from tradewind.machine.topology import FatTree
from tradewind.plot.export import SUFFIXES
from tradewind.plot.panels import MAX_LINES, MAX_SPOTS, busiest_of, by_load, few_links, neighbours, part, star
from tradewind.plot.svg import Line, Panel, save

if TYPE_CHECKING:
    from tradewind.machine.link_loads import Integers, Loads

_SPOTS_OF_PLANE = 1500


def panels(topology: _core.Topology, table: Table, loads: Loads | None = None) -> list[Panel]:
    """Return the panels of a picture of a machine; `loads`: of its links in a simulation."""
    switches = range(topology.switches)
    if topology.switches == 1:
        return [star(topology, loads)]
    if topology.switches <= MAX_SPOTS and few_links(topology, switches):
        found = switch_coordinates(table, topology.switches)
        return [part(topology, found.places(), switches, "all switches and links", found.in_rows, loads)]
    shown = loads.busiest_switch if loads else 0
    if isinstance(table, FatTree):
        return _tree_panels(topology, table, shown, loads)
    found = switch_coordinates(table, topology.switches)
    if len(found.in_block) > MAX_DOTS:
        return [neighbours(topology, shown, loads)]
    groups = groups_of(table, topology.switches)
    block = _block_of(found, groups, shown)
    places = dict(zip(found.switches_of(block), found.in_block, strict=True))
    title = f"one {found.name}" if loads is None else f"{found.name} {block}"
    full = part(topology, places, found.switches_of(block), title, found.in_rows, loads)
    return [_blocks_panel(found, groups, loads), full] if groups else [full]


def _block_of(found: SwitchCoordinates, groups: Groups | None, switch: int) -> int:
    """Return the block of a switch, also of one beyond those that are drawn."""
    if groups:
        return int(groups.of[switch])
    return 0 if found.members else switch // len(found.in_block)


def _blocks_panel(found: SwitchCoordinates, groups: Groups, loads: Loads | None) -> Panel:
    """The blocks of a large machine, and how many links each two have."""
    kind = "global" if found.name == "group" else "local"
    lines = [Line(a, b, kind, links) for a, b, links in found.between]
    if loads:
        lines = by_load(lines, loads, groups.of)
    if len(lines) > MAX_LINES:
        lines = [line for line in lines if line.start == 0] if loads is None else busiest_of(lines)
    counts = sorted({line.links for line in lines})
    several = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    title = f"{len(found.blocks)} {found.name}s of {len(found.in_block)} switches; a line is {several} links"
    labels = [f"{found.name} {b}" for b in range(len(found.blocks))]
    return Panel(title, list(found.blocks), lines, labels, in_rows=found.name == "plane")


def _tree_panels(topology: _core.Topology, table: FatTree, switch: int, loads: Loads | None) -> list[Panel]:
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
    if loads:
        lines = by_load(lines, loads, _spots_of_tree(pods, sizes, dict(zip(shown, first, strict=True))))
    labels = [f"level {level}: {sizes[level]} switches" for level in shown for _ in range(pods[level])]
    spots = ", ".join(str(sizes[level]) for level in reversed(shown))
    title = f"levels {table.levels - 1} to {shown[0]}, in subtrees: a spot is {spots} switches"
    upper = [Panel(title, levels(widths), lines, labels)] if len(shown) > 1 else []
    return [*upper, _leaf_tree(topology, table, switch, loads)]


def _spots_of_tree(pods: Sequence[int], sizes: Sequence[int], first: dict[int, int]) -> Integers:
    """[switch]: its spot, `first` being that of each level; all switches of the levels that are not shown are one."""
    hidden = sum(pods[level] for level in first)
    spots = [
        first[level] + np.arange(count * size) // size if level in first else np.full(count * size, hidden)
        for level, (count, size) in enumerate(zip(pods, sizes, strict=True))
    ]
    return np.concatenate(spots)


def _leaf_tree(topology: _core.Topology, table: FatTree, switch: int, loads: Loads | None) -> Panel:
    """Two levels of the subtree of a switch; of the first one if the switch is above them."""
    (pods, _), (above, size) = tree_levels(table)[:2]
    each = pods // above
    if each + size > MAX_DOTS:
        return neighbours(topology, switch, loads)
    subtree = switch // each if switch < pods else (switch - pods) // size if switch < pods + above * size else 0
    leaves = range(subtree * each, (subtree + 1) * each)
    switches = [*leaves, *range(pods + subtree * size, pods + (subtree + 1) * size)]
    places = dict(zip(switches, levels([each, size]), strict=True))
    title = f"levels 0 and 1 of {'one subtree' if loads is None else f'subtree {subtree}'}"
    return part(topology, places, switches, title, loads=loads)


def save_map(file: MachineFile, path: Path) -> None:
    """Writes the picture of a machine as SVG, PNG, PDF or HTML, by the name of the file.

    Raises InputError for another kind of file, or where it cannot be written.
    """
    if path.suffix not in SUFFIXES:
        raise InputError(f"picture {path}: a name that ends in {', '.join(SUFFIXES)} is allowed")
    topology = file.machine.topology.build()
    subtitle = f"{topology.describe()}: {topology.switches:,} switches, {topology.nodes:,} nodes"
    save(panels(topology, file.machine.topology), file.machine.title, subtitle, path)
