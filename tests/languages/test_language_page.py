"""The programs of the how-to page say the same in every language."""

from __future__ import annotations

import pytest
from tradewind_header import ROOT

PAGE = (ROOT / "docs" / "how-to" / "languages.md").read_text()


@pytest.mark.parametrize("program", ["halo", "mesh"])
@pytest.mark.parametrize("language", ["c", "cpp", "fortran"])
def test_the_same_program(on_ranks, language, program):
    printed = on_ranks(2, f"page_{program}_{language}").stdout
    assert f"$ mpiexec -n 2 python {program}.py\n{printed}```" in PAGE  # what Python says, tests/docs runs
