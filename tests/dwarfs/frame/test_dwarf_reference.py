"""How far a state may be from its reference."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tradewind.dwarfs.frame.reference import agreement, difference


def test_a_difference_is_found():
    field = np.zeros((2, 3, 4))
    assert difference(field, field.copy()) == ""
    other = field.copy()
    other[1, 2, 0] = 1e-300
    assert difference(field, other) == (
        "1 of 24 points differ from the reference, the first at [z][y][x] = [1, 2, 0]: 0.0 for 1e-300"
    )
    other[1, 2, 0] = math.nan
    assert "1 of 24" in difference(other, other)


def test_a_tolerance_is_a_fraction_of_the_largest_value():
    wanted = np.array([[1.0, -200.0], [3.0, 4.0]])
    found = wanted + np.array([[0.0, 0.0], [1.9, 0.0]])
    assert difference(found, wanted, 1e-2) == ""
    assert difference(found, wanted, 9e-3) == (
        "1 of 4 points differ from the reference by more than 0.009 of its largest value, the first at "
        "[y][x] = [1, 0]: 4.9 for 3.0"
    )
    assert "2 of 4" in difference(np.array([[1.0, math.nan], [math.inf, 4.0]]), wanted, 0.5)


@pytest.mark.parametrize(
    ("tolerance", "text"), [(0.0, "the same bits as the reference"), (1e-12, "within 1e-12 of the reference")]
)
def test_what_holds_is_said(tolerance, text):
    assert agreement(tolerance) == text
