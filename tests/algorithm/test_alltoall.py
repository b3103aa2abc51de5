"""The all-to-all algorithms: right for any two layouts, and with the stages and bytes of the closed forms."""

import math
from collections import Counter

import pytest
from drawing import TRANSPORTS, algorithm_names, ceil_log, slab_transposes, transposes
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError


@settings(max_examples=150)
@given(transposes(), st.data())
def test_every_algorithm_and_radix_moves_any_layout_to_any_other(transpose, data):
    for name in algorithm_names(transpose):
        _core.verify(_core.make_schedule(transpose, name), data.draw(st.sampled_from(TRANSPORTS)))


@settings(max_examples=60)
@given(slab_transposes(), st.sampled_from(TRANSPORTS))
def test_every_algorithm_and_radix_is_right_for_slabs(transpose, transport):
    for name in algorithm_names(transpose):
        _core.verify(_core.make_schedule(transpose, name), transport)


def row_of(n, points=41):
    """A transposition within one row of n ranks."""
    grid = _core.Grid(max(n, points), 3, max(n, points) + 1)
    return _core.Transpose(_core.Blocks(grid, (n, 1), "xy"), _core.Blocks(grid, (n, 1), "zy"))


@pytest.mark.parametrize("n", [*range(1, 41), 64, 100])
def test_stages_are_those_of_the_closed_forms(n):
    transpose = row_of(n)

    def stages(name):
        return _core.make_schedule(transpose, name).stages

    for k in range(1, max(2, n)):
        assert stages(f"ring-{k}") == max(1, math.ceil((n - 1) / k))
    assert stages("burst") == 1
    power_of_two = n & (n - 1) == 0
    assert stages("pairwise") == (max(1, n - 1) if power_of_two else n)
    assert stages("bruck") == max(1, ceil_log(2, n))


@pytest.mark.parametrize("n", [2, 3, 7, 8, 13, 16])
def test_all_but_bruck_send_each_block_once(n):
    transpose = row_of(n)
    wanted = sum(transpose.block_volume(s, r) for s in range(n) for r in range(n) if s != r)
    for name in ("ring-1", f"ring-{n - 1}", "burst", "pairwise"):
        verified = _core.verify(_core.make_schedule(transpose, name), "isend-irecv")
        assert (verified.messages, verified.points) == (n * (n - 1), wanted)


@pytest.mark.parametrize("n", [2, 3, 6, 8, 13, 16, 37])
def test_bruck_sends_one_message_a_rank_and_stage_with_the_blocks_whose_distance_has_the_bit(n):
    transpose = row_of(n)
    schedule = _core.make_schedule(transpose, "bruck")
    for stage in range(schedule.stages):
        hop = 2**stage
        for rank in range(n):
            (message,) = schedule.sends(rank, stage)
            blocks = [
                ((rank - distance % hop) % n, (rank - distance % hop + distance) % n)
                for distance in range(n)
                if distance & hop
            ]
            assert message.peer == (rank + hop) % n
            assert message.count == sum(transpose.block_volume(s, r) for s, r in blocks)


@pytest.mark.parametrize("n", [4, 8, 32])
def test_pairwise_partners_send_to_each_other_where_n_is_a_power_of_two(n):
    schedule = _core.make_schedule(row_of(n), "pairwise")
    for stage in range(schedule.stages):
        for rank in range(n):
            (sent,), (received,) = schedule.sends(rank, stage), schedule.receives(rank, stage)
            assert sent.peer == received.peer == rank ^ (stage + 1)


@pytest.mark.parametrize(("n", "k"), [(8, 3), (13, 4), (7, 6)])
def test_ring_goes_outward_k_ranks_a_stage(n, k):
    schedule = _core.make_schedule(row_of(n), f"ring-{k}")
    for stage in range(schedule.stages):
        distances = range(stage * k + 1, min((stage + 1) * k, n - 1) + 1)
        for rank in range(n):
            assert [m.peer for m in schedule.sends(rank, stage)] == [(rank + d) % n for d in distances]
            assert [m.peer for m in schedule.receives(rank, stage)] == [(rank - d) % n for d in distances]


@settings(max_examples=100)
@given(slab_transposes(), st.data())
def test_two_level_sends_one_message_between_two_nodes(transpose, data):
    """Whatever the node, the group and their edges: by the pairs of ranks, counted one by one."""
    size = data.draw(st.integers(1, transpose.ranks))
    wanted: Counter[tuple[int, int, int]] = Counter()
    for sender in range(transpose.ranks):
        receivers = transpose.receivers(sender)
        for receiver in receivers:
            if sender // size != receiver // size:
                wanted[min(receivers), sender // size, receiver // size] += transpose.block_volume(sender, receiver)
    schedule = _core.make_schedule(transpose, f"two-level-{size}")
    found = []
    for stage in range(schedule.stages):
        for rank in range(transpose.ranks):
            group = min(transpose.receivers(rank))
            for message in schedule.sends(rank, stage):
                if rank // size != message.peer // size:
                    found.append(((group, rank // size, message.peer // size), message.count))
    assert sorted(found) == sorted(wanted.items())


@pytest.mark.parametrize(("nodes", "size"), [(2, 2), (3, 2), (4, 3), (7, 2), (9, 4), (1, 5), (6, 1)])
def test_two_level_of_even_nodes(nodes, size):
    """Between nodes each rank deals with one node per stage."""
    schedule = _core.make_schedule(row_of(nodes * size), f"two-level-{size}")
    exchanges = math.ceil((nodes - 1) / size)
    inside = {1: 0}.get(size, 1 if nodes == 1 else 2)
    assert schedule.stages == exchanges + inside
    first = 1 if size > 1 else 0
    for stage in range(schedule.stages):
        between = first <= stage < first + exchanges
        for rank in range(schedule.ranks):
            sends = schedule.sends(rank, stage)
            assert len(sends) <= (1 if between else size - 1)
            assert all((m.peer // size != rank // size) == between for m in sends)


@pytest.mark.parametrize(("split", "size"), [((4, 5), 4), ((4, 5), 3), ((3, 8), 1), ((1, 6), 1)])
def test_two_level_is_a_ring_where_each_rank_of_a_column_is_on_a_node_of_its_own(split, size):
    grid = _core.Grid(20, 21, 22)
    columns = _core.Transpose(_core.Blocks(grid, split, "zy"), _core.Blocks(grid, split, "zx"))
    two_level, ring = (_core.make_schedule(columns, name) for name in (f"two-level-{size}", "ring-1"))
    assert two_level.stages == ring.stages
    for stage in range(ring.stages):
        for rank in range(ring.ranks):
            sent = [[(m.peer, m.count) for m in s.sends(rank, stage)] for s in (two_level, ring)]
            assert sent[0] == sent[1]


@pytest.mark.parametrize("name", ["bruck", "two-level-2"])
def test_what_is_passed_on_is_refused_where_ranks_have_nothing_for_each_other(name):
    grid = _core.Grid(12, 12, 12)
    transpose = _core.Transpose(_core.Blocks(grid, (4, 1), "xy"), _core.Blocks(grid, (2, 2), "xy"))
    with pytest.raises(InputError, match="use ring-k, pairwise or burst"):
        _core.make_schedule(transpose, name)
