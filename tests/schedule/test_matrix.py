"""The communication matrix against the messages themselves."""

import numpy as np
import pytest
from drawing import halos
from hypothesis import given
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError


@given(halos(), st.sampled_from(["sweep", "direct"]), st.integers(1, 50))
def test_bins_hold_the_sum_of_their_messages(halo, algorithm, ranks_per_bin):
    schedule = _core.make_schedule(halo, algorithm)
    bins = -(-halo.ranks // ranks_per_bin)
    expected = np.zeros((bins, bins), dtype=np.int64)
    for stage in range(schedule.stages):
        for rank in range(halo.ranks):
            for message in schedule.sends(rank, stage):
                expected[rank // ranks_per_bin, message.peer // ranks_per_bin] += message.count
    matrix = _core.communication_matrix(schedule, ranks_per_bin, 0, schedule.stages)
    np.testing.assert_array_equal(matrix, expected)


def test_stages_can_be_chosen():
    schedule = _core.make_schedule(_core.AllReduce(4, 5), "recursive-2")
    matrix = _core.communication_matrix(schedule, 1, 1, 2)
    assert np.argwhere(matrix).tolist() == [[0, 2], [1, 3], [2, 0], [3, 1]]


@pytest.mark.parametrize(("ranks_per_bin", "first", "last"), [(0, 0, 2), (1, -1, 2), (1, 0, 3), (1, 2, 1)])
def test_what_is_not_there_is_refused(ranks_per_bin, first, last):
    schedule = _core.make_schedule(_core.AllReduce(4, 5), "recursive-2")
    with pytest.raises(InputError, match="are allowed"):
        _core.communication_matrix(schedule, ranks_per_bin, first, last)
