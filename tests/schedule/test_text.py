"""Schedules as text: places that are not there are an error, and no text."""

import pytest

from tradewind import _core


@pytest.mark.parametrize(("rank", "stage"), [(-1, 0), (3, 0), (0, 3), (0, -1)])
def test_a_place_that_is_not_there_is_refused(rank, stage):
    schedule = _core.make_schedule(_core.AllReduce(3, 1), "recursive-2")
    assert _core.stage_text(schedule, 0, 0).startswith("combines from 2  tag 0  parity 0  1 point  target [x 0:1")
    with pytest.raises(IndexError, match=r"0\.\.2 are allowed"):
        _core.stage_text(schedule, rank, stage)
