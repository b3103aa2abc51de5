"""Maps of machines: every link of a small one is drawn once; large ones are shown as blocks, quickly."""

import math
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest
from networks import PETERSEN
from pictures import Svg, png
from slow_tests import slow

from tradewind.base.errors import InputError
from tradewind.machine import load_machine, machine_names
from tradewind.machine.shapes import lattice, square
from tradewind.machine.switch_coordinates import switch_coordinates
from tradewind.machine.topology import TOPOLOGIES
from tradewind.plot.machine_map import panels, save_map
from tradewind.plot.panels import links_of
from tradewind.plot.svg import Line, draw


def table(kind, **parameters):
    return TOPOLOGIES[kind](kind=kind, **parameters)


SMALL = [
    table("torus", shape=[2], nodes_per_switch=1),
    table("torus", shape=[12], nodes_per_switch=2),
    table("torus", shape=[4, 5, 3], nodes_per_switch=1),
    table("torus", shape=[2, 2, 3, 2], nodes_per_switch=1),
    table("torus", shape=[1, 1], nodes_per_switch=3),
    table("fattree", levels=3, down_ports=4),
    table("fattree", levels=1, down_ports=5),
    table("fattree", levels=3, down_ports=[4, 3, 2], up_ports=[2, 3]),
    table("dragonfly", rows=3, columns=4, groups=7, nodes_per_switch=2, global_links=2),
    table("dragonfly", rows=1, columns=4, groups=2, nodes_per_switch=2, global_links=3),
    table("dragonfly", rows=3, columns=2, groups=1, nodes_per_switch=1, global_links=0),
    table("dragonflyplus", leaves=3, spines=4, groups=5, nodes_per_switch=2, global_links=2),
    table("dragonflyplus", leaves=3, spines=2, groups=1, nodes_per_switch=2, global_links=0),
    table("hyperx", shape=[4, 3, 3], links=[2, 1, 1], nodes_per_switch=1),
    table("complete", switches=7, links=3, nodes_per_switch=1),
    table("hypercube", dimensions=5, nodes_per_switch=2),
    table("slimfly", q=5, nodes_per_switch=3),
    table("cubemesh", gpu="V100"),
    table("cubemesh", gpu="P100", boxes=3),
    table("graph", file=PETERSEN, nodes_per_switch=2),
    table("graph", file=PETERSEN, nodes_per_switch=1, node_switches=4),
]
LARGE = [
    (table("torus", shape=[30, 30, 3], nodes_per_switch=1), 900),
    (table("torus", shape=[30, 30, 2, 2], nodes_per_switch=1), 900),
    (table("torus", shape=[1000, 2, 3], nodes_per_switch=1), 1000),
    (table("dragonfly", rows=8, columns=20, groups=9, nodes_per_switch=1, global_links=3), 160),
    (table("dragonfly", rows=8, columns=9, groups=8, nodes_per_switch=1, global_links=9), 72),
    (table("dragonflyplus", leaves=30, spines=20, groups=13, nodes_per_switch=1, global_links=6), 50),
    *slow((table("hyperx", shape=[30, 20, 4, 3], links=[1, 1, 2, 3], nodes_per_switch=1), 600)),
    (table("hypercube", dimensions=11, links=2, nodes_per_switch=1), 512),
    (table("slimfly", q=19, nodes_per_switch=1), 19),
]


def all_links(topology):
    """Return the number of links per pair of switches."""
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
    assert len({(line.start, line.end, line.parallel) for line in panel.lines}) == len(panel.lines)
    hosts = topology.nodes // topology.nodes_per_switch
    if topology.switches > 1:
        assert panel.hollow == set(range(hosts, topology.switches))
    drawing = ElementTree.fromstring(draw([panel], "a & b", "<c>"))
    paths = [path.get("d") for path in drawing.iter() if "link" in path.get("class", "").split()]
    assert len(set(paths)) == len(panel.lines), "links that hide each other"
    circles = [(c.get("cx"), c.get("cy")) for c in drawing.iter() if c.get("class") == "spot"]
    assert len(set(circles)) == len(panel.spots)


def test_a_crossbar_is_drawn_with_its_nodes():
    crossbar = table("crossbar", nodes=7)
    (panel,) = panels(crossbar.build(), crossbar)
    assert (len(panel.spots), len(panel.lines)) == (8, 7)


@pytest.mark.parametrize(("table", "size"), LARGE, ids=str)
def test_lines_between_blocks_count_their_links(table, size):
    topology = table.build()
    blocks, inside = panels(topology, table)
    assert len(inside.spots) == size
    found = switch_coordinates(table, topology.switches)
    block_of = {switch: block for block in range(len(found.blocks)) for switch in found.switches_of(block)}
    assert sorted(block_of) == list(range(topology.switches))
    between = Counter()
    for (a, b), count in all_links(topology).items():
        if block_of[a] != block_of[b]:
            between[tuple(sorted((block_of[a], block_of[b])))] += count
    assert {(line.start, line.end): line.links for line in blocks.lines} == between
    assert len(blocks.lines) == len(between)


@pytest.mark.parametrize(
    ("ports", "levels", "leaf_tree"),
    [
        ({"down_ports": 12}, [(1, 12**3), (12, 144), (144, 12), (1728, 1)], (12, 12)),
        ({"down_ports": [20, 18, 6, 5], "up_ports": [10, 4, 3]}, [(1, 120), (5, 40), (30, 10), (540, 1)], (18, 10)),
    ],
)
def test_a_large_fat_tree_is_drawn_from_its_top_and_as_one_leaf_tree(ports, levels, leaf_tree):
    tree = table("fattree", levels=4, **ports)
    topology = tree.build()
    assert sum(pods * size for pods, size in levels) == topology.switches
    upper, leaf = panels(topology, tree)
    shown = [level for level in reversed(levels) if level[0] <= 1500]
    assert len(upper.spots) == sum(pods for pods, _ in shown)
    _, up = tree.ports()
    links = [pods * size * up[i] for i, (pods, size) in enumerate(reversed(levels)) if i < 3]
    assert sum(line.links for line in upper.lines) == sum(links[len(levels) - len(shown) :])
    below, above = leaf_tree
    assert Counter((line.start, line.end) for line in leaf.lines) == {
        (a, below + b): 1 for a in range(below) for b in range(above)
    }
    assert leaf.hollow == set(range(below, below + above))


def test_where_all_links_are_too_many_those_of_one_switch_are_drawn():
    dragonfly = table("dragonfly", rows=40, columns=40, groups=3, nodes_per_switch=1, global_links=1)
    _, group = panels(dragonfly.build(), dragonfly)
    assert len(group.spots) == 1600
    assert len(group.lines) == 39 + 39
    assert {line.start for line in group.lines} == {800}
    assert "the links of one" in group.title
    complete = table("complete", switches=500, nodes_per_switch=1)
    (panel,) = panels(complete.build(), complete)
    assert (len(panel.spots), len(panel.lines)) == (500, 499)


def test_a_graph_with_a_crowd_and_a_tail_is_drawn_in_part(tmp_path):
    """The switch in the middle has two links, of others there are too many to draw."""
    links = [(a, b) for b in range(150) for a in range(b)] + [(s, s + 1) for s in range(149, 799)]
    file = tmp_path / "lollipop.links"
    file.write_text("".join(f"{a} {b}\n" for a, b in links))
    graph = table("graph", file=str(file), nodes_per_switch=1)
    (panel,) = panels(graph.build(), graph)
    assert (len(panel.spots), len(panel.lines)) == (800, 2)


GIANTS = [
    table("torus", shape=[1024, 1024, 100], nodes_per_switch=1),
    table("torus", shape=[4] * 6, nodes_per_switch=1),
    table("fattree", levels=7, down_ports=10),
    table("fattree", levels=2, down_ports=3000),
    table("dragonfly", rows=30, columns=30, groups=9000, nodes_per_switch=1, global_links=10),
    table("dragonflyplus", leaves=100, spines=100, groups=9000, nodes_per_switch=1, global_links=100),
    table("hyperx", shape=[40, 40, 40, 40], nodes_per_switch=1),
    table("complete", switches=30_000, nodes_per_switch=1),
    table("hypercube", dimensions=24, nodes_per_switch=1),
    table("slimfly", q=101, nodes_per_switch=1),
    *slow(table("cubemesh", gpu="P100", boxes=200)),
]


@pytest.mark.parametrize("giant", GIANTS, ids=str)
def test_giants_are_drawn_in_part(giant):
    found = panels(giant.build(), giant)
    for panel in found:
        assert 1 < len(panel.spots) <= 20_000
        assert 0 < len(panel.lines) <= 4000
        assert all(0 <= end < len(panel.spots) for line in panel.lines for end in (line.start, line.end))
    assert len(draw(found, "title", "subtitle")) < 2_000_000


def test_no_two_switches_stand_on_one_place():
    for points in (lattice([3, 4, 5, 2, 3, 2]), lattice([24, 2, 3, 2]), square(17), square(30, 10)):
        assert len({(round(x, 6), round(y, 6)) for x, y in points}) == len(points)
        assert all(abs(c) <= 1 + 1e-9 for point in points for c in point)
    for small in SMALL:
        places = list(switch_coordinates(small, small.build().switches).places().values())
        assert len(places) == small.build().switches
        assert min((math.dist(a, b) for a in places for b in places if a is not b), default=1) > 1e-3


@pytest.mark.parametrize("name", machine_names())
def test_every_machine_that_comes_along_is_drawn(name, tmp_path):
    save_map(load_machine(name), tmp_path / "map.svg")
    text = (tmp_path / "map.svg").read_text()
    picture = Svg(tmp_path / "map.svg")
    assert picture.shapes()["path"] + picture.shapes()["circle"] >= 2  # a link and a switch at least
    assert any("switch" in line for line in picture.texts)
    numbers = [float(n) for n in re.findall(r'c[xy]="([-0-9.]+)"', text)]
    assert all(0 <= n <= 1500 for n in numbers)


def test_pictures_of_all_kinds_are_written(tmp_path):
    file = load_machine("torus-M", {"topology.shape": "[3, 3]"})
    for name in ("m.svg", "m.png", "m.pdf", "m.html"):
        save_map(file, tmp_path / name)
    picture = Svg(tmp_path / "m.svg")
    assert picture.shapes()["circle"] == 9  # switches
    assert picture.texts[-1] == "all switches and links: 9 switches, 18 links"
    switches = [
        tuple(float(each.attrib[key]) for key in ("cx", "cy")) for each in picture.elements if "cx" in each.attrib
    ]
    assert len({x for x, _ in switches}) == len({y for _, y in switches}) == 3
    pixels = png(tmp_path / "m.png")
    width, height = picture.size
    assert pixels.shape[0] / pixels.shape[1] == pytest.approx(height / width, rel=0.01)
    scale = pixels.shape[1] / width
    for x, y in switches:
        assert tuple(pixels[round(y * scale), round(x * scale), :3]) != (255, 255, 255), "a switch that is not drawn"
    page = (tmp_path / "m.html").read_text()
    assert page.count("<circle") == 9
    assert page.count("<title>link between switch ") == 18, "links are named by their ends"
    assert not re.search(r'(src|href)="https?:', page), "the page opens offline"
    box = re.search(rb"/MediaBox *\[([^]]*)\]", (tmp_path / "m.pdf").read_bytes())
    left, bottom, right, top = map(float, box[1].split())
    assert (right - left) / (top - bottom) == pytest.approx(width / height, rel=0.01)


def test_a_name_or_place_that_cannot_be_is_refused(tmp_path):
    file = load_machine("torus-M")
    with pytest.raises(InputError, match=r"a name that ends in \.svg"):
        save_map(file, tmp_path / "m.txt")
    with pytest.raises(InputError, match="there is no folder"):
        save_map(file, tmp_path / "missing" / "m.svg")
