"""Exact sums, against ``math.fsum``, which is correctly rounded, too."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind import _core
from tradewind.base.errors import InputError
from tradewind.dwarfs.frame.diagnosis import rounded

ALL = (slice(None), slice(None), slice(None))
SQUARES_ARE_FINITE = st.floats(-1e150, 1e150)


def diagnosed(values: list[float], dtype: str = "f8", threads: int = 1) -> _core.Diagnosis:
    return _core.diagnose(np.array(values, dtype).reshape(-1, 1, 1), ALL, _core.Team(threads))


@given(st.lists(SQUARES_ARE_FINITE, min_size=1), st.integers(1, 4))
def test_sums_are_exact(values, threads):
    found = diagnosed(values, threads=threads)
    assert rounded(found.sum) == math.fsum(values)
    assert rounded(found.squares) == math.fsum(v * v for v in values)
    assert (found.minimum, found.maximum) == (min(values), max(values))
    assert found.not_finite is None


def test_what_cancels_and_what_is_tiny():
    assert rounded(diagnosed([1e100, 1.0, -1e100, 5e-324, -5e-324]).sum) == 1.0
    assert rounded(diagnosed([5e-324] * 3).sum) == 1.5e-323
    assert rounded(diagnosed([0.1] * 10).sum) == 1.0
    assert rounded(diagnosed([1e150] * 1000).squares) == math.fsum([1e150 * 1e150] * 1000)


def test_a_sum_beyond_the_doubles():
    digits = [0] * 66 + [1, 0]  # 2**(32 * 66 - 1074) = 2**1038
    assert rounded(digits) == math.inf
    assert rounded([-digit for digit in digits]) == -math.inf


def test_a_region_with_gaps():
    with pytest.raises(InputError, match="step 1"):
        _core.diagnose(np.ones((3, 4, 5)), (slice(0, 3), slice(0, 4), slice(0, 5, 2)), _core.Team())
