"""Whole numbers joined by x, as users write grids and splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.base.errors import InputError
from tradewind.base.extents import extents_text, largest_product, parse_extents, whole_number
from tradewind.spectral.grid import GaussianGrid


@pytest.mark.parametrize("text", ["602x568x60", "602X568x60", " 602 x 568x60"])
def test_what_is_read(text):
    assert parse_extents(text, 3, "grid") == (602, 568, 60)
    assert extents_text((602, 568, 60)) == "602x568x60"


@pytest.mark.parametrize(
    "text", ["", "602x568", "602x568x", "602x568x6.0", "-1x2x3", "1x2x3x4", "1x2x\u0663", "1x2x\u00b2"]
)
def test_what_is_refused(text):
    with pytest.raises(InputError, match="3 whole numbers joined by 'x' are allowed, like 602x568x60"):
        parse_extents(text, 3, "grid")


def test_numbers_of_thousands_of_digits_are_refused_in_a_line():
    """Python does not read them, and raises an error of its own."""
    with pytest.raises(InputError) as error:
        parse_extents(f"64x{'9' * 5000}x64", 3, "grid")
    assert len(str(error.value)) < 160
    with pytest.raises(InputError, match="unknown grid"):
        GaussianGrid(f"O{'9' * 5000}")


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 9))
def test_the_largest_product_is_that_of_all_pairs(limit, first, second):
    products = [a * b for a in range(1, first + 1) for b in range(1, second + 1) if a * b <= limit]
    found, (a, b) = largest_product(limit, (first, second))
    assert found == a * b == max(products)
    assert a <= first
    assert b <= second


@pytest.mark.parametrize("number", [3, np.int64(3), np.uint8(3)])
def test_whole_numbers_become_those_of_python(number):
    assert type(whole_number("n", number, 3)) is int


@pytest.mark.parametrize("number", [True, np.True_, 3.0, "3", None, np.array([3]), -1])
def test_what_is_no_whole_number(number):
    with pytest.raises(InputError, match="a whole number, 0 or more, is allowed"):
        whole_number("n", number)
