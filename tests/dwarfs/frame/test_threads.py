"""The threads of a rank change no bit of any dwarf's state and diagnosis, and a wrong number of them is one error."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("mpi4py.MPI")

from tradewind import launch
from tradewind.base.errors import InputError
from tradewind.dwarfs import DWARFS, find

CASES: dict[str, dict[str, Any]] = {  # levels, lines and elements that threads cannot share evenly
    "diffusion": {"grid": (26, 22, 5)},
    "spherical_harmonics": {"truncation": 21, "levels": 5},
    "mpdata": {"grid": "O8", "levels": 5},
    "bifourier": {"grid": (24, 18, 5)},
    "hirlam": {"grid": (14, 9, 7)},
    "helmholtz": {"grid": (12, 10, 7)},
    "semi_lagrangian": {"grid": (16, 12, 5), "tracers": 2},
    "nekbone": {"elements": (2, 2, 2), "nx1": 4},
}
OTHER_LOOPS = {
    "mpdata, fused": {**CASES["mpdata"], "strategy": "fused"},
    "helmholtz, pipelined": {**CASES["helmholtz"], "strategy": "pipelined"},
    "semi_lagrangian, on-demand": {**CASES["semi_lagrangian"], "geometry": "sphere", "strategy": "on-demand"},
    "nekbone, pipelined": {**CASES["nekbone"], "strategy": "pipelined", "factors": "stored"},
}


@pytest.mark.ranks
def test_any_number_of_threads_has_the_same_bits() -> None:
    assert set(CASES) == set(DWARFS)
    found = launch.run(2, "dwarf_states:bits_by_threads", CASES | OTHER_LOOPS, timeout_s=240)
    for name, by_ranks in found.items():
        (one, two, three), pair = by_ranks["1"], by_ranks["2"]
        assert one == two == three, f"{name}, on 1 rank"
        assert pair[0] == pair[1], f"{name}, on 2 ranks"


@pytest.mark.parametrize("threads", [0, 1025])
@pytest.mark.parametrize("dwarf", CASES)
def test_a_wrong_number_of_threads_is_one_error(dwarf: str, threads: int) -> None:
    with pytest.raises(InputError, match=rf"^threads {threads}: .*1\.\.1024 are allowed$"):
        find(dwarf)(ranks=2, threads=threads, **CASES[dwarf])
