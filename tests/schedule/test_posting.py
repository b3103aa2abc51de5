"""The posting orders: which calls a rank makes, in which order."""

import pytest
from drawing import TRANSPORTS, transposes
from hypothesis import given
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError

GRID = _core.Grid(12, 4, 12)
ROW = _core.Transpose(_core.Blocks(GRID, (4, 1), "xy"), _core.Blocks(GRID, (4, 1), "zy"))
P, W, S, R = "post", "wait", "send", "receive"


def operations(transport, rank=1):
    return _core.posting(transport, _core.make_schedule(ROW, "ring-2"), rank, 0)


def test_sendrecv_does_one_exchange_after_another():
    assert operations("sendrecv") == [
        (P, R, 0), (P, S, 0), (W, R, 0), (W, S, 0),
        (P, R, 1), (P, S, 1), (W, R, 1), (W, S, 1),
    ]  # fmt: skip


def test_isend_recv_blocks_in_each_receive():
    assert operations("isend-recv") == [
        (P, S, 0), (P, S, 1),
        (P, R, 0), (W, R, 0), (P, R, 1), (W, R, 1),
        (W, S, 0), (W, S, 1),
    ]  # fmt: skip


def test_send_irecv_blocks_in_each_send():
    assert operations("send-irecv") == [
        (P, R, 0), (P, R, 1),
        (P, S, 0), (W, S, 0), (P, S, 1), (W, S, 1),
        (W, R, 0), (W, R, 1),
    ]  # fmt: skip


def test_isend_irecv_starts_everything_first():
    assert [kind for kind, _, _ in operations("isend-irecv")] == [P] * 4 + [W] * 4


def test_even_odd_lets_neighbours_take_turns():
    assert operations("even-odd", rank=0)[:2] == [(P, S, 0), (W, S, 0)]
    assert operations("even-odd", rank=1)[:2] == [(P, R, 0), (W, R, 0)]


@given(transposes(max_ranks=12), st.sampled_from(TRANSPORTS), st.data())
def test_each_message_that_is_not_empty_is_posted_and_awaited_once(transpose, transport, data):
    name = data.draw(st.sampled_from(["burst", "pairwise", "ring-1"]))
    schedule = _core.make_schedule(transpose, name)
    rank = data.draw(st.integers(0, schedule.ranks - 1))
    for stage in range(schedule.stages):
        order = _core.posting(transport, schedule, rank, stage)
        posts = [operation[1:] for operation in order if operation[0] == P]
        waits = [operation[1:] for operation in order if operation[0] == W]
        assert len(posts) == len(set(posts)) == len(schedule.sends(rank, stage)) + len(schedule.receives(rank, stage))
        assert sorted(posts) == sorted(waits)
        assert all(order.index((P, *operation)) < order.index((W, *operation)) for operation in posts)


def test_an_unknown_transport_is_refused():
    with pytest.raises(InputError, match="unknown transport 'pigeon' \\(known: sendrecv, isend-recv"):
        operations("pigeon")
