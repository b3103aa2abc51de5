"""Which node a rank runs on."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError


def nodes(kind, ranks, ranks_per_node, count, seed=1, split=(0, 0)):
    place = _core.Placement(kind, ranks, ranks_per_node, count, seed, split)
    return [place.node(rank) for rank in range(ranks)]


def test_linear_fills_node_after_node():
    assert nodes("linear", 7, 3, 3) == [0, 0, 0, 1, 1, 1, 2]


def test_round_robin_deals_to_the_nodes_it_needs():
    assert nodes("round-robin", 7, 3, 9) == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize("ranks_per_node", [1, 3])
def test_random_uses_each_node_once(ranks_per_node):
    found = nodes("random", 90, ranks_per_node, 100, seed=4)
    assert Counter(Counter(found).values()) == {ranks_per_node: 90 // ranks_per_node}
    assert max(found) < 100
    assert found == nodes("random", 90, ranks_per_node, 100, seed=4)
    assert found != nodes("random", 90, ranks_per_node, 100, seed=5)
    linear = nodes("linear", 90, ranks_per_node, 100)
    assert sum(a == b for a, b in zip(found, linear, strict=True)) < 15


def test_random_reaches_all_nodes():
    hits = Counter(node for seed in range(400) for node in nodes("random", 5, 1, 20, seed))
    assert len(hits) == 20
    assert min(hits.values()) > 50


def test_blocks_are_rectangles_where_all_comes_out_even():
    """8 x 4 ranks, 8 per node: four nodes of 4 x 2; the second band goes back."""
    assert nodes("blocks", 32, 8, 4, split=(8, 4)) == [0] * 4 + [1] * 4 + [0] * 4 + [1] * 4 + (
        [3] * 4 + [2] * 4 + [3] * 4 + [2] * 4
    )


@pytest.mark.parametrize(
    ("ranks", "each", "holders", "count", "expected"),
    [
        (6, 1, (3, 2), 12, [0, 4, 8, 2, 6, 10]),  # a node of each switch
        (7, 1, (3, 2), 12, [0, 4, 8, 2, 6, 10, 1]),  # and then a second
        (2, 1, (4, 1), 8, [0, 4]),  # groups that lie evenly
        (2, 1, (1, 8), 16, [0, 8]),  # switches that do
        (6, 2, (3, 2), 12, [0, 0, 4, 4, 8, 8]),
        (5, 1, (1, 1), 9, [0, 1, 2, 3, 4]),
    ],
)
def test_scattered_deals_ranks_to_groups_and_their_switches(ranks, each, holders, count, expected):
    place = _core.Placement("scattered", ranks, each, count, 1, (0, 0), holders)
    assert [place.node(rank) for rank in range(ranks)] == expected


@given(st.integers(1, 7), st.integers(1, 9), st.integers(1, 4), st.integers(1, 3), st.data())
def test_scattered_is_as_even_as_can_be(groups, switches, nodes_per_switch, each, data):
    count = groups * switches * nodes_per_switch
    ranks = data.draw(st.integers(1, count * each))
    place = _core.Placement("scattered", ranks, each, count, 1, (0, 0), (groups, switches))
    found = Counter(place.node(rank) for rank in range(ranks))
    assert max(found.values()) <= each
    assert sorted(found.values())[1:] == [each] * (len(found) - 1)  # but for the last node
    held = Counter(node // nodes_per_switch for node in found)
    in_groups = Counter(node // nodes_per_switch // switches for node in found)
    assert max(in_groups.values()) - (min(in_groups.values()) if len(in_groups) == groups else 0) <= 1
    for group in range(groups):
        numbers = [held[group * switches + switch] for switch in range(switches)]
        assert max(numbers) - min(numbers) <= 1
        if 0 < sum(numbers) < switches:  # those that hold one are no further apart than they must be
            used = [switch for switch, number in enumerate(numbers) if number]
            gaps = [b - a for a, b in zip(used, [*used[1:], used[0] + switches], strict=True)]
            assert max(gaps) - min(gaps) <= 1


def crossing(place, split, ranks_per_node):
    """Messages between nodes of a periodic halo that reaches no further than the neighbours."""
    halo = _core.Halo(_core.Blocks(_core.Grid(10 * split[0], 10 * split[1], 1), split), 2, (True, True))
    schedule = _core.make_schedule(halo, "direct")
    return sum(
        place[rank] != place[message.peer] for rank in range(schedule.ranks) for message in schedule.sends(rank, 0)
    )


@pytest.mark.parametrize(
    ("split", "ranks_per_node", "linear", "blocks"),
    [
        ((16, 16), 16, 16 * 6 * 16, 16 * (6 * (4 + 4) - 4)),
        ((24, 12), 24, 12 * 6 * 24, 12 * (6 * (6 + 4) - 4)),
    ],
)
def test_fewer_messages_of_a_halo_leave_a_node_of_blocks(split, ranks_per_node, linear, blocks):
    """A whole row on a node: each rank has 6 of its 8 neighbours elsewhere. A rectangle of a x b ranks: 3 neighbours
    beyond an edge for each rank along it, 6 (a + b) in all, less the 4 beyond two edges that are then counted twice."""
    ranks = split[0] * split[1]
    found = [
        crossing(nodes(kind, ranks, ranks_per_node, ranks, split=split), split, ranks_per_node)
        for kind in ("linear", "blocks")
    ]
    assert found == [linear, blocks]


@settings(max_examples=200)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 40))
def test_blocks_fill_the_nodes_that_linear_needs(columns, rows, ranks_per_node):
    ranks, split = columns * rows, (columns, rows)
    needed = -(-ranks // ranks_per_node)
    found = nodes("blocks", ranks, ranks_per_node, needed, split=split)
    held = Counter(found)
    assert [held[node] for node in range(needed - 1)] == [ranks_per_node] * (needed - 1)
    assert held[needed - 1] == ranks - (needed - 1) * ranks_per_node
    assert apart(found, split) <= apart(nodes("linear", ranks, ranks_per_node, needed), split)


def apart(place, split):
    """Pairs of neighbours on two nodes, without periods."""
    columns, rows = split
    pairs = [(i + j * columns, i + 1 + j * columns) for i in range(columns - 1) for j in range(rows)]
    pairs += [(i + j * columns, i + (j + 1) * columns) for i in range(columns) for j in range(rows - 1)]
    return sum(place[a] != place[b] for a, b in pairs)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("linear", 11, 1, 10, 1), "11 ranks with 1 per node need 11 nodes; the machine has 10"),
        (("random", 31, 3, 10, 1), "31 ranks with 3 per node need 11 nodes; the machine has 10"),
        (("liner", 1, 1, 10, 1), "linear, round-robin, random, scattered, blocks"),
        (("scattered", 1, 1, 10, 1), "groups of switches that hold equally many of the 10 nodes"),
        (("scattered", 1, 1, 10, 1, (0, 0), (2, 3)), "groups of switches"),
        (("blocks", 6, 2, 10, 1), "needs ranks that divide a grid"),
        (("linear", 1, 0, 10, 1), "ranks per node"),
    ],
)
def test_what_is_refused(arguments, says):
    with pytest.raises(InputError, match=says):
        _core.Placement(*arguments)
