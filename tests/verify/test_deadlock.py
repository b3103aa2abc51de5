"""Deadlocks are found and named; sound schedules are free of them for every posting order."""

import re

import pytest
from drawing import TRANSPORTS

from tradewind import _core
from tradewind.base.errors import VerificationError

GRID = _core.Grid(24, 6, 24)
ROW = _core.Transpose(_core.Blocks(GRID, (6, 1), "xy"), _core.Blocks(GRID, (6, 1), "zy"))


def reversed_at(rank):
    return _core.damaged(_core.make_schedule(ROW, "burst"), "reverse", rank, 0, 0)


def test_sends_in_reverse_order_deadlock_with_sendrecv_and_the_cycle_is_named():
    with pytest.raises(VerificationError) as refusal:
        _core.verify(reversed_at(2), "sendrecv")
    text = str(refusal.value)
    assert text.startswith("deadlock in stage 0 with sendrecv: ")
    waits = re.findall(r"rank (\d) waits to (?:send to|receive from) rank (\d) \(tag \d\)", text)
    assert text.endswith(f"a cycle of {len(waits)} ranks")
    followers = [waiting for waiting, _ in waits[1:]] + [waits[0][0]]
    assert [peer for _, peer in waits] == followers


@pytest.mark.parametrize("transport", ["isend-recv", "send-irecv", "isend-irecv", "even-odd"])
def test_other_orders_do_not_mind(transport):
    assert _core.verify(reversed_at(2), transport).messages == 30


def test_the_stage_is_named():
    grid = _core.Grid(9, 1, 9)
    row = _core.Transpose(_core.Blocks(grid, (9, 1), "xy"), _core.Blocks(grid, (9, 1), "zy"))
    schedule = _core.damaged(_core.make_schedule(row, "ring-4"), "reverse", 0, 1, 0)
    with pytest.raises(VerificationError, match="deadlock in stage 1 with sendrecv"):
        _core.verify(schedule, "sendrecv")


@pytest.mark.parametrize("ranks", range(1, 25))
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_rings_of_every_size_are_free_of_deadlock(ranks, transport):
    """Odd rings are where taking turns goes wrong if only even ranks send first."""
    grid = _core.Grid(30, 1, 30)
    row = _core.Transpose(_core.Blocks(grid, (ranks, 1), "xy"), _core.Blocks(grid, (ranks, 1), "zy"))
    for algorithm in ("ring-1", "burst"):
        verified = _core.verify(_core.make_schedule(row, algorithm), transport)
        assert verified.messages == ranks * (ranks - 1)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("periodic", [(False, False), (True, False), (True, True)])
def test_ranks_at_the_edge_that_have_fewer_neighbours_do_not_block_the_others(transport, periodic):
    halo = _core.Halo(_core.Blocks(_core.Grid(15, 10, 1), (5, 5)), 7, periodic)
    for algorithm in ("sweep", "direct"):
        assert _core.verify(_core.make_schedule(halo, algorithm), transport).messages > 0
