"""Topologies against what is published of them, and against the graphs of networkx."""

import math
from collections import Counter

import networkx
import pytest
from networks import NETWORKS, build
from wiring import graph, links

from tradewind import _core


@pytest.mark.parametrize("q", [3, 4, 5, 7, 8, 9, 11, 13])
def test_a_slim_fly_has_the_published_size_and_diameter(q):
    """Besta & Hoefler 2014, section II.B: 2 q^2 switches of (3 q - d) / 2 links, diameter 2."""
    fly = _core.SlimFly(q, 1)
    network = graph(fly)
    delta = (q + 1) % 4 - 1
    assert fly.switches == 2 * q * q
    assert {degree for _, degree in network.degree} == {(3 * q - delta) // 2}
    assert networkx.diameter(network) == 2


def test_the_slim_fly_of_q_5_is_the_hoffman_singleton_graph():
    assert networkx.is_isomorphic(graph(_core.SlimFly(5, 1)), networkx.hoffman_singleton_graph())


def test_the_slim_fly_of_q_19_is_the_example_of_its_paper():
    """Besta & Hoefler 2014: 722 switches of 29 links, with 15 nodes each 10,830 nodes."""
    fly = _core.SlimFly(19, 15)
    assert (fly.switches, fly.first_terminal, fly.nodes) == (722, 29, 10830)


def test_a_hypercube_and_a_complete_graph_are_those_of_networkx():
    cube = graph(_core.Hypercube(5, 2, 1))
    assert networkx.is_isomorphic(cube, networkx.hypercube_graph(5))
    complete = _core.Complete(7, 3, 2)
    assert networkx.is_isomorphic(graph(complete), networkx.complete_graph(7))
    assert len(list(links(complete))) == 7 * 6 * 3


def cut(topology, half):
    """Links from one half of the switches to the other."""
    return sum(half(switch) and not half(other) for _, switch, _, other, _ in links(topology))


def test_bisections_are_the_published_ones():
    """Dally & Towles 2004, section 3.2: links cut by the middle of one dimension."""
    assert cut(_core.Hypercube(6, 1, 1), lambda s: s < 32) == 2**5
    assert cut(_core.Complete(10, 2, 1), lambda s: s < 5) == 2 * 5 * 5
    assert cut(_core.Torus([4, 4, 6], 1), lambda s: s < 48) == 2 * 4 * 4
    # Ahn et al. 2009, section 3: S^2 / 4 links, times parallel ones, in each of the other dimensions' rows.
    assert cut(_core.HyperX([3, 6], [1, 2], 1), lambda s: s < 9) == 6 * 6 // 4 * 2 * 3


@pytest.mark.parametrize(("down", "up"), [([4, 2], [2]), ([4, 3, 2], [2, 1]), ([2, 3, 4], [3, 5]), ([18, 36], [18])])
def test_a_fat_tree_of_other_port_counts_has_the_published_sizes(down, up):
    """Ohring et al. 1995: level l of an XGFT(h; m_1 ..; w_1 ..) has prod(m_i, i > l) prod(w_i, i <= l) switches."""
    tree = _core.FatTree(down, up)
    widths = [math.prod(down[level + 1 :]) * math.prod(up[:level]) for level in range(len(down))]
    assert (tree.switches, tree.nodes) == (sum(widths), math.prod(down))
    above = [level for level, width in enumerate(widths) for _ in range(width)]
    ups = Counter(above[s] for _, s, _, other, _ in links(tree) if above[other] == above[s] + 1)
    assert ups == {level: widths[level] * up[level] for level in range(len(up))}
    each_up = Counter(s for _, s, _, other, _ in links(tree) if above[other] > above[s])
    assert all(each_up[s] == up[above[s]] for s in range(tree.switches) if above[s] < len(up))


@pytest.mark.parametrize("values", NETWORKS["dragonflyplus"])
def test_a_dragonfly_plus_is_groups_of_two_levels(values):
    plus, groups, spines = build(values), values["groups"], values["spines"]
    leaves = groups * values["leaves"]

    def group(switch):
        return switch // values["leaves"] if switch < leaves else (switch - leaves) // spines

    local = [(s, o) for kind, s, _, o, _ in links(plus) if kind == "local"]
    assert all((s < leaves) != (o < leaves) and group(s) == group(o) for s, o in local)
    assert len(local) == len(set(local)) == 2 * leaves * spines
    pairs = Counter((group(s), group(o)) for kind, s, _, o, _ in links(plus) if kind == "global")
    expected = spines * values["global_links"] // (groups - 1) if groups > 1 else 0
    assert pairs == {(a, b): expected for a in range(groups) for b in range(groups) if a != b and expected}
    assert plus.nodes == leaves * values["nodes_per_switch"]


# `nvidia-smi topo -m` of a DGX-1 with V100 GPUs, its NVLinks.
DGX_1V = """
0 1 1 2 2 0 0 0
1 0 2 1 0 2 0 0
1 2 0 2 0 0 1 0
2 1 2 0 0 0 0 1
2 0 0 0 0 1 1 2
0 2 0 0 1 0 2 1
0 0 1 0 1 2 0 2
0 0 0 1 2 1 2 0
"""


@pytest.mark.parametrize("boxes", [1, 2])
def test_a_cube_mesh_has_the_published_nvlinks(boxes):
    volta = [[int(n) for n in row.split()] for row in DGX_1V.strip().splitlines()]
    for gpu, wiring in (("V100", volta), ("P100", [[min(1, n) for n in row] for row in volta])):
        mesh = _core.CubeMesh(gpu, boxes)
        found = Counter((s, o) for kind, s, _, o, _ in links(mesh) if kind == "local")
        expected = {
            (8 * box + a, 8 * box + b): wiring[a][b]
            for box in range(boxes)
            for a in range(8)
            for b in range(8)
            if wiring[a][b]
        }
        assert found == expected
        assert {sum(row) for row in wiring} == {6 if gpu == "V100" else 4}
    # Without NVLink what is left is a tree, or two with a ring through host and InfiniBand switch.
    rest = graph(mesh, ("global",))
    assert networkx.is_connected(rest)
    assert (mesh.switches, rest.number_of_edges()) == ((13, 12) if boxes == 1 else (27, 32))
