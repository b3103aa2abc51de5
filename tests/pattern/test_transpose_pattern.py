"""The groups of a transposition against brute force: who has something for whom."""

import pytest
from drawing import slab_transposes, transposes, volume
from hypothesis import given

from tradewind import _core
from tradewind.base.errors import InputError


def overlap(a, b):
    """The box that two boxes share, empty where they share none."""
    begin = tuple(max(p, q) for p, q in zip(a[0], b[0], strict=True))
    return begin, tuple(max(lo, min(p, q)) for lo, p, q in zip(begin, a[1], b[1], strict=True))


def groups_by_search(transpose):
    """The (senders, receivers) that are connected by blocks that are not empty."""
    ranks = range(transpose.ranks)
    reach = {s: {r for r in ranks if transpose.block_volume(s, r) > 0} for s in ranks}
    groups = []
    left = set(ranks)
    while left:
        senders, receivers = {left.pop()}, set()
        while True:
            receivers = set().union(*(reach[s] for s in senders))
            more = {s for s in ranks if reach[s] & receivers}
            if more == senders:
                break
            senders = more
        left -= senders
        groups.append((senders, receivers))
    return groups


@given(transposes())
def test_blocks_are_what_both_layouts_share(transpose):
    before, after = transpose.from_layout, transpose.to_layout
    for s in range(transpose.ranks):
        for r in range(transpose.ranks):
            assert transpose.block_volume(s, r) == volume(overlap(before.box(s), after.box(r)))


@given(transposes())
def test_groups_are_the_connected_sets_of_ranks(transpose):
    groups = groups_by_search(transpose)
    for senders, receivers in groups:
        for sender in senders:
            assert set(transpose.receivers(sender)) == receivers
        for receiver in receivers:
            assert set(transpose.senders(receiver)) == senders
    assert transpose.largest_group == max(max(len(s), len(r)) for s, r in groups)


@given(transposes())
def test_positions_number_the_senders_of_a_group(transpose):
    for sender in range(transpose.ranks):
        receiver = transpose.receivers(sender)[0]
        assert transpose.senders(receiver)[transpose.position(sender)] == sender


@given(transposes())
def test_closed_and_complete_say_what_they_mean(transpose):
    ranks = range(transpose.ranks)
    closed = all(transpose.receivers(r) == transpose.senders(r) for r in ranks)
    full = all(transpose.block_volume(s, r) > 0 for s in ranks for r in transpose.receivers(s))
    assert closed or not transpose.closed
    assert transpose.complete == (transpose.closed and full)


@given(slab_transposes())
def test_slab_transpositions_stay_within_rows_or_columns(transpose):
    cx, cy = transpose.from_layout.split
    assert transpose.complete
    row = [r % cx for r in transpose.receivers(0)]
    column = [r // cx for r in transpose.receivers(0)]
    assert len(set(row)) == 1 or len(set(column)) == 1
    assert transpose.largest_group in (cx, cy, 1)


def test_layouts_of_different_grids_or_ranks_are_refused():
    one, other = _core.Grid(8, 8, 8), _core.Grid(8, 8, 9)
    with pytest.raises(InputError, match="different grids"):
        _core.Transpose(_core.Blocks(one, (2, 2)), _core.Blocks(other, (2, 2)))
    with pytest.raises(InputError, match="4 ranks before and 6 after"):
        _core.Transpose(_core.Blocks(one, (2, 2)), _core.Blocks(one, (2, 3)))
