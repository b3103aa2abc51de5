"""Every topology against its own graph: reverse links, degrees, distances."""

from collections import Counter

import networkx
import pytest
from networks import NETWORKS, build
from wiring import graph, links

from tradewind import _core
from tradewind.base.errors import InputError
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
# rows, columns, groups, nodes per switch, global links: one switch per group, one row, groups that divide no links
# evenly.
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
    + [_core.FatTree([k] * levels, [k] * (levels - 1)) for levels, k in FATTREES]
    + [_core.Dragonfly(*size) for size in DRAGONFLIES]
    + [_core.Crossbar(n) for n in (1, 2, 7)]
    + [build(values) for some in NETWORKS.values() for values in some]
)
WITH_GROUPS = {"dragonfly", "dragonflyplus"}


def distances(topology):
    """{from: {to: links on a shortest path}}; where there are groups, with at most one global link."""
    if topology.name not in WITH_GROUPS:
        return dict(networkx.all_pairs_shortest_path_length(graph(topology)))
    before = graph(topology, ("local",))
    after = networkx.relabel_nodes(before, {switch: (switch, "after") for switch in before})
    both = networkx.compose(before.to_directed(), after.to_directed())
    both.add_edges_from((s, (other, "after")) for kind, s, _, other, _ in links(topology) if kind == "global")
    both.add_edges_from(((s, "after"), (s, "there")) for s in before)
    both.add_edges_from((s, (s, "there")) for s in before)
    lengths = dict(networkx.all_pairs_shortest_path_length(both))
    return {a: {b: lengths[a][b, "there"] - 1 for b in before if (b, "there") in lengths[a]} for a in before}


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
def test_links_are_counted_once_each(topology):
    assert 2 * topology.links() == len(list(links(topology)))


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
    """Return paths of a dragonfly with at most one global link: no minimal routing takes two, even if shorter."""
    shortest = distances(topology)
    for start in range(topology.switches):
        assert len(shortest[start]) == topology.switches, "not connected"
        for to, length in shortest[start].items():
            assert sum(topology.distance(start, to)) == length, (start, to)


@pytest.mark.parametrize(("shape", "nodes"), TORUSES)
def test_a_torus_switch_has_two_links_along_every_dimension(shape, nodes):
    torus = _core.Torus(list(shape), nodes)
    degrees = Counter(switch for _, switch, _, _, _ in links(torus))
    expected = 2 * sum(n > 1 for n in shape)
    assert [degrees[s] for s in range(torus.switches)] == [expected] * torus.switches


@pytest.mark.parametrize(("levels", "k"), FATTREES)
def test_a_fat_tree_has_full_bandwidth_at_every_level(levels, k):
    tree = _core.FatTree([k] * levels, [k] * (levels - 1))
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


ARRANGED = {
    # Group 2 of 5: where ports 0 and 1 of switch 0 and of switch 1 lead.
    "spread": [[3, 0], [4, 1]],
    "relative": [[3, 4], [0, 1]],
    "absolute": [[0, 1], [3, 4]],
    "circulant": [[3, 1], [4, 0]],
}


@pytest.mark.parametrize("arrangement", ARRANGED)
def test_global_links_are_arranged_as_published(arrangement):
    """By hand, from the definitions of Camarero et al. (2014) and Hastings et al. (2015)."""
    dragonfly = _core.Dragonfly(1, 2, 5, 1, 2, arrangement)
    first = 2 + 1
    there = [[dragonfly.port(2 * 2 + switch, first + port)[1] // 2 for port in range(2)] for switch in range(2)]
    assert there == ARRANGED[arrangement]


@pytest.mark.parametrize("arrangement", ARRANGED)
@pytest.mark.parametrize(("groups", "each"), [(2, 3), (4, 2), (5, 3), (7, 5)])
def test_every_arrangement_joins_all_pairs_of_groups_alike(arrangement, groups, each):
    for network, size in (
        (_core.Dragonfly(2, 3, groups, 1, each, arrangement), 6),
        (_core.DragonflyPlus(1, 6, groups, 1, each, arrangement), None),
    ):

        def group(switch, size=size):
            return switch // size if size else (switch - groups) // 6

        found = [(s, o) for kind, s, _, o, _ in links(network) if kind == "global"]
        pairs = Counter((group(s), group(o)) for s, o in found)
        expected = 6 * each // (groups - 1)
        assert pairs == {(a, b): expected for a in range(groups) for b in range(groups) if a != b}
        assert max(Counter(s for s, _ in found).values()) <= each


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: _core.Torus([], 1), "1 to 6 dimensions"),
        (lambda: _core.Torus([2] * 7, 1), "1 to 6 dimensions"),
        (lambda: _core.Torus([1025], 1), "1 to 1024"),
        (lambda: _core.Torus([0, 3], 1), "1 to 1024"),
        (lambda: _core.Torus([2], 0), "nodes per switch"),
        (lambda: _core.Torus([1024, 1024, 1024], 8), "too large"),
        (lambda: _core.FatTree([], []), "levels"),
        (lambda: _core.FatTree([2] * 17, [2] * 16), "levels"),
        (lambda: _core.FatTree([2, 1], [1]), "downlinks"),
        (lambda: _core.FatTree([2, 2], [0]), "uplinks"),
        (lambda: _core.FatTree([2, 2], [1, 1]), "all 2 but the top"),
        (lambda: _core.FatTree([100] * 10, [100] * 9), "too large"),
        (lambda: _core.FatTree([2, 2], [2**31]), "too large"),
        (lambda: _core.Dragonfly(2, 2, 9, 1, 1), "do not reach"),
        (lambda: _core.Dragonfly(1024, 2, 2, 1, 1), "at most"),
        (lambda: _core.Dragonfly(0, 2, 2, 1, 1), "1 or more"),
        (lambda: _core.Dragonfly(1, 1, 3, 1, 20000), "global links"),
        (lambda: _core.Dragonfly(1, 2, 3, 1, 2, "palm"), "'palm': spread, relative, absolute, circulant are allowed"),
        (lambda: _core.Crossbar(0), "1 or more"),
        (lambda: _core.DragonflyPlus(2, 2, 6, 1, 2), "do not reach"),
        (lambda: _core.DragonflyPlus(2, 0, 1, 1, 2), "1 or more"),
        (lambda: _core.DragonflyPlus(2, 20000, 1, 1, 2), "at most 16384"),
        (lambda: _core.DragonflyPlus(2**20, 2**14, 2**20, 1, 2**14), "too large"),
        (lambda: _core.HyperX([], [], 1), "1 to 24 dimensions"),
        (lambda: _core.HyperX([2] * 25, [1] * 25, 1), "1 to 24 dimensions"),
        (lambda: _core.HyperX([2, 3], [1], 1), "parallel links for 1 dimensions, but it has 2"),
        (lambda: _core.HyperX([2, 3], [1, 0], 1), "1 to 1024 parallel"),
        (lambda: _core.HyperX([2, 0], [1, 1], 1), "1 to 65536 switches"),
        (lambda: _core.HyperX([2], [1], 0), "nodes per switch"),
        (lambda: _core.HyperX([4096, 4096, 4096], [1, 1, 1], 1), "too large"),
        (lambda: _core.Complete(0, 1, 1), "complete: 1 to 65536 switches"),
        (lambda: _core.Complete(60000, 1, 20000), "complete: too large"),
        (lambda: _core.Hypercube(0, 1, 1), "hypercube: 1 to 24 dimensions"),
        (lambda: _core.Hypercube(2**31, 1, 1), "hypercube: 1 to 24 dimensions"),
        (lambda: _core.SlimFly(6, 1), "q = 6: a power of a prime"),
        (lambda: _core.SlimFly(2, 1), "q = 2: a power of a prime"),
        (lambda: _core.SlimFly(257, 1), "from 3 to 256"),
        (lambda: _core.SlimFly(5, 0), "nodes per switch"),
        (lambda: _core.SlimFly(256, 2**15), "too large"),
        (lambda: _core.CubeMesh("A100", 1), "known: P100, V100"),
        (lambda: _core.CubeMesh("V100", 0), "1 to 256 boxes"),
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
