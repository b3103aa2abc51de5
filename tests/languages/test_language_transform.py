"""The transform of the how-to page "From ecTrans" against closed forms, optimised and not."""

from __future__ import annotations

import re

import pytest
from tradewind_header import ROOT

PAGE = (ROOT / "docs" / "how-to" / "from-ectrans.md").read_text()
BOUNDS = {
    "coefficients of the temperature": 1e-12,
    "vorticity of n = 1, times the radius": 1e-12,
    "divergence, times the radius": 1e-12,
    "temperature": 5e-12,
    "wind": 1e-12,
    "gradient, times the radius": 1e-10,
}
"""Largest errors that are allowed of numbers to 290, 10 and 10; a derivative multiplies rounding by up to T."""


@pytest.mark.parametrize("ranks", [3, pytest.param(1, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)])
def test_closed_forms(on_ranks, ranks):
    found = re.findall(r"^(.*): largest error +(\S+)$", on_ranks(ranks, "page_transform_fortran").stdout, re.MULTILINE)
    assert [name for name, _ in found] == list(BOUNDS)
    assert {name: error for name, error in found if not float(error) <= BOUNDS[name]} == {}
    for name in BOUNDS:
        assert f"\n{name}: largest error " in PAGE
