"""A Fortran program that is compiled for speed sees the changes of an exchange."""

from __future__ import annotations

import pytest
from tradewind_header import ROOT

PROGRAM = ROOT / "tests" / "languages" / "programs" / "visible.F90"


@pytest.mark.slow
def test_fortran_sees_what_has_arrived(on_ranks):
    """Every pattern, wherever the arrays are declared."""
    assert on_ranks(2, "visible_fortran").stdout == "all right\n"


@pytest.mark.slow
@pytest.mark.parametrize("flags", ["-O3 -flto", "-O3 -flto -fipa-pta --param early-inlining-insns=10000", "-Ofast"])
def test_fortran_compiled_together_with_the_module(flags, together, launch):
    """Where the compiler sees into the module, and makes one procedure of the program's and those of the module."""
    assert launch(2, together(PROGRAM, flags)).stdout == "all right\n"
