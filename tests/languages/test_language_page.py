"""The program of the how-to page says the same in every language."""

from __future__ import annotations

import pytest
from tradewind_header import ROOT

PAGE = (ROOT / "docs" / "how-to" / "languages.md").read_text()


@pytest.mark.parametrize("language", ["c", "cpp", "fortran"])
def test_the_same_program(on_ranks, language):
    said = on_ranks(2, f"page_{language}").stdout
    assert f"$ mpiexec -n 2 python halo.py\n{said}```" in PAGE  # what Python says, tests/docs runs
