"""Formulas in files against what Python computes."""

from __future__ import annotations

import math

import pytest

from tradewind.base.errors import InputError
from tradewind.base.formula import Formula


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3 * a", 17),
        ("-(a - 7) / 4", 0.5),
        ("a // 2 + a % 2 + 2 ** 3", 11),
        ("max(1, min(a, 9), 3) + ceil(0.2) + floor(1.8) + round(2.6)", 10),
        ("sqrt(16) + log2(a + 3)", 7),
        ("1e3 * a", 5000),
    ],
)
def test_a_formula_has_its_value(text, value):
    assert Formula(text).value({"a": 5}) == value
    assert Formula(text).names <= {"a"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a +", "invalid syntax"),
        ("b", "unknown name 'b'"),
        ("1 / (a - 5)", "division by zero"),
        ("10.0 ** 400", "math range error"),
        ("log2(0)", "math domain error"),
        ("1e308 * 10", "inf is not a finite number"),
        ("True", "are allowed"),
        ("'x'", "are allowed"),
        ("min()", "min expected at least 1 argument"),
        ("__import__('os')", "unknown name '__import__'"),
        ("a.real", "are allowed"),
        ("[a]", "are allowed"),
        ("(" * 300 + "a" + ")" * 300, "nested"),
    ],
)
def test_what_is_no_formula(text, words):
    with pytest.raises(InputError, match=words):
        Formula(text).value({"a": 5.0})


def test_a_value_is_finite():
    assert math.isfinite(Formula("a").value({"a": 1e300}))
