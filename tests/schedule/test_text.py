"""Schedules as text."""

import pytest

from tradewind import _core


def test_a_halo_stage_names_peers_tags_and_boxes():
    halo = _core.Halo(_core.Blocks(_core.Grid(10, 4, 2), (2, 1)), 2, (False, True))
    schedule = _core.make_schedule(halo, "sweep")
    assert _core.stage_text(schedule, 0, 0).splitlines() == [
        "sends to 1  tag 1  parity 0  16 points  source [x 3:5, y 0:4, z 0:2]",
        "receives from 1  tag 2  parity 1  16 points  target [x 5:7, y 0:4, z 0:2]",
    ]
    assert _core.stage_text(schedule, 0, 1).splitlines() == [
        "copies source [x 0:7, y 0:2, z 0:2] to target [x 0:7, y 4:6, z 0:2]",
        "copies source [x 0:7, y 2:4, z 0:2] to target [x 0:7, y -2:0, z 0:2]",
    ]


def test_a_reduction_combines_until_it_unfolds():
    schedule = _core.make_schedule(_core.AllReduce(3, 1), "recursive-2")
    lines = [_core.stage_text(schedule, rank, stage) for rank, stage in ((0, 0), (2, 2))]
    assert lines[0] == "combines from 2  tag 0  parity 0  1 point  target [x 0:1, y 0:1, z 0:1]\n"
    assert lines[1] == "receives from 0  tag 0  parity 0  1 point  target [x 0:1, y 0:1, z 0:1]\n"


def test_bruck_names_its_scratch_memory():
    grid = _core.Grid(4, 1, 4)
    row = _core.Transpose(_core.Blocks(grid, (4, 1), "xy"), _core.Blocks(grid, (4, 1), "zy"))
    text = _core.stage_text(_core.make_schedule(row, "bruck"), 0, 0)
    assert "receives from 3  tag 0  parity 1  2 points  target [x 3:4, y 0:1, z 0:1] and 1 more pieces" in text
    assert "copies source [x 0:1, y 0:1, z 0:1] to target [x 0:1, y 0:1, z 0:1]" in text


@pytest.mark.parametrize(("rank", "stage"), [(-1, 0), (3, 0), (0, 3), (0, -1)])
def test_a_place_that_is_not_there_is_refused(rank, stage):
    with pytest.raises(IndexError, match=r"0\.\.2 are allowed"):
        _core.stage_text(_core.make_schedule(_core.AllReduce(3, 1), "recursive-2"), rank, stage)
