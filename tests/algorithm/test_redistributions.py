"""All-to-all algorithms between layouts of any closed form: right, free of deadlock, and no more rounds than needed."""

import numpy as np
import pytest
from drawing import TRANSPORTS, algorithm_names, closed_redistributions, owners_of, redistributions
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError

STRAIGHT = ("ring-k", "burst", "pairwise")
"""Algorithms that send blocks straight from their owner before to their owner after."""
even = _core.Parts.even


def algorithms(pattern):
    for entry in _core.algorithms():
        if entry.pattern == "transpose" and entry.name in STRAIGHT:
            minimum, maximum = entry.radices(pattern)
            yield from (
                (f"{entry.name[:-1]}{k}" for k in range(minimum, maximum + 1)) if entry.has_radix else [entry.name]
            )


@settings(max_examples=200)
@given(redistributions(), st.data())
def test_every_algorithm_and_radix_moves_each_point_once(pattern, data):
    before, after = (owners_of(layout) for layout in (pattern.from_layout, pattern.to_layout))
    pairs = set(zip(before.ravel(), after.ravel(), strict=True))
    for name in algorithms(pattern):
        verified = _core.verify(_core.make_schedule(pattern, name), data.draw(st.sampled_from(TRANSPORTS)))
        assert verified.points == (before != after).sum()
        assert verified.messages == sum(s != r for s, r in pairs)


@settings(max_examples=200)
@given(st.one_of(redistributions(), closed_redistributions()), st.data())
def test_algorithms_that_pass_blocks_on_are_right(pattern, data):
    for name in algorithm_names(pattern):
        if name.startswith(("bruck", "two-level")):
            _core.verify(_core.make_schedule(pattern, name), data.draw(st.sampled_from(TRANSPORTS)))


@given(closed_redistributions())
def test_bruck_takes_ceil_log2_stages_of_one_message_each(pattern):
    assert pattern.closed
    schedule, n = _core.make_schedule(pattern, "bruck"), pattern.largest_group
    assert schedule.stages == max(1, (n - 1).bit_length())
    assert _core.verify(schedule, "isend-irecv").messages <= pattern.ranks * schedule.stages


@given(st.one_of(redistributions(), closed_redistributions()), st.integers(1, 12))
def test_two_level_sends_one_message_between_two_nodes_of_a_group(pattern, width):
    width = min(width, pattern.ranks)
    schedule = _core.make_schedule(pattern, f"two-level-{width}")
    between = [
        (pattern.group(rank), rank // width, message.peer // width)
        for stage in range(schedule.stages)
        for rank in range(pattern.ranks)
        for message in schedule.sends(rank, stage)
        if message.count and message.peer // width != rank // width
    ]
    if pattern.closed:  # ranks of several groups on one node each send their own
        assert len(between) == len(set(between))
    else:
        assert len({pair[1:] for pair in between}) == len(between)


@given(redistributions())
def test_a_burst_is_one_stage_in_which_no_rank_is_asked_for_more_than_it_may_meet(pattern):
    schedule = _core.make_schedule(pattern, "burst")
    assert schedule.stages == 1
    for rank in range(pattern.ranks):
        messages = [m for m in schedule.sends(rank, 0) if m.count]
        assert len(messages) == sum(receiver != rank for receiver, _ in pattern.receivers(rank))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
def test_a_row_of_ranks_takes_as_many_stages_as_between_blocks(n):
    grid = _core.Grid(12, 3, 13)
    pair = [_core.Blocks(grid, (n, 1), axes) for axes in ("xy", "zy")]
    one, other = _core.Transpose(*pair), _core.Redistribution(*(_core.Product(blocks) for blocks in pair))
    for k in range(1, max(2, n)):
        first, second = (_core.make_schedule(pattern, f"ring-{k}") for pattern in (one, other))
        assert first.stages == second.stages
        for stage in range(first.stages):
            for rank in range(n):
                mine, theirs = ({(m.peer, m.count) for m in s.sends(rank, stage) if m.count} for s in (first, second))
                assert mine == theirs


def test_fields_on_servers_take_as_many_rounds_as_there_are_senders():
    points, ranks, servers = (8, 6, 10), 14, 2
    grid = _core.Grid(*points)
    model = _core.Product(_core.Blocks(grid, (4, 3))).placed(0, ranks)
    deal = _core.Parts.dealt(np.arange(10, dtype=np.int32) % servers, servers)
    whole = _core.Product(grid, [even(8, 1), even(6, 1), deal], (-1, -1, 0), ranks - servers, ranks, "whole fields")
    pattern = _core.Redistribution(model, whole)
    assert _core.make_schedule(pattern, "ring-1").stages == 12
    assert _core.make_schedule(pattern, "ring-6").stages == 2
    busy = [sum(m.count > 0 for m in _core.make_schedule(pattern, "burst").receives(rank, 0)) for rank in range(ranks)]
    assert busy == [0] * 12 + [12] * 2


def test_bands_cut_elsewhere_take_about_as_many_rounds_as_a_rank_has_partners():
    """Bands of equal numbers of points, whole rows after: neighbours alone meet, however many ranks there are."""
    ranks, rows = 500, 250
    lengths = np.array([20 + 4 * min(i, rows - 1 - i) for i in range(rows)])
    cuts = np.concatenate([[0], np.cumsum(lengths)])
    grid = _core.Grid(int(cuts[-1]), 1, 4)
    bands = _core.Product(grid, [even(int(cuts[-1]), ranks), even(1, 1), even(4, 1)], (0, -1, -1), 0, ranks, "bands")
    whole = _core.Product(grid, [_core.Parts.cut(cuts), even(1, 1), even(4, 2)], (0, -1, 1), 0, ranks, "rows")
    pattern = _core.Redistribution(bands, whole)
    partners = max(len(pattern.senders(rank)) for rank in range(ranks))
    assert partners <= 10
    assert _core.make_schedule(pattern, "ring-1").stages <= 3 * partners


def test_bruck_says_where_senders_and_receivers_differ():
    pair = [
        _core.Product(_core.Blocks(_core.Grid(4, 4, 4), split, axes))
        for split, axes in (((2, 2), "xy"), ((4, 1), "zx"))
    ]
    with pytest.raises(InputError, match=r"senders of each group must be its receivers.* use ring-k, pairwise, burst"):
        _core.make_schedule(_core.Redistribution(*pair), "bruck")


def test_a_radix_out_of_range_names_the_rounds():
    layout = _core.Product(_core.Blocks(_core.Grid(4, 4, 4), (2, 2)))
    other = _core.Product(_core.Blocks(_core.Grid(4, 4, 4), (4, 1), "zx"))
    with pytest.raises(
        InputError, match=r"radix 9 is out of range, 1\.\.4 are allowed for a transposition of 4 rounds"
    ):
        _core.make_schedule(_core.Redistribution(layout, other), "ring-9")


@given(st.one_of(redistributions(), closed_redistributions()))
def test_mpi_has_an_all_to_all_within_closed_groups_or_among_all_ranks(pattern):
    assert pattern.collective == "all-to-all"
    partners = {(rank, receiver) for rank in range(pattern.ranks) for receiver, _ in pattern.receivers(rank)}
    assert all(pattern.group(sender) == pattern.group(receiver) for sender, receiver in partners)
    groups = [pattern.group(rank) for rank in range(pattern.ranks)]
    assert max(groups.count(group) for group in groups) == pattern.largest_group
    assert pattern.closed or set(groups) == {0}
