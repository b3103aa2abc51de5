"""The dwarfs, whose patterns are known: what they send is recognised, and is theirs on other ranks, too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from recorded_exchange import trace_of_program
from sent_messages import of_program

from tradewind.dwarfs import find
from tradewind.recognition.recognise import recognise
from tradewind.recognition.text import program_text
from tradewind.workload.program_file import load_program
from tradewind.workload.program_scaling import load_scaled

DWARFS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "diffusion": ({"grid": (64, 64, 8)}, ["halo"]),
    "helmholtz": ({"grid": (64, 64, 16), "iterations": 6}, ["halo", "allreduce", "allreduce", "allreduce"]),
    "semi_lagrangian": ({"grid": (128, 128, 16)}, ["halo", "halo"]),
    "nekbone": ({"elements": (4, 4, 4)}, ["allreduce", "gather-scatter"]),
}


@pytest.mark.parametrize("ranks", [4, 16])
@pytest.mark.parametrize("name", DWARFS)
def test_what_a_dwarf_sends_is_recognised_and_scales(name: str, ranks: int, tmp_path: Path) -> None:
    options, kinds = DWARFS[name]
    grid = options.get("grid")
    found = recognise(trace_of_program(find(name)(ranks=ranks, **options).program(), 3), grid)
    assert (found.share_of_messages, found.repeats) == (1.0, 3)
    assert sorted(each.kind for each in found.exchanges) == sorted(kinds)
    (tmp_path / "step.toml").write_text(program_text(found, name))
    for others in (ranks, 4 * ranks):
        scaled = load_scaled(tmp_path / "step.toml", others, "strong" if grid else "weak")
        there = of_program(find(name)(ranks=others, **options).program())
        assert of_program(scaled) == Counter({message: 3 * times for message, times in there.items()})


def test_transpositions_are_found_beside_others() -> None:
    """Those to columns of an ellipse of wavenumbers are on no box, and stand between the others."""
    program = find("bifourier")(ranks=9, grid=(64, 48, 16)).program()
    found = recognise(trace_of_program(program, 3))
    assert found.repeats == 3
    assert {each.kind for each in found.exchanges} == {"transposition"}
    assert sum(found.uses.values()) == 4 * 3
    in_file = of_program(load_program("found.toml", program_text(found, "found")))
    assert in_file <= Counter({message: 3 * times for message, times in of_program(program).items()})
    assert (
        found.explained_messages == in_file.total() == found.messages - sum(each.messages for each in found.unexplained)
    )
