"""Halos for nodes of many ranks: what goes between nodes, against every halo cell and its owner, one by one."""

from collections import defaultdict

import numpy as np
import pytest
from drawing import TRANSPORTS, halos
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError

FAMILIES = ("two-level", "leaders")


def between_nodes(schedule, size):
    """(sending node, receiving node, points) of all messages between nodes of `size` ranks, and who sends each."""
    found = []
    for stage in range(schedule.stages):
        for rank in range(schedule.ranks):
            for message in schedule.sends(rank, stage):
                if rank // size != message.peer // size:
                    found.append((rank // size, message.peer // size, message.count, rank))
    return found


def points_between_nodes(halo, size):
    """By (owner's node, node): the global points that ranks of the one own and ranks of the other want, each once."""
    layout = halo.layout
    nx, ny, nz = layout.grid.points
    owner = np.empty((nx, ny, nz), int)
    for rank in range(halo.ranks):
        (x0, y0, z0), (x1, y1, z1) = layout.box(rank)
        owner[x0:x1, y0:y1, z0:z1] = rank
    wanted = defaultdict(set)
    for rank in range(halo.ranks):
        for (x0, y0, z0), (x1, y1, z1) in halo.expected(rank):
            for x in {x % nx for x in range(x0, x1)}:
                for y in {y % ny for y in range(y0, y1)}:
                    for z in range(z0, z1):
                        if owner[x, y, z] // size != rank // size:
                            wanted[owner[x, y, z] // size, rank // size].add((x, y, z))
    return {pair: len(points) for pair, points in wanted.items()}


@settings(max_examples=200)
@given(halos(max_ranks=24), st.sampled_from(FAMILIES), st.data())
def test_two_nodes_exchange_one_message_with_each_point_once(halo, family, data):
    size = data.draw(st.integers(min(2, halo.ranks), halo.ranks))
    schedule = _core.make_schedule(halo, f"{family}-{size}")
    found = between_nodes(schedule, size)
    assert sorted(message[:3] for message in found) == sorted(
        (*pair, count) for pair, count in points_between_nodes(halo, size).items()
    )
    if family == "leaders":
        assert all(rank % size == 0 for *_, rank in found)


def torus(split, width=2, part=6, levels=3):
    """Periodic in x and y, parts of part x part points."""
    grid = _core.Grid(split[0] * part, split[1] * part, levels)
    return _core.Halo(_core.Blocks(grid, split), width, (True, True))


@pytest.mark.parametrize(
    ("split", "size", "around"),
    [
        ((16, 8), 4, 8),  # a quarter of a row: nodes on all sides
        ((16, 8), 8, 5),  # half a row: the node to the left is that to the right
        ((16, 8), 16, 2),  # a row: above and below
        ((16, 8), 64, 1),  # half of all rows
        ((4, 16), 8, 2),  # two rows
        ((16, 2), 4, 5),  # above is below
    ],
)
def test_a_node_sends_as_many_messages_as_there_are_nodes_around_it(split, size, around):
    for family in FAMILIES:
        found = between_nodes(_core.make_schedule(torus(split), f"{family}-{size}"), size)
        nodes = split[0] * split[1] // size
        assert [sum(node == message[0] for message in found) for node in range(nodes)] == [around] * nodes


def test_the_ranks_of_a_node_share_out_the_nodes_around():
    """Each of 8 ranks of an inner node carries one or two messages, each edge another rank's; leaders carry all 8."""
    first = (4 * 3 + 1) * 8
    for family, maximum in (("two-level", 2), ("leaders", 8)):
        schedule = _core.make_schedule(torus((32, 8)), f"{family}-8")
        sent = {rank: [m.count for m in schedule.sends(rank, 1)] for rank in range(first, first + 8)}
        assert sum(map(len, sent.values())) == 8
        assert max(map(len, sent.values())) == maximum
        if family == "two-level":
            corner = 2 * 2 * 3
            assert sum(any(count > corner for count in counts) for counts in sent.values()) == 4


def test_parts_narrower_than_the_halo_go_to_a_node_once_and_not_to_each_rank():
    """A row of 8 ranks of 6 x 6 points is a node; 13 points up and down are 13 rows of 48, whoever wants them."""
    halo = torus((8, 8), width=13, levels=1)
    found = between_nodes(_core.make_schedule(halo, "two-level-8"), 8)
    assert sum(message[2] for message in found if message[0] == 3) == 2 * 13 * 48
    straight = between_nodes(_core.make_schedule(halo, "direct"), 8)
    each = sum(message[2] for message in straight if message[0] == 3)
    assert each == 2 * 13 * 8 * (6 + 2 * 13)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", [1, 24])
def test_with_one_rank_a_node_or_one_node_all_goes_straight(family, size):
    halo = torus((6, 4), width=3)
    schedule, direct = (_core.make_schedule(halo, name) for name in (f"{family}-{size}", "direct"))
    assert schedule.stages == 1
    for rank in range(24):
        sent = [sorted((m.peer, m.count) for m in s.sends(rank, 0)) for s in (schedule, direct)]
        assert sent[0] == sent[1]


def test_a_million_ranks_are_asked_without_storing_them():
    """The middle node of 64 ranks in a row: neighbours above and below it, to its sides and at its corners."""
    schedule = _core.make_schedule(torus((1024, 1024), levels=1), "two-level-64")
    first = 512 * 1024 + 512
    peers = [m.peer // 64 - first // 64 for rank in range(first, first + 64) for m in schedule.sends(rank, 1)]
    assert sorted(peers) == [-17, -16, -15, -1, 1, 15, 16, 17]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_seam_through_a_node_that_is_its_own_neighbour(family, transport):
    """Two nodes of 3 and 2 ranks, 5 ranks around a circle; halos that go around it more than twice."""
    halo = _core.Halo(_core.Blocks(_core.Grid(10, 4, 2), (5, 1)), 23, (True, True))
    verified = _core.verify(_core.make_schedule(halo, f"{family}-3"), transport)
    assert verified.messages > 0


def test_more_ranks_than_a_stage_can_hold_are_refused():
    far = _core.Halo(_core.Blocks(_core.Grid(100, 100, 1), (100, 100)), 1 << 20, (True, True))
    for family in FAMILIES:
        with pytest.raises(InputError, match=f"{family}-4: .* use sweep"):
            _core.make_schedule(far, f"{family}-4")
