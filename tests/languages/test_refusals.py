"""Wrong input and wrong use in C and Fortran: a status and a text on every rank; no rank is left waiting."""

from __future__ import annotations

from pathlib import Path

import pytest

OK, INPUT, PLAN, HANDLE = 0, 1, 2, 3

# What a rank must be told; where two stand, rank 0 and rank 1.
Expected = dict[str, list[tuple[int, str]]]
C: Expected = {
}
FORTRAN: Expected = {
}


@pytest.fixture(scope="module")
def met(on_ranks, tmp_path_factory):
    """By program, rank and case: (status, text)."""

    def run(program: str) -> list[dict[str, tuple[int, str]]]:
        folder: Path = tmp_path_factory.mktemp(program)
        on_ranks(2, program, folder)
        ranks = []
        for rank in range(2):
            lines = [line.split("|") for line in (folder / str(rank)).read_text().splitlines()]
            ranks.append({name: (int(status), text) for name, status, text in lines})
        return ranks

    return run


@pytest.mark.parametrize(("program", "expected"), [("refusals_c", C), ("refusals_fortran", FORTRAN)])
def test_refused_on_every_rank(met, program, expected):
    for rank, cases in enumerate(met(program)):
        assert list(cases) == list(expected)
        for name, wanted in expected.items():
            status, words = wanted[rank % len(wanted)]
            assert (cases[name][0], words in cases[name][1]) == (status, True), f"{name}: {cases[name]}"
