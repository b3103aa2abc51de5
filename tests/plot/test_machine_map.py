"""Maps of machines: every link of a small one is drawn once; large ones are shown as blocks, quickly."""

import math
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from tradewind.errors import InputError
from tradewind.machine import Crossbar, Dragonfly, FatTree, Torus, load_machine, machine_names
from tradewind.plot.machine_map import Line, links_of, panels, save_map
from tradewind.plot.standing import lattice, square, standing
from tradewind.plot.svg import draw

SMALL = [
    Torus(kind="torus", shape=[2], nodes_per_switch=1),
    Torus(kind="torus", shape=[12], nodes_per_switch=2),
    Torus(kind="torus", shape=[4, 5, 3], nodes_per_switch=1),
    Torus(kind="torus", shape=[2, 2, 3, 2], nodes_per_switch=1),
    Torus(kind="torus", shape=[1, 1], nodes_per_switch=3),
    FatTree(kind="fattree", levels=3, down_ports=4),
    FatTree(kind="fattree", levels=1, down_ports=5),
    Dragonfly(kind="dragonfly", rows=3, columns=4, groups=7, nodes_per_switch=2, global_links=2),
    Dragonfly(kind="dragonfly", rows=1, columns=4, groups=2, nodes_per_switch=2, global_links=3),
    Dragonfly(kind="dragonfly", rows=3, columns=2, groups=1, nodes_per_switch=1, global_links=0),
]
LARGE = [
    (Torus(kind="torus", shape=[30, 30, 3], nodes_per_switch=1), 900),
    (Torus(kind="torus", shape=[30, 30, 2, 2], nodes_per_switch=1), 900),
    (Torus(kind="torus", shape=[1000, 2, 3], nodes_per_switch=1), 1000),
    (Dragonfly(kind="dragonfly", rows=8, columns=20, groups=9, nodes_per_switch=1, global_links=3), 160),
]


def all_links(topology):
    """How many links each two switches have."""
    ends = Counter((s, other) for s in range(topology.switches) for _, other in links_of(topology, s))
    return {pair: count for pair, count in ends.items() if pair[0] < pair[1]}


@pytest.mark.parametrize("table", SMALL, ids=str)
def test_every_link_of_a_small_machine_is_drawn_once(table):
    topology = table.build()
    (panel,) = panels(topology, table)
    if topology.switches == 1:
        assert panel.lines == [Line(0, 1 + node) for node in range(topology.nodes)]
    else:
        assert Counter((line.start, line.end) for line in panel.lines) == all_links(topology)
    assert len({(line.start, line.end, line.turn) for line in panel.lines}) == len(panel.lines)
    hosts = topology.nodes // topology.nodes_per_switch
    if topology.switches > 1:
        assert panel.hollow == set(range(hosts, topology.switches))
    drawing = ElementTree.fromstring(draw([panel], "a & b", "<c>"))
    paths = [path.get("d") for path in drawing.iter() if "link" in path.get("class", "").split()]
    assert len(set(paths)) == len(panel.lines), "links that hide each other"
    circles = [(c.get("cx"), c.get("cy")) for c in drawing.iter() if c.get("class") == "spot"]
    assert len(set(circles)) == len(panel.spots)


def test_a_crossbar_is_drawn_with_its_nodes():
    table = Crossbar(kind="crossbar", nodes=7)
    (panel,) = panels(table.build(), table)
    assert (len(panel.spots), len(panel.lines)) == (8, 7)


@pytest.mark.parametrize(("table", "size"), LARGE, ids=str)
def test_lines_between_blocks_count_their_links(table, size):
    topology = table.build()
    blocks, inside = panels(topology, table)
    between = Counter()
    for (a, b), count in all_links(topology).items():
        if a // size != b // size:
            between[a // size, b // size] += count
    assert {(line.start, line.end): line.links for line in blocks.lines} == between
    assert len(blocks.lines) == len(between)
    assert len(inside.spots) == size


def test_a_large_fat_tree_is_drawn_from_its_top_and_as_one_leaf_tree():
    table = FatTree(kind="fattree", levels=4, down_ports=12)
    upper, leaf = panels(table.build(), table)
    assert len(upper.spots) == 1 + 12 + 144
    assert sorted({line.links for line in upper.lines}) == [12**2, 12**3]
    assert sum(line.links for line in upper.lines) == 2 * 12**4
    assert Counter((line.start, line.end) for line in leaf.lines) == {
        (a, 12 + b): 1 for a in range(12) for b in range(12)
    }


def test_where_all_links_are_too_many_those_of_one_switch_are_drawn():
    table = Dragonfly(kind="dragonfly", rows=40, columns=40, groups=3, nodes_per_switch=1, global_links=1)
    _, group = panels(table.build(), table)
    assert len(group.spots) == 1600
    assert len(group.lines) == 39 + 39
    assert {line.start for line in group.lines} == {800}
    assert "the links of one" in group.title


def test_no_two_switches_stand_on_one_place():
    for points in (lattice([3, 4, 5, 2, 3, 2]), lattice([24, 2, 3, 2]), square(17), square(30, 10)):
        assert len({(round(x, 6), round(y, 6)) for x, y in points}) == len(points)
        assert all(abs(c) <= 1 + 1e-9 for point in points for c in point)
    for table in SMALL:
        places = list(standing(table, table.build().switches).places().values())
        assert len(places) == table.build().switches
        assert min((math.dist(a, b) for a in places for b in places if a is not b), default=1) > 1e-3


@pytest.mark.parametrize("name", machine_names())
def test_every_machine_that_comes_along_is_drawn(name, tmp_path):
    save_map(load_machine(name), tmp_path / "map.svg")
    text = (tmp_path / "map.svg").read_text()
    assert 1000 < len(text) < 2_000_000
    ElementTree.fromstring(text)
    numbers = [float(n) for n in re.findall(r'c[xy]="([-0-9.]+)"', text)]
    assert all(0 <= n <= 1500 for n in numbers)


def test_pictures_of_all_kinds_are_written(tmp_path):
    file = load_machine("torus-M", {"topology.shape": "[3, 3]"})
    for name, start in (("m.svg", b"<svg"), ("m.png", b"\x89PNG"), ("m.pdf", b"%PDF"), ("m.html", b"<!doctype html>")):
        save_map(file, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)


def test_a_name_or_place_that_cannot_be_is_refused(tmp_path):
    file = load_machine("torus-M")
    with pytest.raises(InputError, match=r"a name that ends in \.svg"):
        save_map(file, tmp_path / "m.txt")
    with pytest.raises(InputError, match="No such file or directory"):
        save_map(file, tmp_path / "missing" / "m.svg")
