"""Quantities with units: what is written is what is read, exactly, and a number without its unit is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradewind.base import units
from tradewind.base.errors import InputError

TIMES = {"ps": 12, "ns": 9, "us": 6, "µs": 6, "ms": 3, "s": 0}
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


@given(st.integers(0, 10**12), st.integers(0, 3), st.sampled_from(sorted(TIMES)))
def test_a_time_is_the_nearest_number_of_seconds(digits, decimals, unit):
    text = f"{digits / 10**decimals:.{decimals}f}{unit}"
    number = Fraction(text.removesuffix(unit))
    assert units.seconds(text) == float(number / 10 ** TIMES[unit])


@pytest.mark.parametrize(
    ("a", "b"), [("100ns", "0.1us"), ("1.2us", "1200 ns"), ("90s", "1.5min"), ("2h", "120min"), ("1e3ps", "1ns")]
)
def test_one_time_written_in_two_units_is_one_value(a, b):
    assert units.seconds(a) == units.seconds(b)


@given(st.integers(0, 2**20), st.sampled_from(sorted(SIZES)))
def test_a_size_is_a_whole_number_of_bytes(count, unit):
    assert units.byte_count(f"{count}{unit}") == count * SIZES[unit]
    assert isinstance(units.byte_count(f"{count}{unit}"), int)


def test_bits_are_eighths_of_bytes():
    assert units.bytes_per_second("100Gbit/s") == units.bytes_per_second("12.5GB/s") == 12.5e9
    assert units.bytes_per_second("400Gb/s") == units.bytes_per_second("50GB/s") == 50e9
    assert units.bytes_per_second("8 kbit/s") == 1000
    assert units.flops("1.2TFlop/s") == units.flops("1200Gflop/s") == 1.2e12


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (units.seconds, "100", "'100' has no unit: write a time as"),
        (units.seconds, 100, "100 has no unit"),
        (units.seconds, "100 GB", "'GB' is not a unit of a time (allowed: ps, ns, us"),
        (units.seconds, "-1ns", "'-1ns' is not a time"),
        (units.seconds, "1e999999999s", "the number is too large"),
        (units.seconds, "fast", "'fast' is not a time"),
        (units.byte_count, "1.5B", "'1.5B' is not a whole number of bytes"),
        (units.byte_count, "1kb", "'kb' is not a unit of a size"),
        (units.bytes_per_second, "10GB", "'GB' is not a unit of a bandwidth"),
        (units.bytes_per_second, None, "None is not a bandwidth"),
        (units.flops, "10G", "'G' is not a unit of a rate of operations"),
    ],
)
def test_what_is_no_quantity_is_refused_with_what_is_allowed(read, text, expected):
    with pytest.raises(InputError) as error:
        read(text)
    assert expected in str(error.value)


@given(st.floats(1e-12, 1e5))
def test_a_time_for_a_reader_says_three_digits(value):
    shown = units.format_seconds(value)
    assert units.seconds(shown) == pytest.approx(value, rel=6e-3)
    number = float(shown.split()[0])
    assert 0.99 <= number <= 1000 or value >= 1000 or value < 1e-12


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (units.format_bytes(8192), "8 KiB"),
        (units.format_bytes(1023), "1023 B"),
        (units.format_bytes(1.5 * 2**30), "1.5 GiB"),
        (units.format_rate(1e10), "10 GB/s"),
        (units.format_rate(12), "12 B/s"),
        (units.format_count(62_500_000), "62.5 M"),
        (units.format_count(999), "999"),
        (units.format_seconds(0.0123), "12.3 ms"),
        (units.format_seconds(0), "0 ps"),
    ],
)
def test_figures_for_a_reader(shown, text):
    assert shown == text
