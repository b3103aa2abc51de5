"""Every topology against its own graph: reverse links, degrees, distances."""

from collections import Counter, deque

import pytest

from tradewind import _core
from tradewind.errors import InputError
from tradewind.machine import load_machine, machine_names

TORUSES = [((n,), 1) for n in (1, 2, 3, 5, 8)] + [
    ((2, 2), 1),
    ((1, 4), 3),
    ((4, 1, 3), 2),
    ((3, 4, 5), 1),
    ((2, 3, 2, 3), 2),
    ((1, 1), 4),
]
FATTREES = [(1, 2), (1, 5), (2, 2), (2, 3), (3, 2), (3, 4), (4, 3), (5, 2)]
# rows, columns, groups, nodes a switch, global links: one switch a group, one row, groups that divide no links evenly.
DRAGONFLIES = [
    (1, 1, 1, 3, 0),
    (3, 4, 1, 2, 2),
    (1, 1, 4, 1, 3),
    (1, 1, 4, 1, 7),
    (1, 5, 2, 2, 1),
    (2, 3, 4, 2, 1),
    (2, 3, 4, 2, 2),
    (2, 2, 9, 1, 2),
    (3, 3, 7, 1, 3),
    (4, 1, 5, 2, 3),
    (2, 5, 11, 1, 1),
]
TOPOLOGIES = (
    [_core.Torus(list(shape), nodes) for shape, nodes in TORUSES]
    + [_core.FatTree(*size) for size in FATTREES]
    + [_core.Dragonfly(*size) for size in DRAGONFLIES]
    + [_core.Crossbar(n) for n in (1, 2, 7)]
)


def links(topology, switches=None):
    """(kind, switch, port, other switch, other port) of all ports that lead to a switch."""
    for switch in range(topology.switches) if switches is None else switches:
        for port in range(topology.radix):
            kind, other, other_port = topology.port(switch, port)
            if kind in ("local", "global"):
                yield kind, switch, port, other, other_port


def distances(topology, start, global_links):
    """Links on a shortest path from a switch to every other, with at most so many global ones."""
    neighbours = {}
    for kind, switch, _, other, _ in links(topology):
        neighbours.setdefault(switch, set()).add((kind, other))
    reached, queue = {(start, 0): 0}, deque([(start, 0)])
    while queue:
        switch, crossed = at = queue.popleft()
        for kind, other in neighbours.get(switch, ()):
            to = (other, crossed + (kind == "global"))
            if to[1] <= global_links and to not in reached:
                reached[to] = reached[at] + 1
                queue.append(to)
    shortest: dict[int, int] = {}
    for (switch, _), length in reached.items():
        shortest[switch] = min(length, shortest.get(switch, length))
    return shortest


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda t: t.describe())
def test_every_link_has_one_reverse(topology):
    ends = [(other, other_port) for _, _, _, other, other_port in links(topology)]
    assert len(set(ends)) == len(ends), "two links arrive at one port"
    for kind, switch, port, other, other_port in links(topology):
        assert other != switch
        assert 0 <= other < topology.switches
        assert 0 <= other_port < topology.radix
        assert topology.port(other, other_port) == (kind, switch, port)


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda t: t.describe())
def test_nodes_hang_on_the_first_switches(topology):
    terminals = [
        (switch, port)
        for switch in range(topology.switches)
        for port in range(topology.radix)
        if topology.port(switch, port)[0] == "terminal"
    ]
    first, each = topology.first_terminal, topology.nodes_per_switch
    assert terminals == [(node // each, first + node % each) for node in range(topology.nodes)]


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=lambda t: t.describe())
def test_distance_is_the_length_of_a_shortest_path(topology):
    """Of a dragonfly: of those with at most one global link (two can be shorter, but no minimal routing takes them)."""
    most = 1 if topology.name == "dragonfly" else topology.switches
    for start in range(topology.switches):
        shortest = distances(topology, start, most)
        assert len(shortest) == topology.switches, "not connected"
        for to, length in shortest.items():
            assert sum(topology.distance(start, to)) == length, (start, to)


@pytest.mark.parametrize(("shape", "nodes"), TORUSES)
def test_a_torus_switch_has_two_links_along_every_dimension(shape, nodes):
    torus = _core.Torus(list(shape), nodes)
    degrees = Counter(switch for _, switch, _, _, _ in links(torus))
    expected = 2 * sum(n > 1 for n in shape)
    assert [degrees[s] for s in range(torus.switches)] == [expected] * torus.switches


@pytest.mark.parametrize(("levels", "k"), FATTREES)
def test_a_fat_tree_has_full_bandwidth_at_every_level(levels, k):
    tree = _core.FatTree(levels, k)
    width = k ** (levels - 1)
    assert (tree.switches, tree.nodes) == (levels * width, k**levels)
    up = Counter(switch // width for _, switch, _, other, _ in links(tree) if other // width == switch // width + 1)
    down = Counter(switch // width for _, switch, _, other, _ in links(tree) if other // width == switch // width - 1)
    assert up == {level: width * k for level in range(levels - 1)}
    assert down == {level: width * k for level in range(1, levels)}


@pytest.mark.parametrize(("rows", "columns", "groups", "nodes", "global_links"), DRAGONFLIES)
def test_a_dragonfly_joins_all_pairs_of_groups_alike(rows, columns, groups, nodes, global_links):
    dragonfly = _core.Dragonfly(rows, columns, groups, nodes, global_links)
    size = rows * columns
    pairs = Counter((s // size, o // size) for kind, s, _, o, _ in links(dragonfly) if kind == "global")
    expected = size * global_links // (groups - 1) if groups > 1 else 0
    assert pairs == {(a, b): expected for a in range(groups) for b in range(groups) if a != b and expected}
    local = Counter(s for kind, s, _, _, _ in links(dragonfly) if kind == "local")
    assert all(local[s] == rows + columns - 2 for s in range(dragonfly.switches))
    # No switch has more than one global link more than another, but for those that no pair uses.
    per_switch = Counter(s for kind, s, _, _, _ in links(dragonfly) if kind == "global")
    counts = [per_switch[s] for s in range(dragonfly.switches)]
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: _core.Torus([], 1), "1 to 6 dimensions"),
        (lambda: _core.Torus([2] * 7, 1), "1 to 6 dimensions"),
        (lambda: _core.Torus([1025], 1), "1 to 1024"),
        (lambda: _core.Torus([0, 3], 1), "1 to 1024"),
        (lambda: _core.Torus([2], 0), "nodes a switch"),
        (lambda: _core.Torus([1024, 1024, 1024], 8), "too large"),
        (lambda: _core.FatTree(0, 4), "levels"),
        (lambda: _core.FatTree(17, 2), "levels"),
        (lambda: _core.FatTree(3, 1), "descendant ports"),
        (lambda: _core.FatTree(10, 100), "too large"),
        (lambda: _core.Dragonfly(2, 2, 9, 1, 1), "do not reach"),
        (lambda: _core.Dragonfly(1024, 2, 2, 1, 1), "at most"),
        (lambda: _core.Dragonfly(0, 2, 2, 1, 1), "1 or more"),
        (lambda: _core.Dragonfly(1, 1, 3, 1, 20000), "global links"),
        (lambda: _core.Crossbar(0), "1 or more"),
    ],
)
def test_refuses_what_cannot_be_built(make, says):
    with pytest.raises(InputError, match=says):
        make()


# Table 1 of Zheng & Marguinaud (2018), with the switch counts that its geometries really have.
TABLE_1 = {
    "torus-M": (15625, 390625),
    "fattree-M": (62500, 390625),
    "dragonfly-MM": (15625, 390625),
    "dragonfly-SL": (78125, 390625),
    "dragonfly-LS": (78125, 390625),
    "torus-L": (46875, 1171875),
    "fattree-L": (143748, 1185921),
    "dragonfly-ML": (46875, 1171875),
}


def test_the_shipped_machines_are_those_of_table_1():
    assert sorted(TABLE_1) == [name for name in machine_names() if name in TABLE_1]


@pytest.mark.parametrize("name", TABLE_1)
def test_a_shipped_network_has_the_size_of_table_1(name):
    topology = load_machine(name).machine.build().topology
    assert (topology.switches, topology.nodes) == TABLE_1[name]
    if topology.name == "fattree":  # the paper counts the levels above the lowest
        assert TABLE_1[name][0] * 3 // 4 == {"fattree-M": 46875, "fattree-L": 107811}[name]
    sample = range(7, topology.switches, topology.switches // 40)
    seen = 0
    for kind, switch, port, other, other_port in links(topology, sample):
        assert topology.port(other, other_port) == (kind, switch, port)
        seen += 1
    assert seen >= 40 * 6
