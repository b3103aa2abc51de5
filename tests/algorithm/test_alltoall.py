"""The all-to-all algorithms: right for any two layouts, and with the stages and bytes of the closed forms."""

import math

import pytest
from drawing import TRANSPORTS, algorithm_names, ceil_log, slab_transposes, transposes
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.errors import InputError


@settings(max_examples=150)
@given(transposes(), st.data())
def test_every_algorithm_and_radix_moves_any_layout_to_any_other(transpose, data):
    for name in algorithm_names(transpose):
        if name == "bruck" and not transpose.complete:
            continue
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


def test_bruck_is_refused_where_ranks_have_nothing_for_each_other():
    grid = _core.Grid(12, 12, 12)
    transpose = _core.Transpose(_core.Blocks(grid, (4, 1), "xy"), _core.Blocks(grid, (2, 2), "xy"))
    with pytest.raises(InputError, match="use ring-k, pairwise or burst"):
        _core.make_schedule(transpose, "bruck")
