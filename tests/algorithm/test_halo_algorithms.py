"""The halo algorithms: right for any width and period, without a deadlock at the edge of the grid or across a seam."""

import pytest
from drawing import TRANSPORTS, algorithm_names, halos
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError


@settings(max_examples=200)
@given(halos(), st.data())
def test_any_halo_is_right_with_every_posting_order(halo, data):
    schedule = _core.make_schedule(halo, data.draw(st.sampled_from(algorithm_names(halo))))
    for transport in TRANSPORTS:
        _core.verify(schedule, transport)


def make(algorithm, points, split, width, periodic=(False, False)):
    return _core.make_schedule(_core.Halo(_core.Blocks(_core.Grid(*points), split), width, periodic), algorithm)


@pytest.mark.parametrize(
    ("width", "neighbours"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3)], ids=lambda value: str(value)
)
def test_a_sweep_reaches_as_many_ranks_as_the_width_needs(width, neighbours):
    schedule = make("sweep", (40, 40, 2), (10, 10), width, (True, True))
    for stage in (0, 1):
        assert len(schedule.sends(37, stage)) == len(schedule.receives(37, stage)) == 2 * neighbours


def test_the_second_sweep_carries_the_corners():
    schedule = make("sweep", (30, 30, 2), (3, 3), 2)
    (first, second) = (schedule.sends(4, stage) for stage in (0, 1))
    assert [m.count for m in first] == [2 * 10 * 2] * 2
    assert [m.count for m in second] == [2 * (10 + 4) * 2] * 2


def test_direct_sends_to_all_eight_neighbours_at_once():
    schedule = make("direct", (30, 30, 2), (3, 3), 2)
    assert schedule.stages == 1
    assert sorted(m.peer for m in schedule.sends(4, 0)) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert sorted(m.count for m in schedule.sends(4, 0)) == [2 * 2 * 2] * 4 + [2 * 10 * 2] * 4


@pytest.mark.parametrize("algorithm", ["sweep", "direct"])
def test_two_ranks_on_a_periodic_direction_tell_their_two_messages_apart(algorithm):
    schedule = make(algorithm, (20, 8, 1), (2, 1), 3, (True, False))
    sends = schedule.sends(0, 0)
    assert [m.peer for m in sends] == [1, 1]
    assert len({m.tag for m in sends}) == 2


@pytest.mark.parametrize("algorithm", ["sweep", "direct"])
def test_a_seam_onto_oneself_is_copied_without_messages(algorithm):
    verified = _core.verify(make(algorithm, (5, 4, 3), (1, 1), 7, (True, True)), "sendrecv")
    assert verified.messages == 0
    assert verified.copied == ((5 + 14) * (4 + 14) - 5 * 4) * 3


@pytest.mark.parametrize("algorithm", ["sweep", "direct"])
def test_no_width_no_messages(algorithm):
    assert _core.verify(make(algorithm, (9, 9, 9), (3, 3), 0, (True, True)), "even-odd").messages == 0


def test_direct_refuses_more_ranks_than_tags():
    with pytest.raises(InputError, match="use sweep"):
        make("direct", (100, 100, 1), (100, 100), 1 << 20, (True, True))
