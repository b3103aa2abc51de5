"""The communication matrix as an array."""

import numpy as np
import pytest

from tradewind import _core
from tradewind.base.errors import InputError


def test_stages_can_be_chosen():
    schedule = _core.make_schedule(_core.AllReduce(4, 5), "recursive-2")
    matrix = _core.communication_matrix(schedule, 1, 1, 2)
    assert matrix.dtype == np.int64
    assert np.argwhere(matrix).tolist() == [[0, 2], [1, 3], [2, 0], [3, 1]]
    with pytest.raises(InputError, match=r"stages 0\.\.2: 0\.\.1 are allowed"):
        _core.communication_matrix(schedule, 1, 0, 3)
